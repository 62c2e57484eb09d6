import type { Log } from '../../ops/log.ts';
import type { Addressing } from './addressing.ts';
import type { Limits, ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import type { Filter } from '../filter.ts';
import type { Session } from '../session/session.ts';
import type { ClusterStats, CutReason } from '../stats.ts';
import type { Topology } from './topology.ts';
import type { TopicNames } from './topic-names.ts';
import type { Upstream } from './upstream.ts';

/** A virtual cluster at work. */
export interface Cluster {
  readonly config: VirtualClusterConfig;
  readonly log: Log;
  readonly stats: ClusterStats;
  readonly topology: Topology;
  readonly topicNames: TopicNames;
  readonly upstream: Upstream;
  readonly filters: readonly Filter[];
  readonly sessions: Set<Session>;
  /** Counts a connection that we cut, and says why in the log. */
  reportCut(reason: CutReason, about: { client: string; node: number | undefined; why: string }): void;
  /** Says in the log, once for each, that a broker has no address here. */
  reportUnadvertised(nodes: readonly number[]): void;
}

/** What a session needs to know of the process's configuration. */
export interface SessionRules {
  limits: Limits;
  unknownApis: ProxyConfig['unknownApis'];
}

/** Whom a connection is for, and whose it is. */
export interface Arrival {
  cluster: Cluster;
  gateway: string;
  addressing: Addressing;
  node: number | undefined;
  clientAddress: string;
  principal: string | undefined;
}
