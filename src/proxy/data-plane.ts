import { messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Cluster } from './cluster.ts';
import type { Address, ProxyConfig, VirtualClusterConfig } from './config/model.ts';
import { portClaims } from './config/ports.ts';
import type { Claim } from './config/ports.ts';
import { createGate } from './gate.ts';
import { createGateway } from './gateway.ts';
import type { Gateway } from './gateway.ts';
import { createListeners } from './listeners.ts';
import { receive } from './reception.ts';
import type { Directory } from './reception.ts';
import { canonical, diffConfigs } from './reload.ts';
import { createStats, sharedFamilies } from './stats.ts';
import { createThrottle } from './throttle.ts';
import { createCluster } from './virtual-cluster.ts';
import type { Surroundings } from './virtual-cluster.ts';

/** What is not as the configuration asks. */
export interface Problem {
  cluster: string;
  problem: string;
}

/** Connections of one process. */
export interface Counts {
  total: number;
  addresses: [string, number][];
}

/** The work of one process of the proxy: it listens, and carries connections. */
export interface DataPlane {
  /** Changes over to a configuration. Resolves when it is in effect; old connections may still be draining then. */
  apply(config: ProxyConfig): Promise<void>;
  problems(): Problem[];
  /** Takes in what another worker has learned. */
  learn(cluster: string, nodes: [number, Address][]): void;
  counts(): Counts;
  /** Takes in how many connections the other workers have. */
  setOthers(others: Counts): void;
  /** Stops listening, lets requests under way finish, and resolves when all connections are closed. */
  drain(timeoutMs: number): Promise<void>;
}

export interface DataPlaneOptions {
  log: Log;
  metrics: Metrics;
  /** Whether other processes listen on the same ports. */
  shared: boolean;
  /** The same in every worker, so that TLS sessions can be resumed in any. */
  ticketKeys: Buffer;
  /** Asks the other workers where a node is. */
  lookUp?: Surroundings['lookUp'];
  /** Tells the other workers where nodes are. */
  share?: Surroundings['share'];
}

interface Running {
  cluster: Cluster;
  gateways: Map<string, Gateway>;
}

const SWEEP_MS = 500;
const RETRY_BIND_MS = 5000;
const DRAIN_POLL_MS = 50;

