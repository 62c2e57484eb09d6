/** What was served goes on, whatever becomes of what it refers to; until its owner takes it away. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../kube/object.ts';
import { NOTHING_LEARNED } from '../kernel/reconcile.ts';
import type { ConfigRejections } from './config/checks.ts';
import type { ProxyDocument } from './config/document.ts';
import { planProxy } from './plan.ts';
import { SETTINGS, createMemoryCluster } from '../../../test/support/control/memory-cluster.ts';
import type { MemoryCluster, PlanOptions } from '../../../test/support/control/memory-cluster.ts';
import { createAuthority } from '../../../test/support/pki.ts';

const PROXY = { namespace: 'default', name: 'p' };
const NOW = Date.now();
const proxyRef = { name: 'p' };

const object = (apiVersion: string, kind: string, name: string, rest: object): AnyObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1 },
  ...rest,
});
const ours = (kind: string, name: string, spec: object) =>
  object('kroxylicious.io/v1alpha1', kind, name, { spec });
const text = (kind: string, name: string, data: Record<string, string>) =>
  object('v1', kind, name, {
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [
        key,
        kind === 'Secret' ? Buffer.from(value).toString('base64') : value,
      ]),
    ),
  });

interface Pair {
  certPem: string;
  keyPem: string;
}
let pairs: Pair[];
before(async () => {
  const authority = await createAuthority('last-good');
  const dns = ['*.default.svc.cluster.local', '*.kafka.test'];
  pairs = await Promise.all([1, 2].map(async (i) => authority.issue({ commonName: `c${i}`, dns })));
});

const LISTENER = { name: 'plain', type: 'internal', port: 9092, tls: false };
const kafka = (listeners: object[] | undefined) =>
  object('kafka.strimzi.io/v1beta2', 'Kafka', 'strimzi', {
    spec: { kafka: { listeners: [LISTENER] } },
    status: { listeners },
  });
const KAFKA_STATUS = [{ name: 'plain', bootstrapServers: 'strimzi:9092' }];
const secret = (crt: number, key = crt) =>
  text('Secret', 'cert', { 'tls.crt': pairs[crt]!.certPem, 'tls.key': pairs[key]!.keyPem });
const trust = () => text('ConfigMap', 'trust', { 'ca.crt': pairs[0]!.certPem });
const clusterRef = (change: object = {}) =>
  ours('KafkaClusterRef', 'kafka', {
    bootstrap: 'kafka:9092',
    nodeIdRanges: [{ start: 0, end: 4 }],
    ...change,
  });
const plainIngress = (change: object = {}) =>
  ours('KafkaProxyIngress', 'plain', { proxyRef, clusterIP: { protocol: 'TCP' }, ...change });
const loadBalancer = (change: object = {}) =>
  ours('KafkaProxyIngress', 'lb', {
    proxyRef,
    loadBalancer: {
      bootstrapAddressPattern: '$(virtualClusterName).kafka.test',
      brokerAddressPattern: '$(virtualClusterName)-$(nodeId).kafka.test',
    },
    ...change,
  });
const filter = (config: unknown = { loggerName: 'x' }): AnyObject => ({
  ...ours('KafkaProtocolFilter', 'log', { type: 'ProtocolLogger', config }),
  apiVersion: 'filter.kroxylicious.io/v1alpha1',
});
const cluster = (name: string, change: object = {}) =>
  ours('VirtualKafkaCluster', name, {
    proxyRef,
    ingresses: [{ name: 'plain' }],
    targetCluster: { clusterRef: { name: 'kafka' } },
    filterRefs: [{ name: 'log' }],
    ...change,
  });
const TLS = { certificateRefs: [{ name: 'cert' }], trustAnchorRefs: [{ name: 'trust', kind: 'ConfigMap' }] };
const balanced = (change: object = {}) =>
  cluster('b', { ingresses: [{ name: 'lb', tls: TLS }, { name: 'plain' }], ...change });
const strimzi = () => ({ clusterRef: { kind: 'Kafka', group: 'strimzi.io', name: 'strimzi' } });

function start(...more: AnyObject[]): MemoryCluster {
  const memory = createMemoryCluster();
  const proxy = ours('KafkaProxy', 'p', {});
  const objects = [proxy, plainIngress(), loadBalancer(), clusterRef(), kafka(KAFKA_STATUS), filter()];
  for (const one of [...objects, secret(0), trust(), ...more]) memory.put(one);
  apply(memory);
  const service = memory.get('Service', 'default/lb-service')!;
  memory.put({ ...service, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } });
  apply(memory);
  return memory;
}

function apply(memory: MemoryCluster, options: PlanOptions = {}, now = NOW): ProxyDocument {
  const plan = memory.plan(PROXY, now, options);
  memory.apply(plan, now);
  return JSON.parse(plan.config.text) as ProxyDocument;
}

/** As an API server does it: a status is not changed with the rest. */
function change(memory: MemoryCluster, one: AnyObject): void {
  const status = memory.get(one.kind, `default/${one.metadata.name}`)?.status;
  memory.put(one.status === undefined && status !== undefined ? { ...one, status } : one);
}

