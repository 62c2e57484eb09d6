/** What a plan for one proxy is made from. */
import type { KubeObject } from '../../kube/object.ts';
import type { Route } from '../../resources/openshift/route.ts';
import type { TlsRoute } from '../../resources/gateway/tls-route.ts';
import type { PodProblem } from './ask-pod.ts';
import type { HostIndex } from './host-index.ts';
import type { ForeignName } from './sources.ts';
import type { ClusterWorld, ProxyWorld } from './world.ts';

/** Everything the decision depends on, read before it is made. The world holds only what this proxy has to do with. */
export interface Observed {
  namespace: string;
  name: string;
  world: ProxyWorld & { cluster: ClusterWorld };
  /** Resources of this proxy that an API server took, but which mean nothing. */
  unreadable: readonly Unreadable[];
  live: Live;
  /** Milliseconds since 1970. */
  now: number;
  /** Since when nothing about the pods has changed, nor about what they should serve. */
  podsSince: number;
}

export interface Unreadable {
  object: KubeObject;
  /** What is wrong, for people. */
  problem: string;
}

/** What there is of the objects made before. */
export interface Live {
  kinds: ServedKinds;
  services: readonly LiveService[];
  routes: readonly Route[];
  tlsRoutes: readonly TlsRoute[];
  /** Host names at load balancers and Gateways that virtual clusters of other proxies have. */
  hostsElsewhere: Pick<HostIndex, 'find'>;
  /** For each virtual cluster in the configuration that was written last: the hash of its part. */
  configParts: ReadonlyMap<string, string>;
  replicas: number;
  pods: readonly LivePod[];
}

/** Which kinds of others this cluster serves. */
export interface ServedKinds {
  route: boolean;
  gateway: boolean;
  /** The version to write TLSRoutes in. */
  tlsRoute: string | undefined;
  dnsEndpoint: boolean;
  /** Those of which that is not known yet. */
  unsettled: ReadonlySet<ForeignName>;
}

export interface LiveService extends KubeObject {
  spec?: { ports?: { port: number; targetPort?: number | string }[] };
  status?: { loadBalancer?: { ingress?: Point[] } };
}

/** Where DNS has to point. */
export interface Point {
  ip?: string;
  hostname?: string;
}

export interface LivePod {
  name: string;
  ready: boolean;
  /** The hash of the configuration it serves; absent where it did not say. */
  configVersion?: string;
  /** Why it does not serve a newer one. */
  refusal?: string;
  /** Why it cannot serve virtual clusters as it should. */
  problems?: ReadonlyMap<string, PodProblem>;
}

/** What was found out by trying, after a first plan: a plan with these in it works around them. */
export interface Findings {
  /** Objects by reference (see `referenceOf`) that someone else has made. */
  taken: ReadonlySet<string>;
  /** What the proxy would say of each filter's config and each virtual cluster's part, where it would refuse it. */
  filters: ReadonlyMap<string, string>;
  clusters: ReadonlyMap<string, string>;
  /** Objects by reference that the API server refused to take, and why: a quota, a policy, a size. */
  denied: ReadonlyMap<string, string>;
}

export const NO_FINDINGS: Findings = {
  taken: new Set(),
  filters: new Map(),
  clusters: new Map(),
  denied: new Map(),
};

/** What the operator was started with. */
export interface PlanSettings {
  image: string;
  clusterDomain: string;
}
