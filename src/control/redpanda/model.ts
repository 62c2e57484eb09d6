/** A Redpanda cluster that we run, as every part of this folder sees it: checked, complete, and free of how a user spelled it. */
export interface RedpandaModel {
  namespace: string;
  name: string;
  uid: string;
  replicas: number;
  /** With its tag. */
  image: string;
  version: string;
  storage: Storage;
  resources: { requests?: Amounts; limits?: Amounts };
  /** Without the dashes. */
  arguments: Readonly<Record<string, string>>;
  developerMode: boolean;
  /** Inside of the cluster; there is at least one. */
  kafka: readonly Listener[];
  /** For Kafka clients outside of Kubernetes. */
  external: ExternalListener | undefined;
  admin: Listener;
  rpcPort: number;
  pandaproxy: Listener | undefined;
  schemaRegistry: Listener | undefined;
  /** What the user set of a broker, by section of its file. */
  settings: Readonly<Record<string, Settings>>;
  /** What the user set of the whole cluster: Redpanda takes it when the cluster is founded. */
  bootstrap: Settings;
  disruptionBudget: Readonly<Record<string, number | string>> | undefined;
  podAnnotations: Readonly<Record<string, string>>;
  pod: PodWishes;
}

type Amounts = Readonly<Record<string, string | number>>;

export type Settings = Readonly<Record<string, unknown>>;

/** The disk of each broker. */
export interface Storage {
  /** As Kubernetes writes quantities. */
  size: string;
  storageClass: string | undefined;
}

export interface Listener {
  name: string;
  port: number;
  authentication: string | undefined;
  tls: ListenerTls | undefined;
}

export interface ListenerTls {
  /** The Secret with certificate and key. */
  secret: string;
  /** The Secret with the authority of clients, where they must show a certificate. */
  clientCa: string | undefined;
}

/** Reached by one port of the nodes that brokers run on; `port` is that of the pods. */
export interface ExternalListener extends Listener {
  hostPort: number;
  /** Undefined where clients are told addresses. */
  names: HostNames | undefined;
  /** Which address of a node is taken first. */
  addressType: string | undefined;
}

export interface HostNames {
  /** Of each broker: see `brokerName`. */
  broker: string;
  /** Of all of them. */
  bootstrap: string;
}

/** Whether a listener takes whoever comes, as Redpanda's own parts do. */
export const isOpen = ({ tls, authentication }: Listener): boolean =>
  tls === undefined && (authentication === undefined || authentication === 'none');

/** What users want of the pods, as Kubernetes spells it. */
export interface PodWishes {
  nodeSelector?: Readonly<Record<string, string>>;
  tolerations?: readonly object[];
  priorityClassName?: string;
}

/** The ids of the brokers, which are the ordinals of their pods. */
export const idsOf = ({ replicas }: Pick<RedpandaModel, 'replicas'>): number[] =>
  Array.from({ length: replicas }, (_, id) => id);
