/** Reads and watches the configuration objects of the cluster's DNS; each by its name, since RBAC allows no more. */
import { getServers } from 'node:dns';
import type { Cluster } from '../../../kube/cluster.ts';
import { ApiError } from '../../../kube/http/errors.ts';
import type { KubeObject, ObjectName, ResourceType } from '../../../kube/object.ts';
import type { ClusterDns, ConfigMap, DnsOperator } from './platform.ts';
import type { DelegationOptions } from './settings.ts';

export const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const SERVICE = { group: '', version: 'v1', kind: 'Service' };
export const DNS_OPERATOR = { group: 'operator.openshift.io', version: 'v1', kind: 'DNS' };
export const OPERATOR_NAME = 'default';
export const CUSTOM_NAME = 'coredns-custom';
export const KUBE_DNS_NAME = 'kube-dns';
/** The ConfigMap with the Corefile of NodeLocal DNSCache: as Kubernetes' own manifest has it, and as Kubespray does. */
export const NODE_CACHE_NAMES = ['node-local-dns', 'nodelocaldns'] as const;
/** The Service by which NodeLocal DNSCache reaches the cluster's DNS, since it answers at the address of the other one itself. */
const UPSTREAM_SERVICE: ObjectName = { namespace: 'kube-system', name: 'kube-dns-upstream' };
/** The Services of the cluster's own DNS, by distribution. */
export const DNS_SERVICES: readonly ObjectName[] = [
  { namespace: 'kube-system', name: 'kube-dns' },
  { namespace: 'openshift-dns', name: 'dns-default' },
  { namespace: 'kube-system', name: 'coredns' },
  { namespace: 'kube-system', name: 'rke2-coredns-rke2-coredns' },
];

/** The Services of caches on the nodes, which ask from the nodes' own addresses; Kubernetes' manifest has it for metrics. */
export const NODE_CACHE_SERVICES: readonly ObjectName[] = NODE_CACHE_NAMES.map((name) => ({
  namespace: 'kube-system',
  name,
}));

export interface DnsService extends KubeObject {
  spec?: { clusterIP?: string };
}

export interface ObservedDns {
  clusterDns: ClusterDns;
  /** Our own Service. */
  service: DnsService | undefined;
}

export interface DnsObjects {
  cluster: Cluster;
  /** Our own Service. */
  service: ObjectName;
  corefile: DelegationOptions['corefile'];
}

interface ObjectRef {
  type: ResourceType;
  name: ObjectName;
}

type ObjectRefs = Record<Exclude<keyof ClusterDns, 'nodeCache'> | 'service', ObjectRef> & {
  nodeCaches: readonly ObjectRef[];
};

/** Reads all objects from the API server, not from a cache: a write must not be decided from old data. */
export async function observeDns({ cluster, service, corefile }: DnsObjects): Promise<ObservedDns> {
  const refs = refsOf(service, corefile);
  const get = async <T extends KubeObject>({ type, name }: ObjectRef) => cluster.client.get<T>(type, name);
  // Awaited before the others start: their rejections would be unhandled meanwhile.
  const hasOperator = await isServed(cluster, DNS_OPERATOR);
  const [coredns, custom, kubeDns, operator, own, ...nodeCaches] = await Promise.all([
    get<ConfigMap>(refs.coredns),
    get<ConfigMap>(refs.custom),
    get<ConfigMap>(refs.kubeDns),
    hasOperator ? get<DnsOperator>(refs.operator) : undefined,
    get<DnsService>(refs.service),
    ...refs.nodeCaches.map((ref) => get<ConfigMap>(ref)),
  ]);
  const nodeCache = nodeCaches.find((each) => each?.data?.['Corefile'] !== undefined);
  return { clusterDns: { coredns, custom, kubeDns, operator, nodeCache }, service: own };
}

/** Calls `onChange` when one of the objects may have changed. Returns a function that ends the watches. */
export async function watchDns(options: DnsObjects, onChange: () => void): Promise<() => void> {
  const { cluster, service, corefile } = options;
  const { operator, nodeCaches, ...rest } = refsOf(service, corefile);
  // A running cluster does not become an OpenShift.
  const optional = (await isServed(cluster, DNS_OPERATOR)) ? [operator] : [];
  const refs = [...Object.values(rest), ...nodeCaches, ...optional];
  const ends = refs.map(({ type, name: { namespace, name } }) =>
    cluster.cache({ type, namespace, fieldSelector: `metadata.name=${name}` }).subscribe(onChange),
  );
  return () => ends.forEach((end) => end());
}

function refsOf(service: ObjectName, corefile: DnsObjects['corefile']): ObjectRefs {
  const { namespace } = corefile;
  return {
    coredns: { type: CONFIG_MAP, name: corefile },
    custom: { type: CONFIG_MAP, name: { namespace, name: CUSTOM_NAME } },
    kubeDns: { type: CONFIG_MAP, name: { namespace, name: KUBE_DNS_NAME } },
    nodeCaches: NODE_CACHE_NAMES.map((name) => ({ type: CONFIG_MAP, name: { namespace, name } })),
    operator: { type: DNS_OPERATOR, name: { name: OPERATOR_NAME } },
    service: { type: SERVICE, name: service },
  };
}

/** The address of the cluster's DNS itself. */
export async function clusterDnsAddress(
  cluster: Cluster,
  hasNodeCache: boolean,
): Promise<string | undefined> {
  for (const name of [...(hasNodeCache ? [UPSTREAM_SERVICE] : []), ...DNS_SERVICES]) {
    const service = await cluster.client.get<DnsService>(SERVICE, name);
    const address = addressOf(service);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** Whom pods ask, as this one does; undefined where this is not a pod. */
export function podDnsAddress(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env['KUBERNETES_SERVICE_HOST'] === undefined ? undefined : getServers()[0];
}

/** The cluster IP of a Service. */
export function addressOf(service: DnsService | undefined): string | undefined {
  const address = service?.spec?.clusterIP ?? '';
  return address === '' || address === 'None' ? undefined : address;
}

async function isServed({ client }: Cluster, type: ResourceType): Promise<boolean> {
  try {
    await client.resource(type);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'KindNotServed') return false;
    throw error;
  }
}
