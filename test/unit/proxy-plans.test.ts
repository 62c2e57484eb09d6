/** What must hold for whatever virtual clusters there are. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../src/kube/object.ts';
import { NOTHING_LEARNED } from '../../src/control/kernel/reconcile.ts';
import { planProxy } from '../../src/control/proxy/plan.ts';
import type { ProxyPlan } from '../../src/control/proxy/plan.ts';
import { configPartsOf } from '../../src/control/proxy/config/planned-config.ts';
import { QUARANTINE_MS } from '../../src/control/proxy/ports/ports.ts';
import { addressingOf } from '../../src/proxy/cluster/addressing.ts';
import { checkProxyConfig, loadProxyConfig } from '../../src/proxy/config/load.ts';
import type { VirtualClusterConfig } from '../../src/proxy/config/model.ts';
import { portBindings } from '../../src/proxy/config/ports.ts';
import { diffConfigs } from '../../src/proxy/config/diff.ts';
import { createAuthority } from '../support/pki.ts';
import { workspace } from '../support/workspace.ts';
import { SETTINGS, createMemoryCluster, objectsIn, portBlocksIn } from '../support/control/memory-cluster.ts';
import type { MemoryCluster } from '../support/control/memory-cluster.ts';

const PROXY = { namespace: 'default', name: 'p' };
const NOW = Date.parse('2026-01-01T00:00:00Z');

const resource = (kind: string, name: string, spec: object, group = 'kroxylicious.io'): AnyObject => ({
  apiVersion: `${group}/v1alpha1`,
  kind,
  metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1 },
  spec,
});

const CLUSTER = '$(virtualClusterName)';
const BROKERS = `${CLUSTER}-$(nodeId).example.com`;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A virtual cluster by its essentials; some refer to what is not there. */
interface Model {
  name: string;
  ingresses: string[];
  target: string;
  filters: string[];
}

const model: fc.Arbitrary<Model> = fc.record({
  name: fc.stringMatching(/^[a-z]{1,6}$/),
  ingresses: fc.uniqueArray(fc.constantFrom('inside', 'second', 'nowhere'), { minLength: 1, maxLength: 3 }),
  target: fc.constantFrom('one', 'three', 'many', 'nowhere'),
  filters: fc.array(fc.constantFrom('log', 'nowhere'), { maxLength: 2 }),
});

const models = fc.uniqueArray(model, { selector: ({ name }) => name, minLength: 1, maxLength: 12 });

const clusterOf = ({ name, ingresses, target, filters }: Model) =>
  resource('VirtualKafkaCluster', name, {
    proxyRef: { name: 'p' },
    ingresses: ingresses.map((ingress) => ({ name: ingress })),
    targetCluster: { clusterRef: { name: target } },
    filterRefs: filters.map((filter) => ({ name: filter })),
  });

function start(clusters: readonly Model[]): MemoryCluster {
  const memory = createMemoryCluster();
  memory.put(resource('KafkaProxy', 'p', {}));
  memory.put(
    resource('KafkaProxyIngress', 'inside', { proxyRef: { name: 'p' }, clusterIP: { protocol: 'TCP' } }),
  );
  memory.put(
    resource('KafkaProxyIngress', 'second', {
      proxyRef: { name: 'p' },
      clusterIP: { protocol: 'TCP', port: 7000 },
    }),
  );
  for (const [name, end] of Object.entries({ one: 0, three: 2, many: 20 })) {
    const spec = { bootstrap: `${name}:9092`, nodeIdRanges: [{ start: 0, end }] };
    memory.put(resource('KafkaClusterRef', name, spec));
  }
  memory.put(resource('KafkaProtocolFilter', 'log', { type: 'protocol-logger' }, 'filter.kroxylicious.io'));
  for (const cluster of clusters) memory.put(clusterOf(cluster));
  return memory;
}

