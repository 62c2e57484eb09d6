import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NOTHING_ALLOCATED } from '../control/proxy/ports/ports.ts';
import { emptyContents, readText } from '../store/folder.ts';
import { planLocally } from '../store/local-plan.ts';
import { resourcesOf } from '../store/resources.ts';
import type { Up } from '../store/up.ts';
import { conditionsIn } from '../view/health.ts';
import { localSource } from './local-source.ts';
import type { World } from './source.ts';

const FILES = `
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxy
metadata: { name: edge }
---
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxyIngress
metadata: { name: tcp }
spec: { proxyRef: { name: edge }, clusterIP: { protocol: TCP, port: 9082 } }
---
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaClusterRef
metadata: { name: kafka }
spec: { bootstrap: 'kafka:9092', nodeIdRanges: [{ start: 0, end: 2 }] }
---
apiVersion: kroxylicious.io/v1alpha1
kind: VirtualKafkaCluster
metadata: { name: orders }
spec: { proxyRef: { name: edge }, ingresses: [{ name: tcp }], targetCluster: { clusterRef: { name: kafka } } }
---
apiVersion: kroxylicious.io/v1alpha1
kind: VirtualKafkaCluster
metadata: { name: orders, namespace: rivals }
spec: { proxyRef: { name: edge }, ingresses: [{ name: tcp }], targetCluster: { clusterRef: { name: kafka } } }
---
apiVersion: kroxylicious.io/v1alpha1
kind: VirtualKafkaCluster
metadata: { name: lost }
spec: { proxyRef: { name: edge }, ingresses: [{ name: tcp }], targetCluster: { clusterRef: { name: none } } }
---
apiVersion: v1
kind: Secret
metadata: { name: s }
stringData: { key: canary }
---
kind: nonsense: here
`;

type Status = NonNullable<ReturnType<Up['proxy']['status']>>;

/** What `isthmus up` would say of these files; whether the Kafka answers is for the test to decide. */
function upOf(isReachable: () => boolean, files = FILES): Up {
  const contents = emptyContents();
  readText('all.yaml', files, contents);
  const resources = resourcesOf(contents);
  const plan = planLocally(resources.snapshot, 0, { allocation: NOTHING_ALLOCATED });
  const served = { resources, plan, held: [] };
  const status = (): Status => ({
    hash: '',
    loadedAt: '',
    workers: 1,
    virtualClusters: [
      {
        name: 'orders',
        gateways: [{ name: 'tcp', bootstrap: '127.0.0.1:9082', tls: false }],
        filters: [],
        loaded: true,
        targetReachable: isReachable(),
        nodeIds: [0, 1],
        problems: isReachable() ? [] : ['the target cannot be reached: nobody there'],
      },
    ],
  });
  return {
    served: () => served,
    proxy: { status, snapshots: async () => [], certificates: () => [], tap: () => () => {} },
    names: { endpoint: () => undefined, zones: () => [], sources: () => [], explain: () => undefined },
    stop: async () => {},
  };
}

const readyOf = ({ objects }: World, namespace: string, name: string) => {
  const found = objects.find(
    ({ kind, metadata }) =>
      kind === 'VirtualKafkaCluster' && metadata.name === name && metadata.namespace === namespace,
  );
  return conditionsIn(found!).find(({ type }) => type === 'Ready');
};

/** All of it: JSON has nothing of what is in a Map. */
const textOf = (world: World) =>
  JSON.stringify(world, (_, value: unknown) =>
    value instanceof Map ? [...(value as Map<unknown, unknown>)] : value,
  );

