/** Names of brokers belong to one cluster: who was granted them first, and whom NamePolicies let have them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { collectGarbage } from '../../../../test/support/brokers/memory-controllers.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { namePolicy } from '../../../resources/isthmus/name-policy.ts';
import type { NamePolicy } from '../../../resources/isthmus/name-policy.ts';
import { read } from '../../kernel/read.ts';
import { createHostIndex } from '../../shared/host-index.ts';
import type { Charter } from '../model/charter.ts';
import type { Listener } from '../model/cluster.ts';
import { grantNames } from './listener-names.ts';
import type { GrantedNames, SeenNames } from './listener-names.ts';
import { exposedHost } from './names.ts';
import { promisedAlso, promisedToOthers } from './promised.ts';
import type { OthersGrant, Promised, Promises } from './promised.ts';
import type { Endpoint } from './records.ts';

const NOW = Date.UTC(2026, 10, 1);
const EARLIER = '2026-01-01T00:00:00.000Z';
const PATTERN = '$(id).kafka.example.com';
const OTHERS = { kind: 'Kafka' as const, namespace: 'sales', name: 'shop' };
const kafkaNamed = (name: string, namespace = 'n') => ({ kind: 'Kafka' as const, namespace, name });

const listener = (hostPattern: string | undefined, name = 'ext'): Listener => ({
  name,
  port: 9094,
  tls: true,
  authentication: 'none',
  networkPolicyPeers: undefined,
  alternativeNames: [],
  exposure: {
    by: 'hostport',
    port: 31_000,
    hostPattern,
    allowedSources: [],
    strategy: 'reserve',
    addressType: undefined,
  },
});

const sight = (more: Partial<SeenNames> = {}): SeenNames => ({
  kafka: { namespace: 'kafka', name: 'events' },
  recorded: {},
  waiting: [],
  brokers: 3,
  now: NOW,
  others: [],
  published: () => createHostIndex(),
  namePolicies: [],
  unreadablePolicies: [],
  namespaceLabels: {},
  ...more,
});

const others = (pattern = PATTERN, since: string | undefined = EARLIER): OthersGrant[] => [
  { cluster: OTHERS, pattern, count: 2, ...(since !== undefined && { since }) },
];

const policyObject = (spec: object, name = 'policy'): AnyObject => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'NamePolicy',
  metadata: { name },
  spec: { zone: 'example.com', ...spec },
});
const policyFor = (namespace: string, more: object = {}): NamePolicy => {
  const labels = { 'kubernetes.io/metadata.name': namespace };
  const { resource } = read(namePolicy, policyObject({ namespaces: { matchLabels: labels }, ...more }));
  return resource!;
};

const decided = ({ listeners, names, faults }: GrantedNames) => ({
  served: listeners.map(({ exposure }) => exposure?.hostPattern),
  names,
  reasons: faults.map(({ reason }) => reason),
});

suite('names of brokers', () => {
  test('are granted to who asks first, since now, and stay granted since then', () => {
    const first = grantNames([listener(PATTERN)], sight());
    const grant = { pattern: PATTERN, since: '2026-11-01T00:00:00.000Z', count: 4 };
    assert.deepEqual(decided(first), { served: [PATTERN], names: { ext: grant }, reasons: [] });
    const later = sight({ recorded: first.names, now: NOW + 60_000, others: others(PATTERN, '2026-11-01T00:00:01.000Z') }); // prettier-ignore
    assert.deepEqual(decided(grantNames([listener(PATTERN)], later)), decided(first));
  });

  test('that another cluster has are not had: the listener is left out, and other names are proposed', () => {
    const refused = grantNames(
      [listener(PATTERN), listener(undefined, 'other')],
      sight({ others: others() }),
    );
    assert.deepEqual(decided(refused), { served: [undefined], names: {}, reasons: ['HostNameTaken'] });
    assert.equal(
      refused.faults[0]!.message,
      'listener "ext": the host name bootstrap.kafka.example.com belongs to Kafka "shop" in namespace "sales", which had it first; set hostPattern: $(id).$(cluster).$(subdomain) in the configuration of the listener, or choose another subdomain; the listener is left out until it has a name',
    );
    const proposed = grantNames([listener('$(id).events.kafka.example.com')], sight({ others: others() }));
    assert.deepEqual(proposed.faults, []);
  });

  test('that another road has promised are not had; what is promised to the cluster itself is no obstacle', () => {
    const grant = { pattern: PATTERN, since: EARLIER, count: 4 };
    const reasonsBy = (kind: 'Kafka' | 'Redpanda cluster') => {
      const promises: Promises = new Map([
        [kind, new Map([['kafka/events', { version: undefined, grants: [grant] }]])],
      ]);
      const others = promisedToOthers(promises, kafkaNamed('events', 'kafka'));
      return grantNames([listener(PATTERN)], sight({ others })).faults.map(({ message }) => message);
    };
    assert.deepEqual(reasonsBy('Kafka'), []);
    assert.match(
      reasonsBy('Redpanda cluster')[0]!,
      /belongs to Redpanda cluster "events" in namespace "kafka"/,
    );
  });

  test('of node ids to come are claimed, too', () => {
    const taken = (pattern: string, by: string) =>
      grantNames([listener(pattern)], sight({ others: others(by) })).faults.map(({ message }) => message);
    assert.match(taken('b$(id).x.com', 'b1$(id).x.com')[0]!, /host name b1<id>\.x\.com belongs to/);
    assert.match(taken('bootstrap.$(id).com', '$(id).5.com')[0]!, /bootstrap\.5\.com/);
    assert.deepEqual(taken('b-$(id).x.com', 'b1$(id).x.com'), []);
  });

  test('that are taken are no reason to give up those that clients know', () => {
    const recorded = { ext: { pattern: '$(id).old.example.com', since: EARLIER, count: 4 } };
    const held = grantNames([listener(PATTERN)], sight({ recorded, others: others() }));
    assert.deepEqual(decided(held), {
      served: ['$(id).old.example.com'],
      names: recorded,
      reasons: ['HostNameTaken'],
    });
    assert.match(held.faults[0]!.message, /goes on as bootstrap\.old\.example\.com$/);
  });

  test('are granted whatever the listener is called', () => {
    const { names } = grantNames([listener(PATTERN, 'constructor')], sight());
    assert.equal(names['constructor']!.pattern, PATTERN);
    const none = { ...sight(), waiting: ['constructor'] };
    assert.deepEqual(grantNames([], none).names, {});
  });

  test('are kept for a listener that waits for its port', () => {
    const recorded = { ext: { pattern: PATTERN, since: EARLIER, count: 4 } };
    assert.deepEqual(grantNames([], sight({ recorded, waiting: ['ext'] })).names, recorded);
    assert.deepEqual(grantNames([], sight({ recorded })).names, {}, 'and free once it is gone');
  });

  test('are had only where a NamePolicy allows them, if their zone has any', () => {
    const by = (policy: NamePolicy, more: Partial<SeenNames> = {}) =>
      decided(grantNames([listener(PATTERN)], sight({ namePolicies: [policy], ...more })));
    assert.deepEqual(by(policyFor('sales')).reasons, ['HostNameNotAllowed']);
    assert.deepEqual(by(policyFor('sales')).served, []);
    assert.deepEqual(by(policyFor('kafka')).reasons, []);
    assert.deepEqual(by(policyFor('sales', { zone: 'example.org' })).reasons, []);
    const few = policyFor('kafka', { limits: { namesPerNamespace: 5 } });
    assert.deepEqual(by(few).reasons, []);
    const beside = [{ cluster: kafkaNamed('more', 'kafka'), pattern: '$(id).more.example.com', since: EARLIER, count: 2 }]; // prettier-ignore
    assert.deepEqual(by(few, { others: beside }).reasons, ['HostNameLimitReached']);
    const enough = policyFor('kafka', { limits: { namesPerNamespace: 6 } });
    assert.deepEqual(
      by(enough, { others: [...beside, ...beside] }).reasons,
      [],
      'written down, and promised',
    );
    const recorded = { ext: { pattern: PATTERN, since: EARLIER, count: 4 } };
    assert.deepEqual(by(few, { others: beside, recorded }).reasons, [], 'what is granted stays');
  });

  test('that a later NamePolicy forbids are published no more; brokers stay, and others may have the names', () => {
    const recorded = { ext: { pattern: PATTERN, since: EARLIER, count: 4 } };
    const namePolicies = [policyFor('sales')];
    const withdrawn = grantNames([listener(PATTERN)], sight({ recorded, namePolicies }));
    assert.deepEqual(decided(withdrawn), {
      served: [PATTERN],
      names: { ext: { pattern: PATTERN, count: 4 } },
      reasons: ['HostNameNotAllowed'],
    });
    assert.equal(withdrawn.listeners[0]!.exposure!.isWithdrawn, true);
    const rival = grantNames([listener(PATTERN)], {
      ...sight({ namePolicies }),
      kafka: OTHERS,
      others: [{ cluster: kafkaNamed('events', 'kafka'), ...withdrawn.names['ext']! }],
    });
    assert.deepEqual(rival.faults, []);
    const back = sight({ recorded: withdrawn.names, others: others(PATTERN, '2026-11-02T00:00:00.000Z') });
    assert.deepEqual(decided(grantNames([listener(PATTERN)], back)), { served: [], names: {}, reasons: ['HostNameTaken'] }); // prettier-ignore
    const allowed = grantNames([listener(PATTERN)], sight({ recorded: withdrawn.names }));
    assert.equal(allowed.names['ext']!.since, '2026-11-01T00:00:00.000Z');
  });
});

/** Another Kafka, and what was written down of it. */
function putOther(memory: MemoryKafka, uid = 'uid-shop'): void {
  const { namespace, name } = OTHERS;
  memory.put({ ...kafkaObject(), metadata: { namespace, name, uid: 'uid-shop' } });
  memory.put({
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    metadata: { namespace, name, labels: { 'strimzi.io/cluster': name } },
    spec: {
      clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
      epoch: 1,
      holder: 'isthmus',
      kafka: { name, uid },
      names: [{ name: 'ext', pattern: PATTERN, since: EARLIER, count: 4 }],
    },
  });
}

