/** The planner of moves with a real Kafka: a broker is drained under throttle, then gets its share again. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { loadsOf } from '../../../src/control/brokers/moves/layout.ts';
import type { BrokerPlace, PlacedPartition } from '../../../src/control/brokers/moves/layout.ts';
import { moves } from '../../../src/control/brokers/moves/moves.ts';
import type { MoveOptions } from '../../../src/control/brokers/moves/moves.ts';
import { throttleChanges } from '../../../src/control/brokers/moves/throttle.ts';
import type { Throttle } from '../../../src/control/brokers/moves/throttle.ts';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import type { ConfigEntry, ConfigResource } from '../../../src/kafka/admin/configs.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { PATIENT, addressesOf, ascending, errorsOf, gather, valueOf } from './admin-site.ts';

const RATE = 3_000_000;
const MOST = 2;

/** What was set for the resource itself, by side. */
function throttleOf(configs: Record<string, ConfigEntry>, what: string): Throttle {
  const sides = (['leader', 'follower'] as const).flatMap((side) => {
    const entry = configs[`${side}.replication.throttled.${what}`];
    return entry?.value && (entry.source === 'topic' || entry.source === 'broker')
      ? [[side, entry.value]]
      : [];
  });
  return Object.fromEntries(sides) as Throttle;
}

suite('moves in a real Kafka', () => {
  let kafka: KafkaCluster;
  let admin: Admin;
  before(async () => {
    kafka = await startKafka({ brokers: 3 });
    admin = openAdmin({ ...PATIENT, bootstrap: addressesOf(kafka.addresses('PLAINTEXT')) });
    for (const topic of ['a', 'b']) await kafka.createTopic(topic, { partitions: 6, replicas: 2 });
  });
  after(async () => {
    admin?.close();
    await kafka?.stop();
  });

  const placed = async (): Promise<PlacedPartition[]> => {
    const { topics } = await gather(admin.topics({ names: ['a', 'b'] }));
    return [...topics.values()].flatMap(({ name: topic, partitions }) =>
      partitions.map(({ index, replicas, isr }) => ({ topic, partition: index, replicas, isr })),
    );
  };
  const throttles = async () => {
    const topics = ['a', 'b'].map((name): ConfigResource => ({ type: 'topic', name }));
    const brokers = ['1', '2', '3'].map((name): ConfigResource => ({ type: 'broker', name }));
    const found = await admin.configs([...topics, ...brokers]);
    const of = (type: string, what: string) =>
      found
        .filter(({ resource }) => resource.type === type)
        .map(({ resource, configs }) => [resource.name, throttleOf(configs, what)] as const);
    return {
      replicas: new Map(of('topic', 'replicas')),
      rates: new Map(of('broker', 'rate').map(([name, throttle]) => [Number(name), throttle])),
    };
  };

  /** One look and what it leads to, as a reconcile would. Tells whether nothing is left to do. */
  async function step(brokers: readonly BrokerPlace[], options: MoveOptions): Promise<boolean> {
    const ongoing = valueOf(await admin.reassignments());
    const plan = moves(await placed(), brokers, ongoing, options);
    // A broker does not know yet that a move has ended.
    if (plan.noPlace) return false;
    assert.ok(plan.underWay <= MOST);
    const changes = throttleChanges(plan.moving, await throttles(), RATE);
    const set = await admin.alterConfigs(changes.set);
    set.push(...(await admin.alterConfigs(changes.clear)));
    assert.ok(
      set.every(({ error }) => !error),
      errorsOf(set).join(),
    );
    if (plan.moving.some(({ adding }) => adding.length > 0))
      await waitFor('the throttle', async () => {
        const { rates, replicas } = await throttles();
        return [...rates.values()].some(({ leader }) => leader === '3000417') && replicas.size > 0;
      });
    const results = await admin.reassign(plan.begin);
    assert.ok(
      results.every(({ error }) => !error || error.name === 'INVALID_REPLICATION_FACTOR'),
      errorsOf(results).join(),
    );
    return plan.done && set.length === 0;
  }

  test('a broker becomes empty, gets its share again, and no throttle is left', async () => {
    const all = [1, 2, 3].map((id): BrokerPlace => ({ id, rack: `r${id}`, state: 'stays', available: true }));
    const draining = all.map((each) => (each.id === 3 ? { ...each, state: 'drain' as const } : each));
    await waitFor('broker 3 is empty', () => step(draining, { maxInFlight: MOST, rebalance: false }), {
      timeoutMs: 600_000,
    });
    const drained = await placed();
    assert.equal(drained.length, 12);
    assert.ok(drained.every(({ replicas }) => ascending(replicas).join() === '1,2'));
    await waitFor('broker 3 has its share', () => step(all, { maxInFlight: MOST, rebalance: true }), {
      timeoutMs: 600_000,
    });
    const loads = [...loadsOf(await placed(), all).values()];
    assert.deepEqual(
      loads.map(({ replicas }) => replicas),
      [8, 8, 8],
    );
    const leaders = loads.map(({ leaders: count }) => count);
    assert.ok(Math.max(...leaders) - Math.min(...leaders) <= 2, leaders.join());
    const { rates, replicas } = await throttles();
    assert.deepEqual(
      [...rates.values(), ...replicas.values()].filter((each) => Object.keys(each).length > 0),
      [],
    );
  });
});