/** Works until nothing changes any more; the limit is what makes a plan that never settles a failure. */
function settle(memory: MemoryCluster, now = NOW): ProxyPlan {
  for (let round = 0; round < 4; round++) {
    const plan = memory.plan(PROXY, now);
    if (memory.apply(plan, now) === 0) return plan;
  }
  return assert.fail('it never settles');
}

/** All that a client of a virtual cluster could notice: its part of the configuration, its objects, its ports. */
function footprint(plan: ProxyPlan, name: string): string {
  const own = objectsIn(plan).filter(
    ({ metadata }) => metadata.labels?.['kroxylicious.io/virtual-cluster'] === name,
  );
  const status = plan.statuses.find((one) => one.kind === 'VirtualKafkaCluster' && one.name === name);
  const ports = portBlocksIn(plan).filter(
    ({ virtualCluster, releasedAt }) => virtualCluster === name && releasedAt === undefined,
  );
  return JSON.stringify([plan.config.parts.get(name), own, status, ports]);
}

const byNumber = (a: number, b: number) => a - b;

interface NodePort {
  port: number;
  targetPort: number;
}

/** The ports of each node id in a Service. */
function nodePortsOf(service: AnyObject): Map<number, NodePort> {
  const { ports } = service['spec'] as { ports: (NodePort & { name: string })[] };
  return new Map(
    ports.flatMap(({ name, port, targetPort }) => {
      const id = /^node-(\d+)$/.exec(name)?.[1];
      return id === undefined ? [] : [[Number(id), { port, targetPort }]];
    }),
  );
}

/** Remembers who had which port, and fails where one changes hands too soon or a node id has to move. */
function createPortHistory() {
  const last = new Map<number, { id: number; until: number }>();
  let before = new Map<number, NodePort>();
  return {
    check(ports: Map<number, NodePort>, now: number) {
      for (const [id, { port }] of before) last.set(port, { id, until: now });
      for (const [id, found] of ports) {
        const was = last.get(found.port);
        const isFree = !was || was.id === id || now - was.until >= QUARANTINE_MS;
        assert.ok(isFree, `port ${found.port} of node ${was?.id} is now node ${id}'s`);
        if (before.has(id)) assert.deepEqual(found, before.get(id), `node ${id} moved`);
      }
      before = ports;
    },
  };
}

/** Which node the proxy takes a local port for, and where it says that a node is. */
function dataPlanePorts(cluster: VirtualClusterConfig) {
  const { bindings } = portBindings([cluster]);
  return {
    destinations: new Map([...bindings.values()].map(({ port, destination }) => [port, destination?.node])),
    advertised: (id: number) => addressingOf(cluster.gateways[0]!).advertise(id)?.port,
  };
}