const exposed = (configuration: object) => ({
  listeners: [
    { name: 'plain', port: 9092, type: 'internal', tls: false },
    { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration },
  ],
});
const SUBDOMAIN = { subdomain: 'kafka.example.com' };

function memoryWith(configuration: object): MemoryKafka {
  const memory = createMemoryKafka();
  memory.placeOf = (pod) => ({
    node: `node-${pod.at(-1)}`,
    addresses: [{ type: 'ExternalIP', address: `192.0.2.${pod.at(-1)}` }],
  });
  memory.put(kafkaObject(exposed(configuration)));
  memory.put(poolObject());
  return memory;
}

const change = (memory: MemoryKafka, configuration: object) =>
  memory.put({ ...kafkaObject(exposed(configuration)), status: memory.get('Kafka', 'events')!['status'] });
const namesIn = (memory: MemoryKafka) =>
  (memory.get('KafkaAnchor', 'events')!['spec'] as { names: { pattern: string; since?: string }[] }).names;
const recordsIn = (memory: MemoryKafka) =>
  ((memory.get('DNSEndpoint', 'events-kafka-ext')?.['spec'] ?? {}) as { endpoints?: Endpoint[] }).endpoints ?? []; // prettier-ignore
const advertisedIn = (memory: MemoryKafka) =>
  (memory.get('ConfigMap', 'events-dual-0')!['data'] as Record<string, string>)['server.config']!;

