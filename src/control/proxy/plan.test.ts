/** What must not happen to those who are served, whatever becomes of the resources around them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { RowName } from '../kernel/watches.ts';
import type { ConfigRejections } from './config/checks.ts';
import type { Observed } from './observed.ts';
import { PROXY_LABEL } from './names.ts';
import { planProxy } from './plan.ts';
import type { ProxyPlan } from './plan.ts';
import { QUARANTINE_MS } from './ports/ports.ts';
import type { ProxyViews } from './watches.ts';
import { VERSION_LABEL } from '../shared/version-label.ts';
import { read } from '../kernel/read.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { SETTINGS, createMemoryCluster, portBlocksIn } from '../../../test/support/control/memory-cluster.ts';
import type { MemoryCluster } from '../../../test/support/control/memory-cluster.ts';

const PROXY = { namespace: 'default', name: 'p' };
const NOW = Date.parse('2026-01-01T00:00:00Z');
const proxyRef = { name: 'p' };

const resource = (kind: string, name: string, spec: object): AnyObject => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1 },
  spec,
});

const cluster = (name: string, change: object = {}) =>
  resource('VirtualKafkaCluster', name, {
    proxyRef,
    ingresses: [{ name: 'in' }],
    targetCluster: { clusterRef: { name: 'kafka' } },
    ...change,
  });

function start(...clusters: AnyObject[]): MemoryCluster {
  const memory = createMemoryCluster();
  memory.put(resource('KafkaProxy', 'p', {}));
  memory.put(resource('KafkaProxyIngress', 'in', { proxyRef, clusterIP: { protocol: 'TCP' } }));
  memory.put(resource('KafkaClusterRef', 'kafka', { bootstrap: 'kafka:9092' }));
  for (const one of clusters) memory.put(one);
  return memory;
}

const apply = (memory: MemoryCluster, now = NOW) => memory.apply(memory.plan(PROXY, now), now);

const portsIn = (memory: MemoryCluster) =>
  (memory.get('KafkaProxy', 'default/p')!.status as { portBlocks: object[] }).portBlocks;

suite('mistakes', () => {
  test('a KafkaProxy that cannot be read keeps all that it has', () => {
    const memory = start(cluster('a'));
    apply(memory);
    const before = memory.get('KafkaProxy', 'default/p')!;
    const ports = portsIn(memory);
    memory.put({ ...before, spec: { infrastructure: { proxy: { replicas: 'many' } } } });
    assert.equal(apply(memory), 1, 'nothing but its status changes');
    assert.ok(memory.get('Deployment', 'default/p'));
    assert.ok(memory.get('Service', 'default/a-in'));
    assert.deepEqual(portsIn(memory), ports);
    const { status } = memory.get('KafkaProxy', 'default/p')!;
    assert.match(JSON.stringify(status), /"reason":"Invalid","message":"[^"]*replicas/);
    memory.put({ ...before, spec: {} });
    apply(memory);
    assert.equal(apply(memory), 0);
    assert.deepEqual(portsIn(memory), ports);
  });

  test('nor does a virtual cluster or an ingress that cannot be read any more lose its Services', () => {
    const memory = start(cluster('a'), cluster('b'));
    apply(memory);
    memory.put(cluster('a', { ingresses: 'nonsense' }));
    apply(memory);
    assert.ok(memory.get('Service', 'default/a-in'));
    memory.delete('VirtualKafkaCluster', 'default/a');
    apply(memory);
    assert.equal(memory.get('Service', 'default/a-in'), undefined);
    assert.ok(memory.get('Service', 'default/b-in'));
  });

  test('a proxy that depends on a kind of which nobody knows yet whether it is there is left alone', () => {
    const undiscovered = new Set<RowName<ProxyViews>>();
    const memory = createMemoryCluster([], undiscovered);
    memory.put(resource('KafkaProxy', 'p', {}));
    memory.put(resource('KafkaProxyIngress', 'in', { proxyRef, clusterIP: { protocol: 'TCP' } }));
    const group = 'strimzi.io';
    memory.put(cluster('a', { targetCluster: { clusterRef: { kind: 'Kafka', group, name: 'k' } } }));
    const listener = { name: 'plain', type: 'internal', port: 9092, tls: false };
    const kafka = {
      ...resource('Kafka', 'k', { kafka: { listeners: [listener] } }),
      apiVersion: 'kafka.strimzi.io/v1beta2',
      status: { listeners: [{ name: 'plain', bootstrapServers: 'k:9092' }] },
    };
    memory.put(kafka);
    apply(memory);
    const isServed = () => memory.plan(PROXY, NOW).config.parts.has('a');
    assert.ok(isServed());
    undiscovered.add('kafkas');
    memory.delete('Kafka', 'default/k'); // as it is before it has been read
    const { targets, lookAgainInMs } = memory.plan(PROXY, NOW);
    assert.deepEqual([targets, lookAgainInMs], [[], 5000]);
    assert.equal(apply(memory), 0);
    // Others do not depend on it.
    undiscovered.clear();
    undiscovered.add('gateways');
    memory.put(kafka);
    assert.equal(memory.plan(PROXY, NOW).targets.length, 1);
    undiscovered.clear();
    memory.delete('Kafka', 'default/k');
    apply(memory);
    assert.ok(isServed(), 'a Kafka that is missing is no reason to stop');
  });

  test('host names are granted to nobody new while NamePolicies cannot be read, and the proxy says so', () => {
    const undiscovered = new Set<RowName<ProxyViews>>(['namePolicies']);
    const memory = createMemoryCluster([], undiscovered);
    memory.put(resource('KafkaProxy', 'p', {}));
    const loadBalancer = { bootstrapAddressPattern: 'boot.x', brokerAddressPattern: 'b-$(nodeId).x' };
    memory.put(resource('KafkaProxyIngress', 'in', { proxyRef, loadBalancer }));
    memory.put(resource('KafkaClusterRef', 'k', { bootstrap: 'k:9092' }));
    memory.put(cluster('a', { targetCluster: { clusterRef: { name: 'k' } } }));
    const reasons = () => JSON.stringify(memory.plan(PROXY, NOW).statuses);
    assert.match(reasons(), /HostNameNotAllowed.*granted to nobody new.*cannot read NamePolicies/);
    assert.equal(memory.plan(PROXY, NOW).lookAgainInMs, 5000);
    undiscovered.clear();
    assert.doesNotMatch(reasons(), /HostNameNotAllowed/);
  });

  test('a label of the version is overruled on the pods, and the proxy says so; of an image of its own it stays', () => {
    const seen = (proxy: object) => {
      const memory = createMemoryCluster();
      const labels = { [VERSION_LABEL]: 'theirs' };
      memory.put(resource('KafkaProxy', 'p', { infrastructure: { labels, proxy } }));
      memory.put({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p-1', namespace: 'default', labels: { [PROXY_LABEL]: 'p' } },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      });
      apply(memory);
      const configVersion = memory.plan(PROXY, NOW).config.hash;
      const { statuses } = memory.plan(PROXY, NOW, { answers: new Map([['p-1', { configVersion }]]) });
      const isSaid = JSON.stringify(statuses).includes(`left out label \\"${VERSION_LABEL}\\" on the pods`);
      return [memory.get('Deployment', 'default/p')!.metadata.labels![VERSION_LABEL], isSaid];
    };
    assert.deepEqual(seen({}), ['1.2.0', true]);
    assert.deepEqual(seen({ template: { container: { image: 'isthmus:kept' } } }), ['theirs', false]);
  });

  test('no virtual cluster has ports for more brokers than its share, so that a few leave room for others', () => {
    const wide = (name: string) => ({
      ...resource('KafkaClusterRef', name, { bootstrap: 'k:9092', nodeIdRanges: [{ start: 0, end: 999 }] }),
    });
    const greedy = Array.from({ length: 20 }, (_, i) =>
      cluster(`greedy-${i}`, { targetCluster: { clusterRef: { name: 'wide' } } }),
    );
    const memory = start(...greedy, cluster('z'));
    memory.put(wide('wide'));
    apply(memory);
    const portsOf = (name: string) => {
      const service = memory.get('Service', `default/${name}-in`);
      return (service?.['spec'] as { ports: unknown[] } | undefined)?.ports.length ?? 0;
    };
    assert.deepEqual([portsOf('greedy-0'), portsOf('greedy-19'), portsOf('z') > 1], [257, 257, true]);
    const statuses = JSON.stringify(memory.plan(PROXY, NOW).statuses);
    assert.match(statuses, /BrokersWithoutPort.*limits\.maxNodesPerVirtualCluster/);
    // An admin may allow more, and less takes nothing away.
    const allowing = (maxNodesPerVirtualCluster: number) =>
      memory.put({
        ...memory.get('KafkaProxy', 'default/p')!,
        spec: { limits: { maxNodesPerVirtualCluster } },
      });
    allowing(600);
    apply(memory);
    assert.equal(portsOf('greedy-0'), 601);
    allowing(1);
    apply(memory);
    assert.equal(portsOf('greedy-0'), 601);
    assert.doesNotMatch(memory.plan(PROXY, NOW).config.text, /maxNodesPerVirtualCluster/);
  });

  test('ports of a Service that could not be deleted stay its own, however long that takes', () => {
    const memory = start(cluster('a'));
    apply(memory);
    const service = memory.get('Service', 'default/a-in')!;
    const [port] = (service['spec'] as { ports: { targetPort: number }[] }).ports;
    memory.delete('VirtualKafkaCluster', 'default/a');
    apply(memory, NOW + 1000);
    memory.put(service); // as if something had kept it
    memory.put(cluster('b'));
    const later = NOW + QUARANTINE_MS + 5000;
    const plan = memory.plan(PROXY, later);
    const { config } = plan;
    assert.doesNotMatch(config.text, new RegExp(`"bootstrapPort":${port!.targetPort}\\b`));
    const its = portBlocksIn(plan).find(({ virtualCluster }) => virtualCluster === 'a');
    assert.equal(its?.releasedAt, new Date(later).toISOString().replace('.000', ''));
  });

  test('a proxy with very many ingresses has a status that its CRD takes', () => {
    const memory = start(cluster('a'));
    for (let i = 0; i < 300; i++)
      memory.put(resource('KafkaProxyIngress', `in-${i}`, { proxyRef, clusterIP: { protocol: 'TCP' } }));
    apply(memory);
    assert.equal(read(kafkaProxy, memory.get('KafkaProxy', 'default/p')!).problem, undefined);
  });

  test('what gets room only because the proxy refuses another is checked, too', async () => {
    const filter = (name: string): AnyObject => ({
      ...resource('KafkaProtocolFilter', name, { type: 'x', config: { text: 'x'.repeat(250_000) } }),
      apiVersion: 'filter.kroxylicious.io/v1alpha1',
    });
    const names = ['a', 'b', 'c', 'd'];
    const memory = start(...names.map((name) => cluster(name, { filterRefs: [{ name }] })));
    for (const name of names) memory.put(filter(name));
    const bad = new Set(['a', 'c']);
    const plans: ProxyPlan[] = [];
    const reconcile = reconcileBy<Observed, ProxyPlan, ConfigRejections>(
      {
        observe: () => memory.observe(PROXY, NOW),
        plan: (observed, learned) => planProxy(observed, SETTINGS, learned),
        async check({ config }, known) {
          const found = [...config.parts.keys()].filter((name) => bad.has(name));
          const clusters = new Map([
            ...(known?.clusters ?? []),
            ...found.map((name) => [name, 'bad'] as const),
          ]);
          return found.length > 0 ? { filters: new Map(), clusters, hopeless: new Set() } : undefined;
        },
      },
      {
        targets: {
          persist: async () => {},
          apply: async () => [],
          findTaken: async () => [],
          waitFor() {},
          waiterFor: () => undefined,
        },
        statuses: { persist: async () => {}, write: async (plan) => void plans.push(plan as ProxyPlan) },
      },
    );
    await reconcile('default/p', new AbortController().signal);
    assert.deepEqual([...plans[0]!.config.parts.keys()], ['b', 'd']);
  });
});
