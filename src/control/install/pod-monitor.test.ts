import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterWith } from '../../../test/support/brokers/models.ts';
import { podSet, podsIn } from '../brokers/objects/pod-sets.ts';
import { podMonitor } from './pod-monitor.ts';

interface Monitor {
  selector: { matchLabels: Record<string, string> };
  namespaceSelector: object;
  podMetricsEndpoints: { port: string }[];
}

test('a PodMonitor finds the pods of Kafka clusters, and the port that they tell Prometheus on', () => {
  const cluster = clusterWith({ metrics: { image: 'isthmus:test', allowList: [] } });
  const pods = podsIn(podSet(cluster, cluster.pools[0]!, 1, new Map()));
  const { selector, podMetricsEndpoints } = podMonitor('isthmus', [])['spec'] as Monitor;
  assert.equal(pods.length, 3);
  for (const { metadata, spec } of pods) {
    for (const [label, value] of Object.entries(selector.matchLabels))
      assert.equal(metadata.labels?.[label], value, label);
    const { containers } = spec as { containers: { ports: { name: string }[] }[] };
    assert.ok(containers[0]!.ports.some(({ name }) => name === podMetricsEndpoints[0]!.port));
  }
});

test('it looks where the operator looks', () => {
  const where = (namespaces: string[]) =>
    (podMonitor('isthmus', namespaces)['spec'] as Monitor).namespaceSelector;
  assert.deepEqual(where([]), { any: true });
  assert.deepEqual(where(['a', 'b']), { matchNames: ['a', 'b'] });
});
