import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Cluster } from './cluster.ts';
import type { Address, VirtualClusterConfig } from '../config/model.ts';
import type { Filter } from '../filter.ts';
import { createFilter } from '../filters/registry.ts';
import type { Session } from '../session/session.ts';
import type { ProxyStats } from '../stats.ts';
import { targetKey } from '../reload.ts';
import { createThrottle } from '../throttle.ts';
import { createTopicNames } from './topic-names.ts';
import { createTopology } from './topology.ts';
import { createUpstream } from './upstream.ts';

/** What virtual clusters need from around them. */
export interface Surroundings {
  log: Log;
  metrics: Metrics;
  stats: ProxyStats;
  /** Asks the other workers where a node of a cluster (by its `targetKey`) is. */
  lookUp(cluster: string, node: number): Promise<Address | undefined>;
  /** Tells the other workers where nodes of a cluster are. */
  share(cluster: string, nodes: [number, Address][]): void;
  /** Tells the other workers that a node is not where it was. */
  forget(cluster: string, node: number, address: Address): void;
}

/** Reasons that are everyday life and not worth a warning. */
const QUIET = new Set(['idle', 'filter', 'drain_timeout']);

/** Closes the filters of a virtual cluster; one that fails at it is no reason not to close the others. */
export async function closeFilters(filters: readonly Filter[], log: Log): Promise<void> {
  for (const filter of filters) {
    try {
      await filter.close?.();
    } catch (error) {
      log.error({ why: messageOf(error) }, 'a filter cannot be closed');
    }
  }
}

/** Makes a virtual cluster from its configuration. */
export async function createCluster(config: VirtualClusterConfig, around: Surroundings): Promise<Cluster> {
  const log = around.log.child({ virtualCluster: config.name });
  const key = targetKey(config);
  const stats = around.stats.cluster(config.name);
  const topology = createTopology();
  const filters: Filter[] = [];
  for (const { name, type, config: filterConfig } of config.filters) {
    const setting = { virtualCluster: config.name, name, log, metrics: around.metrics };
    try {
      filters.push(await createFilter(type, filterConfig, setting));
    } catch (error) {
      await closeFilters(filters, log);
      throw error;
    }
  }
  const sessions = new Set<Session>();
  topology.listen({
    learned(nodes) {
      around.share(key, nodes);
      for (const session of sessions) session.followBroker();
    },
    forgot: (node, address) => around.forget(key, node, address),
  });
  const throttle = createThrottle();
  const unadvertised = new Set<number>();
  return {
    config,
    log,
    stats,
    topology,
    topicNames: createTopicNames(),
    upstream: createUpstream(config.target, topology, stats, (node) => around.lookUp(key, node)),
    filters,
    sessions,
    reportCut(reason, about) {
      stats.cut(reason).value += 1;
      const left = throttle(reason);
      if (left !== undefined)
        log[QUIET.has(reason) ? 'debug' : 'warn'](
          { reason, ...about, alsoUnreported: left },
          'a connection was cut',
        );
    },
    reportUnadvertised(nodes) {
      stats.unadvertised.value += nodes.length;
      for (const node of nodes) {
        if (unadvertised.has(node)) continue;
        unadvertised.add(node);
        log.warn({ node }, 'a broker has no place in nodeIdRanges; clients cannot reach it');
      }
    },
  };
}
