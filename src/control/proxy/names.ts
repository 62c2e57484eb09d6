/** Names, labels, ports and host names of everything that is made for a proxy: computed here, spelled nowhere else. */
import { MANAGED_BY } from '../kernel/field-manager.ts';
import { NODE_ID } from '../shared/host-patterns.ts';

/** The pods' own port for health, metrics and the loaded configuration. */
export const MANAGEMENT_PORT = 9190;
/**
 * Container ports that virtual clusters are given. Above the well-known ones, below those the kernel gives to clients; and in no
 * more blocks than the status of a KafkaProxy has room for.
 */
/** The share of one virtual cluster, unless its KafkaProxy says otherwise: 60 that take all of theirs have room. */
export const MAX_NODES = 256;
export const CONTAINER_PORTS = { first: 10_000, last: 29_999, maxBlocks: 4096, maxNodeRanges: 8192 };
/** What the Services behind Routes and TLSRoutes listen on; nobody but the router sees it. */
export const BACKEND_PORT = 9082;
/** Where OpenShift's routers listen for TLS. */
export const ROUTE_PORT = 443;

export const CONFIG_DIRECTORY = '/etc/isthmus';
export const CONFIG_KEY = 'proxy.yaml';
export const MANAGEMENT_DIRECTORY = '/etc/isthmus-management';
/** In the Secret of the management port. */
export const TOKEN_KEY = 'token';
export const METRICS_TOKEN_KEY = 'metrics-token';
export const CERTIFICATE_KEY = 'tls.crt';
export const PRIVATE_KEY_KEY = 'tls.key';

const OURS = 'kroxylicious.io';
export const PROXY_LABEL = `${OURS}/proxy`;
export const CLUSTER_LABEL = `${OURS}/virtual-cluster`;
export const INGRESS_LABEL = `${OURS}/ingress`;
/** On pods: the configuration they should have loaded. A change of it makes the kubelet look at the volume at once. */
export const CONFIG_ANNOTATION = `${OURS}/config-version`;

export const PROXY_COMPONENT = 'proxy';

/** Selects the pods of a proxy. Immutable in a Deployment: never add to it. */
export function podLabels(proxy: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'isthmus',
    'app.kubernetes.io/component': PROXY_COMPONENT,
    'app.kubernetes.io/instance': proxy,
  };
}

/** On every object of a proxy, and nothing without them is ever touched. The most telling one first: it is looked up by. */
export function ownerLabels(proxy: string): Record<string, string> {
  return { [PROXY_LABEL]: proxy, ...MANAGED_BY };
}

/** Labels that every object of a proxy has, whatever else is wanted on it. */
export const objectLabels = (proxy: string): Record<string, string> => ({
  ...podLabels(proxy),
  ...ownerLabels(proxy),
});

export const deploymentName = (proxy: string) => proxy;
export const configSecretName = (proxy: string) => `${proxy}-config`;
/** What it takes to be told more than health by the pods. */
export const managementSecretName = (proxy: string) => `${proxy}-management`;
/** What the certificate of the management port is for: pods come and go, and their addresses with them. */
export const managementHost = (proxy: string, namespace: string) =>
  `${managementSecretName(proxy)}.${namespace}`;
/** Not the bare name: a proxy called `default` would meet the ServiceAccount that every namespace has. */
export const serviceAccountName = (proxy: string) => `${proxy}-proxy`;
/** The Service of a virtual cluster's clusterIP ingress; also the name of its DNS records. */
export const clusterServiceName = (cluster: string, ingress: string) => `${cluster}-${ingress}`;
/** The Service that all virtual clusters of an ingress share. */
export const sharedServiceName = (ingress: string) => `${ingress}-service`;

/** The port of a node in the Service of a clusterIP ingress. */
export const nodePortName = (node: number) => `node-${node}`;

/** The node whose port has that name. */
export function nodeOfPort(name: string | undefined): number | undefined {
  const digits = /^node-(\d+)$/.exec(name ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export const bootstrapRouteName = (cluster: string, ingress: string) => `${cluster}-${ingress}-bootstrap`;
export const nodeRouteName = (cluster: string, ingress: string, node: number | '$(nodeId)') =>
  `${cluster}-${ingress}-${node}`;

/** Who a block of container ports belongs to. */
export const blockOwner = (cluster: string, ingress: string) => `${cluster}/${ingress}`;
/** Stands for the virtual cluster where a port is shared by all of an ingress. */
export const SHARED = '-';

export const serviceHost = (service: string, namespace: string, clusterDomain: string) =>
  `${service}.${namespace}.svc.${clusterDomain}`;

/** A host name pattern of a user, for one virtual cluster. */
export const namedPattern = (pattern: string, cluster: string) =>
  pattern.replaceAll('$(virtualClusterName)', cluster);

/** On a KafkaProtocolFilter, with the value `true`: only who may change KafkaProxies may change it. */
export const PROTECTED_LABEL = 'isthmus.dev/protected';

export { NODE_ID };

/** The host name of one node. */
export const nodeHost = (pattern: string, node: number) => pattern.replaceAll(NODE_ID, String(node));
