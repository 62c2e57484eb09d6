/** Where the console has from what it shows. It never writes. */
import type { AnyObject } from '../kube/object.ts';
import type { Snapshot } from '../ops/metrics.ts';
import type { NameAnswer, Sight, State, TrafficBatch } from './api.ts';

export interface ConsoleSource {
  /** What it can see beside objects. */
  readonly sees: readonly Sight[];
  /** What is there now. */
  world(): Promise<World>;
  /** What proxies have counted. */
  snapshots(): Promise<Snapshot[]>;
  /** Shows requests until the result is called. */
  tap(onTapped: (batch: TrafficBatch) => void): () => void;
  /** What a question for a name would be answered with. */
  explain(name: string, type: string): Promise<NameAnswer>;
}

/** Of a source that has the proxy and the DNS server in its own process. */
export const ALL_SIGHTS: readonly Sight[] = ['rates', 'traffic', 'keys', 'certificates', 'zones'];

/** All that views are made of; nothing secret is in it. */
export interface World {
  /** For people: which folder, or which cluster. */
  place: string;
  /** As an API server would have them, status included. */
  objects: readonly AnyObject[];
  /** Where an object is written, by `kind/namespace/name`. */
  where: ReadonlyMap<string, { file: string; line: number }>;
  /** What could not be read. */
  problems: readonly FileProblem[];
  /** What has happened to an object, the newest first; by the same. */
  events: ReadonlyMap<string, readonly WorldEvent[]>;
  clusters: readonly WorldCluster[];
  certificates: readonly WorldCertificate[];
  names: {
    records: readonly { name: string; type: string; data: string; source: string }[];
    zones: readonly string[];
    endpoint: string | undefined;
  };
  /** A line that shows an object in a terminal. */
  command(kind: string, namespace: string, name: string): string;
}

export interface FileProblem {
  file: string;
  line: number;
  message: string;
  code: string | undefined;
}

export interface WorldEvent {
  type: string;
  reason: string;
  note: string;
  at?: string;
}

/** A virtual cluster as its proxy serves it, or a Kafka whose brokers are reached by themselves. */
export interface WorldCluster {
  kind: string;
  name: string;
  namespace: string;
  /** Undefined where clients need none. */
  proxy: string | undefined;
  /** What clients connect to. */
  bootstrap: readonly { ingress: string; address: string; tls: boolean }[];
  filters: readonly string[];
  target: { kind: string; name: string; address: string };
  brokers: readonly WorldBroker[];
}

export interface WorldBroker {
  id: number;
  state: State;
}

export interface WorldCertificate {
  virtualCluster: string;
  usedBy: string;
  subject: string;
  expires: Date;
}

export const objectKey = (kind: string, namespace: string | undefined, name: string) =>
  `${kind}/${namespace ?? ''}/${name}`;
