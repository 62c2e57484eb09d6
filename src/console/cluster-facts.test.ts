import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { clustersIn } from './cluster-facts.ts';

const object = (kind: string, name: string, more: object = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'a', labels },
  ...more,
});

suite('clusters of a Kubernetes cluster', () => {
  test('a virtual cluster, with what its status says of addresses, and the brokers of its Kafka', () => {
    const pod = (id: number) => object('Pod', `main-brokers-${id}`, {}, { 'strimzi.io/cluster': 'main' });
    const kafka = object('Kafka', 'main', {
      status: { listeners: [{ name: 'internal', bootstrapServers: 'main:9092' }] },
    });
    const spec = {
      proxyRef: { name: 'edge' },
      filterRefs: [{ name: 'encryption' }],
      targetCluster: { clusterRef: { kind: 'Kafka', name: 'main' } },
    };
    const status = {
      ingresses: [{ name: 'in', bootstrap: 'orders.test:9443', protocol: 'TLS' }, { name: 'pending' }],
    };
    const virtual = object('VirtualKafkaCluster', 'orders', { spec, status });
    const [orders, main] = clustersIn([virtual, kafka, pod(2), pod(0), object('Pod', 'other-1')]);
    assert.deepEqual(orders, {
      kind: 'VirtualKafkaCluster',
      name: 'orders',
      namespace: 'a',
      proxy: 'edge',
      bootstrap: [{ ingress: 'in', address: 'orders.test:9443', tls: true }],
      filters: ['encryption'],
      target: { kind: 'Kafka', name: 'main', address: 'main:9092' },
      nodeIds: [0, 2],
    });
    assert.deepEqual(
      [main?.proxy, main?.bootstrap[0]?.address, main?.nodeIds],
      [undefined, 'main:9092', [0, 2]],
    );
  });

  test('one that says nothing yet is there all the same', () => {
    const bare = ['VirtualKafkaCluster', 'Kafka', 'Cluster'].map((kind) => object(kind, 'x'));
    assert.deepEqual(
      clustersIn(bare).map(({ kind, bootstrap, nodeIds }) => [kind, bootstrap.length, nodeIds.length]),
      [
        ['VirtualKafkaCluster', 0, 0],
        ['Kafka', 0, 0],
        ['Cluster', 0, 0],
      ],
    );
  });
});
