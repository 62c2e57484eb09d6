/** The kinds that discovery reads, with the fields that it keeps in memory. */
import { isIPv4, isIPv6 } from 'node:net';
import type { Condition } from '../../kube/write/conditions.ts';
import type { KubeObject, ResourceType } from '../../kube/object.ts';

export const SERVICE: ResourceType = { group: '', version: 'v1', kind: 'Service' };
export const ENDPOINT_SLICE: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
};

/** A service of the cluster set: the same namespace and name in every cluster. */
export interface ServiceName {
  namespace: string;
  name: string;
}

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
  /** Topology hints. */
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

/** Whether a Service has no cluster IP, so that clients resolve its endpoints' addresses. */
export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === 'None';
}

/** The IP families of a Service, the primary one first; empty if they are not known. */
export function familiesOf({ spec }: Service): string[] {
  const { clusterIP, clusterIPs = clusterIP === undefined ? [] : [clusterIP], ipFamilies } = spec ?? {};
  return ipFamilies ?? clusterIPs.flatMap((address) => familyOf(address) ?? []);
}

export function familyOf(address: string): 'IPv4' | 'IPv6' | undefined {
  if (isIPv4(address)) return 'IPv4';
  return isIPv6(address) ? 'IPv6' : undefined;
}

/** The fields that give a Service these IP families. A cluster refuses a single family that it lacks; of two it uses what it has. */
export function familySpec(families: readonly string[]): object {
  const [only, second] = families;
  if (second !== undefined) return { ipFamilyPolicy: 'PreferDualStack' };
  return only === undefined ? {} : { ipFamilyPolicy: 'SingleStack', ipFamilies: [only] };
}

/** The endpoints that clients may use: the ready ones, or all if the Service has publishNotReadyAddresses. Unknown means ready. */
export function publishedEndpoints(slice: EndpointSlice, service?: Service): Endpoint[] {
  const all = slice.endpoints ?? [];
  if (service?.spec?.publishNotReadyAddresses) return all;
  return all.filter(({ conditions }) => conditions?.ready !== false);
}

/** Whether there is any endpoint that clients may use. */
export function hasPublishedEndpoints({
  slices,
  service,
}: {
  slices: readonly EndpointSlice[];
  service: Service | undefined;
}): boolean {
  return slices.some((slice) => publishedEndpoints(slice, service).length > 0);
}
