import { BoundedMap } from '../../ops/bounded-map.ts';
import { messageOf } from '../../ops/errors.ts';
import { createLogThrottle } from '../../ops/log-throttle.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { moduleOf } from '../../ops/filter-module.ts';
import { targetKey } from '../config/canonical.ts';
import type { Address, FilterSpec, VirtualClusterConfig } from '../config/model.ts';
import { serviceKey } from '../config/own-filters.ts';
import type { Filter, FilterSetting } from '../filter.ts';
import { createFilter } from '../filters/registry.ts';
import type { ProcessBudget } from '../net/byte-budget.ts';
import { createOutbound } from '../net/target-policy.ts';
import type { Cluster, ClusterSession } from './cluster.ts';
import { createOwned } from './filter-owner.ts';
import type { ClusterStats, ProxyStats } from './stats.ts';
import type { PeerBus } from './peers.ts';
import type { Tap } from './tap.ts';
import { createTopology, MAX_BROKERS } from './topology.ts';
import { createUpstream } from './upstream.ts';

/** What virtual clusters need of the process that they are in. */
export interface ClusterDeps {
  log: Log;
  metrics: Metrics;
  stats: ProxyStats;
  tap: Tap;
  /** What all connections of the process hold in memory. */
  memory: ProcessBudget;
  /** What filters tell the same filter in other workers. */
  peers: PeerBus;
  /** Asks the other workers where a node of a cluster (by its `targetKey`) is. */
  lookUp(cluster: string, node: number): Promise<Address | undefined>;
  /** Tells the other workers where nodes of a cluster are. */
  share(cluster: string, nodes: [number, Address][]): void;
  /** Tells the other workers that a node is not where it was. */
  forget(cluster: string, node: number, address: Address): void;
}

/** Reasons that are normal in operation and not worth a warning. */
const QUIET = new Set(['idle', 'filter', 'drain_timeout']);

/** Topics whose names are remembered; the oldest go first. */
const MAX_TOPIC_NAMES = 50_000;

/** Closes the filters of a virtual cluster; one that fails at it is no reason not to close the others. */
export async function closeFilters(filters: readonly Filter[], log: Log): Promise<void> {
  for (const filter of filters) {
    try {
      await filter.close?.();
    } catch (error) {
      log.error({ why: messageOf(error) }, 'filter failed to close');
    }
  }
}

/** Makes a virtual cluster from its configuration. */
export async function createCluster(config: VirtualClusterConfig, deps: ClusterDeps): Promise<Cluster> {
  const log = deps.log.child({ virtualCluster: config.name });
  const key = targetKey(config);
  const stats = deps.stats.cluster(config.name);
  const topology = createTopology();
  const filters = await createFilters(config, log, deps);
  const sessions = new Set<ClusterSession>();
  topology.listen({
    learned(nodes) {
      deps.share(key, nodes);
      for (const session of sessions) session.followBroker();
    },
    forgot: (node, address) => deps.forget(key, node, address),
  });
  return {
    config,
    log,
    stats,
    tap: deps.tap,
    topology,
    topicNames: new BoundedMap(MAX_TOPIC_NAMES),
    upstream: createUpstream(config.target, topology, stats, (node) => deps.lookUp(key, node)),
    memory: { process: deps.memory, used: stats.buffered, waits: stats.bufferWaits },
    filters,
    sessions,
    ...reporters(stats, log),
  };
}

async function createFilters(
  config: VirtualClusterConfig,
  log: Log,
  { metrics, peers: bus }: ClusterDeps,
): Promise<Filter[]> {
  const { name: virtualCluster, filters: specs, target } = config;
  const filters: Filter[] = [];
  const outbound = createOutbound(target.policy);
  for (const spec of specs) {
    const { name } = spec;
    const peers = bus.open(virtualCluster, name);
    try {
      const filter = await makeFilter(config, spec, { virtualCluster, name, log, metrics, outbound, peers });
      filters.push(closing(filter, () => peers.close()));
    } catch (error) {
      peers.close();
      await closeFilters(filters, log);
      throw error;
    }
  }
  return filters;
}

/** One of the user's own runs as its own, so that it can be told who does not come to an end; ours costs nothing more. */
function makeFilter(config: VirtualClusterConfig, spec: FilterSpec, setting: FilterSetting): Promise<Filter> {
  if (moduleOf(spec.type) === undefined) return createFilter(spec, setting);
  const owner = { service: serviceKey(config), filter: spec.name };
  return createOwned(owner, setting, (owned) => createFilter(spec, owned));
}

/** The filter, with something else to be done when it is closed. */
function closing(filter: Filter, also: () => void): Filter {
  return {
    connect: (context) => filter.connect(context),
    problem: () => filter.problem?.(),
    close() {
      also();
      return filter.close?.();
    },
  };
}

function reporters(stats: ClusterStats, log: Log): Pick<Cluster, 'reportCut' | 'reportUnadvertised'> {
  const throttle = createLogThrottle();
  const unadvertised = new Set<number>();
  return {
    reportCut(reason, about) {
      stats.cut(reason).value += 1;
      const unreported = throttle(reason);
      if (unreported !== undefined)
        log[QUIET.has(reason) ? 'debug' : 'warn'](
          { reason, ...about, alsoUnreported: unreported },
          'connection closed by the proxy',
        );
    },
    reportUnadvertised(nodes) {
      stats.unadvertised.value += nodes.length;
      for (const node of nodes) {
        if (unadvertised.has(node) || unadvertised.size >= MAX_BROKERS) continue;
        unadvertised.add(node);
        log.warn({ node }, 'broker id is outside nodeIdRanges, clients cannot reach it');
      }
    },
  };
}
