/** Names of Redpanda clusters belong to one of them: what was written down decides, or promised by another plan, also one for a Kafka. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { SETTINGS } from '../../../test/support/control/redpanda.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { createLog } from '../../ops/log.ts';
import type { Promises } from '../brokers/expose/promised.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import { NOTHING_LEARNED } from '../kernel/reconcile.ts';
import { NAMES_ANNOTATION } from './names.ts';
import { recordedNames } from './recorded-names.ts';
import type { Observed } from './observe.ts';
import { redpandaReconciler } from './road.ts';
import type { RedpandaViews } from './watches.ts';

const NOW = Date.UTC(2026, 10, 1);
const EARLIER = '2026-01-01T00:00:00.000Z';
const NAMESPACE = 'n';
const NAMES = ['a', 'b', 'c'];
const keyed = (name: string) => keyOf({ namespace: NAMESPACE, name });

type Objects = ReadonlyMap<string, AnyObject>;
type Wish = object | undefined;

const clusterOf = (name: string, external: Wish, uid = `uid-${name}`): AnyObject => ({
  apiVersion: 'redpanda.vectorized.io/v1alpha1',
  kind: 'Cluster',
  metadata: { namespace: NAMESPACE, name, uid, annotations: { 'isthmus.dev/managed': 'true' } },
  spec: {
    version: 'v25.2.1',
    replicas: 3,
    configuration: { kafkaApi: [{}, ...(external ? [{ external: { enabled: true, ...external } }] : [])] },
  },
});

const viewOf = (objects: Objects) => ({
  get: (key: string) => objects.get(key),
  list: () => [...objects.values()],
  find: () => [],
});

/** A Kubernetes cluster with nothing but what names are decided by: no broker has a place, so that no record says anything. */
function createWorld({
  hasAnchors = true,
  policies = [],
}: { hasAnchors?: boolean; policies?: AnyObject[] } = {}) {
  const clusters = new Map<string, AnyObject>();
  const services: Objects = new Map(
    NAMES.map((name, at) => [keyed(`${name}-external`), portOf(31_000 + at)]),
  );
  let written: { anchors: Objects; statefulSets: Objects } = { anchors: new Map(), statefulSets: new Map() };
  let seen = written;
  let version = 0;
  const next = (object: AnyObject): AnyObject => {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  };
  const none = viewOf(new Map());
  const views = {
    clusters: viewOf(clusters),
    services: viewOf(services),
    pods: none,
    namespaces: none,
    dnsEndpoints: none,
    namePolicies: { ...none, list: () => policies },
    statefulSets: { ...none, get: (key: string) => seen.statefulSets.get(key) },
    ...(hasAnchors && { anchors: { get: (key: string) => seen.anchors.get(key), list: () => [...seen.anchors.values()] } }), // prettier-ignore
  } as unknown as RedpandaViews;
  let promised: Promises = new Map();
  const start = () =>
    redpandaReconciler(
      { settings: SETTINGS, promised, client: () => assert.fail('nothing is asked'), log: createLog('silent') }, // prettier-ignore
      { watched: { views, undiscovered: new Set() } as never, events: {} as never },
      new Map(),
    );
  let reconciler = start();
  const put = (kind: 'anchors' | 'statefulSets', object: AnyObject) => {
    written = { ...written, [kind]: new Map([...written[kind], [keyOf(object.metadata), next(object)]]) };
  };
  const world = {
    put,
    want(name: string, external: Wish, uid?: string, namespace = NAMESPACE) {
      const cluster = clusterOf(name, external, uid);
      clusters.set(keyOf({ namespace, name }), { ...cluster, metadata: { ...cluster.metadata, namespace } });
    },
    delete(name: string) {
      clusters.delete(keyed(name));
    },
    /** The caches have all that was written. */
    see() {
      seen = written;
    },
    /** Another operator, which knows what is written down. */
    restart() {
      promised = new Map();
      reconciler = start();
      seen = written;
    },
    promise(name: string, grant: NameGrant) {
      promised.set('Kafka', new Map([[keyed(name), { version: undefined, grants: [grant] }]]));
    },
    /** Decides by what is seen, and writes as the API server takes it: an anchor over just the version that was seen. */
    plan(
      name: string,
      now = NOW,
      { dies = false, namespace = NAMESPACE } = {},
    ): { reason: string | undefined; isWritten: boolean } {
      const observed: Observed = reconciler.observe(keyOf({ namespace, name }), undefined, now);
      const plan = reconciler.plan(observed, NOTHING_LEARNED);
      for (const { object } of plan.documents ?? []) {
        const live = written.anchors.get(keyOf(object.metadata));
        if (live?.metadata.resourceVersion !== object.metadata.resourceVersion)
          return { reason: undefined, isWritten: false };
        put('anchors', object);
      }
      if (!dies)
        for (const object of plan.targets.flatMap(({ objects }) => objects))
          if (object.kind === 'StatefulSet') put('statefulSets', object);
      const { conditions = [] } = (plan.statuses[0]?.status ?? {}) as {
        conditions?: { type: string; reason: string }[];
      };
      return {
        reason: conditions.find(({ type }) => type === 'OperatorQuiescent')?.reason,
        isWritten: true,
      };
    },
    grantOf(name: string) {
      const { anchors, statefulSets } = written;
      const uid = clusters.get(keyed(name))?.metadata.uid;
      return recordedNames(anchors.get(keyed(name)), statefulSets.get(keyed(name)), uid, NOW)?.grant;
    },
    anchorOf: (name: string) => written.anchors.get(keyed(name)),
    statefulSetOf: (name: string) => written.statefulSets.get(keyed(name)),
  };
  return world;
}

