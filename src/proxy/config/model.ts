import type { TokenFiles } from '../../ops/management-access.ts';
import type { KeyFiles } from '../../ops/management-tls.ts';

/**
 * The configuration as the data plane uses it: defaults filled in, names resolved, the contents of key and trust
 * files read in. Plain JSON, because it travels from the supervisor to its workers.
 */
import type { TlsRules } from '../../ops/tls-rules.ts';

export interface Address {
  host: string;
  port: number;
}

/** What keeps a virtual cluster from being served as the configuration asks. Never quotes a value of the configuration. */
export interface Problem {
  cluster: string;
  problem: string;
  /**
   * `load`: the newest version cannot be used; one that ran before goes on. `listen`: a port cannot be bound. `serve`: it is out of
   * service, because a filter of its own has stopped a worker. `filter`: a filter lacks something, and works on.
   */
  stage: 'load' | 'listen' | 'serve' | 'filter';
  /** What a filter lacks. */
  reason?: FilterReason;
}

export type FilterReason = 'KeyServiceUnavailable' | 'FilterProblem';

export interface ProxyConfig {
  management: (Address & TokenFiles & { tls?: KeyFiles }) | undefined;
  workers: number;
  proxyProtocol: ProxyProtocol;
  unknownApis: 'pass' | 'refuse';
  limits: Limits;
  shutdownTimeoutMs: number;
  virtualClusters: VirtualClusterConfig[];
}

/** Whose PROXY headers are believed. */
export interface ProxyProtocol {
  mode: 'disabled' | 'allowed' | 'required';
  /** CIDRs; undefined is every source, with `required` alone. */
  trustedSources: string[] | undefined;
}

/** Milliseconds; 0 is "no limit", except of bytes. */
export interface Limits {
  maxConnections: number;
  maxConnectionsPerAddress: number;
  maxConnectionsPerVirtualCluster: number;
  maxFrameBytes: number;
  /** What frames held in memory may take: in one worker, there of one virtual cluster, and of one connection. */
  maxBufferedBytes: number;
  maxBufferedBytesPerVirtualCluster: number;
  maxBufferedBytesPerConnection: number;
  connectTimeoutMs: number;
  handshakeTimeoutMs: number;
  idleTimeoutMs: number;
  /** For a connection whose session the broker has not accepted yet. */
  unauthenticatedIdleTimeoutMs: number;
}

export interface VirtualClusterConfig {
  name: string;
  target: TargetConfig;
  gateways: GatewayConfig[];
  filters: FilterSpec[];
  drainTimeoutMs: number;
}

export interface TargetConfig {
  bootstrapServers: Address[];
  selection: 'round-robin' | 'random';
  tls: ClientTls | undefined;
  /** Where its brokers may be; without it, everywhere but at special addresses that the bootstrap servers do not name. */
  policy?: TargetPolicyConfig;
}

export interface TargetPolicyConfig {
  /** Networks, addresses, host names and patterns of them; with any, only these. */
  allow: string[];
  /** Whether the bootstrap servers are named by somebody who may name anything, or are checked like their brokers. */
  bootstrap: 'named' | 'checked';
  /** Host names and patterns of them to which filters may send credentials of the process itself. */
  identityHosts?: string[];
}

export interface FilterSpec {
  name: string;
  type: string;
  config: unknown;
  /** Of a user's own filter: the fields of its config that may hold a secret. */
  secretFields?: readonly string[];
}

export interface GatewayConfig {
  name: string;
  /** The local address to listen on; undefined is every address. */
  bindAddress: string | undefined;
  routing: PortRouting | SniRouting;
  /** In place of that of the whole proxy. */
  proxyProtocol?: ProxyProtocol;
  tls: ServerTls | undefined;
}

/** Every broker has a port of its own. */
export interface PortRouting {
  by: 'port';
  bootstrap: Address;
  /** May contain `$(nodeId)`. */
  brokerHost: string;
  nodeStartPort: number;
  /** The local ports behind the advertised ones. */
  listen: { bootstrapPort: number; nodeStartPort: number };
  nodeIdRanges: NodeIdRange[];
}

/** Inclusive. The ports of its nodes begin so far behind the first of all. */
export interface NodeIdRange {
  start: number;
  end: number;
  portOffset: number;
}

/** One port for all; the TLS server name says which broker is meant. */
export interface SniRouting {
  by: 'sni';
  bootstrap: Address;
  /** Contains `$(nodeId)` once. */
  brokerHostPattern: string;
  brokerPort: number;
  listenPort: number;
}

export type KeyMaterial =
  | { certificate: string; privateKey: string; passphrase: string | undefined }
  | { pkcs12: string; passphrase: string | undefined };

export interface ServerTls {
  /** The first is for clients that ask for none of the others by name. */
  keys: KeyMaterial[];
  /** PEM. */
  trust: string | undefined;
  clientAuth: 'none' | 'requested' | 'required';
  rules: TlsRules;
}

export interface ClientTls {
  key: KeyMaterial | undefined;
  /** PEM; undefined is what the platform trusts. */
  trust: string | undefined;
  insecure: boolean;
  rules: TlsRules;
}
