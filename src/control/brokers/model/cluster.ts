/**
 * A Kafka cluster that we run, as every part of this folder sees it: checked, complete, and free of how a user spelled it. The front
 * doors (`front/`) make it from resources; configuration, objects, rolls and moves are functions of it.
 */
import type { Bundle } from '../../../pki/bundle.ts';
import type { InitialVoter } from './charter.ts';

/** The whole cluster, over all Kubernetes clusters that it has nodes in. */
export interface BrokerCluster {
  namespace: string;
  name: string;
  uid: string;
  /** The versions in which the cluster is served that it is in: of the Kafka itself, and of pod sets. */
  apiVersions: { kafka: string; podSet: string };
  /** The id that its disks are formatted with. */
  clusterId: string;
  version: string;
  metadataVersion: string;
  image: string;
  imagePullSecrets: readonly { name: string }[];
  pools: readonly Pool[];
  /** What joins the Kubernetes clusters that it has nodes in; undefined for one that is in a single cluster. */
  network: NetworkKind | undefined;
  /** Undefined: the voters are all controllers, in the configuration of every node, and stay the same. */
  quorum: ClusterQuorum | undefined;
  listeners: readonly Listener[];
  /** What the user set, less what is not the user's to set. */
  config: Readonly<Record<string, string>>;
  rack: Rack | undefined;
  authorization: Authorization | undefined;
  /** Whose Secrets stay when the Kafka goes. */
  keptAuthorities: readonly Bundle[];
  template: Templates;
  jvm: JvmOptions;
  /** Other times than the usual ones of the probe that says whether a node is ready. */
  readiness: ProbeTimes;
  logging: Logging;
  /** What nodes tell Prometheus; undefined: nothing. */
  metrics: Metrics | undefined;
}

/** By the metrics reporter. */
export interface Metrics {
  /** The image that brings it. */
  image: string;
  /** Patterns of the names that are told. */
  allowList: readonly string[];
}

/** The file that Log4j 2 reads. */
export interface Logging {
  text: string;
  /** Whether nodes read it again by themselves when it has changed. */
  isReread: boolean;
}

/** Controllers that come and go (KIP-853). */
export interface ClusterQuorum {
  /** All controllers by id, also those whose pool is gone: nodes find the others by any of them. */
  controllers: readonly { id: number; host: string; leaving: boolean }[];
  initial: readonly InitialVoter[];
}

export type Role = 'broker' | 'controller';

/** As `strimzi.io/cross-cluster-type` names them. */
export type NetworkKind = 'submariner' | 'mcs' | 'cilium' | 'isthmus';

/** Nodes that are alike, in one Kubernetes cluster. */
export interface Pool {
  name: string;
  uid: string;
  /** The Kubernetes cluster by name; `LOCAL` is the one that the operator runs in. */
  target: string;
  /** What the network calls that cluster; undefined for a Kafka without one. */
  networkId: string | undefined;
  /** What its nodes are to be. */
  roles: readonly Role[];
  /** By id. Those that are to go are among them until they are empty. */
  nodes: readonly Node[];
  volumes: readonly Volume[];
  resources: Readonly<Record<string, unknown>> | undefined;
  jvm: JvmOptions;
  template: Templates;
}

export interface Node {
  id: number;
  /** What it is from its next start on: a broker stays one until it is empty, whatever its pool says. */
  roles: readonly Role[];
  /** Log dirs that may be formatted now; all others have data, or have lost it. */
  formatting: readonly string[];
}

/** A disk of each node of a pool. */
export interface Volume {
  /** Of a jbod; undefined for the only volume of a node. */
  id: number | undefined;
  persistent: boolean;
  /** As Kubernetes writes quantities. */
  size: string | undefined;
  storageClass: string | undefined;
  deleteClaim: boolean;
  /** Whether the metadata log is on it: just one volume of a pool has it. */
  metadata: boolean;
}

export interface Listener {
  name: string;
  port: number;
  tls: boolean;
  authentication: 'none' | 'tls' | 'scram-sha-512';
  networkPolicyPeers: readonly object[] | undefined;
  /** More names for the certificates of brokers, because clients use them. */
  alternativeNames: readonly string[];
  /** How clients outside of Kubernetes get to each broker; undefined for a listener within. */
  exposure: Exposure | undefined;
}

interface AnyExposure {
  /** What clients connect to. */
  port: number;
  /** The name of a broker, with `$(id)` in it; undefined where clients are told addresses. */
  hostPattern: string | undefined;
  /** Whether its names may no longer be had: nobody is told them, and brokers go on as they are. */
  isWithdrawn?: boolean;
  /** Networks that may connect; all if there are none. */
  allowedSources: readonly string[];
}

/** One port of their nodes for all brokers of a cluster. */
export interface HostPortExposure extends AnyExposure {
  by: 'hostport';
  strategy: 'reserve' | 'range';
  /** Which address of a node is taken first. */
  addressType: string | undefined;
}

/** A load balancer for each broker, and one to begin at. */
export interface LoadBalancerExposure extends AnyExposure {
  by: 'loadbalancer';
  /** What the cluster has given to them, by node id and `bootstrap`. */
  addresses: Readonly<Record<string, readonly string[]>>;
}

export type Exposure = HostPortExposure | LoadBalancerExposure;

/** Where `broker.rack` comes from. */
export type Rack = { by: 'topology-label'; label: string } | { by: 'environment-variable'; variable: string };

export interface Authorization {
  superUsers: readonly string[];
}

export interface JvmOptions {
  xms?: string | undefined;
  xmx?: string | undefined;
  /** As given to the command line. */
  options: readonly string[];
}

export const PROBE_TIMES = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

export type ProbeTimes = Readonly<Partial<Record<(typeof PROBE_TIMES)[number], number>>>;

/** What users want on the objects that are made, by object, as Strimzi names them: `pod`, `kafkaContainer`, `persistentVolumeClaim` … */
export type Templates = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const nodesOf = ({ pools }: Pick<BrokerCluster, 'pools'>): { pool: Pool; node: Node }[] =>
  pools.flatMap((pool) => pool.nodes.map((node) => ({ pool, node })));

/** Whether clients are told where a broker is, by the address of its node. */
export const tellsAddress = ({ listeners }: Pick<BrokerCluster, 'listeners'>): boolean =>
  listeners.some(({ exposure }) => exposure?.by === 'hostport' && exposure.hostPattern === undefined);

export const hasRole = ({ roles }: { roles: readonly Role[] }, role: Role): boolean => roles.includes(role);
