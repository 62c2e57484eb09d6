import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { createClusters } from './cluster/clusters.ts';
import type { Clusters, Problem } from './cluster/clusters.ts';
import type { Address, ProxyConfig } from './config/model.ts';
import { portClaims } from './config/ports.ts';
import type { Claim } from './config/ports.ts';
import { createGate } from './entry/gate.ts';
import type { Gate } from './entry/gate.ts';
import { createListeners } from './entry/listeners.ts';
import type { Listeners } from './entry/listeners.ts';
import { receive } from './entry/reception.ts';
import type { Directory } from './entry/reception.ts';
import { createStats, sharedFamilies } from './stats.ts';
import type { ProxyStats } from './stats.ts';
import { createThrottle } from './throttle.ts';
import type { Surroundings } from './cluster/virtual-cluster.ts';

export type { Problem } from './cluster/clusters.ts';

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
  /** Tells them that a node is not where it was. */
  forget?: Surroundings['forget'];
}

const SWEEP_MS = 500;
const RETRY_BIND_MS = 5000;
const DRAIN_POLL_MS = 50;

export function createDataPlane(options: DataPlaneOptions): DataPlane {
  const { log, metrics, shared, ticketKeys } = options;
  const stats = createStats(metrics);
  const clusters = createClusters(
    {
      log,
      stats,
      metrics: sharedFamilies(metrics),
      lookUp: options.lookUp ?? (async () => undefined),
      share: options.share ?? (() => {}),
      forget: options.forget ?? (() => {}),
    },
    ticketKeys,
  );
  const gate = createGate();
  const enter = directories({ clusters, gate, stats, log });
  let config: ProxyConfig | undefined;
  let claims: ReadonlyMap<string, Claim> = new Map();
  let startProblems: Problem[] = [];
  let changing: Promise<void> = Promise.resolve();
  let stopped = false;
  const listeners = createListeners(shared, (key, socket) => {
    const claim = claims.get(key);
    if (claim && config) receive(socket, claim, enter(config));
    else socket.destroy();
  });
  const stopSweeping = sweep(clusters, listeners);

  async function change(next: ProxyConfig): Promise<void> {
    if (stopped) return;
    const { difference, problems } = await clusters.change(next);
    startProblems = problems;
    config = next;
    ({ claims } = portClaims(next.virtualClusters.filter(({ name }) => clusters.has(name))));
    if (!stopped) await listeners.set([...claims].map(([key, { host, port }]) => ({ key, host, port })));
    log.info({ ...difference }, 'configuration applied');
  }

  return {
    // One at a time, and one that failed does not keep the next from being tried.
    apply: (next) => (changing = changing.catch(() => {}).then(() => change(next))),
    problems: () => [...startProblems, ...bindProblems(listeners, claims)],
    learn: (cluster, nodes) => clusters.learn(cluster, nodes),
    counts() {
      const { total, addresses } = gate.counts();
      return { total, addresses: [...addresses] };
    },
    setOthers: ({ total, addresses }) => gate.setOthers(total, new Map(addresses)),
    async drain(timeoutMs) {
      stopped = true;
      listeners.close();
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        // Again and again: what was in its handshake becomes a session later.
        for (const session of clusters.sessions()) session.drain('the proxy stops', timeoutMs);
        if (clusters.sessions().length === 0 || performance.now() >= deadline) break;
        await delay(DRAIN_POLL_MS);
      }
      for (const session of clusters.sessions()) session.client.destroy();
      stopSweeping();
      await clusters.close();
    },
  };
}

/** What new connections are received with, under a configuration. */
function directories({
  clusters,
  gate,
  stats,
  log,
}: {
  clusters: Clusters;
  gate: Gate;
  stats: ProxyStats;
  log: Log;
}): (config: ProxyConfig) => Directory {
  const throttle = createThrottle();
  const refuse: Directory['refuse'] = (reason, client, why) => {
    stats.refused(reason).value += 1;
    const left = throttle(reason);
    if (left !== undefined)
      log.warn({ reason, client, why, alsoUnreported: left }, 'a connection was refused');
  };
  return ({ limits, unknownApis, proxyProtocol }) => ({
    rules: { limits, unknownApis },
    proxyProtocol,
    find: (endpoint) => clusters.find(endpoint),
    refuse,
    admit(client) {
      const admitted = gate.admit(client, limits);
      if (typeof admitted === 'function') return admitted;
      refuse(admitted, client, 'there are as many connections as the limits allow');
      return undefined;
    },
  });
}

/** Does what is due every now and then; the result stops it. */
function sweep(clusters: Clusters, listeners: Listeners): () => void {
  let sweeps = 0;
  const timer = setInterval(() => {
    clusters.sweep(performance.now());
    if (++sweeps % (RETRY_BIND_MS / SWEEP_MS) === 0) void listeners.retry();
  }, SWEEP_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function bindProblems(listeners: Listeners, claims: ReadonlyMap<string, Claim>): Problem[] {
  return [...listeners.failures()].map(([key, why]) => {
    const claim = claims.get(key);
    const cluster = claim?.endpoint?.cluster ?? claim?.sni[0]?.cluster ?? '';
    return { cluster, problem: `port ${claim?.port} cannot be bound: ${why}` };
  });
}