export function createDataPlane(options: DataPlaneOptions): DataPlane {
  const { log, metrics, shared, ticketKeys } = options;
  const stats = createStats(metrics);
  const around: Surroundings = {
    log,
    stats,
    metrics: sharedFamilies(metrics),
    lookUp: options.lookUp ?? (async () => undefined),
    share: options.share ?? (() => {}),
  };
  const running = new Map<string, Running>();
  /** Clusters that no longer are, or no longer like this, until their last connection has closed. */
  const retired = new Map<Cluster, { gone: boolean }>();
  const gate = createGate();
  const throttle = createThrottle();
  let config: ProxyConfig | undefined;
  let claims = new Map<string, Claim>();
  let startProblems: Problem[] = [];
  let changing: Promise<void> = Promise.resolve();
  const listeners = createListeners(shared, (key, socket) => {
    const claim = claims.get(key);
    if (claim && config) receive(socket, claim, directory(config));
    else socket.destroy();
  });

  const directory = ({ limits, unknownApis, proxyProtocol }: ProxyConfig): Directory => ({
    rules: { limits, unknownApis },
    proxyProtocol,
    find({ cluster, gateway }) {
      const found = running.get(cluster);
      const door = found?.gateways.get(gateway);
      return found && door && { cluster: found.cluster, gateway: door };
    },
    refuse(reason, client, why) {
      stats.refused(reason).value += 1;
      const left = throttle(reason);
      if (left !== undefined)
        log.warn({ reason, client, why, alsoUnreported: left }, 'a connection was refused');
    },
    admit(client) {
      const admitted = gate.admit(client, limits);
      if (typeof admitted === 'function') return admitted;
      this.refuse(admitted, client, 'there are as many connections as the limits allow');
      return undefined;
    },
  });

  const gatewaysOf = ({ gateways }: VirtualClusterConfig, handshakeTimeoutMs: number) =>
    new Map(
      gateways.map((gateway) => [gateway.name, createGateway(gateway, ticketKeys, handshakeTimeoutMs)]),
    );

  async function start(cluster: VirtualClusterConfig, { limits }: ProxyConfig): Promise<Running> {
    const made = {
      gateways: gatewaysOf(cluster, limits.handshakeTimeoutMs),
      cluster: await createCluster(cluster, around),
    };
    const before = running.get(cluster.name)?.cluster;
    if (before && canonical(before.config.target) === canonical(cluster.target))
      made.cluster.topology.learn(before.topology.nodes());
    return made;
  }

  function retire(name: string, gone: boolean): void {
    const found = running.get(name);
    if (!found) return;
    running.delete(name);
    retired.set(found.cluster, { gone });
    for (const session of found.cluster.sessions) session.drain('the virtual cluster has changed');
  }

  async function change(next: ProxyConfig): Promise<void> {
    const difference = diffConfigs(config, next);
    const byName = new Map(next.virtualClusters.map((cluster) => [cluster.name, cluster]));
    const started = new Map<string, Running>();
    startProblems = [];
    for (const name of [...difference.added, ...difference.changed]) {
      try {
        started.set(name, await start(byName.get(name)!, next));
      } catch (error) {
        startProblems.push({ cluster: name, problem: messageOf(error) });
        log.error({ virtualCluster: name, why: messageOf(error) }, 'a virtual cluster cannot be started');
      }
    }
    for (const name of difference.certificates)
      running.get(name)!.gateways = gatewaysOf(byName.get(name)!, next.limits.handshakeTimeoutMs);
    for (const name of difference.removed) retire(name, true);
    for (const [name, made] of started) {
      retire(name, false);
      running.set(name, made);
    }
    config = next;
    claims = portClaims(next.virtualClusters.filter(({ name }) => running.has(name))).claims;
    await listeners.set([...claims].map(([key, { host, port }]) => ({ key, host, port })));
    log.info({ ...difference }, 'configuration applied');
  }

  let sweeps = 0;
  const sweeper = setInterval(() => {
    const now = performance.now();
    for (const { cluster } of running.values()) for (const session of cluster.sessions) session.sweep(now);
    for (const [cluster, { gone }] of retired) {
      for (const session of cluster.sessions) session.sweep(now);
      if (cluster.sessions.size > 0) continue;
      retired.delete(cluster);
      if (gone && !running.has(cluster.config.name)) cluster.stats.drop();
      for (const filter of cluster.filters) void filter.close?.();
    }
    if (++sweeps % (RETRY_BIND_MS / SWEEP_MS) === 0) void listeners.retry();
  }, SWEEP_MS);
  sweeper.unref();

  const clusters = () => [...[...running.values()].map(({ cluster }) => cluster), ...retired.keys()];

  return {
    apply: (next) => (changing = changing.then(() => change(next))),
    problems() {
      const unbound = [...listeners.failures()].map(([key, why]) => {
        const claim = claims.get(key);
        const cluster = claim?.endpoint?.cluster ?? claim?.sni[0]?.cluster ?? '';
        return { cluster, problem: `port ${claim?.port} cannot be bound: ${why}` };
      });
      return [...startProblems, ...unbound];
    },
    learn: (cluster, nodes) => running.get(cluster)?.cluster.topology.learn(nodes),
    counts() {
      const { total, addresses } = gate.counts();
      return { total, addresses: [...addresses] };
    },
    setOthers: ({ total, addresses }) => gate.setOthers(total, new Map(addresses)),
    async drain(timeoutMs) {
      listeners.close();
      const open = () => clusters().flatMap(({ sessions }) => [...sessions]);
      for (const session of open()) session.drain('the proxy stops', timeoutMs);
      const deadline = performance.now() + timeoutMs;
      while (open().length > 0 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      for (const session of open()) session.client.destroy();
      clearInterval(sweeper);
      for (const { filters } of clusters()) for (const filter of filters) await filter.close?.();
    },
  };
}
