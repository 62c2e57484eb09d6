/** Host names of virtual clusters at load balancers: whatever their patterns, no two that are served share one. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../../kube/object.ts';
import { createAuthority } from '../../../../test/support/pki.ts';
import { createMemoryCluster } from '../../../../test/support/control/memory-cluster.ts';

const NODE = '$(nodeId)';
const NAME = '$(virtualClusterName)';

interface Model {
  name: string;
  namespace: 'one' | 'two';
  /** In days. */
  age: number;
  ways: { bootstrap: string; brokers: string };
  lastNode: number;
}

const WAYS = [
  { bootstrap: `${NAME}.x`, brokers: `${NAME}-${NODE}.x` },
  { bootstrap: `${NAME}.x`, brokers: `${NAME}${NODE}.x` },
  { bootstrap: `${NAME}.x`, brokers: `${NODE}-${NAME}.x` },
  { bootstrap: `boot-${NAME}.x`, brokers: `a-${NODE}.x` },
  { bootstrap: 'a-1.x', brokers: `b-${NODE}.${NAME}.x` },
] as const;
const ways = fc.constantFrom(...WAYS);
const models = fc.uniqueArray(
  fc.record<Model>({
    name: fc.constantFrom('a', 'a1', 'a-1', 'a-11', '1-a', 'b', 'b-0'),
    namespace: fc.constantFrom('one', 'two'),
    age: fc.integer({ min: 1, max: 4 }),
    ways,
    lastNode: fc.constantFrom(0, 2, 11),
  }),
  { selector: ({ name, namespace }) => `${namespace}/${name}`, maxLength: 6, minLength: 2 },
);

const bootstrapOf = ({ name, ways }: Model) => ways.bootstrap.replaceAll(NAME, name);
const patternOf = ({ name, ways }: Model) => ways.brokers.replaceAll(NAME, name);
const brokersOf = (model: Model) =>
  Array.from({ length: model.lastNode + 1 }, (_, node) => patternOf(model).replace(NODE, String(node)));
const hostsOf = (model: Model) => [bootstrapOf(model), ...brokersOf(model)];

const object = (kind: string, namespace: string, name: string, spec: object): AnyObject => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind,
  metadata: { name, namespace, uid: `${namespace}-${name}`, generation: 1 },
  spec,
});

const namePolicy = (spec: object): AnyObject => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'NamePolicy',
  metadata: { name: 'policy', uid: 'policy' },
  spec,
});

const isOlder = (a: Model, b: Model) =>
  a.age > b.age || (a.age === b.age && `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}`);

/** The names of all nodes that there may be, not only of those that are declared: more than any two of these need to meet. */
const everyHostOf = (model: Model) =>
  new Set([bootstrapOf(model), ...brokersOf({ ...model, lastNode: 150 })]);

const collide = (a: Model, b: Model) => [...everyHostOf(a)].some((host) => everyHostOf(b).has(host));

