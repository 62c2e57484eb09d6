import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../ops/log.ts';
import type { Admin } from '../../../kafka/admin/admin.ts';
import { partitionsByNode } from '../roll/partitions.ts';
import { forget, strandedBrokers } from './gone-brokers.ts';

const charter = { nodes: [{ id: 0, pool: 'a', target: '', roles: [], leaving: false, formatted: [] }] };
const factsWith = (replicas: number[]) => ({
  brokers: { at: 0, registered: new Map([[0, { fenced: false }], [1, { fenced: true }], [2, { fenced: false }]]) }, // prettier-ignore
  partitions: {
    at: 0,
    unready: new Set<number>(),
    byNode: partitionsByNode([{ topic: 't', partition: 0, replicas, isr: [0], minIsr: 1 }], new Set()),
  },
});

async function forgotten(facts: Parameters<typeof forget>[2]): Promise<number[]> {
  const ids: number[] = [];
  const admin = { unregisterBroker: async (id: number) => (ids.push(id), { value: undefined }) };
  const context = { log: createLog('silent'), tell: () => {} };
  await forget(admin as unknown as Admin, charter, facts, context);
  return ids;
}

test('a broker that is gone is forgotten once it has no replicas, and not while that is unknown', async () => {
  assert.deepEqual(await forgotten(factsWith([0])), [1]);
  assert.deepEqual(await forgotten(factsWith([0, 1])), []);
  assert.deepEqual(await forgotten({ ...factsWith([0]), partitions: undefined }), []);
});

test('what a broker was given in its last moment is to be put elsewhere', () => {
  assert.deepEqual(strandedBrokers(charter, factsWith([0, 1])), [1]);
  assert.deepEqual(strandedBrokers(charter, factsWith([0, 2])), []);
});
