/** What is said about brokers that are to be reached from outside: a fact is changed, and one check says so. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import { CODES } from '../../ops/codes/codes.ts';
import { exposeChecks } from './expose-checks.ts';
import type { ExposeFacts } from './expose-facts.ts';
import type { Facts } from './facts.ts';
import { RESOURCE_KINDS } from './kinds.ts';
import { passesBy } from './publisher-checks.ts';

const kafka = (configuration: object = {}, type = 'hostport'): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'Kafka',
  metadata: { name: 'events', namespace: 'kafka', annotations: { 'isthmus.dev/managed': 'true' } },
  spec: {
    kafka: {
      listeners: [
        { name: 'plain', port: 9092, type: 'internal', tls: false },
        { name: 'ext', port: 9094, type, tls: true, configuration: { subdomain: 'k.example.com', ...configuration } }, // prettier-ignore
      ],
    },
  },
});

const pool = (replicas: number, roles = ['broker']): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaNodePool',
  metadata: {
    name: `pool-${roles.join('-')}`,
    namespace: 'kafka',
    labels: { 'strimzi.io/cluster': 'events' },
  },
  spec: { replicas, roles, storage: { type: 'ephemeral' } },
});

const node = (name: string, more: object = {}) => ({
  name,
  isSchedulable: true,
  addressTypes: ['InternalIP', 'ExternalIP'],
  ...more,
});

const ARGS = ['--source=service', '--source=crd', '--domain-filter=example.com', '--policy=sync'];

/** A cluster in which all is well. */
const GOOD: ExposeFacts = {
  nodes: { value: ['a', 'b', 'c'].map((name) => node(name)) },
  pools: { value: [pool(3), pool(5, ['controller'])] },
  namespaces: { value: new Map([['kafka', {}]]) },
  publishers: { value: [{ name: 'dns/external-dns', args: ARGS }] },
  network: { value: { daemonSets: ['kube-proxy', 'calico-node'], cilium: undefined } },
  nodePorts: { value: [{ service: 'kafka/events-kafka-ext-hostport', port: 30_001 }] },
};

interface Change extends Partial<ExposeFacts> {
  kafkas?: AnyObject[];
  redpandas?: AnyObject[];
  anchors?: AnyObject[];
  hasKind?: boolean;
  hasDns?: boolean;
  /** Of what nothing may be read. */
  unread?: string;
}

function findings({
  kafkas = [kafka()],
  redpandas = [],
  anchors = [],
  hasKind = true,
  hasDns = false,
  unread,
  ...expose
}: Change = {}): string[] {
  const all = [...kafkas, ...redpandas, ...anchors];
  const facts: Pick<Facts, 'expose' | 'resources' | 'served' | 'dns'> = {
    expose: { ...GOOD, ...expose },
    // Whatever is gathered, and nothing else: a check of a kind that nobody reads would never say anything.
    resources: new Map(RESOURCE_KINDS.map(({ kind }) => [kind, kind === unread ? { problem: 'forbidden' } : { value: all.filter((one) => one.kind === kind) }])), // prettier-ignore
    served: new Map([['DNSEndpoint', { value: hasKind }]]),
    dns: { value: hasDns ? { replicas: 1, readyReplicas: 1 } : undefined },
  };
  return exposeChecks(facts as Facts)
    .filter(({ result }) => result !== 'success')
    .map(({ code, result, error }) => `${result} ${code}: ${error}`);
}

const cilium = (config: Record<string, string>): Pick<Change, 'network'> => ({
  network: { value: { daemonSets: ['cilium'], cilium: config } },
});

