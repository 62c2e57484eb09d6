/** The manifests of the DNS server: RBAC, ConfigMap, Service, Deployment. */
import {
  MANAGEMENT_MOUNT,
  METRICS_TOKEN_FILE,
  boundRole,
  disruptionBudget,
  labelsOf,
  managementVolume,
  selectorOf,
} from '../install/objects.ts';
import type { Manifest } from '../install/objects.ts';
import { EVENT_RIGHTS, leaderRules } from '../install/rbac.ts';
import { rightsOf, rulesOf } from '../kernel/rights.ts';
import type { Right } from '../kernel/rights.ts';
import { CONFINED, CONFINED_POD, PROBES, spreadOut } from '../shared/pod-template.ts';
import { versionLabels } from '../shared/version-label.ts';
import { JOIN_WATCHES } from '../targets/watches.ts';
import type { ReachMode } from './members/nodes.ts';
import { grantMapName } from './names.ts';
import type { ImportNamespace } from './placement.ts';
import { GRANT_MAPS } from './records/grants.ts';
import { SERIALS_NAME } from './serials.ts';
import {
  EXPORT_WATCHES,
  GRANT_WATCHES,
  IMPORT_WATCHES,
  LOCAL_WATCHES,
  MEMBER_WATCHES,
  NODE_WATCHES,
} from './watches.ts';

export interface DnsInstallOptions {
  namespace: string;
  image: string;
  /** That of the image, where it is known. */
  version?: string | undefined;
  replicas: number;
  /** The text of the configuration. */
  config: string;
  /** Whether services are imported, or taken out again; neither if undefined. */
  imports: boolean | undefined;
  /** The namespace that they are imported into, if it is one for all. */
  importNamespace?: ImportNamespace;
  /** How other clusters reach this one. */
  reach: ReachMode;
  /** Whether the configuration has TSIG keys: their secrets are in a Secret then. */
  tsig?: boolean;
}

/** The name of the Deployment and its other objects, and of the leader's Lease. */
export const DNS_NAME = 'isthmus-dns';
/** The default namespace. */
export const DNS_NAMESPACE = 'isthmus-system';
export const DNS_COMPONENT = 'dns';
const SELECTOR = selectorOf(DNS_COMPONENT);
const LABELS = labelsOf(DNS_COMPONENT);
/** Above 1024, so that the container needs no capability; the Service maps 53 to it. */
const DNS_PORT = 5353;
const MANAGEMENT_PORT = 9190;
const MANAGEMENT = `{ host: "::", port: ${MANAGEMENT_PORT}, metricsTokenFile: ${METRICS_TOKEN_FILE} }`;
const CONFIG_DIRECTORY = '/etc/isthmus';
const SNAPSHOT_DIRECTORY = '/var/lib/isthmus';
/** Where pods have the secrets of TSIG keys, each in a file of its own. */
export const TSIG_DIRECTORY = '/etc/isthmus-tsig';
const TSIG_VOLUME = { name: 'tsig', secret: { secretName: `${DNS_NAME}-tsig` } };
const TSIG_MOUNT = { name: 'tsig', mountPath: TSIG_DIRECTORY, readOnly: true };
/** What does not outlive a change is a few kilobytes: more room for it would only be filled, and kept. */
export const DNS_NODE_OPTIONS = '--max-semi-space-size=2';

/** The ServiceAccount by which other clusters of the set read this one, and its rules. */
export const READER_NAME = 'isthmus-dns-reader';
export const MEMBER_RULES = rulesOf(rightsOf(MEMBER_WATCHES));

/** The rights in the local cluster, without and with the import of services. */
const LOCAL_RIGHTS = [...rightsOf(MEMBER_WATCHES), ...rightsOf(LOCAL_WATCHES), ...EVENT_RIGHTS];

/** To take imports out again. */
const REMOVAL_RIGHTS = rightsOf(IMPORT_WATCHES)
  .filter(({ resource }) => !resource.endsWith('/status'))
  .map((right) => ({ ...right, verbs: ['get', 'delete'] }));

/** What the import of services may do in the whole cluster. With a namespace of its own it writes nothing elsewhere but node ports. */
function importRights({ imports, importNamespace, reach }: DnsInstallOptions): Right[] {
  if (imports === undefined) return [];
  const isWritten = ({ resource }: Right) =>
    importNamespace === undefined || (resource === 'services' && reach !== 'pods');
  if (!imports) return REMOVAL_RIGHTS.filter(isWritten);
  return [...rightsOf(EXPORT_WATCHES), ...rightsOf(IMPORT_WATCHES).filter(isWritten)];
}

/** What the leader writes: the grants of names, the serials of zones. A ConfigMap that does not exist yet cannot be named in a rule for create. */
const GRANT_RULES = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [...Array.from({ length: GRANT_MAPS }, (_, map) => grantMapName(map)), SERIALS_NAME],
    verbs: ['patch'],
  },
];

