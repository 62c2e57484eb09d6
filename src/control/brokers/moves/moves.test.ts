import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Reassignment } from '../../../kafka/admin/replicas.ts';
import { loadsOf, rackCount, racksOf } from './layout.ts';
import type { BrokerPlace, PlacedPartition } from './layout.ts';
import { moves } from './moves.ts';
import type { MoveOptions } from './moves.ts';

const broker = (id: number, rack?: string, state: BrokerPlace['state'] = 'stays'): BrokerPlace => ({
  id,
  rack,
  state,
  available: true,
});
const partition = (topic: string, index: number, replicas: number[], bytes?: number): PlacedPartition => ({
  topic,
  partition: index,
  replicas,
  isr: replicas,
  bytes,
});
const DRAIN = { maxInFlight: 2, rebalance: false };
const EVEN = { maxInFlight: 2, rebalance: true };

/** What Kafka does with reassignments: replicas are added, come in sync one at a time, and then others go. */
class Cluster {
  partitions: PlacedPartition[];
  ongoing: Reassignment[] = [];
  brokers: BrokerPlace[];
  /** Replicas that had to be copied. */
  copied = 0;

  constructor(partitions: PlacedPartition[], brokers: BrokerPlace[]) {
    this.partitions = partitions;
    this.brokers = brokers;
  }

  plan(options: MoveOptions) {
    return moves(this.partitions, this.brokers, this.ongoing, options);
  }

  begin({ begin }: ReturnType<typeof moves>) {
    for (const { topic, partition: index, replicas } of begin) {
      const at = this.partitions.findIndex((each) => each.topic === topic && each.partition === index);
      this.ongoing = this.ongoing.filter((each) => each.topic !== topic || each.partition !== index);
      const now = this.partitions[at]!;
      const adding = replicas!.filter((id) => !now.replicas.includes(id));
      const removing = now.replicas.filter((id) => !replicas!.includes(id));
      const merged = [...replicas!, ...removing];
      this.partitions[at] = { ...now, replicas: merged };
      if (adding.length > 0 || removing.length > 0)
        this.ongoing.push({ topic, partition: index, replicas: merged, adding, removing });
      this.copied += adding.length;
    }
  }

  /** One more replica of a partition comes in sync; when all that are wanted are, the reassignment ends. */
  progress(which: number) {
    const done = this.ongoing[which % this.ongoing.length];
    if (!done) return;
    const at = this.partitions.findIndex(
      (each) => each.topic === done.topic && each.partition === done.partition,
    );
    const { isr, ...rest } = this.partitions[at]!;
    const replicas = done.replicas.filter((id) => !done.removing.includes(id));
    const lagging = replicas.find((id) => !isr.includes(id));
    if (lagging !== undefined) this.partitions[at] = { ...rest, isr: [...isr, lagging] };
    else {
      this.ongoing = this.ongoing.filter((each) => each !== done);
      this.partitions[at] = { ...rest, replicas, isr: replicas };
    }
  }
}

/** Some racks, brokers that stay and that go, and partitions anywhere on them. */
const clusters = fc
  .record({
    brokers: fc.array(
      fc.record({ rack: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }), goes: fc.boolean() }),
      { minLength: 1, maxLength: 7 },
    ),
    partitions: fc.array(
      fc.record({
        factor: fc.integer({ min: 1, max: 4 }),
        at: fc.integer({ min: 0, max: 5000 }),
        bytes: fc.option(fc.nat(1000), { nil: undefined }),
        outOfSync: fc.nat(3),
      }),
      { maxLength: 25, size: 'max' },
    ),
  })
  .map(({ brokers, partitions }) => {
    const places = brokers.map(({ rack, goes }, id) => broker(id, rack, goes ? 'drain' : 'stays'));
    const placed = partitions.map(({ factor, at, bytes, outOfSync }, index) => {
      const count = Math.min(factor, places.length);
      const ids = Array.from(places.keys()).toSorted((a, b) => ((a * 31 + at) % 7) - ((b * 31 + at) % 7));
      const replicas = ids.slice(0, count);
      const isr = replicas.length > outOfSync ? replicas.slice(0, replicas.length - outOfSync) : replicas;
      return { ...partition(`t${index % 4}`, index, replicas, bytes), isr };
    });
    return { places, placed };
  });

/** Another order of the same replicas is done at once. */
const isMove = ({ adding, removing }: Reassignment) => adding.length + removing.length > 0;
const byName = (each: readonly Reassignment[]) => each.toSorted((a, b) => a.partition - b.partition);
const goes = ({ state }: BrokerPlace) => state === 'drain';