const portsIn = (memory: MemoryCluster) =>
  (memory.get('KafkaProxy', 'default/p')!.status as { portBlocks: object[] }).portBlocks;

const partOf = (document: ProxyDocument, name: string) =>
  document.virtualClusters.find((one) => one.name === name);

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
}
const conditionOf = (memory: MemoryCluster, name: string, type: string, kind = 'VirtualKafkaCluster') =>
  (memory.get(kind, `default/${name}`)!.status as { conditions: Condition[] }).conditions.find(
    (one) => one.type === type,
  );

const KEPT = ['Service default/a-plain', 'Service default/b-plain', 'Service default/lb-service'];
KEPT.push('DNSEndpoint default/b-lb');
const missing = (memory: MemoryCluster) =>
  KEPT.filter((one) => !memory.get(...(one.split(' ') as [string, string])));

suite('last known good', () => {
  const faults: [string, (memory: MemoryCluster) => void, RegExp][] = [
    ['a Kafka whose status has no addresses', (m) => change(m, kafka([])), /no address for listener/],
    ['a Kafka that is gone', (m) => m.delete('Kafka', 'default/strimzi'), /no Kafka is named/],
    [
      'a KafkaClusterRef that is gone',
      (m) => m.delete('KafkaClusterRef', 'default/kafka'),
      /no KafkaClusterRef/,
    ],
    [
      'an unreadable KafkaClusterRef',
      (m) => change(m, clusterRef({ bootstrap: 7 })),
      /"kafka" cannot be read/,
    ],
    ['a Secret that is gone', (m) => m.delete('Secret', 'default/cert'), /no Secret is named/],
    ['a key of another certificate', (m) => change(m, secret(0, 1)), /does not belong to the certificate/],
    ['trust that is gone', (m) => m.delete('ConfigMap', 'default/trust'), /no ConfigMap is named/],
    [
      'a filter that is gone',
      (m) => m.delete('KafkaProtocolFilter', 'default/log'),
      /no KafkaProtocolFilter/,
    ],
    [
      'a filter that asks for what it may not',
      (m) => change(m, filter({ x: '${secret:none:x}' })),
      /asks for a value of a secret/,
    ],
    [
      'an unreadable ingress',
      (m) => change(m, loadBalancer({ infrastructure: { annotations: { 'kroxylicious.io/x': 'y' } } })),
      /KafkaProxyIngress "lb" cannot be read/,
    ],
    [
      'cipher suites that nobody has',
      (m) => change(m, loadBalancer({ tls: { cipherSuites: { allowed: ['TLS_NO_SUCH_SUITE'] } } })),
      /TLS_NO_SUCH_SUITE|cipherSuites/,
    ],
    [
      'a change of its owner that is invalid',
      (m) => change(m, balanced({ targetCluster: { clusterRef: { name: 'nowhere' } } })),
      /no KafkaClusterRef is named "nowhere"/,
    ],
    ['what cannot be read itself', (m) => change(m, balanced({ ingresses: 'nonsense' })), /ingresses/],
    [
      'an ingress whose model this cluster lacks',
      (m) =>
        change(
          m,
          ours('KafkaProxyIngress', 'lb', {
            proxyRef,
            openShiftRoute: {
              resourceRef: { kind: 'IngressController', name: 'none', namespace: 'x' },
            },
          }),
        ),
      /IngressController/,
    ],
    [
      'an ingress that speaks another protocol',
      (m) => change(m, plainIngress({ clusterIP: { protocol: 'TLS' } })),
      /speaks TLS/,
    ],
  ];
  for (const [what, breakIt, message] of faults)
    test(`${what} changes nothing for clients, and is told`, () => {
      const target = what.includes('KafkaClusterRef') ? {} : { targetCluster: strimzi() };
      const memory = start(cluster('a', target), balanced(target));
      const good = apply(memory);
      const ports = portsIn(memory);
      assert.deepEqual(missing(memory), []);
      breakIt(memory);
      for (let i = 0; i < 3; i++) assert.deepEqual(apply(memory, {}, NOW + 60_000 * i), good);
      assert.deepEqual(missing(memory), []);
      assert.deepEqual(portsIn(memory), ports);
      const { status, reason, message: said, lastTransitionTime } = conditionOf(memory, 'b', 'Degraded')!;
      assert.deepEqual([status, reason], ['True', 'ServedAsLastGood']);
      assert.match(said, message);
      assert.ok(Math.abs(Date.parse(lastTransitionTime) - NOW) < 2000, 'since when');
      assert.equal(conditionOf(memory, 'b', 'Ready')?.status, 'False');
      assert.match(JSON.stringify(memory.get('VirtualKafkaCluster', 'default/b')!.status), /b\.kafka\.test:/);
      for (const one of [kafka(KAFKA_STATUS), clusterRef(), secret(1), trust(), filter()])
        change(memory, one);
      for (const one of [plainIngress(), loadBalancer(), balanced(target)]) change(memory, one);
      const { pem = {} } = apply(memory);
      assert.ok(Object.values(pem).includes(pairs[1]!.certPem), 'what is good now is served');
      assert.equal(conditionOf(memory, 'b', 'Degraded'), undefined);
    });

  test('certificates go on being renewed while the target is missing', () => {
    const memory = start(balanced());
    memory.delete('KafkaClusterRef', 'default/kafka');
    memory.put(secret(1));
    assert.ok(Object.values(apply(memory).pem ?? {}).includes(pairs[1]!.keyPem));
    assert.deepEqual(
      partOf(apply(memory), 'b')?.targetCluster,
      { bootstrapServers: 'kafka:9092' },
      'which is as it was',
    );
  });

  test('what was never good is not served', () => {
    const memory = start(balanced());
    memory.delete('KafkaClusterRef', 'default/kafka');
    memory.put(cluster('c'));
    const document = apply(memory);
    assert.ok(partOf(document, 'b'));
    assert.equal(partOf(document, 'c'), undefined);
    assert.equal(conditionOf(memory, 'c', 'Degraded'), undefined);
  });

  test('a filter of before makes way for one of the same name that others have now', () => {
    const memory = start(cluster('a', { filterRefs: [{ name: 'log' }, { name: 'log2' }] }), cluster('b'));
    memory.put({ ...filter({ loggerName: 'y' }), metadata: { ...filter().metadata, name: 'log2' } });
    apply(memory);
    memory.delete('KafkaProtocolFilter', 'default/log2');
    memory.put(filter({ loggerName: 'newer' }));
    const { filterDefinitions, ...rest } = apply(memory);
    const configOf = (name: string) => filterDefinitions.find((one) => one.name === name)?.config;
    const [before] = partOf({ filterDefinitions, ...rest }, 'a')!.filters;
    assert.deepEqual(configOf(before!), { loggerName: 'x' });
    assert.deepEqual(configOf(partOf({ filterDefinitions, ...rest }, 'b')!.filters[0]!), {
      loggerName: 'newer',
    });
    assert.deepEqual(apply(memory), { filterDefinitions, ...rest }, 'and stays as it is');
  });

  test('filters that the proxy demands are met by what is held, too', () => {
    const memory = start(balanced());
    const audit = { ...filter({ loggerName: 'audit' }), metadata: { ...filter().metadata, name: 'audit' } };
    memory.put(audit);
    change(memory, ours('KafkaProxy', 'p', { mandatoryFilterRefs: { first: [{ name: 'audit' }] } }));
    const chainOf = () => partOf(apply(memory), 'b')?.filters;
    memory.delete('KafkaProtocolFilter', 'default/log');
    assert.deepEqual(chainOf(), ['audit', 'log']);
    change(memory, balanced({ ingresses: 7 }));
    assert.deepEqual(chainOf(), ['audit', 'log'], 'also of what cannot be read');
    memory.delete('KafkaProtocolFilter', 'default/audit');
    assert.deepEqual(chainOf(), ['audit', 'log'], 'and when they are gone');
  });

  test('a package that is not allowed any more is not held', () => {
    const own = { ...filter({}), spec: { type: 'module:own', config: {} } };
    const memory = start(balanced());
    const allow = (...names: string[]) =>
      change(memory, ours('KafkaProxy', 'p', { filterModules: names.map((name) => ({ name })) }));
    allow('own');
    memory.put(own);
    assert.deepEqual(apply(memory).filterModules, [{ name: 'own' }]);
    memory.delete('KafkaProtocolFilter', 'default/log');
    assert.deepEqual(apply(memory).filterModules, [{ name: 'own' }]);
    allow();
    assert.equal(partOf(apply(memory), 'b'), undefined);
  });

  test('what the proxy rejects is not served, and what it was before is', () => {
    const memory = start(balanced());
    const good = apply(memory);
    memory.put(clusterRef({ bootstrap: 'rejected:1' }));
    const rejections = (hopeless: string[]): PlanOptions => {
      const clusters = new Map([['b', 'is rejected']]);
      const checked: ConfigRejections = { filters: new Map(), clusters, hopeless: new Set(hopeless) };
      return { learned: { ...NOTHING_LEARNED, checked } };
    };
    assert.deepEqual(apply(memory, rejections([])), good);
    assert.match(conditionOf(memory, 'b', 'Degraded')!.message, /is rejected/);
    assert.equal(partOf(apply(memory, rejections(['b'])), 'b'), undefined, 'unless that is rejected, too');
  });
});

