import { messageOf } from '../../ops/errors.ts';
import type { Cluster } from './cluster.ts';
import type { Address, ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import type { Endpoint } from '../config/ports.ts';
import { createGateway } from '../entry/gateway.ts';
import type { Gateway } from '../entry/gateway.ts';
import type { Residence } from '../entry/reception.ts';
import { canonical, diffConfigs, targetKey } from '../reload.ts';
import type { Difference } from '../reload.ts';
import type { Session } from '../session/session.ts';
import { closeFilters, createCluster } from './virtual-cluster.ts';
import type { Surroundings } from './virtual-cluster.ts';

/** What is not as the configuration asks. */
export interface Problem {
  cluster: string;
  problem: string;
}

/** The virtual clusters of a process: those in effect, and those whose last connections are draining. */
export interface Clusters {
  /** Goes over to a configuration; what cannot be started is a problem of its own, and tried again at the next. */
  change(after: ProxyConfig): Promise<{ difference: Difference; problems: Problem[] }>;
  has(name: string): boolean;
  find(endpoint: Endpoint): Residence | undefined;
  /** Takes in where nodes are of the cluster with this `targetKey`. */
  learn(key: string, nodes: [number, Address][]): void;
  sessions(): Session[];
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

export function createClusters(around: Surroundings, ticketKeys: Buffer): Clusters {
  const running = new Map<string, Running>();
  const retired = new Set<Cluster>();

  const gatewaysOf = ({ gateways }: VirtualClusterConfig, { limits }: ProxyConfig) =>
    new Map(gateways.map((each) => [each.name, createGateway(each, ticketKeys, limits.handshakeTimeoutMs)]));

  async function start(config: VirtualClusterConfig, whole: ProxyConfig): Promise<Running> {
    const gateways = gatewaysOf(config, whole);
    const cluster = await createCluster(config, around);
    const before = running.get(config.name)?.cluster;
    if (before && canonical(before.config.target) === canonical(config.target))
      cluster.topology.learn(before.topology.nodes());
    return { config, key: targetKey(config), cluster, gateways };
  }

  function retire(name: string): void {
    const found = running.get(name);
    if (!found) return;
    running.delete(name);
    retired.add(found.cluster);
    for (const session of found.cluster.sessions) session.drain('the virtual cluster has changed');
  }

  async function change(after: ProxyConfig) {
    // With what runs, not with what was asked for: what could not be started is still to be.
    const before = { virtualClusters: [...running.values()].map(({ config }) => config) };
    const difference = diffConfigs(before, after);
    const configs = new Map(after.virtualClusters.map((cluster) => [cluster.name, cluster]));
    const problems: Problem[] = [];
    for (const name of difference.removed) retire(name);
    for (const name of difference.certificates) {
      const found = running.get(name);
      if (!found) continue;
      const config = configs.get(name)!;
      Object.assign(found, { gateways: gatewaysOf(config, after), config });
    }
    for (const name of [...difference.added, ...difference.changed]) {
      try {
        const started = await start(configs.get(name)!, after);
        retire(name);
        running.set(name, started);
      } catch (error) {
        problems.push({ cluster: name, problem: messageOf(error) });
        around.log.error(
          { virtualCluster: name, why: messageOf(error) },
          'a virtual cluster cannot be started',
        );
      }
    }
    return { difference, problems };
  }

  const all = () => [...[...running.values()].map(({ cluster }) => cluster), ...retired];
  return {
    change,
    has: (name) => running.has(name),
    find({ cluster, gateway }) {
      const found = running.get(cluster);
      const door = found?.gateways.get(gateway);
      return found && door && { cluster: found.cluster, gateway: door };
    },
    learn(key, nodes) {
      const found = running.get(key.split(' ', 1)[0]!);
      if (found?.key === key) found.cluster.topology.learn(nodes);
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