suite('a Kafka that wants a name', () => {
  test('of another one has no listener and no record by it, and gets one by the pattern that is proposed', async () => {
    const memory = memoryWith(SUBDOMAIN);
    putOther(memory);
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'HostNameTaken');
    assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
    assert.deepEqual([namesIn(memory), recordsIn(memory)], [[], []]);
    assert.doesNotMatch(advertisedIn(memory), /example\.com/);
    change(memory, { ...SUBDOMAIN, hostPattern: '$(id).$(cluster).$(subdomain)' });
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
    assert.equal(namesIn(memory)[0]!.pattern, '$(id).events.kafka.example.com');
    assert.match(advertisedIn(memory), /:\/\/0\.events\.kafka\.example\.com:/);
    assert.equal(recordsIn(memory).length, 4);
  });

  test('that a virtual cluster, or whoever else, publishes does not get it; one that has it keeps it', async () => {
    const published: AnyObject = {
      apiVersion: 'externaldns.k8s.io/v1alpha1',
      kind: 'DNSEndpoint',
      metadata: {
        name: 'shop',
        namespace: 'sales',
        labels: { 'app.kubernetes.io/managed-by': 'isthmus' },
      },
      spec: { endpoints: [{ dnsName: '5.kafka.example.com', recordType: 'A', targets: ['192.0.2.9'] }] },
    };
    const late = memoryWith(SUBDOMAIN);
    late.put(published);
    await late.settle();
    assert.equal(conditionOf(late, 'Ready')?.reason, 'HostNameTaken');
    assert.match(conditionOf(late, 'Ready')!.message, /5\.kafka.*DNSEndpoint "shop" in namespace "sales"/);
    assert.deepEqual(recordsIn(late), []);
    const first = memoryWith(SUBDOMAIN);
    await first.settle();
    first.put(published);
    await first.settle();
    assert.equal(conditionOf(first, 'Ready')?.status, 'True', JSON.stringify(conditionOf(first, 'Ready')));
    assert.equal(recordsIn(first).length, 4);
  });

  test('of one that is gone, or was made anew since, gets it', async () => {
    const memory = memoryWith(SUBDOMAIN);
    putOther(memory, 'uid-before');
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
    assert.equal(recordsIn(memory).length, 4);
  });

  test('writes it down before anything has it, and forgets it when it is made anew', async () => {
    const memory = memoryWith(SUBDOMAIN);
    let uses = 0;
    for (let step = 0; step < 10; step++) {
      const { documents = [], targets } = memory.plan();
      const written = [...documents.map(({ object }) => object), ...memory.list('KafkaAnchor')];
      const isUsed = JSON.stringify(targets).includes('kafka.example.com');
      if (isUsed) assert.match(JSON.stringify(written), /"pattern":"\$\(id\)\.kafka\.example\.com"/);
      uses += Number(isUsed);
      await memory.step();
    }
    assert.ok(uses > 0, 'it is used at last');
    const since = namesIn(memory)[0]!.since;
    memory.now += 60_000;
    await memory.settle();
    assert.equal(namesIn(memory)[0]!.since, since);
    const kafka = kafkaObject(exposed(SUBDOMAIN));
    memory.put({ ...kafka, metadata: { ...kafka.metadata, uid: 'uid-anew' } });
    for (let round = 0; round < 10; round++) collectGarbage(memory);
    await memory.settle();
    assert.notEqual(namesIn(memory)[0]!.since, since);
  });

  test('that is forbidden later keeps its brokers as they are, without records, and has all back at once', async () => {
    const memory = memoryWith(SUBDOMAIN);
    await memory.settle();
    const before = advertisedIn(memory);
    const namespaces = { matchLabels: { team: 'sales' } };
    memory.put(policyObject({ namespaces }));
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'HostNameNotAllowed');
    assert.deepEqual(recordsIn(memory), []);
    assert.equal(advertisedIn(memory), before);
    assert.deepEqual(memory.plan().told?.flatMap(({ endpoints }) => endpoints), []); // prettier-ignore
    memory.put({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kafka', labels: { team: 'sales' } },
    });
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
    assert.equal(recordsIn(memory).length, 4);
    assert.equal(advertisedIn(memory), before);
  });
});

