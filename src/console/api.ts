/** What the console's server says to its pages, and to anybody else who asks on this machine. Types alone: the pages are built of them. */

export type State = 'ready' | 'warning' | 'notReady' | 'unknown';

export interface ObjectRef {
  kind: string;
  namespace: string;
  name: string;
}

/** What a virtual cluster carries, a second; latency of APIs that do not wait on purpose. */
export interface Rates {
  requests: number;
  /** Connections that were refused or cut, and connections to brokers that failed. */
  errors: number;
  bytesIn: number;
  bytesOut: number;
  /** Undefined where nothing was asked. */
  p99Ms?: number;
  connections: number;
}

/** What only proxies, Secrets and DNS servers know: not every console can ask them. */
export type Sight = 'rates' | 'traffic' | 'keys' | 'certificates' | 'zones';

/** Who looks, and from where. */
export interface SessionView {
  /** Whether one has to log in. */
  login: boolean;
  /** Undefined where nobody has. */
  user?: string;
  /** What can be seen from here, beside objects. Of the rest documents say nothing, instead of zero and none. */
  sees: readonly Sight[];
}

export interface Problem {
  state: 'notReady' | 'warning';
  /** Undefined where what is wrong belongs to no object that could be read. */
  object?: ObjectRef;
  reason: string;
  message: string;
  /** What to do about it. */
  cure?: string;
  since?: string;
  /** Where it is written. */
  file?: string;
  line?: number;
}

export interface ClusterRow extends ObjectRef {
  state: State;
  reason: string;
  bootstrap: string[];
  filters: string[];
  target: string;
  brokers: number;
  rates?: Rates;
  /** When the first of its certificates ends. */
  certificateEnds?: string;
}

export interface FleetView {
  place: string;
  version: string;
  problems: Problem[];
  /** How many more there are than are listed. */
  moreProblems: number;
  counts: { kind: string; all: number; ready: number; warning: number; notReady: number }[];
  clusters: ClusterRow[];
  moreClusters: number;
  total?: Rates;
}

export type Column = 'names' | 'clusters' | 'filters' | 'proxies' | 'brokers';

export interface TopologyNode {
  id: string;
  column: Column;
  label: string;
  detail: string;
  state: State;
  /** What it leads to; a group of several has none. */
  object?: ObjectRef;
  /** How many it stands for. */
  count: number;
}

export interface TopologyEdge {
  from: string;
  to: string;
  requests?: number;
  bytes?: number;
}

export interface TopologyView {
  nodes: TopologyNode[];
  edges: TopologyEdge[];
  /** Virtual clusters that are not drawn. */
  hidden: number;
}

export interface ConditionRow {
  type: string;
  status: string;
  reason: string;
  message: string;
  since?: string;
  cure?: string;
}

export interface TreeRow {
  kind: string;
  name: string;
  namespace: string;
  state: State;
  reason: string;
  message: string;
  children: TreeRow[];
  /** Children that are not listed. */
  more: number;
}

export interface ObjectView extends ObjectRef {
  apiVersion: string;
  state: State;
  reason: string;
  message: string;
  created?: string;
  /** What is asked for, and what of it is observed. */
  facts: { name: string; wanted: string; observed: string }[];
  conditions: ConditionRow[];
  events: { type: string; reason: string; note: string; at?: string }[];
  tree: TreeRow;
  yaml: string;
  /** A line to paste into a terminal. */
  command: string;
  file?: string;
  line?: number;
}

export interface CertificateRow {
  virtualCluster: string;
  usedBy: string;
  subject: string;
  expires: string;
  daysLeft: number;
  state: State;
}

export interface KeyRow {
  virtualCluster: string;
  key: string;
  /** When a data key of it was last made, and when it was last used for anything, as far as this process has seen. */
  dataKeySince?: string;
  lastUsed?: string;
  requests: number;
  failures: number;
  state: State;
}

export interface NameRow {
  name: string;
  type: string;
  data: string;
  source: string;
}

export interface KeysView {
  certificates?: CertificateRow[];
  keys?: KeyRow[];
  names: NameRow[];
  moreNames: number;
  zones?: string[];
  /** Where the DNS server answers. */
  dns?: string;
}

/** What a DNS question would be answered with. */
export interface NameAnswer {
  question: string;
  problem?: string;
  rcode?: string;
  zone?: string;
  answers: { name: string; type: string; ttl: number; data: string; sources: string[] }[];
}

export interface SeriesView {
  cluster: string;
  /** Seconds since 1970. */
  times: number[];
  requests: (number | null)[];
  errors: (number | null)[];
  bytesIn: (number | null)[];
  bytesOut: (number | null)[];
  p99Ms: (number | null)[];
}

export interface TrafficEntry {
  at: number;
  virtualCluster: string;
  client: string;
  principal?: string | undefined;
  clientId?: string | undefined;
  api?: string | undefined;
  apiVersion?: number | undefined;
  topic?: string | undefined;
  verdict: 'forwarded' | 'answered' | 'closed';
  reason?: string | undefined;
  latencyMs?: number | undefined;
  requestBytes: number;
  responseBytes: number;
}

export interface TrafficBatch {
  entries: TrafficEntry[];
  /** Requests that were not shown because there were too many. */
  missed: number;
}
