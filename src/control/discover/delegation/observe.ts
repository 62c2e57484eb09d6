/** Follows the objects that decide how, and where to, zones are delegated; each by its name, since no more may be read. */
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
/** Where clusters have the Service of their DNS. */
const DNS_SERVICES: readonly ObjectName[] = [
  { namespace: 'kube-system', name: 'kube-dns' },
  { namespace: 'openshift-dns', name: 'dns-default' },
  { namespace: 'kube-system', name: 'coredns' },
];

export interface DnsService extends KubeObject {
  spec?: { clusterIP?: string };
}

export interface SeenDns {
  found: ClusterDns;
  /** Our own Service. */
  service: DnsService | undefined;
}

export interface ViewOptions {
  cluster: Cluster;
  /** Our own Service. */
  service: ObjectName;
  corefile: DelegationOptions['corefile'];
}

interface Place {
  type: ResourceType;
  name: ObjectName;
}

type Places = Record<keyof ClusterDns | 'service', Place>;

/** Reads them all as they are now: what is written must not be decided from what was true a moment ago. */
export async function lookAt({ cluster, service, corefile }: ViewOptions): Promise<SeenDns> {
  const places = placesOf(service, corefile);
  const get = async <T extends KubeObject>({ type, name }: Place) => cluster.client.get<T>(type, name);
  // Before the others, which could fail with nobody listening while this is waited for.
  const hasOperator = await isServed(cluster, DNS_OPERATOR);
  const [coredns, custom, kubeDns, operator, own] = await Promise.all([
    get<ConfigMap>(places.coredns),
    get<ConfigMap>(places.custom),
    get<ConfigMap>(places.kubeDns),
    hasOperator ? get<DnsOperator>(places.operator) : undefined,
    get<DnsService>(places.service),
  ]);
  return { found: { coredns, custom, kubeDns, operator }, service: own };
}

/** Calls when one of them may have changed. Returns the way to end it. */
export async function watchFor(options: ViewOptions, onChange: () => void): Promise<() => void> {
  const { cluster, service, corefile } = options;
  const { operator, ...rest } = placesOf(service, corefile);
  // A cluster does not become an OpenShift while it runs.
  const places = [...Object.values(rest), ...((await isServed(cluster, DNS_OPERATOR)) ? [operator] : [])];
  const ends = places.map(({ type, name: { namespace, name } }) =>
    cluster.cache({ type, namespace, fieldSelector: `metadata.name=${name}` }).subscribe(onChange),
  );
  return () => ends.forEach((end) => end());
}

function placesOf(service: ObjectName, corefile: ViewOptions['corefile']): Places {
  const { namespace } = corefile;
  return {
    coredns: { type: CONFIG_MAP, name: corefile },
    custom: { type: CONFIG_MAP, name: { namespace, name: CUSTOM_NAME } },
    kubeDns: { type: CONFIG_MAP, name: { namespace, name: KUBE_DNS_NAME } },
    operator: { type: DNS_OPERATOR, name: { name: OPERATOR_NAME } },
    service: { type: SERVICE, name: service },
  };
}

/** The address of the cluster's own DNS. */
export async function clusterDnsAddress(cluster: Cluster): Promise<string | undefined> {
  for (const name of DNS_SERVICES) {
    const service = await cluster.client.get<DnsService>(SERVICE, name);
    const address = addressOf(service);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** The address at which a Service answers in its cluster. */
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
