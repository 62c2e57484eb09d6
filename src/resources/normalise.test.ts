/** The rest of the program sees one spelling of everything. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { networkIdOf } from './strimzi/kafka-node-pool.ts';
import { clusterNameOf } from './strimzi/group.ts';
import { stretchOf } from './strimzi/kafka.ts';
import { parseResource } from './parse.ts';
import type { KnownResource } from './registry.ts';

function resourceOf<Kind extends KnownResource['kind']>(kind: Kind, apiVersion: string, body: object) {
  const parsed = parseResource({ apiVersion, kind, metadata: { name: 'x', namespace: 'here' }, ...body });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.resource as Extract<KnownResource, { kind: Kind }>;
}

const K = 'kroxylicious.io/v1alpha1';
const virtual = (spec: object) =>
  resourceOf('VirtualKafkaCluster', K, {
    spec: { proxyRef: { name: 'p' }, targetCluster: { clusterRef: { name: 'k' } }, ...spec },
  });
const ingress = (spec: object) =>
  resourceOf('KafkaProxyIngress', K, { spec: { proxyRef: { name: 'p' }, ...spec } });
const cluster = (spec: object) =>
  resourceOf('KafkaClusterRef', K, { spec: { bootstrap: 'k:9092', ...spec } });

const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/);
const maybe = <T>(key: string, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map((some) => (some === undefined ? {} : { [key]: some }));
const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((some) => Object.assign({}, ...some) as object);

const ref = merged(
  name.map((name) => ({ name })),
  maybe('namespace', name),
);
const certificates = fc.oneof(
  fc.constant({}),
  ref.map((certificateRef) => ({ certificateRef })),
  fc.array(ref, { maxLength: 3 }).map((certificateRefs) => ({ certificateRefs })),
);
const tls = merged(certificates, maybe('trustAnchorRefs', fc.array(ref, { maxLength: 2 })));
const annotations = fc.oneof(
  fc.dictionary(name, fc.oneof(name, fc.boolean(), fc.integer())),
  fc.tuple(name, name).map((pair) => pair.join('=')),
  fc.array(
    fc.tuple(name, name).map((pair) => pair.join(' = ')),
    { maxLength: 3 },
  ),
);
const ingresses = fc.uniqueArray(
  merged(
    name.map((name) => ({ name })),
    maybe('tls', tls),
    maybe('infrastructure', merged(maybe('annotations', annotations))),
  ),
  { minLength: 1, maxLength: 4, selector: (entry) => (entry as { name: string }).name },
);
const clusterRef = fc.oneof(
  fc.constantFrom({}, { kind: 'KafkaClusterRef' }, { group: 'kroxylicious.io' }),
  merged(
    fc.constantFrom({ kind: 'Kafka' }, { group: 'strimzi.io' }, { group: 'kafka.strimzi.io', kind: 'Kafka' }),
    maybe('listenerName', name),
  ),
);
const virtualSpec = merged(
  fc.oneof(
    ingresses.map((ingresses) => ({ ingresses })),
    ingresses.map((ingress) => ({ ingress })),
  ),
  merged(
    clusterRef,
    name.map((name) => ({ name })),
  ).chain((clusterRef) =>
    merged(fc.constant({ clusterRef }), maybe('tls', certificates.filter(one))).map((targetCluster) => ({
      targetCluster,
    })),
  ),
  maybe(
    'filterRefs',
    fc.array(
      name.map((name) => ({ name })),
      { maxLength: 3 },
    ),
  ),
);

function one(certificates: object): boolean {
  return !('certificateRefs' in certificates) || (certificates.certificateRefs as unknown[]).length === 1;
}

const gaps = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 }), fc.boolean()),
  {
    minLength: 1,
    maxLength: 8,
  },
);

/** Ranges that do not overlap, each in either spelling. */
function rangesOf(
  list: [gap: number, size: number, other: boolean][],
  spelling: (other: boolean) => boolean,
) {
  let next = 0;
  return list.map(([gap, size, other]) => {
    const start = next + gap;
    next = start + size;
    return spelling(other)
      ? { range: { startInclusive: start, endExclusive: next } }
      : { start, end: next - 1 };
  });
}