const policyFor = (namespace: string): AnyObject => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'NamePolicy',
  metadata: { name: 'policy' },
  spec: { zone: 'x.test', namespaces: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
});

const portOf = (nodePort: number): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: NAMESPACE, name: 'x' },
  spec: { ports: [{ port: 9093, nodePort }] },
});

const X = { subdomain: 'x.test' };
const FORMS = [{ hasAnchors: true }, { hasAnchors: false }];

/** As operators wrote it that had no names in anchors. */
function inFormerTimes(world: ReturnType<typeof createWorld>, name: string): void {
  const anchor = world.anchorOf(name);
  if (!anchor) return;
  const spec = JSON.stringify(anchor['spec'], (key, value: unknown) => (key === 'names' ? undefined : value));
  world.put('anchors', { ...anchor, spec: JSON.parse(spec) as object });
}

/** Whoever has a StatefulSet may write this. */
function annotate(world: ReturnType<typeof createWorld>, name: string): void {
  const set = world.statefulSetOf(name)!;
  const text = JSON.stringify({ broker: '$(id).x.test', bootstrap: 'bootstrap.x.test' });
  const annotations = { ...set.metadata.annotations, [NAMES_ANNOTATION]: text };
  const creationTimestamp = '1970-01-01T00:00:00Z';
  world.put('statefulSets', { ...set, metadata: { ...set.metadata, creationTimestamp, annotations } });
}

suite('a name that two Redpanda clusters want', () => {
  for (const form of FORMS)
    test(`is granted to one, though nothing is published (${form.hasAnchors ? 'anchors' : 'annotations'})`, () => {
      const world = createWorld(form);
      world.want('a', X);
      world.want('b', X);
      world.plan('a');
      assert.equal(world.plan('b').reason, 'HostNameTaken', 'it is promised');
      world.restart();
      assert.equal(world.plan('b').reason, 'HostNameTaken', 'it is written down');
      assert.notEqual(world.plan('a', NOW + 1).reason, 'HostNameTaken');
      assert.equal(world.grantOf('a')?.since, new Date(NOW).toISOString());
      assert.equal(world.grantOf('b'), undefined);
      world.delete('a');
      world.plan('a');
      assert.notEqual(world.plan('b').reason, 'HostNameTaken', 'whoever had it is gone');
      assert.equal(world.grantOf('b')?.pattern, '$(id).x.test');
    });

  test('is free once its cluster wants another one, or is made anew', () => {
    const world = createWorld();
    world.want('a', X);
    world.want('b', X);
    world.plan('a');
    world.see();
    world.want('a', { subdomain: 'y.test' });
    world.plan('a');
    assert.equal(world.plan('b').reason, 'HostNameTaken', 'nobody has seen yet that it is given up');
    world.see();
    assert.notEqual(world.plan('b').reason, 'HostNameTaken');
    world.see();
    world.want('c', X);
    world.want('b', undefined, 'uid-anew');
    world.plan('b');
    world.see();
    assert.notEqual(world.plan('c').reason, 'HostNameTaken');
  });

  test('is not that of a Kafka to which a plan of this process has granted it', () => {
    const world = createWorld();
    world.promise('events', { pattern: '$(id).x.test', since: EARLIER, count: 4 });
    world.want('a', X);
    assert.equal(world.plan('a').reason, 'HostNameTaken');
    assert.equal(world.grantOf('a'), undefined);
    world.want('a', { subdomain: 'y.test' });
    assert.notEqual(world.plan('a').reason, 'HostNameTaken');
  });

  test('that a Kafka has, too, because nobody knew of it right after a start, is that of the earlier grant', () => {
    const world = createWorld();
    world.want('a', X);
    world.plan('a');
    world.see();
    world.promise('events', { pattern: '$(id).x.test', since: '2026-12-01T00:00:00.000Z', count: 4 });
    assert.notEqual(world.plan('a').reason, 'HostNameTaken');
    world.see();
    world.promise('events', { pattern: '$(id).x.test', since: EARLIER, count: 4 });
    assert.equal(world.plan('a').reason, 'HostNameTaken');
    assert.equal(world.grantOf('a'), undefined);
  });

  for (const form of FORMS)
    test(`stays with whom it was granted in former times (${form.hasAnchors ? 'anchors' : 'annotations'})`, () => {
      const world = createWorld(form);
      world.want('b', X);
      world.plan('b');
      inFormerTimes(world, 'b');
      world.restart();
      world.want('a', X);
      assert.equal(world.plan('a').reason, 'HostNameTaken', 'before it is written down anew');
      assert.notEqual(world.plan('b').reason, 'HostNameTaken');
      assert.deepEqual(world.grantOf('b'), {
        pattern: '$(id).x.test',
        bootstrap: 'bootstrap.x.test',
        since: new Date(NOW).toISOString(),
        count: 4,
      });
      world.see();
      assert.equal(world.plan('a').reason, 'HostNameTaken');
    });

  test('that two were granted in former times is that of one, and the other says so from then on', () => {
    const world = createWorld();
    world.want('b', X);
    world.plan('b');
    inFormerTimes(world, 'b');
    world.delete('b');
    world.restart();
    world.want('a', X);
    world.plan('a');
    inFormerTimes(world, 'a');
    world.want('b', X);
    world.restart();
    assert.notEqual(world.plan('b', NOW).reason, 'HostNameTaken');
    assert.equal(world.plan('a', NOW + 1).reason, 'HostNameTaken');
    world.restart();
    assert.equal(world.plan('a', NOW + 2).reason, 'HostNameTaken');
    assert.notEqual(world.plan('b', NOW + 3).reason, 'HostNameTaken');
  });

  test('is taken from nobody by an annotation, and kept from nobody who alone may have it', () => {
    const world = createWorld();
    world.want('b', X);
    world.plan('b');
    world.want('a', undefined);
    world.plan('a');
    annotate(world, 'a');
    for (const wish of [undefined, X]) {
      world.want('a', wish);
      world.restart();
      assert.notEqual(world.plan('b', NOW + 1).reason, 'HostNameTaken');
      assert.equal(world.plan('a', NOW + 2).reason === 'HostNameTaken', wish !== undefined);
      world.restart();
      assert.equal(world.grantOf('b')?.since, new Date(NOW).toISOString());
    }
    const closed = createWorld({ policies: [policyFor('others')] });
    closed.want('a', undefined);
    closed.plan('a');
    annotate(closed, 'a');
    closed.want('b', X, 'uid-b', 'others');
    closed.restart();
    assert.notEqual(closed.plan('b', NOW, { namespace: 'others' }).reason, 'HostNameTaken');
  });
});

