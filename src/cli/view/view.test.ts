/** States, tables and trees from objects. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { render } from '../output.ts';
import { ageText, columnsOf, valueAt } from './columns.ts';
import { describeText } from './description.ts';
import { healthOf, isObserved } from '../../view/health.ts';
import { clustersOf, countByKind, isSettled, statusOf, worstFirst } from '../../view/status.ts';
import { treeText } from './tree-text.ts';
import { treeOf } from '../../view/tree.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');

function object(
  kind: string,
  name: string,
  rest: object = {},
  labels: Record<string, string> = {},
): AnyObject {
  const metadata = { name, namespace: 'a', uid: `${kind}-${name}`, generation: 1, labels };
  return {
    apiVersion: 'kroxylicious.io/v1alpha1',
    kind,
    metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...rest,
  };
}

const condition = (type: string, status: string, reason = type, message = '') => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
});
const withConditions = (...conditions: object[]) => ({ status: { conditions } });
const READY = withConditions(condition('Accepted', 'True'), condition('Ready', 'True'));

suite('the state of an object', () => {
  const stateOf = (...conditions: object[]) => {
    const { state, reason } = healthOf(object('X', 'x', withConditions(...conditions)));
    return `${state} ${reason}`;
  };

  test('what was refused says more than what is therefore not ready', () => {
    assert.equal(
      stateOf(condition('Ready', 'False', 'PodsNotReady'), condition('Accepted', 'False', 'HostNameTaken')),
      'notReady HostNameTaken',
    );
    assert.equal(stateOf(condition('Ready', 'Unknown', 'Pending')), 'notReady Pending');
  });

  test('works, but', () => {
    const ready = condition('Ready', 'True');
    assert.equal(
      stateOf(ready, condition('Degraded', 'True', 'ServedAsLastGood')),
      'warning ServedAsLastGood',
    );
    assert.equal(
      stateOf(ready, condition('NamespaceExists', 'False', 'NamespaceMissing')),
      'warning NamespaceMissing',
    );
    assert.equal(
      stateOf(condition('Ready', 'True', 'CertificateExpiring', 'ends soon')),
      'warning CertificateExpiring',
    );
    assert.equal(stateOf(ready, condition('Conflict', 'False', 'NoConflicts')), 'ready ');
    assert.equal(stateOf(), 'unknown ');
  });

  test('conditions about an older version say nothing about this one', () => {
    const newer = object('X', 'x', READY);
    newer.metadata.generation = 2;
    assert.deepEqual([isObserved(object('X', 'x', READY)), isObserved(newer)], [true, false]);
    assert.equal(statusOf(newer).reason, 'StatusOutdated');
    assert.equal(isSettled([statusOf(newer)]), false);
    assert.equal(isSettled([statusOf(object('X', 'x'))]), true);
  });

  test('the worst comes first, and each kind is counted', () => {
    const bad = object('Y', 'bad', withConditions(condition('Ready', 'False', 'Denied')));
    const all = worstFirst([object('X', 'x', READY), bad].map(statusOf));
    assert.deepEqual(
      all.map(({ name }) => name),
      ['bad', 'x'],
    );
    assert.deepEqual(countByKind(all)[0], { kind: 'Y', all: 1, ready: 0, warning: 0, notReady: 1 });
  });
});

suite('tables', () => {
  test('paths of columns, ages, and lines that are cut', () => {
    const one = { spec: { a: [{ b: 7 }] }, status: { conditions: [condition('Ready', 'True')] } };
    assert.equal(valueAt(one, '.spec.a[0].b'), '7');
    assert.equal(valueAt(one, '.spec.a[1].b'), '-');
    assert.equal(valueAt(one, '.status.conditions[?(@.type=="Ready")].status'), 'True');
    const ages = [0, 119, 120, 7199, 7200, 172_800].map((ago) =>
      ageText(new Date(NOW - ago * 1000).toISOString(), NOW),
    );
    assert.deepEqual(ages, ['0s', '119s', '2m', '119m', '2h', '2d']);
    assert.equal(ageText(undefined, NOW), '-');
  });

  test('a line is no wider than the terminal', () => {
    const options = { kind: kafkaProxy, allNamespaces: true, wide: false, now: NOW };
    const proxy = object('KafkaProxy', 'a-rather-long-name', READY);
    const wide = render([proxy], columnsOf(options), 'table', { columns: 20 });
    const widths = wide.split('\n').map((line) => line.length);
    assert.equal(Math.max(...widths), 20, wide);
    assert.match(wide, /a-rathe…$/m);
    const bare = render([proxy], columnsOf(options), 'table', { headers: false });
    assert.match(bare, /^a +a-rather-long-name +Ready +- /);
  });

  test('a description says what to do about what is wrong', () => {
    const bad = object(
      'KafkaProxy',
      'x',
      withConditions(condition('Ready', 'False', 'PodsNotReady', '0 of 2')),
    );
    const events = [{ type: 'Warning', reason: 'Denied', note: 'no', at: '2026-01-01T23:59:00Z' }];
    const text = describeText(bad, { kind: kafkaProxy, events, now: NOW });
    assert.match(text, /^State: +NotReady, PodsNotReady$/m);
    assert.match(text, /^ {2}Ready=False PodsNotReady .*\n {4}0 of 2\n {4}What to do: Wait a minute/m);
    assert.match(text, /^ {2}60s +Warning +Denied: no$/m);
  });
});

suite('a tree', () => {
  const LABEL = 'kroxylicious.io';
  const cluster = object('VirtualKafkaCluster', 'orders', {
    ...READY,
    spec: {
      proxyRef: { name: 'edge' },
      ingresses: [{ name: 'inside' }],
      filterRefs: [{ name: 'encrypt' }],
      targetCluster: { clusterRef: { name: 'main' } },
    },
  });
  const proxy = object('KafkaProxy', 'edge', { ...READY, spec: {} });
  const edge = { [`${LABEL}/proxy`]: 'edge' };
  const inside = { ...edge, [`${LABEL}/virtual-cluster`]: 'orders', [`${LABEL}/ingress`]: 'inside' };
  const objects = [
    cluster,
    proxy,
    object('Deployment', 'edge', {}, edge),
    object('Pod', 'edge-1', READY, edge),
    object('Secret', 'edge-config', {}, edge),
    object('KafkaProxyIngress', 'inside', { ...READY, spec: { proxyRef: { name: 'edge' } } }),
    object('Service', 'orders-inside', {}, inside),
    object('KafkaClusterRef', 'main'),
  ];

  test('of a virtual cluster: proxy, ingress with what was made for it, filters, target; and what is missing', () => {
    assert.ok(virtualKafkaCluster.schema.safeParse(cluster).success, 'the example is valid');
    assert.equal(
      treeText(treeOf(cluster, { objects }), false),
      [
        '✔ VirtualKafkaCluster/orders',
        '├─ ✔ KafkaProxy/edge',
        '│  └─ · Deployment/edge',
        '│     └─ ✔ Pod/edge-1',
        '├─ ✔ KafkaProxyIngress/inside',
        '│  └─ · Service/orders-inside',
        '├─ ✖ KafkaProtocolFilter/encrypt  ReferencedResourcesNotFound: it does not exist',
        '└─ · KafkaClusterRef/main',
        '',
      ].join('\n'),
    );
  });

  test('of a proxy: its pods, ingresses, virtual clusters, and its own objects', () => {
    const lines = treeText(treeOf(proxy, { objects }), false).split('\n').slice(1, -1);
    assert.deepEqual(
      lines.map((line) => line.slice(3)),
      [
        '· Deployment/edge',
        '└─ ✔ Pod/edge-1',
        '✔ KafkaProxyIngress/inside',
        '✔ VirtualKafkaCluster/orders',
        '· Secret/edge-config',
      ],
    );
  });

  test('of a Kafka: pools with their sets and pods, topics, users; many of a kind are counted', () => {
    const of = { 'strimzi.io/cluster': 'main' };
    const pods = Array.from({ length: 14 }, (_, id) =>
      object('Pod', `main-brokers-${id}`, id === 13 ? {} : READY, {
        ...of,
        'strimzi.io/pool-name': 'brokers',
      }),
    );
    const kafka = object('Kafka', 'main', READY);
    const all = [
      kafka,
      object('KafkaNodePool', 'brokers', {}, of),
      object('StrimziPodSet', 'main-brokers', READY, of),
      ...pods,
      object('KafkaTopic', 'orders', READY, of),
      object('KafkaTopic', 'other', READY, { 'strimzi.io/cluster': 'another' }),
      object('Secret', 'main-ca', {}, of),
    ];
    const text = treeText(treeOf(kafka, { objects: all }), false);
    assert.match(
      text,
      /KafkaNodePool\/brokers\n│ {2}└─ ✔ StrimziPodSet\/main-brokers\n│ {5}├─ · Pod\/main-brokers-13\n/,
    );
    assert.match(text, /… and 4 more of Pod \(✔ 4\)\n/);
    assert.match(text, /KafkaTopic\/orders\n/);
    assert.doesNotMatch(text, /other/);
  });

  test('of a Kafka over several clusters: where its pools are, and how it is there', () => {
    const of = { 'strimzi.io/cluster': 'main' };
    const kafka = object('Kafka', 'main', READY);
    const place = (name: string, rest: object) => ({
      name,
      pools: [{ name, nodes: [0], ready: [] }],
      ...rest,
    });
    const since = '2026-11-18T07:00:00.000Z';
    const anchor = {
      ...object('KafkaAnchor', 'main', {}, of),
      apiVersion: 'isthmus.dev/v1alpha1',
      spec: {
        clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
        epoch: 1,
        holder: 'isthmus',
        kafka: { name: 'main', uid: 'u' },
      },
      status: {
        targets: [
          place('east', { reachable: true }),
          place('west', { reachable: false, since, problem: 'no answer in time' }),
        ],
      },
    } as unknown as AnyObject;
    const pools = ['east', 'west'].map((name) => object('KafkaNodePool', name, {}, of));
    const text = treeText(treeOf(kafka, { objects: [kafka, anchor, ...pools] }), false);
    assert.match(
      text,
      /KafkaNodePool\/east\n│ {2}└─ ✔ Cluster\/east\n│ {5}└─ ✖ Pod\/main-east-0 {2}PodsNotReady\n/,
    );
    assert.match(
      text,
      /Cluster\/west {2}ClusterUnreachable: since 2026-11-18T07:00:00.000Z: no answer in time\n│ {5}└─ · Pod/,
    );
    assert.deepEqual(clustersOf(anchor), [
      { name: 'east', reachable: true, nodes: 1, ready: 0 },
      { name: 'west', reachable: false, since, problem: 'no answer in time', nodes: 1, ready: 0 },
    ]);
  });

  test('of anything else: what names it as its owner', () => {
    const set = object('StrimziPodSet', 's');
    const pod = object('Pod', 'p');
    pod.metadata.ownerReferences = [
      { apiVersion: 'v1', kind: 'StrimziPodSet', name: 's', uid: set.metadata.uid! },
    ];
    assert.equal(treeText(treeOf(set, { objects: [set, pod] }), false), '· StrimziPodSet/s\n└─ · Pod/p\n');
  });
});
