import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { ConfigChanges } from '../../../kafka/admin/configs.ts';
import type { KafkaFacts } from './facts.ts';
import { cordonedAmong, isThrottled, moveOn, wantsMoves } from './move.ts';

test('brokers that take no replicas although they stay are found, and none that somebody cordons in part or that is to go', () => {
  const entry = (value: string) => [
    { name: 'cordoned.log.dirs', value },
    { name: 'node.id', value: '*' },
  ];
  const configs = new Map([
    [1, entry('*')],
    [2, entry('/var/lib/kafka/data')],
    [3, entry('*')],
    [4, [{ name: 'node.id', value: '*' }]],
  ]) as unknown as KafkaFacts['configs'];
  assert.deepEqual(cordonedAmong(configs, [3]), [1]);
  assert.deepEqual(cordonedAmong(configs), [1, 3]);
});

const RATE = 'leader.replication.throttled.rate';
const LIST = 'leader.replication.throttled.replicas';

/** The admin client is a fake: a cluster whose last move has just ended, so that its throttle is still there. */
function movedCluster() {
  const configs = new Map([
    ['broker 0', new Map([[RATE, '50000417']])],
    ['broker 1', new Map([[RATE, '50000417']])],
    ['topic t', new Map([[LIST, '0:0,0:1']])],
  ]);
  const admin = {
    cluster: async () => ({ value: { nodes: [0, 1].map((id) => ({ id, rack: null, fenced: false })) } }),
    async *topics() {
      yield { value: [{ name: 't', partitions: [{ index: 0, replicas: [0], isr: [0] }] }] };
    },
    reassignments: async () => ({ value: [] }),
    configs: async (resources: { type: string; name: string }[]) =>
      resources.map((resource) => {
        const found = [...(configs.get(`${resource.type} ${resource.name}`) ?? [])];
        const values = found.map(([name, value]) => [name, { value, source: resource.type }]);
        return { resource, configs: Object.fromEntries(values) as object };
      }),
    alterConfigs: async (changes: readonly ConfigChanges[]) => {
      for (const { resource, changes: its } of changes)
        for (const { name, change } of its)
          if (change === 'delete') configs.get(`${resource.type} ${resource.name}`)?.delete(name);
      return [];
    },
  };
  return { admin: admin as unknown as Admin, configs };
}

test('a broker is drained, and all is done, only when nothing of the throttle is left', async () => {
  const { admin, configs } = movedCluster();
  const wish = {
    leaving: [1],
    staying: [0],
    cordons: false,
    rebalance: false,
    bytesPerSecond: 50_000_000,
    maxInFlight: 20,
  };
  const looks = [];
  for (let n = 0; n < 3; n++) looks.push(await moveOn(admin, wish));
  assert.deepEqual(looks.map(({ drained }) => drained), [[], [], [1]]); // prettier-ignore
  assert.deepEqual(looks.map(({ done }) => done), [false, false, true]); // prettier-ignore
  assert.deepEqual([...configs.values()].flatMap((values) => [...values]), []); // prettier-ignore
});

/** A cluster that gives a new topic to broker 1 while its partitions are read, unless that one is closed by then. */
function growingCluster({ refuses = false } = {}) {
  const closed = new Set<string>();
  const topics = [{ name: 'old', partitions: [{ index: 0, replicas: [0], isr: [0] }] }];
  const grow = (name: string) => topics.push({ name, partitions: [{ index: 0, replicas: [1], isr: [1] }] });
  const admin = {
    cluster: async () => ({ value: { nodes: [0, 1].map((id) => ({ id, rack: null, fenced: false })) } }),
    async *topics() {
      yield { value: structuredClone(topics) };
      if (!closed.has('1')) grow(`new-${topics.length}`);
    },
    reassignments: async () => ({ value: [] }),
    reassign: async () => [],
    configs: async (resources: { type: string; name: string }[]) =>
      resources.map((resource) => {
        const isClosed = resource.type === 'broker' && closed.has(resource.name);
        return {
          resource,
          configs: isClosed ? { 'cordoned.log.dirs': { value: '*', source: 'broker' } } : {},
        };
      }),
    // The controller hears of it a moment later.
    alterConfigs: async ([{ resource }]: [ConfigChanges]) => {
      if (refuses) return [{ resource, error: { message: 'no such setting' } }];
      if (closed.size === 0) grow('last');
      closed.add(resource.name);
      return [{ resource }];
    },
  };
  return { admin: admin as unknown as Admin, empty: () => void (topics.length = 1) };
}