suite('last known good ends', () => {
  test('with the virtual cluster, or an ingress that is deleted or not named any more', () => {
    const memory = start(cluster('a'), balanced());
    memory.delete('KafkaClusterRef', 'default/kafka');
    memory.delete('VirtualKafkaCluster', 'default/a');
    assert.equal(partOf(apply(memory), 'a'), undefined);
    assert.equal(memory.get('Service', 'default/a-plain'), undefined);
    memory.put(balanced({ ingresses: [{ name: 'lb', tls: TLS }] }));
    assert.equal(partOf(apply(memory), 'b')?.gateways.length, 1);
    assert.equal(memory.get('Service', 'default/b-plain'), undefined);
    assert.ok(memory.get('DNSEndpoint', 'default/b-lb'));
    memory.delete('KafkaProxyIngress', 'default/lb');
    assert.equal(partOf(apply(memory), 'b'), undefined);
    assert.equal(memory.get('DNSEndpoint', 'default/b-lb'), undefined);
    assert.equal(memory.get('Service', 'default/lb-service'), undefined);
  });

  test('when a ReferenceGrant is deleted, but not when nobody can say which there are', () => {
    const grant = object('gateway.networking.k8s.io/v1beta1', 'ReferenceGrant', 'g', {
      spec: {
        from: [{ group: 'kroxylicious.io', kind: 'VirtualKafkaCluster', namespace: 'default' }],
        to: [{ group: '', kind: 'Secret' }],
      },
    });
    const there = { ...grant, metadata: { ...grant.metadata, namespace: 'other' } };
    const elsewhere = { ...secret(0), metadata: { ...secret(0).metadata, namespace: 'other' } };
    const tls = { certificateRefs: [{ name: 'cert', namespace: 'other' }] };
    const memory = start(there, elsewhere, balanced({ ingresses: [{ name: 'lb', tls }] }));
    assert.ok(partOf(apply(memory), 'b'));
    const observed = memory.observe(PROXY, NOW);
    const cluster = { ...observed.snapshot.cluster };
    delete cluster.grants;
    const unknown = { ...observed, snapshot: { ...observed.snapshot, cluster } };
    const plan = planProxy(unknown, SETTINGS, NOTHING_LEARNED);
    assert.ok(plan.config.parts.has('b'));
    assert.match(JSON.stringify(plan.statuses), /serves no ReferenceGrants: install their CRD/);
    memory.delete('ReferenceGrant', 'other/g');
    assert.equal(partOf(apply(memory), 'b'), undefined);
    assert.equal(conditionOf(memory, 'b', 'ResolvedRefs')?.reason, 'RefNotPermitted');
  });
});

