/** What it takes to run the DNS server in a cluster. */
import { spreadOut } from '../spread.ts';
import { boundRole, disruptionBudget, labelsOf, selectorOf } from '../install/objects.ts';
import type { Manifest } from '../install/objects.ts';
import type { PolicyRule } from '../install/rbac.ts';
import { CONFINED, CONFINED_POD, PROBES } from '../pod-basics.ts';
import type { ReachMode } from './members/nodes.ts';

export interface DnsInstallOptions {
  namespace: string;
  image: string;
  replicas: number;
  /** The text of the configuration. */
  config: string;
  /** Whether it imports services. */
  imports: boolean;
  /** How other clusters reach this one. */
  reach: ReachMode;
}

/** The name of the Deployment and all that goes with it, and of the Lease of the replica that writes. */
export const DNS_NAME = 'isthmus-dns';
/** Where it is unless somebody says otherwise. */
export const DNS_NAMESPACE = 'isthmus-system';
const COMPONENT = 'dns';
const SELECTOR = selectorOf(COMPONENT);
const LABELS = labelsOf(COMPONENT);
/** Above 1024, so that the pod needs no rights of its own; the Service makes it 53. */
const DNS_PORT = 5353;
const MANAGEMENT_PORT = 9190;
const CONFIG_DIRECTORY = '/etc/isthmus';
const READ = ['get', 'list', 'watch'];

/** The account, with no more rights than to read this, in whose name other clusters of the set look at this one. */
export const READER_NAME = 'isthmus-dns-reader';
export const MEMBER_RULES: PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: READ },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceexports'], verbs: READ },
  { apiGroups: ['about.k8s.io'], resources: ['clusterproperties'], verbs: READ },
];
/** And where a cluster is reached by its nodes. */
const NODE_RULES: PolicyRule[] = [{ apiGroups: [''], resources: ['nodes'], verbs: READ }];

/** What is done in the cluster that is served, on top. */
export const LOCAL_RULES: PolicyRule[] = [
  ...MEMBER_RULES,
  { apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceimports'], verbs: READ },
  { apiGroups: ['externaldns.k8s.io'], resources: ['dnsendpoints'], verbs: READ },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

const WRITE = ['create', 'patch', 'delete'];
const MCS = 'multicluster.x-k8s.io';

/** And where services are imported. */
export const IMPORT_RULES: PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: WRITE },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: WRITE },
  { apiGroups: [MCS], resources: ['serviceimports'], verbs: WRITE },
  { apiGroups: [MCS], resources: ['serviceimports/status', 'serviceexports/status'], verbs: ['patch'] },
];

/** In its own namespace only: the kubeconfigs of joined clusters, and which replica writes. */
export const HOME_RULES: PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: READ },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [DNS_NAME],
    verbs: ['get', 'patch'],
  },
];

/** What is outside of our namespace is called after it, so that another one of us in the cluster has its own. */
export function nameOutside(name: string, namespace: string): string {
  return namespace === DNS_NAMESPACE ? name : `${name}-${namespace}`;
}

/** All objects, in the order in which they are applied. The namespace must be there. */
export function dnsManifests(options: DnsInstallOptions): Manifest[] {
  const { namespace, image, replicas, config, imports, reach } = options;
  const local = { name: DNS_NAME, namespace, labels: LABELS };
  const global = { name: nameOutside(DNS_NAME, namespace), labels: LABELS };
  const ports = ['UDP', 'TCP'].map((protocol) => ({
    name: `dns-${protocol.toLowerCase()}`,
    port: 53,
    targetPort: DNS_PORT,
    protocol,
  }));
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    ...boundRole(global, imports ? [...LOCAL_RULES, ...IMPORT_RULES] : LOCAL_RULES, local),
    ...boundRole(local, HOME_RULES, local),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: local, data: { 'dns.yaml': config } },
    { apiVersion: 'v1', kind: 'Service', metadata: local, spec: { selector: SELECTOR, ports } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: local, spec: deploymentSpec(image, replicas) },
    disruptionBudget(local, COMPONENT),
    ...readerManifests(namespace, reach),
  ];
}

/** The account for kubeconfigs that other clusters get of this one. */
function readerManifests(namespace: string, reach: ReachMode): Manifest[] {
  const account = { name: READER_NAME, namespace };
  const global = { name: nameOutside(READER_NAME, namespace), labels: LABELS };
  const rules = reach === 'pods' ? MEMBER_RULES : [...MEMBER_RULES, ...NODE_RULES];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...account, labels: LABELS } },
    ...boundRole(global, rules, account),
  ];
}

function deploymentSpec(image: string, replicas: number): object {
  return {
    replicas,
    selector: { matchLabels: SELECTOR },
    // A new pod answers SERVFAIL until it has read the clusters, and is not ready until then.
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels: LABELS },
      spec: {
        serviceAccountName: DNS_NAME,
        ...CONFINED_POD,
        ...spreadOut(SELECTOR),
        containers: [container(image)],
        volumes: [{ name: 'config', configMap: { name: DNS_NAME } }],
      },
    },
  };
}

function container(image: string): object {
  return {
    name: 'dns',
    image,
    args: ['dns', '--config', `${CONFIG_DIRECTORY}/dns.yaml`],
    env: [
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      // Whatever the file says: the probes and the Service below know no other ports.
      { name: 'ISTHMUS_DNS_LISTEN', value: `["[::]:${DNS_PORT}"]` },
      { name: 'ISTHMUS_DNS_MANAGEMENT', value: `{ host: "::", port: ${MANAGEMENT_PORT} }` },
      { name: 'ISTHMUS_DNS_DRAIN_SECONDS', value: '5' },
    ],
    ports: [
      { name: 'dns-udp', containerPort: DNS_PORT, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: DNS_PORT, protocol: 'TCP' },
      { name: 'management', containerPort: MANAGEMENT_PORT },
    ],
    ...PROBES,
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    ...CONFINED,
    volumeMounts: [{ name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true }],
  };
}