const DRAIN = {
  leaving: [1],
  staying: [0],
  cordons: true,
  rebalance: false,
  bytesPerSecond: undefined,
  maxInFlight: 20,
};

test('a broker is drained only if it was closed to new replicas before its partitions were read', async () => {
  const { admin, empty } = growingCluster();
  const first = await moveOn(admin, DRAIN);
  assert.deepEqual([first.drained, first.toDrain, first.done], [[], 1, false]);
  empty();
  const second = await moveOn(admin, DRAIN);
  assert.deepEqual([second.drained, second.toDrain, second.done], [[1], 0, true]);
});

test('a broker that was empty when it was closed is looked at once more', async () => {
  const { admin, empty } = growingCluster();
  const close = admin.alterConfigs.bind(admin);
  admin.alterConfigs = async (...given) => close(...given).finally(empty);
  assert.deepEqual((await moveOn(admin, DRAIN)).drained, []);
  assert.deepEqual((await moveOn(admin, DRAIN)).drained, [1]);
});

test('a broker that cannot be closed is not drained, and says why; where Kafka cannot close any, being empty is enough', async () => {
  const refusing = growingCluster({ refuses: true });
  const { drained, open } = await moveOn(refusing.admin, DRAIN);
  assert.deepEqual([drained, open], [[], [{ id: 1, problem: 'no such setting' }]]);
  const older = await moveOn(growingCluster().admin, { ...DRAIN, cordons: false });
  assert.deepEqual([older.drained, older.open], [[1], []]);
});

test('brokers that did not run are told apart, and what the controller is about to give to one counts', async () => {
  const at = { adding: [1], removing: [], replicas: [1, 0] };
  const ongoing: object[] = [];
  const admin = {
    ...growingCluster().admin,
    cluster: async () => ({ value: { nodes: [0, 1].map((id) => ({ id, rack: null, fenced: id === 1 })) } }),
    async *topics() {
      yield { value: [{ name: 'old', partitions: [{ index: 0, replicas: [0], isr: [0] }] }] };
    },
    reassignments: async () => ({ value: ongoing }),
  } as unknown as Admin;
  const asleep = await moveOn(admin, { ...DRAIN, leaving: [1, 2] });
  assert.deepEqual(
    [asleep.drained, asleep.down],
    [
      [1, 2],
      [1, 2],
    ],
  );
  ongoing.push({ topic: 'old', partition: 0, ...at });
  assert.deepEqual((await moveOn(admin, DRAIN)).drained, []);
});

test('nothing is moved to a broker that runs and is not of the cluster any more', async () => {
  const begun: number[][] = [];
  const admin = {
    cluster: async () => ({
      value: { nodes: [0, 1, 2, 3].map((id) => ({ id, rack: null, fenced: false })) },
    }),
    async *topics() {
      yield { value: [{ name: 't', partitions: [{ index: 0, replicas: [0, 1], isr: [0, 1] }] }] };
    },
    reassignments: async () => ({ value: [] }),
    configs: async () => [],
    alterConfigs: async () => [],
    reassign: async (all: { replicas: number[] }[]) => (
      begun.push(...all.map(({ replicas }) => replicas)),
      []
    ),
  } as unknown as Admin;
  await moveOn(admin, { ...DRAIN, cordons: false, staying: [0, 3] });
  assert.deepEqual(begun, [[0, 3]]);
});

test('a throttle of ours is found also when nothing is to be moved any more, and nobody else’s is', () => {
  const idle = { ...DRAIN, leaving: [] };
  assert.equal(wantsMoves(idle), false);
  const throttledBy = (name: string, value: string) =>
    isThrottled(new Map([[1, [{ name, value }]]]) as unknown as KafkaFacts['configs']);
  assert.equal(throttledBy(RATE, '50000417'), true);
  assert.equal(throttledBy(RATE, '50000000'), false);
  assert.equal(throttledBy('log.retention.ms', '50000417'), false);
});
