/** What the evaluation of a proxy has to know of the place where it is served: a Kubernetes cluster, or this machine. */
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { Infrastructure } from '../../../resources/common/infrastructure.ts';
import type { NodeIdRange } from '../../../resources/common/node-ids.ts';
import type { GatewayAddress, ProxySettings } from '../config/document.ts';
import type { LastGood } from '../config/last-good.ts';
import type { Fault } from '../faults.ts';
import type { Point } from '../observed.ts';
import type { Allocated, Allocation, PortRange, PortRequest } from '../ports/ports.ts';
import type { ResolvedFilter, ResolvedParts } from '../resolve/resolve.ts';
import type { VirtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';

/** How clients get in, with what the cluster says about it. */
export type IngressModel =
  | { by: 'clusterIP'; port: number }
  | { by: 'loadBalancer'; port: number; bootstrapPattern: string; brokerPattern: string; points: Point[] }
  /** The router takes Routes with these labels only. */
  | { by: 'route'; router: string; labels: Readonly<Record<string, string>> }
  | { by: 'gateway'; port: number; domain: string; parent: GatewayParent; points: Point[] }
  /** Something that exists elsewhere only. */
  | { by: 'unavailable'; message: string };

/** What a TLSRoute attaches to. */
export interface GatewayParent {
  name: string;
  namespace: string;
  sectionName: string;
}

/** An ingress, and the model that it stands for; absent where a fault says why. */
export interface EvaluatedIngress {
  ingress: KafkaProxyIngress;
  model: IngressModel | undefined;
  faults: Fault[];
}

/** A virtual cluster with its references followed. */
export interface ResolvedReferences extends ResolvedParts {
  cluster: VirtualKafkaCluster;
  /** What was last good of it; absent where nothing was, or may go on. */
  last?: () => LastGood | undefined;
  /** In the place of its filters: one of those cannot be used. */
  heldFilters?: readonly ResolvedFilter[];
  /** Whether all of it goes on as it was, and not only what cannot be had now. */
  isWhole?: boolean;
}

/** One ingress of one virtual cluster, with all that its address depends on. */
export interface AddressRequest {
  cluster: string;
  ingress: string;
  namespace: string;
  model: IngressModel;
  /** None where the target is unknown. */
  nodeIdRanges: readonly NodeIdRange[];
  /** What it wants on its objects, and what its ingress says of that. */
  wishes: Infrastructure;
  ingressSpec: KafkaProxyIngress['spec'];
}

export interface AddressResult {
  /** Absent as long as it cannot be known. */
  address: GatewayAddress | undefined;
  /** Every host name that clients will connect to. */
  hosts: string[];
  points: Point[];
  faults: PlacelessFault[];
}

/** A fault of one ingress of a virtual cluster; where that is in the resource is known to whoever asked. */
export type PlacelessFault = Omit<Fault, 'path'>;

export interface Platform {
  /** Whether an ingress belongs to what is evaluated. */
  serves(ingress: KafkaProxyIngress): boolean;
  /** Whether the model that an ingress describes can be had here, and where it leads. */
  ingress(ingress: KafkaProxyIngress): EvaluatedIngress;
  /** Who needs ports for which nodes. */
  portRequests(
    ingresses: readonly EvaluatedIngress[],
    clusters: readonly ResolvedReferences[],
  ): PortRequest[];
  ports: PortRange;
  /** Who has which ports now. */
  knownPorts: Allocation;
  /** What else is wrong with an ingress, beside its model. */
  ingressFaults(ingress: KafkaProxyIngress, allocated: Allocated): Fault[];
  /** Where clients find it, and where the proxy listens for it. */
  address(request: AddressRequest, allocated: Allocated): AddressResult;
  /** What the configuration says of the proxy itself. */
  proxySettings: ProxySettings;
  /** How large the configuration may be. */
  maxConfigBytes: number;
}
