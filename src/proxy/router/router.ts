import { messageOf } from '../../ops/errors.ts';
import type { Cluster, ClusterSession } from '../cluster/cluster.ts';
import { closeFilters, createCluster } from '../cluster/virtual-cluster.ts';
import type { ClusterDeps } from '../cluster/virtual-cluster.ts';
import { filterProblems } from '../cluster/filter-problems.ts';
import { canonical, nameInKey, targetKey } from '../config/canonical.ts';
import { diffConfigs } from '../config/diff.ts';
import type { Difference } from '../config/diff.ts';
import type { Address, Problem, ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import type { Destination } from '../config/ports.ts';
import { createGateways } from './gateway.ts';
import type { Gateway } from './gateway.ts';

/** Where a connection goes: a virtual cluster, by one of its gateways. */
export interface Route {
  cluster: Cluster;
  gateway: Gateway;
}

/** The virtual clusters of a process: those that new connections are routed to, and those that are draining. */
export interface Router {
  /** Goes over to a configuration; what cannot be started is a problem of its own, and tried again at the next. */
  change(after: ProxyConfig): Promise<{ difference: Difference; problems: Problem[] }>;
  /** Of the virtual clusters that run: where the newest could not be started, still the version of before. */
  configs(): VirtualClusterConfig[];
  /** What filters say that they lack. */
  filterProblems(): Problem[];
  find(destination: Destination): Route | undefined;
  /** Takes in where brokers are of the cluster with this `targetKey`. */
  learn(key: string, nodes: [number, Address][]): void;
  sessions(): ClusterSession[];
  /** Seals the TLS sessions of all gateways by other keys from now on. */
  setTicketKeys(keys: Buffer): void;
  /** Enforces time-outs, and forgets what has drained. */
  sweep(now: number): void;
  close(): Promise<void>;
}

interface Running {
  /** With the certificates in effect, which those of the cluster's own need not be. */
  config: VirtualClusterConfig;
  key: string;
  cluster: Cluster;
  gateways: Map<string, Gateway>;
}

export function createRouter(deps: ClusterDeps, firstTicketKeys: Buffer): Router {
  let ticketKeys = firstTicketKeys;
  const running = new Map<string, Running>();
  const retired = new Set<Cluster>();

  async function start(config: VirtualClusterConfig, gateways: Running['gateways']): Promise<void> {
    const cluster = await createCluster(config, deps);
    const before = running.get(config.name)?.cluster;
    if (before && canonical(before.config.target) === canonical(config.target))
      cluster.topology.learn(before.topology.nodes());
    retire(config.name);
    running.set(config.name, { config, key: targetKey(config), cluster, gateways });
  }

  function retire(name: string): void {
    const found = running.get(name);
    if (!found) return;
    running.delete(name);
    retired.add(found.cluster);
    for (const session of found.cluster.sessions) session.drain('virtual cluster changed');
  }

  async function change(after: ProxyConfig) {
    // With what runs, not with what was asked for: what could not be started is still to be.
    const before = { virtualClusters: [...running.values()].map(({ config }) => config) };
    const difference = diffConfigs(before, after);
    const { removed, certificates, added, changed } = difference;
    const configs = new Map(after.virtualClusters.map((cluster) => [cluster.name, cluster]));
    const gatewaysOf = (config: VirtualClusterConfig) => createGateways(config, ticketKeys, after);
    const problems: Problem[] = [];
    for (const name of removed) retire(name);
    for (const name of [...certificates, ...added, ...changed]) {
      const config = configs.get(name)!;
      try {
        const gateways = gatewaysOf(config);
        if (certificates.includes(name)) Object.assign(running.get(name)!, { gateways, config });
        else await start(config, gateways);
      } catch (error) {
        problems.push({ cluster: name, problem: messageOf(error), stage: 'load' });
        deps.log.error({ virtualCluster: name, why: messageOf(error) }, 'virtual cluster failed to start');
      }
    }
    return { difference, problems };
  }

  const all = () => [...[...running.values()].map(({ cluster }) => cluster), ...retired];
  return {
    change,
    configs: () => [...running.values()].map(({ config }) => config),
    filterProblems: () => [...running.values()].flatMap(({ cluster }) => filterProblems(cluster)),
    find({ cluster, gateway }) {
      const found = running.get(cluster);
      const route = found?.gateways.get(gateway);
      return found && route && { cluster: found.cluster, gateway: route };
    },
    learn(key, nodes) {
      const found = running.get(nameInKey(key));
      if (found?.key === key) found.cluster.topology.learn(nodes);
    },
    setTicketKeys(keys) {
      ticketKeys = keys;
      for (const { gateways } of running.values())
        for (const { tls } of gateways.values()) tls?.setTicketKeys(keys);
    },
    sessions: () => all().flatMap(({ sessions }) => [...sessions]),
    sweep(now) {
      for (const { sessions } of all()) for (const session of sessions) session.sweep(now);
      for (const cluster of retired) {
        if (cluster.sessions.size > 0) continue;
        retired.delete(cluster);
        if (!running.has(cluster.config.name)) cluster.stats.drop();
        void closeFilters(cluster.filters, cluster.log);
      }
    },
    async close() {
      for (const { filters, log } of all()) await closeFilters(filters, log);
    },
  };
}