suite('a folder as the console sees it', () => {
  test('has conditions as in a cluster, each of its own object', async () => {
    const world = await localSource(
      upOf(() => false),
      'folder',
    ).world();
    assert.equal(readyOf(world, 'default', 'orders')?.reason, 'TargetUnreachable');
    assert.equal(readyOf(world, 'rivals', 'orders')?.reason, 'NotSupported');
    assert.equal(readyOf(world, 'default', 'lost')?.reason, 'ReferencedResourcesNotFound');
    const lastLine = FILES.split('\n').length - 1;
    assert.deepEqual(
      world.problems.map(({ file, line }) => `${file}:${line}`),
      [`all.yaml:${lastLine}`],
    );
    assert.equal(world.where.get('VirtualKafkaCluster/rivals/orders')?.file, 'all.yaml');
  });

  test('a virtual cluster whose filter lacks its keys is ready, and says so', async () => {
    const up = upOf(() => true);
    const lack = { reason: 'KeyServiceUnavailable' as const, message: 'filter "f": no keys' };
    const status = (): Status => {
      const said = up.proxy.status()!;
      return {
        ...said,
        virtualClusters: said.virtualClusters.map((one) => ({ ...one, filterProblems: [lack] })),
      };
    };
    const world = await localSource({ ...up, proxy: { ...up.proxy, status } }, 'folder').world();
    const ready = readyOf(world, 'default', 'orders');
    assert.deepEqual([ready?.status, ready?.reason], ['True', 'KeyServiceUnavailable']);
  });

  test('shows virtual clusters as they are served, and nothing of Secrets', async () => {
    const world = await localSource(
      upOf(() => true),
      'folder',
    ).world();
    const orders = world.clusters.find(({ name }) => name === 'orders');
    assert.deepEqual(
      [orders?.bootstrap[0]?.address, orders?.target.address, orders?.brokers.map(({ id }) => id)],
      ['127.0.0.1:9082', 'kafka:9092', [0, 1]],
    );
    assert.doesNotMatch(textOf(world), /canary/);
  });

  test('shows nothing of a Secret, however it is written', async () => {
    const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: { name: s }\n${fields}\n`;
    const filter = (config: string) =>
      `apiVersion: filter.kroxylicious.io/v1alpha1\nkind: KafkaProtocolFilter\nmetadata: { name: f }\nspec: { type: RecordEncryption, config: ${config} }\n`;
    const kek = '{ uuid: x, alias: a, key: canary }';
    const cases = [
      ...['stringData: { key: canary }', 'stringData: canary', 'data: [canary]', 'data: { a: canary!! }'].map(
        secret,
      ),
      ...['stringdata: { key: canary }', 'stringData: { a: *canary }', 'stringData: { a: !canary b }'].map(
        secret,
      ),
      ...[
        'stringData: { key: canary: more',
        'data:\n  a: canary\n b: canary',
        'stringData: { a: "\\canary" }',
      ].map(secret),
      ...[
        'data:\n  a: | canary\n    b',
        'stringData: { a: @canary }',
        '} canary',
        'stringData: { ? canary',
      ].map(secret),
      `apiVersion: v1\nkind: List\nitems:\n- ${secret('stringData: { key: canary }').trim().replaceAll('\n', '\n  ')}\n`,
      filter('canary'),
      filter(`{ kmsConfig: { existingKeks: [${kek}] } }`),
      filter(`{ kmsConfig: { existingKeks: ${kek} } }`),
      filter('{ kmsConfig: canary }'),
      filter('{ kmsConfig: { existingKeks: [canary] } }'),
    ];
    for (const files of cases) {
      const source = localSource(
        upOf(() => true, files),
        'folder',
      );
      assert.doesNotMatch(textOf(await source.world()), /canary/, files);
    }
  });

  test('remembers since when something is so, and tells of changes once', async () => {
    let isReachable = true;
    let now = Date.parse('2026-01-01T00:00:00Z');
    const source = localSource(
      upOf(() => isReachable),
      'folder',
      () => now,
    );
    const look = async () => {
      now += 60_000;
      const world = await source.world();
      const events = world.events.get('VirtualKafkaCluster/default/orders') ?? [];
      const { status, lastTransitionTime } = readyOf(world, 'default', 'orders')!;
      return [status, lastTransitionTime, events.map(({ type, reason }) => `${type} ${reason}`)];
    };
    assert.deepEqual(await look(), ['True', '2026-01-01T00:01:00Z', []]);
    assert.deepEqual(await look(), ['True', '2026-01-01T00:01:00Z', []]);
    isReachable = false;
    const broken = ['False', '2026-01-01T00:03:00Z', ['Warning TargetUnreachable']];
    assert.deepEqual(await look(), broken);
    assert.deepEqual(await look(), broken);
    isReachable = true;
    assert.deepEqual(await look(), [
      'True',
      '2026-01-01T00:05:00Z',
      ['Normal Recovered', 'Warning TargetUnreachable'],
    ]);
  });
});
