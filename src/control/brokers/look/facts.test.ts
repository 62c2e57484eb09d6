/** The admin client is a fake: a real Kafka does not refuse to describe a topic on demand. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Admin } from '../../../kafka/admin/admin.ts';
import { askBrokers } from './facts.ts';

function adminWith(minIsr: Record<string, string>): Admin {
  const topics = ['a', 'b'].map((name) => ({
    name,
    partitions: [{ index: 0, leader: 1, replicas: [1, 2, 3], isr: [1, 2] }],
  }));
  return {
    quorum: async () => ({ error: { message: 'x' } }),
    cluster: async () => ({
      value: { nodes: [1, 2, 3].map((id) => ({ id, rack: `r${id}`, fenced: false })) },
    }),
    features: async () => ({ value: { finalized: { 'metadata.version': 30 } } }),
    async *topics() {
      yield { value: topics };
    },
    configs: async (resources: { name: string }[]) =>
      resources.map((resource) => {
        const value = minIsr[resource.name];
        return { resource, configs: value === undefined ? {} : { 'min.insync.replicas': { value } } };
      }),
  } as unknown as Admin;
}

const ask = (minIsr: Record<string, string>) =>
  askBrokers(adminWith(minIsr), { ids: [], unready: new Set() }, () => 1);

suite('what Kafka says before a restart', () => {
  test('which node is needed by which partition', async () => {
    const { partitions, health } = await ask({ a: '2', b: '1' });
    assert.deepEqual(partitions?.byNode.get(1)?.needed.names, ['a-0']);
    assert.deepEqual(health, { underReplicated: 2, offline: 0 });
  });

  test('which topics would not survive the loss of a broker; nothing where that is not known', async () => {
    const { layout } = await ask({ a: '3', b: '2' });
    assert.deepEqual(layout?.map(({ reason }) => reason), ['NoSpareReplica']); // prettier-ignore
    assert.match(layout?.[0]?.message ?? '', /: a\./);
    assert.equal((await ask({ a: '3' })).layout, undefined);
  });

  test('where one topic’s min.insync.replicas cannot be read, nothing is known of partitions', async () => {
    const { partitions, problems } = await ask({ a: '2' });
    assert.equal(partitions, undefined);
    assert.ok(problems.includes('the partitions: not known'), problems.join());
  });
});
