import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { budgetOf, podResources, workersOf } from './pod-resources.ts';

const proxyWith = (resources?: object) =>
  ({ spec: { infrastructure: { proxy: { resources } } } }) as unknown as KafkaProxy;
const MIB = 2 ** 20;

test('pods have requests and limits, and the default memory has room for the default budgets', () => {
  const resources = podResources(proxyWith());
  assert.deepEqual(resources, {
    requests: { cpu: '250m', memory: '256Mi' },
    limits: { cpu: '2', memory: '1Gi' },
  });
  assert.equal(workersOf(resources), 2);
  assert.equal(budgetOf(resources), 256 * MIB);
  assert.ok(2 * 256 + 3 * 100 + 160 <= 1024);
});

test('whoever says something of CPU or memory has said all of it', () => {
  assert.deepEqual(podResources(proxyWith({ requests: { memory: '2Gi' } })), {
    requests: { cpu: '250m', memory: '2Gi' },
    limits: { cpu: '2' },
  });
  assert.deepEqual(podResources(proxyWith({ limits: { cpu: 4, memory: '3Gi' } })), {
    requests: {},
    limits: { cpu: 4, memory: '3Gi' },
  });
});

for (const [limits, workers, budget] of [
  [{ cpu: 1, memory: '512Mi' }, 1, 50],
  [{ cpu: '1500m', memory: '4Gi' }, 2, 256],
  [{ cpu: 8, memory: '1Gi' }, 8, 64],
  [{ cpu: '250m', memory: '2e9' }, 1, 128],
  [{ cpu: 2, memory: '1G' }, 2, 221],
] as const) {
  test(`${JSON.stringify(limits)} are ${workers} workers that hold ${budget} MiB`, () => {
    const resources = podResources(proxyWith({ limits }));
    assert.equal(workersOf(resources), workers);
    assert.equal(Math.floor(budgetOf(resources)! / MIB), budget);
  });
}

test('without a memory limit the proxy has its own defaults', () => {
  assert.equal(budgetOf({ requests: {}, limits: {} }), undefined);
});