suite('check expose', () => {
  test('nothing is wrong where all is well, and where nothing is exposed', () => {
    assert.deepEqual(findings(), []);
    const { metadata, ...rest } = kafka();
    const foreign = { ...rest, metadata: { ...metadata, annotations: {} } };
    assert.deepEqual(findings({ kafkas: [foreign], nodes: { value: [] }, hasKind: false }), []);
  });

  test('ports that are kept for a Kafka that is gone, until its anchor is', () => {
    const anchor = (name: string, ...ports: number[]): AnyObject => ({
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'KafkaAnchor',
      metadata: { name, namespace: 'kafka' },
      spec: { kafka: { name }, ports: ports.map((port) => ({ name: `p${port}`, port })) },
    });
    const anchors = [anchor('events', 30_001), anchor('former', 30_002, 20_001), anchor('inside')];
    const words = 'warning PortsKeptForDeleted: KafkaAnchor kafka/former keeps 30002, 20001';
    assert.deepEqual(findings({ anchors }), [words]);
    assert.deepEqual(findings({ anchors: anchors.slice(1), kafkas: [] }), [words]);
    assert.deepEqual(findings({ anchors: [anchor('former')], kafkas: [] }), []);
    const [, former] = anchors;
    const elsewhere = { ...former!, metadata: { ...former!.metadata, finalizers: ['isthmus.dev/stretch'] } };
    assert.deepEqual(findings({ anchors: [elsewhere] }), [], 'its Kafka is in another cluster');
  });

  test('the same of Redpanda clusters; anchors that may not be read hide nothing else', () => {
    const anchor: AnyObject = {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'RedpandaAnchor',
      metadata: { name: 'former', namespace: 'panda' },
      spec: { cluster: { name: 'former' }, ports: [{ name: 'external', port: 31_234 }] },
    };
    const words = 'warning PortsKeptForDeleted: RedpandaAnchor panda/former keeps 31234';
    assert.deepEqual(findings({ anchors: [anchor] }), [words]);
    assert.deepEqual(findings({ anchors: [anchor], unread: 'KafkaAnchor' }), ['warning CannotLook: forbidden', words]); // prettier-ignore
    assert.deepEqual(findings({ anchors: [anchor], unread: 'RedpandaAnchor' }), ['warning CannotLook: forbidden']); // prettier-ignore
  });

  test('what probes have met, of clusters that are there', () => {
    const anchor = (kind: string, owner: object, conditions: object[], name = 'events'): AnyObject => ({
      apiVersion: 'isthmus.dev/v1alpha1',
      kind,
      metadata: { name, namespace: 'kafka' },
      spec: owner,
      status: { conditions },
    });
    const condition = (type: string, status: string) => ({ type, status, reason: 'R', message: `${type}!` });
    const all = (status: string) =>
      ['Reachable', 'DNSPropagated', 'SourcesEnforced'].map((type) => condition(type, status));
    const panda = { ...kafka(), kind: 'Cluster', metadata: { name: 'panda', namespace: 'kafka' } };
    const ofKafka = (conditions: object[]) =>
      anchor('KafkaAnchor', { kafka: { name: 'events' } }, conditions);
    const ofPanda = anchor(
      'RedpandaAnchor',
      { cluster: { name: 'panda' } },
      all('False').slice(0, 1),
      'panda',
    );
    for (const status of ['True', 'Unknown'])
      assert.deepEqual(findings({ anchors: [ofKafka(all(status))] }), []);
    assert.deepEqual(findings({ anchors: [ofKafka(all('False')), ofPanda], redpandas: [panda] }), [
      'error BrokersUnreachable: KafkaAnchor kafka/events: Reachable!\nRedpandaAnchor kafka/panda: Reachable!',
      'error NamesNotPublished: KafkaAnchor kafka/events: DNSPropagated!',
      'error ForbiddenSourceConnected: KafkaAnchor kafka/events: SourcesEnforced!',
    ]);
    const gone = anchor('KafkaAnchor', { kafka: { name: 'former' } }, all('False'));
    assert.deepEqual(findings({ anchors: [gone, ofPanda] }), []);
  });

  test('fewer nodes than brokers, where controllers need none and a load balancer neither', () => {
    const nodes = { value: [node('a'), node('b'), node('c', { isSchedulable: false })] };
    assert.deepEqual(findings({ nodes }), [
      'error FewerNodesThanBrokers: kafka/events ext: 3 brokers, and 2 nodes that take pods',
    ]);
    assert.deepEqual(findings({ nodes, kafkas: [kafka({}, 'loadbalancer')] }), []);
  });

  test('nodes without the address that clients are told', () => {
    const nodes = { value: ['a', 'b', 'c'].map((name) => node(name, { addressTypes: ['InternalIP'] })) };
    assert.deepEqual(findings({ nodes }), [
      'warning NodesWithoutPublicAddress: kafka/events ext: no ExternalIP at a, b, c',
    ]);
    assert.deepEqual(findings({ nodes, kafkas: [kafka({ preferredAddressType: 'InternalIP' })] }), []);
  });

  test('a Redpanda cluster is looked at like a Kafka', () => {
    const panda = (external: object): AnyObject => ({
      apiVersion: 'redpanda.vectorized.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'panda', namespace: 'redpanda', annotations: { 'isthmus.dev/managed': 'true' } },
      spec: { version: 'v25.2.1', replicas: 5, configuration: { kafkaApi: [{}, { external: { enabled: true, ...external } }] } }, // prettier-ignore
    });
    const redpandas = [panda({ subdomain: 'panda.example.org' })];
    assert.deepEqual(findings({ kafkas: [], redpandas }), [
      'error FewerNodesThanBrokers: redpanda/panda kafka-external: 5 brokers, and 3 nodes that take pods',
      'error ExternalDNSPassesBy: redpanda/panda kafka-external: dns/external-dns has --domain-filter=example.com, which leaves out panda.example.org',
    ]);
    const nodes = { value: ['a', 'b', 'c', 'd', 'e'].map((name) => node(name)) };
    const replacing = cilium({ 'kube-proxy-replacement': 'true' });
    const told = (external: object) =>
      findings({ kafkas: [], redpandas: [panda(external)], nodes, ...replacing });
    assert.match(told({})[0]!, /HostPortsIgnored: redpanda\/panda kafka-external: .*portStrategy: range/);
    assert.deepEqual(told({ portStrategy: 'range' }), []);
    const nodePorts = { value: [{ service: 'a/b', port: 16_000 }, { service: 'a/c', port: 20_000 }] }; // prettier-ignore
    const collided = findings({
      kafkas: [],
      redpandas: [panda({ portStrategy: 'range' })],
      nodes,
      nodePorts,
    });
    assert.deepEqual(collided, ['error NodePortRangeCollision: Service a/b has node port 16000']);
    assert.deepEqual(findings({ kafkas: [], redpandas: [{ ...panda({}), metadata: { name: 'x', namespace: 'n' } }], nodes: { value: [] } }), []); // prettier-ignore
  });

  test('a load balancer is proposed for Kafkas, and for nothing else', () => {
    const proposing = CODES.filter(({ cure }) => cure.includes('loadbalancer'));
    for (const { code, cure } of proposing)
      assert.match(cure, /[Aa] Kafka can have `type: loadbalancer` instead\.$/, code);
    const codes = new Set(proposing.map(({ code }) => code));
    for (const code of ['BrokersUnreachable', 'HostPortsUnknown', 'TooFewNodes', 'NoPublicAddress'])
      assert.ok(codes.has(code), code);
  });

  test('a namespace that forbids host ports', () => {
    for (const level of ['baseline', 'restricted']) {
      const labels = new Map([['kafka', { 'pod-security.kubernetes.io/enforce': level }]]);
      assert.deepEqual(findings({ namespaces: { value: labels } }), [
        `error PodSecurityForbidsHostPorts: namespace kafka has pod-security.kubernetes.io/enforce=${level}`,
      ]);
    }
    const labels = new Map([['kafka', { 'pod-security.kubernetes.io/enforce': 'privileged' }]]);
    assert.deepEqual(findings({ namespaces: { value: labels } }), []);
  });

  test('names that nobody publishes: no kind, no external-dns, one that passes them by', () => {
    assert.match(findings({ hasKind: false })[0]!, /^error DNSEndpointKindMissing/);
    const publishers = { value: [] };
    assert.match(findings({ publishers })[0]!, /^warning NobodyPublishesNames/);
    assert.deepEqual(findings({ publishers, hasDns: true }), [], 'ours does, too');
    const withArgs = (...args: string[]) => ({ publishers: { value: [{ name: 'dns/external-dns', args }] } });
    assert.deepEqual(findings(withArgs('--source=service')), [
      'error ExternalDNSPassesBy: kafka/events ext: dns/external-dns has no --source=crd',
    ]);
    const two = { publishers: { value: [{ name: 'a/external-dns', args: [] }, ...withArgs(...ARGS).publishers.value] } }; // prettier-ignore
    assert.deepEqual(findings(two), [], 'one of several is enough');
    const nameless = kafka({ subdomain: undefined });
    assert.deepEqual(findings({ kafkas: [nameless], hasKind: false }), [], 'addresses need nobody');
  });

  test('flags of external-dns are compared with the domain', () => {
    const by = (...args: string[]) => passesBy(['--source=crd', ...args], 'kafka', 'k.example.com');
    assert.equal(by(), undefined);
    for (const zone of ['k.example.com', 'example.com', '.example.com', 'Example.com.'])
      assert.equal(by(`--domain-filter=${zone}`), undefined, zone);
    assert.match(by('--domain-filter=xk.example.com', '--domain-filter', 'ample.com')!, /leaves out k\.example\.com$/); // prettier-ignore
    assert.equal(by('--domain-filter', 'other.org', '--domain-filter=example.com'), undefined);
    assert.equal(by('--exclude-domains=k.example.com'), 'has --exclude-domains=k.example.com');
    assert.equal(by('--domain-filter=other.org', '--regex-domain-filter=.*'), undefined);
    assert.equal(by('--namespace=kafka'), undefined);
    assert.equal(by('--namespace=web'), 'looks into --namespace=web only');
  });

  test('a network that ignores host ports', () => {
    const replacing = cilium({ 'kube-proxy-replacement': 'true' });
    assert.match(findings(replacing)[0]!, /^error HostPortsIgnored: kafka\/events ext: .*set portStrategy: range$/); // prettier-ignore
    assert.deepEqual(findings({ ...replacing, kafkas: [kafka({ portStrategy: 'range' })] }), []);
    assert.deepEqual(findings({ ...replacing, kafkas: [kafka({}, 'loadbalancer')] }), []);
    assert.match(findings(cilium({ 'kube-proxy-replacement': 'false' }))[0]!, /^error HostPortsIgnored/);
    assert.deepEqual(findings(cilium({ 'cni-chaining-mode': 'portmap' })), []);
  });

  test('a network of which nobody knows whether it has host ports', () => {
    const by = (...daemonSets: string[]) => findings({ network: { value: { daemonSets, cilium: undefined } } }); // prettier-ignore
    for (const known of ['kube-flannel-ds', 'kindnet', 'calico-node', 'canal', 'antrea-agent', 'aws-node'])
      assert.deepEqual(by('kube-proxy', known), [], known);
    for (const unknown of [['kube-proxy'], [], ['ovnkube-node'], ['kube-router'], ['calico-node-windows']])
      assert.deepEqual(by(...unknown), ['warning HostPortsUnknown: kafka/events ext: no network plugin is seen here that is known to forward host ports; the probe tells whether this one does']); // prettier-ignore
    const kafkas = [kafka({}, 'loadbalancer')];
    assert.deepEqual(findings({ kafkas, network: { value: { daemonSets: [], cilium: undefined } } }), []);
  });

  test('node ports among those of portStrategy range', () => {
    const nodePorts = { value: [{ service: 'web/front', port: 20_080 }] };
    const kafkas = [kafka({ portStrategy: 'range' })];
    assert.deepEqual(findings({ nodePorts, kafkas }), [
      'error NodePortRangeCollision: Service web/front has node port 20080',
    ]);
    assert.deepEqual(findings({ nodePorts }), []);
    const wide = cilium({ 'kube-proxy-replacement': 'true', 'node-port-range': '25000,35000' });
    assert.match(findings({ ...wide, kafkas })[0]!, /^error NodePortRangeCollision: Cilium has node ports from 25000/); // prettier-ignore
  });

  test('sources that nobody keeps out', () => {
    const kafkas = [kafka({ allowedSources: ['192.0.2.0/24'] })];
    const by = (...daemonSets: string[]) =>
      findings({ kafkas, network: { value: { daemonSets, cilium: undefined } } }).filter(
        (one) => !one.includes('HostPortsUnknown'),
      );
    assert.deepEqual(by('calico-node'), []);
    assert.match(by('kube-flannel-ds')[0]!, /^warning SourcesNotEnforced: kafka\/events ext: Flannel/);
    assert.match(by('kube-proxy')[0]!, /no network plugin is known/);
  });

  test('what cannot be read is said', () => {
    const found = findings({ nodes: { problem: 'nodes is forbidden' } });
    assert.deepEqual(found, ['warning CannotLook: nodes is forbidden']);
  });
});