const WISHES: Wish[] = [
  X,
  { hostPattern: '$(id).x.test' },
  { hostPattern: '1$(id).x.test' },
  { subdomain: 'x.test', endpointTemplate: 'b-{{add .Index 1}}' },
  { subdomain: 'x.test', hostPattern: '$(id).$(cluster).$(subdomain)' },
  { subdomain: 'y.test' },
];
const ofOne = fc.constantFrom(...NAMES);
/** Seldom is anything seen: several plans are to be made from the same old view, and each of several wishes. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('plan' as const), name: ofOne, dies: fc.constantFrom(false, false, false, true) }) }, // prettier-ignore
  { weight: 4, arbitrary: fc.record({ do: fc.constant('want' as const), name: ofOne, wish: fc.option(fc.constantFrom(...WISHES), { nil: undefined, freq: 9 }) }) }, // prettier-ignore
  { weight: 1, arbitrary: fc.record({ do: fc.constant('see' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

const IDS = Array.from({ length: 30 }, (_, id) => id);
/** The names of a grant for as many brokers as there may be some day. */
const allNames = ({ pattern, bootstrap = '' }: NameGrant) => [
  bootstrap,
  ...IDS.map((id) => pattern.replace(/\$\(id(?:\+(\d+))?\)/, (_, more = 0) => String(id + Number(more)))),
];

for (const form of FORMS)
  test(`whatever the order of plans, and however old what they see, no name has two holders (${form.hasAnchors ? 'anchors' : 'annotations'})`, () => {
    let [refusals, grants] = [0, 0];
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const world = createWorld(form);
        for (const name of NAMES) world.want(name, X);
        steps.forEach((one, at) => {
          if (one.do === 'see') world.see();
          else if (one.do === 'restart') world.restart();
          else if (one.do === 'want') world.want(one.name, one.wish);
          else refusals += Number(world.plan(one.name, NOW + at, one).reason === 'HostNameTaken');
          const held = NAMES.flatMap((name) => world.grantOf(name) ?? []);
          grants += held.length;
          const names = held.flatMap(allNames);
          assert.equal(new Set(names).size, names.length, JSON.stringify(held));
        });
      }),
      { numRuns: 100 },
    );
    assert.ok(refusals > 50 && grants > 50, `${refusals} refusals, ${grants} grants`);
  });