suite('whatever happens', () => {
  /** What can come and go around two virtual clusters. */
  const changes: ((memory: MemoryCluster) => void)[] = [
    (m) => change(m, kafka([])),
    (m) => change(m, kafka(KAFKA_STATUS)),
    (m) => m.delete('Kafka', 'default/strimzi'),
    (m) => m.delete('KafkaClusterRef', 'default/kafka'),
    (m) => change(m, clusterRef()),
    (m) => change(m, clusterRef({ bootstrap: 7 })),
    (m) => m.delete('Secret', 'default/cert'),
    (m) => change(m, secret(0, 1)),
    (m) => change(m, secret(1)),
    (m) => m.delete('ConfigMap', 'default/trust'),
    (m) => change(m, trust()),
    (m) => m.delete('KafkaProtocolFilter', 'default/log'),
    (m) => change(m, filter({ x: '${secret:none:x}' })),
    (m) => change(m, filter()),
    (m) => change(m, loadBalancer({ infrastructure: { annotations: 7 } })),
    (m) => change(m, loadBalancer()),
    (m) => change(m, plainIngress({ infrastructure: { annotations: 7 } })),
    (m) => change(m, plainIngress({ clusterIP: { protocol: 'TLS' } })),
    (m) => change(m, plainIngress()),
    (m) => change(m, balanced({ ingresses: 7 })),
    (m) => change(m, balanced({ targetCluster: strimzi() })),
    (m) => change(m, balanced()),
    (m) => change(m, cluster('c')),
    (m) => m.delete('VirtualKafkaCluster', 'default/c'),
  ];
  /** Where clients find a virtual cluster, as far as that must never change. */
  const placesOf = (document: ProxyDocument, name: string) =>
    (partOf(document, name)?.gateways ?? []).map((gateway) => {
      const {
        name,
        portIdentifiesNode: port,
        sniHostIdentifiesNode: sni,
      } = gateway as {
        name: string;
        portIdentifiesNode?: { bootstrapAddress: string; listen: object };
        sniHostIdentifiesNode?: { bootstrapAddress: string; listenPort: number };
      };
      return { name, ...(port && { at: port.bootstrapAddress, listen: port.listen }), ...(sni && { sni }) };
    });

  test('a virtual cluster that was served and is there is served, at its addresses and ports', () => {
    const step = fc.integer({ min: 0, max: changes.length - 1 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const memory = start(cluster('a'), balanced());
        const good = apply(memory);
        for (const [index, one] of steps.entries()) {
          changes[one]!(memory);
          const document = apply(memory, {}, NOW + index * 300_000);
          for (const name of ['a', 'b']) assert.deepEqual(placesOf(document, name), placesOf(good, name));
          assert.deepEqual(missing(memory), []);
        }
      }),
      { numRuns: 40 },
    );
  });
});
