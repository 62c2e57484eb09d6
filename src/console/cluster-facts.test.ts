import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { clustersIn } from './cluster-facts.ts';

const object = (kind: string, name: string, more: object = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'a', labels },
  ...more,
});

const pod = (id: number, { isReady = true, isBroker = true } = {}) =>
  object(
    'Pod',
    `main-brokers-${id}`,
    { status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] } },
    { 'strimzi.io/cluster': 'main', 'strimzi.io/broker-role': String(isBroker) },
  );

suite('clusters of a Kubernetes cluster', () => {
  test('a virtual cluster, with what its status says of addresses, and the brokers of its Kafka', () => {
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
      brokers: [
        { id: 0, state: 'ready' },
        { id: 2, state: 'ready' },
      ],
    });
    assert.deepEqual(
      [main?.proxy, main?.bootstrap[0]?.address, main?.brokers],
      [undefined, 'main:9092', orders.brokers],
    );
  });

  test('a broker is one by its role, and ready by its pod', () => {
    const [main] = clustersIn([
      object('Kafka', 'main'),
      pod(0),
      pod(1, { isReady: false }),
      pod(2, { isBroker: false }),
      object('Pod', 'main-brokers-3', {}, pod(3).metadata.labels),
    ]);
    assert.deepEqual(main?.brokers, [
      { id: 0, state: 'ready' },
      { id: 1, state: 'notReady' },
      { id: 3, state: 'notReady' },
    ]);
  });

  test('listeners by TLS are shown as such', () => {
    const listeners = [
      { name: 'plain', bootstrapServers: 'main:9092' },
      { name: 'tls', bootstrapServers: 'main:9093' },
    ];
    const spec = {
      kafka: {
        listeners: [
          { name: 'plain', tls: false },
          { name: 'tls', tls: true },
        ],
      },
    };
    const kafkaApi = [{}, { external: { enabled: true }, tls: { enabled: true } }];
    const panda = (nodes: object) =>
      object('Cluster', 'panda', { spec: { configuration: { kafkaApi } }, status: { nodes } });
    const [main, outside, inside] = clustersIn([
      object('Kafka', 'main', { spec, status: { listeners } }),
      panda({ internal: ['a:1'], external: ['b:1'] }),
      panda({ internal: ['a:1'] }),
    ]).map(({ bootstrap }) => bootstrap.map(({ tls }) => tls));
    assert.deepEqual([main, outside, inside], [[false, true], [true], [false]]);
  });

  test('of a Redpanda it is known how many brokers are ready, and not which', () => {
    const nodes = { internal: ['a:1', 'b:1'] };
    const states = [2, 1, 0, undefined].map((readyReplicas) => {
      const [panda] = clustersIn([object('Cluster', 'panda', { status: { nodes, readyReplicas } })]);
      return panda?.brokers.map(({ state }) => state);
    });
    assert.deepEqual(states, [
      ['ready', 'ready'],
      ['unknown', 'unknown'],
      ['notReady', 'notReady'],
      ['unknown', 'unknown'],
    ]);
  });

  test('filters are those that a request meets, whoever asks for them', () => {
    const refs = (...names: string[]) => names.map((name) => ({ name }));
    const proxy = object('KafkaProxy', 'edge', {
      spec: {
        defaultFilterRefs: refs('usual'),
        mandatoryFilterRefs: { first: refs('audit'), last: refs('encryption') },
      },
    });
    const filtersOf = (spec: object) =>
      clustersIn([proxy, object('VirtualKafkaCluster', 'x', { spec })])[0]?.filters;
    const proxyRef = { name: 'edge' };
    assert.deepEqual(filtersOf({ proxyRef }), ['audit', 'usual', 'encryption']);
    assert.deepEqual(filtersOf({ proxyRef, filterRefs: [] }), ['audit', 'encryption']);
    assert.deepEqual(filtersOf({ proxyRef, filterRefs: refs('encryption', 'own') }), [
      'audit',
      'own',
      'encryption',
    ]);
    assert.deepEqual(filtersOf({ proxyRef: { name: 'gone' } }), []);
  });

  test('one that says nothing yet is there all the same', () => {
    const bare = ['VirtualKafkaCluster', 'Kafka', 'Cluster'].map((kind) => object(kind, 'x'));
    assert.deepEqual(
      clustersIn(bare).map(({ kind, bootstrap, brokers }) => [kind, bootstrap.length, brokers.length]),
      [
        ['VirtualKafkaCluster', 0, 0],
        ['Kafka', 0, 0],
        ['Cluster', 0, 0],
      ],
    );
  });
});