suite('moves', () => {
  test('drains, keeps factors, racks and replicas in sync, and never has too many under way', () => {
    const steps = fc.array(fc.nat(50), { minLength: 5, maxLength: 40 });
    fc.assert(
      fc.property(
        clusters,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        steps,
        (world, most, rebalance, ends) => {
          const { places, placed } = world;
          const cluster = new Cluster([...placed], places);
          const options = { maxInFlight: most, rebalance };
          const staying = places.filter((each) => !goes(each));
          const rackOf = racksOf(places);
          const racks = rackCount(
            staying.map(({ id }) => id),
            rackOf,
          );
          const stuck = placed.some(
            ({ replicas }) =>
              replicas.length > staying.length &&
              replicas.some((id) => places.some((each) => each.id === id && goes(each))),
          );
          for (let step = 0; ; step++) {
            const plan = cluster.plan(options);
            assert.deepEqual(cluster.plan(options), plan, 'the same answer to the same question');
            assert.equal(plan.noPlace !== undefined, stuck);
            if (stuck) return assert.deepEqual(plan.begin, []);
            cluster.begin(plan);
            assert.deepEqual(byName(plan.moving.filter(isMove)), byName(cluster.ongoing));
            assert.ok(cluster.ongoing.length <= most);
            if (plan.done) break;
            cluster.progress(ends[step % ends.length]!);
            assert.ok(step < 2000, 'it does not end');
          }
          for (const [index, { replicas, isr }] of cluster.partitions.entries()) {
            const before = placed[index]!;
            assert.equal(replicas.length, before.replicas.length);
            assert.equal(new Set(replicas).size, replicas.length);
            assert.ok(!replicas.some((id) => goes(places[id]!)));
            const rackless = rackCount(replicas, rackOf);
            assert.ok(rackless >= Math.min(rackCount(before.replicas, rackOf), racks), 'racks were lost');
            assert.ok(isr.length >= before.isr.length, 'replicas in sync were lost');
          }
          return undefined;
        },
      ),
      { numRuns: 400 },
    );
  });

  test('moves nothing that need not move', () => {
    fc.assert(
      fc.property(clusters, ({ places, placed }) => {
        const cluster = new Cluster([...placed], places);
        const plan = cluster.plan({ maxInFlight: 1000, rebalance: false });
        for (const { topic, partition: index, replicas } of plan.begin) {
          const before = placed.find((each) => each.topic === topic && each.partition === index)!;
          for (const [position, id] of before.replicas.entries())
            assert.equal(replicas![position] !== id, goes(places[id]!));
        }
      }),
    );
  });

  test('a broker is drained evenly, leaders too', () => {
    const brokers = [broker(0), broker(1), broker(2), broker(3, undefined, 'drain')];
    const partitions = Array.from({ length: 12 }, (_, index) => partition('t', index, [3, index % 3]));
    const cluster = new Cluster(partitions, brokers);
    while (!cluster.plan(DRAIN).done) {
      cluster.begin(cluster.plan(DRAIN));
      cluster.progress(0);
    }
    const loads = loadsOf(cluster.partitions, brokers);
    assert.deepEqual(
      [0, 1, 2].map((id) => [loads.get(id)?.replicas, loads.get(id)?.leaders]),
      [0, 1, 2].map(() => [8, 4]),
    );
    assert.equal(cluster.copied, 12);
  });

  test('a new broker gets its share with no more moves than that', () => {
    const brokers = [broker(0, 'a'), broker(1, 'b'), broker(2, 'c'), broker(3, 'a')];
    const partitions = Array.from({ length: 20 }, (_, index) => {
      const first = index % 3;
      return partition('t', index, [first, (first + 1) % 3]);
    });
    const cluster = new Cluster(partitions, brokers);
    const options = { maxInFlight: 3, rebalance: true };
    while (!cluster.plan(options).done) {
      cluster.begin(cluster.plan(options));
      while (cluster.ongoing.length > 0) cluster.progress(0);
    }
    const loads = loadsOf(cluster.partitions, brokers);
    const counts = [0, 1, 2, 3].map((id) => loads.get(id)!.replicas);
    assert.deepEqual(counts, [10, 10, 10, 10]);
    const leaders = [0, 1, 2, 3].map((id) => loads.get(id)!.leaders);
    assert.ok(Math.max(...leaders) - Math.min(...leaders) <= 2, leaders.join());
    assert.equal(cluster.copied, 10);
    const rackOf = racksOf(brokers);
    assert.ok(cluster.partitions.every(({ replicas }) => rackCount(replicas, rackOf) === 2));
  });

  test('of partitions that could move, the one that evens out bytes is taken', () => {
    const sizes = [1, 100, 40, 1];
    const partitions = sizes.map((bytes, index) => partition('t', index, [0], bytes));
    const { begin } = moves(partitions, [broker(0), broker(1)], [], { maxInFlight: 1, rebalance: true });
    // 142 against 0: 100 is nearer to half of it than 40 is.
    assert.deepEqual(begin, [{ topic: 't', partition: 1, replicas: [1] }]);
  });

  test('what has no place is named, up to a number of them, and nothing is begun', () => {
    const brokers = [broker(0), broker(1), broker(2, undefined, 'drain')];
    const wide = Array.from({ length: 15 }, (_, index) => partition('wide', index, [0, 1, 2]));
    const plan = moves([...wide, partition('a', 0, [2])], brokers, [], DRAIN);
    assert.deepEqual(plan.begin, []);
    assert.equal(plan.noPlace?.count, 15);
    assert.equal(plan.noPlace.first.length, 10);
    assert.deepEqual(plan.noPlace.first[0], { topic: 'wide', partition: 0 });
    assert.equal(plan.toDrain, 16);
    assert.equal(plan.done, false);
  });

  test('what only waits for a broker to come back holds up nothing else', () => {
    const brokers = [broker(0), broker(1), { ...broker(2), available: false }, broker(3, undefined, 'drain')];
    const partitions = [partition('wide', 0, [0, 1, 3]), partition('x', 0, [3, 0])];
    const plan = moves(partitions, brokers, [], { maxInFlight: 5, rebalance: true });
    assert.deepEqual(plan.begin, [{ topic: 'x', partition: 0, replicas: [1, 0] }]);
    assert.deepEqual(plan.waiting, { count: 1, first: [{ topic: 'wide', partition: 0 }] });
  });

  test('a reassignment that leads to a broker which goes is replaced, others are left alone', () => {
    const brokers = [broker(0), broker(1), broker(2, undefined, 'drain')];
    const ongoing = [
      { topic: 'x', partition: 0, replicas: [2, 0], adding: [2], removing: [0] },
      { topic: 'y', partition: 0, replicas: [1, 2], adding: [1], removing: [2] },
    ];
    const partitions = [
      { ...partition('x', 0, [2, 0]), isr: [0] },
      { ...partition('y', 0, [1, 2]), isr: [2] },
      partition('z', 0, [2]),
    ];
    const plan = moves(partitions, brokers, ongoing, { maxInFlight: 2, rebalance: false });
    assert.deepEqual(plan.begin, [{ topic: 'x', partition: 0, replicas: [0] }]);
    assert.deepEqual([plan.underWay, plan.toDrain, plan.done], [2, 3, false]);
  });

  test('a reassignment by which a replica is to come and to go is ended: it would never end by itself', () => {
    const brokers = [broker(0), broker(1), broker(2), broker(3, undefined, 'drain')];
    const ongoing = [{ topic: 'x', partition: 0, replicas: [1, 0, 2, 3], adding: [3], removing: [3] }];
    const plan = moves([partition('x', 0, [1, 0, 2, 3])], brokers, ongoing, DRAIN);
    assert.deepEqual(plan.begin, [{ topic: 'x', partition: 0, replicas: null }]);
    assert.deepEqual([plan.moving, plan.underWay, plan.toDrain, plan.done], [[], 1, 1, false]);
    const after = moves([partition('x', 0, [1, 0, 2])], brokers, [], DRAIN);
    assert.deepEqual([after.begin, after.done], [[], true]);
  });

  test('what cannot end as long as another replica lags comes last', () => {
    const brokers = [broker(0), broker(1), broker(2), broker(3, undefined, 'drain')];
    const partitions = [{ ...partition('a', 0, [3, 0]), isr: [3] }, partition('b', 0, [3, 0])];
    const { begin } = moves(partitions, brokers, [], { maxInFlight: 1, rebalance: false });
    assert.deepEqual(
      begin.map(({ topic }) => topic),
      ['b'],
    );
  });

  test('replicas out of sync are not moved for balance, nor those on brokers that nobody listed', () => {
    const lagging = { ...partition('t', 0, [0]), isr: [] };
    const partitions = [lagging, ...[1, 2].map((index) => partition('t', index, [9]))];
    assert.deepEqual(moves(partitions, [broker(0), broker(1)], [], EVEN).begin, []);
    assert.equal(moves(partitions, [broker(0), broker(1)], [], EVEN).done, true);
  });

  test('100,000 partitions are planned within a moment', () => {
    const brokers = Array.from({ length: 12 }, (_, id) =>
      broker(id, `r${id % 3}`, id === 11 ? 'drain' : 'stays'),
    );
    const partitions = Array.from({ length: 100_000 }, (_, index) =>
      partition(`topic-${index % 1000}`, index, [index % 12, (index + 1) % 12, (index + 2) % 12], index),
    );
    const from = process.cpuUsage();
    const drained = moves(partitions, brokers, [], { maxInFlight: 50, rebalance: true });
    const grown = [...brokers.map((each) => ({ ...each, state: 'stays' as const })), broker(12, 'r0')];
    const filled = moves(partitions, grown, [], { maxInFlight: 50, rebalance: true });
    const cpu = process.cpuUsage(from);
    assert.deepEqual([drained.begin.length, filled.begin.length], [50, 50]);
    assert.ok(filled.begin.every(({ replicas }) => replicas?.includes(12)));
    // CPU time, so that others on the machine do not matter much; 1.1 s are usual.
    assert.ok(cpu.user + cpu.system < 30_000_000, `${(cpu.user + cpu.system) / 1e6} s`);
  });
});
