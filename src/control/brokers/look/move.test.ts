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
  const wish = { leaving: [1], rebalance: false, bytesPerSecond: 50_000_000, maxInFlight: 20 };
  const looks = [];
  for (let n = 0; n < 3; n++) looks.push(await moveOn(admin, wish));
  assert.deepEqual(looks.map(({ drained }) => drained), [[], [], [1]]); // prettier-ignore
  assert.deepEqual(looks.map(({ done }) => done), [false, false, true]); // prettier-ignore
  assert.deepEqual([...configs.values()].flatMap((values) => [...values]), []); // prettier-ignore
});

test('a throttle of ours is found also when nothing is to be moved any more, and nobody else’s is', () => {
  const idle = { leaving: [], rebalance: false, bytesPerSecond: undefined, maxInFlight: 20 };
  assert.equal(wantsMoves(idle), false);
  const throttledBy = (name: string, value: string) =>
    isThrottled(new Map([[1, [{ name, value }]]]) as unknown as KafkaFacts['configs']);
  assert.equal(throttledBy(RATE, '50000417'), true);
  assert.equal(throttledBy(RATE, '50000000'), false);
  assert.equal(throttledBy('log.retention.ms', '50000417'), false);
});