/** The rules in the program's own namespace: the kubeconfigs of joined clusters, the grants of names, and the leader's Lease. */
const HOME_RULES = [
  ...rulesOf([...rightsOf(JOIN_WATCHES), ...rightsOf(GRANT_WATCHES)]),
  ...GRANT_RULES,
  ...leaderRules(DNS_NAME),
];

/** To say on our own Service which namespaces are missing. */
const OWN_SERVICE_RULES = [
  { apiGroups: [''], resources: ['services'], resourceNames: [DNS_NAME], verbs: ['get'] },
  { apiGroups: [''], resources: ['services/status'], resourceNames: [DNS_NAME], verbs: ['patch'] },
];

/** The name of an object outside of our namespace: different for each installation in a cluster. */
export function nameOutside(name: string, namespace: string): string {
  return namespace === DNS_NAMESPACE ? name : `${name}-${namespace}`;
}

/** All objects, in the order in which they are applied. The namespace must exist. */
export function dnsManifests(options: DnsInstallOptions): Manifest[] {
  const { namespace, config, imports, importNamespace, reach } = options;
  const local = { name: DNS_NAME, namespace, labels: LABELS };
  const labels = { ...LABELS, ...versionLabels(options.version) };
  const global = { name: nameOutside(DNS_NAME, namespace), labels: LABELS };
  const ports = [
    ...['UDP', 'TCP'].map((protocol) => ({
      name: `dns-${protocol.toLowerCase()}`,
      port: 53,
      targetPort: DNS_PORT,
      protocol,
    })),
    { name: 'management', port: MANAGEMENT_PORT, targetPort: MANAGEMENT_PORT, protocol: 'TCP' },
  ];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    ...boundRole(global, rulesOf([...LOCAL_RIGHTS, ...importRights(options)]), local),
    ...boundRole(local, [...HOME_RULES, ...(imports ? OWN_SERVICE_RULES : [])], local),
    ...(importNamespace === undefined
      ? []
      : boundRole(
          { ...global, name: `${global.name}-imports`, namespace: importNamespace },
          rulesOf(imports ? rightsOf(IMPORT_WATCHES) : REMOVAL_RIGHTS),
          local,
        )),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: local, data: { 'dns.yaml': config } },
    { apiVersion: 'v1', kind: 'Service', metadata: local, spec: { selector: SELECTOR, ports } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...local, labels },
      spec: deploymentSpec(options, labels),
    },
    disruptionBudget(local, DNS_COMPONENT),
    ...readerManifests(namespace, reach),
  ];
}

/** The ServiceAccount for the kubeconfigs that other clusters have of this one. */
function readerManifests(namespace: string, reach: ReachMode): Manifest[] {
  const account = { name: READER_NAME, namespace };
  const global = { name: nameOutside(READER_NAME, namespace), labels: LABELS };
  const rules = reach === 'pods' ? MEMBER_RULES : [...MEMBER_RULES, ...rulesOf(rightsOf(NODE_WATCHES))];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...account, labels: LABELS } },
    ...boundRole(global, rules, account),
  ];
}

function deploymentSpec(
  { image, replicas, tsig = false }: DnsInstallOptions,
  labels: Record<string, string>,
): object {
  return {
    replicas,
    selector: { matchLabels: SELECTOR },
    // A new pod is not ready, and answers SERVFAIL, until it has read the clusters.
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: DNS_NAME,
        ...CONFINED_POD,
        ...spreadOut(SELECTOR),
        containers: [container(image, tsig)],
        volumes: [
          { name: 'config', configMap: { name: DNS_NAME } },
          managementVolume(DNS_NAME),
          ...(tsig ? [TSIG_VOLUME] : []),
          // Survives a restart of the container, as after a crash while the API server is away.
          { name: 'snapshot', emptyDir: { sizeLimit: '128Mi' } },
        ],
      },
    },
  };
}

function container(image: string, tsig: boolean): object {
  return {
    name: 'dns',
    image,
    args: ['dns', '--config', `${CONFIG_DIRECTORY}/dns.yaml`],
    env: [
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      // These override the configuration: the probes and the Service use these ports.
      { name: 'ISTHMUS_DNS_LISTEN', value: `["[::]:${DNS_PORT}"]` },
      { name: 'ISTHMUS_DNS_MANAGEMENT', value: MANAGEMENT },
      { name: 'ISTHMUS_DNS_DRAIN_SECONDS', value: '5' },
      { name: 'ISTHMUS_DNS_SNAPSHOT_FILE', value: `${SNAPSHOT_DIRECTORY}/records.jsonl` },
      { name: 'NODE_OPTIONS', value: DNS_NODE_OPTIONS },
    ],
    ports: [
      { name: 'dns-udp', containerPort: DNS_PORT, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: DNS_PORT, protocol: 'TCP' },
      { name: 'management', containerPort: MANAGEMENT_PORT },
    ],
    ...PROBES,
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    ...CONFINED,
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      MANAGEMENT_MOUNT,
      ...(tsig ? [TSIG_MOUNT] : []),
      { name: 'snapshot', mountPath: SNAPSHOT_DIRECTORY },
    ],
  };
}
