/** What discovery reads of Kubernetes' own kinds; the rest of them is not even kept in memory. */
import { isIPv4, isIPv6 } from 'node:net';
import type { Condition } from '../../kube/write/conditions.ts';
import type { KubeObject, ResourceType } from '../../kube/object.ts';

export const SERVICE: ResourceType = { group: '', version: 'v1', kind: 'Service' };
export const ENDPOINT_SLICE: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
};

export interface ServicePort {
  name?: string;
  port: number;
  protocol?: string;
  appProtocol?: string;
  targetPort?: number | string;
  nodePort?: number;
}

export interface Service extends KubeObject {
  spec?: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    externalName?: string;
    publishNotReadyAddresses?: boolean;
    sessionAffinity?: string;
    sessionAffinityConfig?: object;
    internalTrafficPolicy?: string;
    externalTrafficPolicy?: string;
    trafficDistribution?: string;
    ipFamilies?: string[];
    ports?: ServicePort[];
    selector?: Record<string, string>;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

export interface Endpoint {
  addresses: string[];
  hostname?: string;
  nodeName?: string;
  zone?: string;
  /** Whom an endpoint is meant for, where traffic is to stay near. */
  hints?: { forZones?: object[]; forNodes?: object[] };
  conditions?: { ready?: boolean | null; serving?: boolean | null; terminating?: boolean | null };
}

export interface EndpointPort {
  name?: string | null;
  port?: number | null;
  protocol?: string | null;
  appProtocol?: string | null;
}

export interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints?: Endpoint[] | null;
  ports?: EndpointPort[] | null;
}

export interface ServiceExport extends KubeObject {
  spec?: { exportedLabels?: Record<string, string>; exportedAnnotations?: Record<string, string> };
  status?: { conditions?: Condition[] };
}

export interface ServiceImport extends KubeObject {
  spec?: { type?: string; ports?: ServicePort[]; ips?: string[] };
  status?: { clusters?: { cluster: string }[]; conditions?: Condition[]; endpointSliceObjects?: string };
}

export interface ClusterProperty extends KubeObject {
  spec?: { value?: string };
}

export interface DnsEndpoint extends KubeObject {
  spec?: {
    endpoints?: { dnsName?: string; recordType?: string; targets?: string[]; recordTTL?: number }[];
  };
}

/** Whether clients get their addresses from the endpoints themselves. */
export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === 'None';
}

/** The address families of a Service, its first one first; none if they are not known. */
export function familiesOf({ spec }: Service): string[] {
  const { clusterIP, clusterIPs = clusterIP === undefined ? [] : [clusterIP], ipFamilies } = spec ?? {};
  return ipFamilies ?? clusterIPs.flatMap((address) => familyOf(address) ?? []);
}

export function familyOf(address: string): 'IPv4' | 'IPv6' | undefined {
  if (isIPv4(address)) return 'IPv4';
  return isIPv6(address) ? 'IPv6' : undefined;
}

/** What makes a Service have these families. One that the cluster lacks is refused by it; of two it takes those that it has. */
export function familySpec(families: readonly string[]): object {
  const [only, second] = families;
  if (second !== undefined) return { ipFamilyPolicy: 'PreferDualStack' };
  return only === undefined ? {} : { ipFamilyPolicy: 'SingleStack', ipFamilies: [only] };
}

/** The endpoints that may be told to clients: ready ones, or all where the Service says so. Unknown means ready. */
export function publishedEndpoints(slice: EndpointSlice, service?: Service): Endpoint[] {
  const all = slice.endpoints ?? [];
  if (service?.spec?.publishNotReadyAddresses) return all;
  return all.filter(({ conditions }) => conditions?.ready !== false);
}