suite('plans of the proxy road', () => {
  test('the same input gives the same plan, in whatever order it is met', () => {
    fc.assert(
      fc.property(models, (clusters) => {
        const one = start(clusters).plan(PROXY, NOW);
        assert.deepEqual(start(clusters).plan(PROXY, NOW), one);
        assert.deepEqual(start(clusters.toReversed()).plan(PROXY, NOW), one);
      }),
      { numRuns: 30 },
    );
  });

  test('a plan that is applied and observed again changes nothing', () => {
    fc.assert(
      fc.property(models, (clusters) => {
        const memory = start(clusters);
        settle(memory);
        assert.equal(memory.apply(memory.plan(PROXY, NOW + 60_000), NOW + 60_000), 0);
      }),
      { numRuns: 30 },
    );
  });

  test('one virtual cluster more or less changes nothing about the others', () => {
    fc.assert(
      fc.property(models, model, (clusters, another) => {
        const others = clusters.filter(({ name }) => name !== another.name);
        const memory = start(others);
        const before = settle(memory);
        memory.put(clusterOf(another));
        const during = settle(memory, NOW + 1000);
        memory.delete('VirtualKafkaCluster', `default/${another.name}`);
        const after = settle(memory, NOW + 2000);
        for (const { name } of others) {
          assert.equal(footprint(during, name), footprint(before, name), name);
          assert.equal(footprint(after, name), footprint(before, name), name);
        }
        assert.equal(after.config.text, before.config.text);
      }),
      { numRuns: 40 },
    );
  });

  test('no two virtual clusters ever have a port in common, nor one that another had a moment ago', () => {
    const step = fc.record({ cluster: model, remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const memory = start([]);
        const lastOwner = new Map<number, string>();
        for (const [index, { cluster, remove }] of steps.entries()) {
          if (remove) memory.delete('VirtualKafkaCluster', `default/${cluster.name}`);
          else memory.put(clusterOf(cluster));
          const portBlocks = portBlocksIn(settle(memory, NOW + index * 1000));
          const held = new Set<number>();
          for (const { virtualCluster, ingress, start, count, releasedAt } of portBlocks) {
            if (releasedAt !== undefined) continue;
            for (let port = start; port < start + count; port++) {
              assert.ok(!held.has(port), `port ${port} is held twice`);
              held.add(port);
              const owner = `${virtualCluster}/${ingress}`;
              assert.equal(lastOwner.get(port) ?? owner, owner);
              lastOwner.set(port, owner);
            }
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('over any sequence of node ids, a port is one node id’s, kept while it stays and empty for a while after it', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 6 });
    const step = fc.record({ ids, afterMs: fc.integer({ min: 0, max: QUARANTINE_MS / 2_000 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 10 }), (steps) => {
        const memory = start([{ name: 'a', ingresses: ['inside'], target: 'one', filters: [] }]);
        const seen = createPortHistory();
        let now = NOW;
        for (const { ids, afterMs } of steps) {
          now += afterMs * 1000;
          const nodeIdRanges = ids.map((id) => ({ start: id, end: id }));
          memory.put(resource('KafkaClusterRef', 'one', { bootstrap: 'one:9092', nodeIdRanges }));
          const plan = settle(memory, now);
          const ports = nodePortsOf(objectsIn(plan).find(({ kind }) => kind === 'Service')!);
          assert.deepEqual([...ports.keys()].toSorted(byNumber), ids.toSorted(byNumber));
          seen.check(ports, now);
          // What the proxy makes of its configuration is the same.
          const config = checkProxyConfig(JSON.parse(plan.config.text), 'plan').config;
          const { destinations, advertised } = dataPlanePorts(config.virtualClusters[0]!);
          for (const [id, { port, targetPort }] of ports) {
            assert.equal(destinations.get(targetPort), id);
            assert.equal(advertised(id), port);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test('the proxy computes the same hash of the configuration as the plan', async () => {
    const { config } = start([{ name: 'a', ingresses: ['inside'], target: 'one', filters: ['log'] }]).plan(
      PROXY,
      NOW,
    );
    const file = join(workspace('plan'), 'proxy.yaml');
    writeFileSync(file, config.text);
    assert.equal((await loadProxyConfig(file)).hash, config.hash);
  });

  test('who uses a certificate that is renewed gets the new one, and nobody else notices', async () => {
    const authority = await createAuthority('plan');
    const issue = async (name: string) => {
      const { certPem, keyPem } = await authority.issue({ commonName: name, dns: ['*.example.com'] });
      const data = { 'tls.crt': base64(certPem), 'tls.key': base64(keyPem) };
      return { ...resource('Secret', name, {}), apiVersion: 'v1', data };
    };
    const memory = start([{ name: 'plain', ingresses: ['inside'], target: 'one', filters: ['log'] }]);
    const outside = { bootstrapAddressPattern: `${CLUSTER}.example.com`, brokerAddressPattern: BROKERS };
    memory.put(resource('KafkaProxyIngress', 'outside', { proxyRef: { name: 'p' }, loadBalancer: outside }));
    const used = { a: ['wildcard'], b: ['wildcard', 'other'], c: ['other'], d: ['third'] };
    for (const secret of ['wildcard', 'other', 'third']) memory.put(await issue(secret));
    for (const [name, secrets] of Object.entries(used)) {
      const tls = { certificateRefs: secrets.map((secret) => ({ name: secret })) };
      const cluster = clusterOf({ name, ingresses: [], target: 'one', filters: [] });
      memory.put({
        ...cluster,
        spec: { ...(cluster.spec as object), ingresses: [{ name: 'outside', tls }] },
      });
    }
    const directory = workspace('renewed');
    const load = async ({ config }: ProxyPlan) => {
      writeFileSync(join(directory, 'proxy.yaml'), config.text);
      return (await loadProxyConfig(join(directory, 'proxy.yaml'))).config;
    };
    const before = settle(memory);
    memory.put(await issue('wildcard'));
    const after = settle(memory);
    assert.notEqual(after.config.hash, before.config.hash);
    const { certificates, untouched, ...others } = diffConfigs(await load(before), await load(after));
    assert.deepEqual(
      [certificates, untouched],
      [
        ['a', 'b'],
        ['c', 'd', 'plain'],
      ],
    );
    assert.deepEqual(others, { added: [], removed: [], changed: [] });
    const changed = [...after.config.parts].filter(
      ([name, { hash }]) => hash !== before.config.parts.get(name)?.hash,
    );
    assert.deepEqual(
      changed.map(([name]) => name),
      ['a', 'b'],
    );
    // As the operator reads it back from the Secret, to tell who has yet to be served anew.
    assert.deepEqual(
      [...configPartsOf(after.config.text)].map(([name, { hash }]) => [name, hash]),
      [...after.config.parts].map(([name, { hash }]) => [name, hash]),
    );
  });

  test('pods that are not ready are asked often at first, and then less and less', () => {
    const memory = start([{ name: 'a', ingresses: ['inside'], target: 'one', filters: [] }]);
    const { hash } = settle(memory).config;
    const pod = (status: string) => ({
      ...resource('Pod', 'p-1', {}),
      metadata: { name: 'p-1', namespace: 'default', labels: { 'kroxylicious.io/proxy': 'p' } },
      status: { conditions: [{ type: 'Ready', status }] },
    });
    const problems = new Map([['a', { isLoad: false, isOut: false, isTarget: true, message: 'gone' }]]);
    const lookAgain = (unchangedMs: number, answer: object = {}) => {
      const answers = new Map([['p-1', answer]]);
      const observed = { ...memory.observe(PROXY, NOW, answers), podsSince: NOW - unchangedMs };
      return planProxy(observed, SETTINGS, NOTHING_LEARNED).lookAgainInMs;
    };
    memory.put(pod('False'));
    const times = [0, 8000, 60_000, 3_600_000];
    assert.deepEqual(
      times.map((time) => lookAgain(time)),
      [1000, 2000, 15_000, 30_000],
    );
    memory.put(pod('True'));
    assert.deepEqual(
      times.map((time) => lookAgain(time)),
      [1000, 2000, 15_000, 30_000],
    );
    const stumbling = { configVersion: hash, problems };
    assert.deepEqual(
      times.map((time) => lookAgain(time, stumbling)),
      [5000, 5000, 15_000, 30_000],
    );
    assert.deepEqual(
      times.map((time) => lookAgain(time, { configVersion: hash })),
      times.map(() => 60_000),
    );
  });

  test('pods are never rolled because of a virtual cluster', () => {
    fc.assert(
      fc.property(models, models, (some, others) => {
        const deployment = (plan: ProxyPlan) => objectsIn(plan).find(({ kind }) => kind === 'Deployment');
        assert.deepEqual(
          deployment(start(some).plan(PROXY, NOW)),
          deployment(start(others).plan(PROXY, NOW)),
        );
      }),
      { numRuns: 20 },
    );
  });
});
