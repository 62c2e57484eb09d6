import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterWith } from '../../../test/support/brokers/models.ts';
import { podSet, podsIn } from '../brokers/objects/pod-sets.ts';
import { dnsManifests, DNS_COMPONENT, DNS_NAME } from '../discover/install.ts';
import { deployment } from './manifests.ts';
import type { Manifest } from './objects.ts';
import { partMonitor, podMonitors } from './pod-monitor.ts';

const kafkaMonitor = (namespaces: string[]) => podMonitors('isthmus', namespaces).at(-1)!;

interface Monitor {
  selector: { matchLabels: Record<string, string> };
  namespaceSelector: object;
  podMetricsEndpoints: { port: string }[];
}

test('a PodMonitor finds the pods of Kafka clusters, and the port that they tell Prometheus on', () => {
  const cluster = clusterWith({ metrics: { image: 'isthmus:test', allowList: [] } });
  const pods = podsIn(podSet(cluster, cluster.pools[0]!, 1, new Map()));
  const { selector, podMetricsEndpoints } = kafkaMonitor([])['spec'] as Monitor;
  assert.equal(pods.length, 3);
  for (const { metadata, spec } of pods) {
    for (const [label, value] of Object.entries(selector.matchLabels))
      assert.equal(metadata.labels?.[label], value, label);
    const { containers } = spec as { containers: { ports: { name: string }[] }[] };
    assert.ok(containers[0]!.ports.some(({ name }) => name === podMetricsEndpoints[0]!.port));
  }
});

test('it looks where the operator looks', () => {
  const where = (namespaces: string[]) => (kafkaMonitor(namespaces)['spec'] as Monitor).namespaceSelector;
  assert.deepEqual(where([]), { any: true });
  assert.deepEqual(where(['a', 'b']), { matchNames: ['a', 'b'] });
});

interface Workload {
  template: {
    metadata: { labels: Record<string, string> };
    spec: {
      containers: { ports: { name: string }[] }[];
      volumes: { secret?: { secretName: string } }[];
    };
  };
}

test('those of the operator and of the DNS server find their pods, the port, and the Secret that these have their token from', () => {
  const options = { namespace: 'isthmus', image: 'isthmus:test', replicas: 1 };
  const dns = dnsManifests({ ...options, config: '', imports: undefined, reach: 'pods' });
  const pairs: [Manifest, Manifest][] = [
    [podMonitors('isthmus', [])[0]!, deployment({ ...options, roads: ['proxy'] })],
    [partMonitor(DNS_COMPONENT, DNS_NAME, 'isthmus'), dns.find(({ kind }) => kind === 'Deployment')!],
  ];
  for (const [monitor, workload] of pairs) {
    const { selector, podMetricsEndpoints } = monitor['spec'] as Monitor;
    const { metadata, spec } = (workload['spec'] as Workload).template;
    for (const [label, value] of Object.entries(selector.matchLabels))
      assert.equal(metadata.labels[label], value);
    const [{ port, authorization }] = podMetricsEndpoints as [
      { port: string; authorization: { credentials: { name: string } } },
    ];
    assert.ok(spec.containers[0]!.ports.some(({ name }) => name === port));
    assert.ok(spec.volumes.some(({ secret }) => secret?.secretName === authorization.credentials.name));
  }
});
