import type { BoundedMap } from '../../ops/bounded-map.ts';
import type { Log } from '../../ops/log.ts';
import type { VirtualClusterConfig } from '../config/model.ts';
import type { Filter } from '../filter.ts';
import type { ClusterBudget } from '../net/byte-budget.ts';
import type { ClusterStats, CutReason } from './stats.ts';
import type { Tap } from './tap.ts';
import type { Topology } from './topology.ts';
import type { Upstream } from './upstream.ts';

/** A virtual cluster at work. */
export interface Cluster {
  readonly config: VirtualClusterConfig;
  readonly log: Log;
  readonly stats: ClusterStats;
  readonly tap: Tap;
  readonly topology: Topology;
  /** Names of topics by their ids. An id never gets another name, so what is known stays true. */
  readonly topicNames: BoundedMap<string, string>;
  readonly upstream: Upstream;
  /** What its connections hold in memory. */
  readonly memory: ClusterBudget;
  readonly filters: readonly Filter[];
  readonly sessions: Set<ClusterSession>;
  /** Counts a connection that we cut, and logs why. */
  reportCut(reason: CutReason, about: { client: string; node: number | undefined; why: string }): void;
  /** Logs, once for each, that a broker has no address here. */
  reportUnadvertised(nodes: readonly number[]): void;
}

/** A client's session, as far as its virtual cluster has to do with it. */
export interface ClusterSession {
  /** Ends it at the next moment at which nothing is in flight; forcibly when the time is over. */
  drain(reason: string, timeoutMs?: number): void;
  /** Ends it if its broker has moved. */
  followBroker(): void;
  /** Enforces its time-outs. */
  sweep(now: number): void;
  /** Ends it at once. */
  destroy(): void;
}