suite('normalise', () => {
  test('doing it again changes nothing, and the schema accepts what it yields', () => {
    fc.assert(
      fc.property(virtualSpec, (spec) => {
        const once = virtual(spec);
        const again = parseResource(once);
        assert.deepStrictEqual(again, { ok: true, resource: once });
      }),
      { numRuns: 300 },
    );
  });

  test('ingress and ingresses are the same', () => {
    fc.assert(
      fc.property(ingresses, (list) => {
        assert.deepStrictEqual(virtual({ ingress: list }), virtual({ ingresses: list }));
      }),
    );
  });

  test('certificateRef and certificateRefs are the same, for clients and for brokers', () => {
    fc.assert(
      fc.property(ref, (ref) => {
        const ingressWith = (tls: object) => virtual({ ingresses: [{ name: 'i', tls }] });
        assert.deepStrictEqual(ingressWith({ certificateRef: ref }), ingressWith({ certificateRefs: [ref] }));
        const targetWith = (tls: object) =>
          virtual({ ingresses: [{ name: 'i' }], targetCluster: { clusterRef: { name: 'k' }, tls } });
        assert.deepStrictEqual(targetWith({ certificateRef: ref }), targetWith({ certificateRefs: [ref] }));
      }),
    );
  });

  test('both spellings of node id ranges are the same', () => {
    fc.assert(
      fc.property(gaps, (list) => {
        const plain = cluster({ nodeIdRanges: rangesOf(list, () => false) });
        assert.deepStrictEqual(cluster({ nodeIdRanges: rangesOf(list, () => true) }), plain);
        assert.deepStrictEqual(cluster({ nodeIdRanges: rangesOf(list, (other) => other) }), plain);
        assert.deepStrictEqual(parseResource(plain), { ok: true, resource: plain });
      }),
    );
  });

  test('annotations are a mapping of strings, whatever YAML made of them', () => {
    const annotationsOf = (annotations: unknown) =>
      virtual({ ingresses: [{ name: 'i', infrastructure: { annotations } }] }).spec.ingresses[0]
        ?.infrastructure.annotations;
    const expected = { 'a.io/b': 'c=d', e: 'f' };
    assert.deepEqual(annotationsOf({ 'a.io/b': 'c=d', e: 'f' }), expected);
    assert.deepEqual(annotationsOf(['a.io/b=c=d', 'e = f']), expected);
    assert.deepEqual(annotationsOf('a.io/b=c'), { 'a.io/b': 'c' });
    assert.deepEqual(annotationsOf({ x: true, n: 1 }), { x: 'true', n: '1' });
  });

  test('the misspelt token, and upper case', () => {
    const { loadBalancer } = ingress({
      loadBalancer: {
        bootstrapAddressPattern: '$(vitrtualClusterName).Kafka.com',
        brokerAddressPattern: 'Broker-$(nodeId).$(vitrtualClusterName).kafka.com',
      },
    }).spec;
    assert.equal(loadBalancer?.bootstrapAddressPattern, '$(virtualClusterName).kafka.com');
    assert.equal(loadBalancer?.brokerAddressPattern, 'broker-$(nodeId).$(virtualClusterName).kafka.com');
    assert.equal(loadBalancer?.port, 9082);
  });

  test('references are complete', () => {
    const kafkaRef = { kind: 'Kafka', group: 'kafka.strimzi.io', name: 'k', listenerName: 'l' };
    const target = (clusterRef: object) =>
      virtual({ ingresses: [{ name: 'i' }], targetCluster: { clusterRef } }).spec.targetCluster.clusterRef;
    assert.deepEqual(target({ name: 'k' }), { kind: 'KafkaClusterRef', group: 'kroxylicious.io', name: 'k' });
    for (const spelling of [
      { kind: 'Kafka' },
      { group: 'strimzi.io' },
      { kind: 'Kafka', group: 'kafka.strimzi.io' },
    ]) {
      assert.deepEqual(target({ ...spelling, name: 'k', listenerName: 'l' }), kafkaRef);
    }
    assert.deepEqual(ingress({ openShiftRoute: {} }).spec.openShiftRoute?.resourceRef, {
      kind: 'IngressController',
      group: 'operator.openshift.io',
      name: 'default',
      namespace: 'openshift-ingress-operator',
    });
    assert.equal(
      ingress({ gateway: { resourceRef: { name: 'g' } } }).spec.gateway?.resourceRef.namespace,
      'here',
    );
  });

  test('client certificates are required where there is trust', () => {
    const authOf = (tls: object) =>
      virtual({ ingresses: [{ name: 'i', tls }] }).spec.ingresses[0]?.tls?.trustOptions;
    assert.deepEqual(authOf({ trustAnchorRefs: [{ name: 't' }] }), { clientAuth: 'REQUIRED' });
    assert.deepEqual(authOf({ certificateRef: { name: 'c' } }), { clientAuth: 'NONE' });
  });

  test('tls means TLS, and TLS means tls', () => {
    assert.equal(cluster({ tls: {} }).spec.protocol, 'TLS');
    assert.deepEqual(cluster({ protocol: 'TLS' }).spec.tls, { trustAnchorRefs: [] });
    assert.equal(cluster({}).spec.protocol, 'TCP');
  });

  test('three ways to ask Redpanda for an external listener', () => {
    const R = 'redpanda.vectorized.io/v1alpha1';
    const apis = (spec: object) => resourceOf('Cluster', R, { spec }).spec.configuration.kafkaApi;
    const external = { enabled: true, subdomain: 'a.b' };
    const expected = [{ port: 9092 }, { external }];
    const inside = { configuration: { kafkaApi: [{ port: 9092 }] } };
    assert.deepEqual(apis({ configuration: { kafkaApi: expected } }), expected);
    assert.deepEqual(apis({ ...inside, externalDNSSubdomain: 'a.b' }), expected);
    assert.deepEqual(apis({ ...inside, externalConnectivity: external }), expected);
    assert.deepEqual(apis({ ...inside, externalConnectivity: { enabled: false } }), [{ port: 9092 }]);
  });

  test('the cluster of a node pool, and what the network calls it', () => {
    const S = 'kafka.strimzi.io/v1beta2';
    const pool = (metadata: object, spec: object = {}) =>
      resourceOf('KafkaNodePool', S, { metadata: { name: 'x', ...metadata }, spec });
    const alias = { annotations: { 'strimzi.io/stretch-cluster-alias': 'east' } };
    assert.equal(pool(alias).spec.cluster, 'east');
    assert.equal(pool({}, { cluster: 'east' }).spec.cluster, 'east');
    assert.equal(networkIdOf(pool({}, { cluster: 'east' })), 'east');
    const labels = { 'strimzi.io/submariner-cluster-id': 'cluster1' };
    assert.equal(networkIdOf(pool({ labels }, { cluster: 'east' })), 'cluster1');
    assert.equal(clusterNameOf(pool({ labels: { 'strimzi.io/cluster': 'k' } })), 'k');
    const both = parseResource({
      apiVersion: S,
      kind: 'KafkaNodePool',
      metadata: { name: 'x', ...alias },
      spec: { cluster: 'west' },
    });
    assert.ok(!both.ok && /name the same cluster/.test(both.problems[0]!.message));
  });

  test('whether a Kafka is stretched', () => {
    const kafka = (annotations: object) =>
      resourceOf('Kafka', 'kafka.strimzi.io/v1', { metadata: { name: 'x', annotations } });
    assert.deepEqual(stretchOf(kafka({ 'strimzi.io/cross-cluster-type': 'Submariner' })), {
      network: 'submariner',
    });
    assert.deepEqual(stretchOf(kafka({ 'strimzi.io/enable-stretch-cluster': 'true' })), {
      network: undefined,
    });
    assert.equal(stretchOf(kafka({})), undefined);
  });
});