suite('host names', () => {
  let certificate: Record<string, string>;
  before(async () => {
    const { certPem, keyPem } = await (
      await createAuthority('hosts')
    ).issue({ commonName: 'x', dns: ['*.x'] });
    const encode = (text: string) => Buffer.from(text).toString('base64');
    certificate = { 'tls.crt': encode(certPem), 'tls.key': encode(keyPem) };
  });

  type Granted = Record<Model['namespace'], unknown>;

  /** One proxy a namespace; those that are accepted. */
  const accepted = (clusters: readonly Model[]) =>
    decide(clusters, { one: undefined, two: undefined }).served;

  /** The same with what was granted before, and what is granted now. */
  function decide(
    clusters: readonly Model[],
    before: Granted,
    policy?: object,
    others: readonly AnyObject[] = [],
  ): { served: Set<Model>; granted: Granted; messages: string[] } {
    const memory = createMemoryCluster();
    for (const other of others) memory.put(other);
    const proxyRef = { name: 'p' };
    if (policy) memory.put(namePolicy(policy));
    for (const namespace of ['one', 'two'] as const) {
      const status = before[namespace] === undefined ? {} : { status: { hostNames: before[namespace] } };
      memory.put({ ...object('KafkaProxy', namespace, 'p', {}), ...status });
      memory.put({ ...object('Secret', namespace, 'cert', {}), apiVersion: 'v1', data: certificate });
    }
    for (const { name, namespace, age, ways, lastNode } of clusters) {
      const loadBalancer = { bootstrapAddressPattern: ways.bootstrap, brokerAddressPattern: ways.brokers };
      memory.put(object('KafkaProxyIngress', namespace, `at-${name}`, { proxyRef, loadBalancer }));
      const nodeIdRanges = [{ start: 0, end: lastNode }];
      memory.put(object('KafkaClusterRef', namespace, `of-${name}`, { bootstrap: 'k:9092', nodeIdRanges }));
      const cluster = object('VirtualKafkaCluster', namespace, name, {
        proxyRef,
        ingresses: [{ name: `at-${name}`, tls: { certificateRefs: [{ name: 'cert' }] } }],
        targetCluster: { clusterRef: { name: `of-${name}` } },
      });
      const creationTimestamp = `2026-01-0${9 - age}T00:00:00Z`;
      memory.put({ ...cluster, metadata: { ...cluster.metadata, creationTimestamp } });
    }
    const planIn = (namespace: string) => memory.plan({ namespace, name: 'p' }, Date.now());
    const plans = { one: planIn('one'), two: planIn('two') };
    const grantedIn = (namespace: Model['namespace']) =>
      plans[namespace].persist.find(({ field }) => field === 'hostNames')?.value;
    const granted = { one: grantedIn('one'), two: grantedIn('two') };
    const isServed = ({ name, namespace }: Model) => plans[namespace].config.parts.has(name);
    const messages = Object.values(plans).map(({ statuses }) =>
      JSON.stringify(statuses).replaceAll('\\"', '"'),
    );
    return { served: new Set(clusters.filter(isServed)), granted, messages };
  }

  test('stay with whom they were granted to, however old those are that come later', () => {
    fc.assert(
      fc.property(models, fc.nat(4), (clusters, first) => {
        const before = decide(clusters.slice(0, first), { one: undefined, two: undefined });
        const after = decide(clusters, before.granted);
        for (const one of before.served) assert.ok(after.served.has(one), `${one.namespace}/${one.name}`);
        const gone = decide(clusters.slice(first), after.granted);
        const again = decide(clusters, gone.granted);
        for (const one of gone.served)
          assert.ok(again.served.has(one), `${one.namespace}/${one.name} was free`);
      }),
      { numRuns: 50 },
    );
  });

  test('of two that could only meet at a node to come, the elder one has them, also at another proxy', () => {
    const [elder, younger]: Model[] = [
      { name: '1-a', namespace: 'two', age: 2, ways: WAYS[1], lastNode: 2 },
      { name: 'a1', namespace: 'one', age: 1, ways: WAYS[2], lastNode: 0 },
    ];
    assert.deepEqual(accepted([elder!, younger!]), new Set([elder]));
  });

  test('of brokers that are reached from outside are theirs, unless a virtual cluster had them before', () => {
    const wanted: Model = { name: 'a', namespace: 'one', age: 4, ways: WAYS[0], lastNode: 2 };
    const published = (dnsName: string): AnyObject => ({
      apiVersion: 'externaldns.k8s.io/v1alpha1',
      kind: 'DNSEndpoint',
      metadata: {
        name: 'events-kafka-ext',
        namespace: 'two',
        uid: 'records',
        labels: { 'app.kubernetes.io/managed-by': 'isthmus', 'strimzi.io/cluster': 'events' },
      },
      spec: { endpoints: [{ dnsName, recordType: 'A', targets: ['192.0.2.1'] }] },
    });
    const none: Granted = { one: undefined, two: undefined };
    const late = decide([wanted], none, undefined, [published('a-7.x')]);
    assert.deepEqual(late.served, new Set());
    assert.match(late.messages.join(), /a-7\.x.*DNSEndpoint "events-kafka-ext" in namespace "two"/);
    assert.deepEqual(decide([wanted], none, undefined, [published('b-7.x')]).served, new Set([wanted]));
    const { granted } = decide([wanted], none);
    assert.deepEqual(decide([wanted], granted, undefined, [published('a-7.x')]).served, new Set([wanted]));
  });

  /** Four host names. */
  const model = (name: string, namespace: Model['namespace'], age = 1): Model => {
    const ways = { bootstrap: `${NAME}.x`, brokers: `${NAME}-${NODE}.x` };
    return { name, namespace, age, ways, lastNode: 2 };
  };

  test('are no more a namespace than a NamePolicy allows; what was granted stays', () => {
    const clusters = [model('a', 'one', 1), model('b', 'one', 2), model('c', 'two', 1)];
    const none = { one: undefined, two: undefined };
    const allowing = (namesPerNamespace: number) => ({
      zone: 'x',
      namespaces: {},
      limits: { namesPerNamespace },
    });
    const names = ({ served }: ReturnType<typeof decide>) => [...served].map(({ name }) => name);
    assert.deepEqual(names(decide(clusters, none, allowing(8))), ['a', 'b', 'c']);
    assert.deepEqual(names(decide(clusters, none, allowing(7))), ['b', 'c']);
    assert.deepEqual(names(decide(clusters, none, allowing(3))), []);
    const younger = decide(clusters.slice(0, 1), none, allowing(4));
    assert.deepEqual(names(decide(clusters, younger.granted, allowing(4))), ['a', 'c']);
    assert.deepEqual(names(decide(clusters, younger.granted, allowing(3))), ['a']);
  });

  test('of another proxy in the namespace count, and the reason is said', () => {
    const status = {
      hostNames: [
        { virtualCluster: 'v', ingress: 'i', bootstrap: 'v.x', brokers: `v-${NODE}.x`, count: 4, since: '' },
      ],
    };
    const beside = { ...object('KafkaProxy', 'one', 'beside', {}), status };
    const limits = { namesPerNamespace: 7 };
    const { served, messages } = decide(
      [model('a', 'one')],
      { one: undefined, two: undefined },
      { zone: 'x', namespaces: {}, limits },
      [beside],
    );
    assert.equal(served.size, 0);
    assert.match(messages.join(), /NamePolicy "policy" allows 7 names a namespace, of which 4 are in use/);
  });

  test('in a closed domain are had by those only whom a NamePolicy allows it', () => {
    const clusters = [model('a', 'one'), model('b', 'two')];
    const servedWith = (policy?: object) =>
      [...decide(clusters, { one: undefined, two: undefined }, policy).served].map(({ name }) => name);
    const namespaces = { matchLabels: { 'kubernetes.io/metadata.name': 'one' } };
    assert.deepEqual(servedWith(), ['a', 'b']);
    assert.deepEqual(servedWith({ zone: 'y', namespaces }), ['a', 'b']);
    assert.deepEqual(servedWith({ zone: 'x', namespaces }), ['a']);
    assert.deepEqual(
      servedWith({ zone: 'x', namespaces, domains: ['a.x'] }),
      [],
      'the brokers are not below it',
    );
  });

  test('are had by one each, and by the oldest, in whatever order they are met', () => {
    fc.assert(
      fc.property(models, (clusters) => {
        const served = accepted(clusters);
        const isBroken = (one: Model) => one.lastNode > 0 && brokersOf(one).includes(bootstrapOf(one));
        for (const one of clusters) {
          for (const other of served) {
            if (one === other || !served.has(one)) continue;
            const shared = hostsOf(one).filter((host) => hostsOf(other).includes(host));
            assert.deepEqual(shared, [], `${one.namespace}/${one.name} and ${other.namespace}/${other.name}`);
            // One proxy must also know whom a client means.
            assert.ok(one.namespace !== other.namespace || !collide(one, other));
          }
          const hasElder = clusters.some((other) => isOlder(other, one) && collide(one, other));
          assert.ok(served.has(one) || hasElder || isBroken(one), `${one.name} is refused for nothing`);
        }
        assert.deepEqual(accepted(clusters.toReversed()), served);
      }),
      { numRuns: 100 },
    );
  });
});
