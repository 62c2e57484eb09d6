/** What a plan for one proxy is made from. */
import type { KubeObject } from '../../kube/object.ts';
import type { NodeIdRange } from '../../resources/common/node-ids.ts';
import type { ConfigPart } from './config/planned-config.ts';
import type { NamePolicy } from '../../resources/isthmus/name-policy.ts';
import type { UnreadablePolicy } from '../shared/name-policy.ts';
import type { Route } from '../../resources/openshift/route.ts';
import type { TlsRoute } from '../../resources/gateway/tls-route.ts';
import type { ManagementAccess } from './pods/management-access.ts';
import type { PodProblem } from './pods/pod-client.ts';
import type { HostGrant } from './evaluate/host-grants.ts';
import type { HostIndex } from '../shared/host-index.ts';
import type { RowName } from '../kernel/watches.ts';
import type { ProxyViews } from './watches.ts';
import type { ClusterSnapshot, ProxySnapshot, Unreadable } from './snapshot.ts';

/** Everything the decision depends on, read before it is made. The snapshot holds only what this proxy has to do with. */
export interface Observed {
  namespace: string;
  name: string;
  snapshot: ProxySnapshot & { cluster: ClusterSnapshot };
  /** Resources of this proxy that an API server took, but which mean nothing. */
  unreadable: readonly Unreadable[];
  live: Live;
  /** What the management port of the pods takes: as it is in the Secret, or to be put into one. */
  managementAccess: ManagementAccess;
  /** Milliseconds since 1970. */
  now: number;
  /** Since when nothing about the pods has changed, nor about what they should serve. */
  podsSince: number;
}

/** What there is of the objects made before. */
export interface Live {
  kinds: ServedKinds;
  services: readonly LiveService[];
  routes: readonly Route[];
  tlsRoutes: readonly TlsRoute[];
  /** Host names at load balancers and Gateways that virtual clusters of other proxies have. */
  hostsElsewhere: Pick<HostIndex, 'find'>;
  /** Which namespaces may have which host names, and the labels of this one. */
  namePolicies: readonly NamePolicy[];
  /** Policies of which it is not known what they allow. */
  unreadablePolicies: readonly UnreadablePolicy[];
  namespaceLabels: Readonly<Record<string, string>>;
  /** The host names of the other proxies of this namespace. */
  grantsBeside: readonly HostGrant[];
  /** Each virtual cluster's part of the configuration that was written last. */
  configParts: ReadonlyMap<string, ConfigPart>;
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
  podMonitor: boolean;
  /** Those of which that is not known yet. */
  undiscovered: ReadonlySet<RowName<ProxyViews>>;
}

export interface LiveService extends KubeObject {
  spec?: { ports?: { name?: string; port: number; targetPort?: number | string }[] };
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
  /** Why it could not be asked, though it runs. */
  unreachable?: string;
  /** Why it cannot serve virtual clusters as it should. */
  problems?: ReadonlyMap<string, PodProblem>;
  /** Ids of the brokers behind virtual clusters. */
  nodeIds?: ReadonlyMap<string, readonly NodeIdRange[]>;
}

/** What the operator was started with. */
export interface PlanSettings {
  image: string;
  /** That of the image, where it is known. */
  version?: string | undefined;
  clusterDomain: string;
  /** Packages that filters of all proxies may come from. */
  filterModules?: readonly string[];
  /** Its own pods; undefined outside of the cluster. */
  operator?: OperatorPods | undefined;
}

/** How the operator's pods are told from others. */
export interface OperatorPods {
  namespace: string;
  labels: Readonly<Record<string, string>>;
}