const PATTERNS = ['$(id).x.com', 'a$(id).x.com', 'a1$(id).x.com', '$(id).5.com', 'bootstrap.$(id).com'];
const IDS = ['bootstrap' as const, ...Array.from({ length: 120 }, (_, id) => id)];
const allNames = (pattern: string) => IDS.map((id) => exposedHost(pattern, id));

const KAFKAS = ['a', 'b', 'c'];
/** Seldom is anything seen: several plans are to be made from the same old view, and each of several wishes. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('plan' as const), kafka: fc.constantFrom(...KAFKAS) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('want' as const),
      kafka: fc.constantFrom(...KAFKAS),
      pattern: fc.option(fc.constantFrom(...PATTERNS), { nil: undefined, freq: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('see' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

test('whatever the order in which names are claimed, and however old what is seen, no name has two holders', () => {
  let [refusals, promises] = [0, 0];
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      type Anchors = Record<string, { version: number; names: Charter['names'] }>;
      let written: Anchors = Object.fromEntries(KAFKAS.map((kafka) => [kafka, { version: 0, names: {} }]));
      let view = written;
      const promised = new Map<string, Promised>();
      const wishes = new Map<string, string>();
      steps.forEach((one, at) => {
        if (one.do === 'see') view = written;
        else if (one.do === 'restart') {
          promised.clear();
          view = written;
        } else if (one.do === 'want') {
          if (one.pattern === undefined) wishes.delete(one.kafka);
          else wishes.set(one.kafka, one.pattern);
        } else {
          const { kafka } = one;
          const of = (key: string, grants: Promised['grants']) =>
            key === kafka ? [] : grants.map((grant) => ({ ...grant, cluster: kafkaNamed(key) }));
          const seen = Object.entries(view).flatMap(([key, { names }]) => of(key, Object.values(names)));
          const told = [...promised].flatMap(([key, { grants }]) => of(key, grants));
          const grantedBy = (others: OthersGrant[]) =>
            grantNames([listener(wishes.get(kafka))], {
              ...sight({ recorded: view[kafka]!.names, now: NOW + at, others }),
              kafka: { namespace: 'n', name: kafka },
            });
          const granted = grantedBy([...seen, ...told]);
          refusals += granted.faults.length;
          // What is refused by a promise alone, since what is seen is too old.
          promises += granted.faults.length - grantedBy(seen).faults.length;
          promised.set(
            kafka,
            promisedAlso(promised.get(kafka), String(view[kafka]!.version), Object.values(granted.names)),
          );
          // The API server takes an anchor only over the version that was seen.
          const { version } = written[kafka]!;
          if (view[kafka]!.version === version)
            written = { ...written, [kafka]: { version: version + 1, names: granted.names } };
        }
        const held = Object.values(written).flatMap(({ names }) => Object.values(names).flatMap(({ pattern }) => allNames(pattern))); // prettier-ignore
        assert.equal(new Set(held).size, held.length);
      });
    }),
    { numRuns: 500 },
  );
  assert.ok(refusals > 50 && promises > 5, `${refusals} refusals, ${promises} of them by promises alone`);
});
