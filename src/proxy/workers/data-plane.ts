import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogThrottle } from '../../ops/log-throttle.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createPeerBus } from '../cluster/peers.ts';
import { createStats, sharedFamilies } from '../cluster/stats.ts';
import type { ProxyStats } from '../cluster/stats.ts';
import { Tap } from '../cluster/tap.ts';
import type { TapBatch } from '../cluster/tap.ts';
import type { ClusterDeps } from '../cluster/virtual-cluster.ts';
import type { Address, Problem, ProxyConfig } from '../config/model.ts';
import { portBindings } from '../config/ports.ts';
import type { PortBinding } from '../config/ports.ts';
import { accept, acceptContexts } from '../listener/accept.ts';
import type { AcceptContext } from '../listener/accept.ts';
import { createConnectionLimit } from '../listener/connection-limit.ts';
import { createListeners } from '../listener/listeners.ts';
import type { Listeners } from '../listener/listeners.ts';
import { ProcessBudget } from '../net/byte-budget.ts';
import { connectionsWithin, maxOpenFiles } from '../listener/open-files.ts';
import { createRouter } from '../router/router.ts';
import type { Router } from '../router/router.ts';

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
  /** Takes in where brokers are, as another worker has learned. */
  learn(cluster: string, nodes: [number, Address][]): void;
  counts(): Counts;
  /** Takes in what a filter told the same filter here. */
  hear(channel: string, message: unknown): void;
  /** Takes in how many connections the other workers have. */
  setOthers(others: Counts): void;
  /** Whether requests are shown, by `onTapped`. */
  tap(on: boolean): void;
  /** Seals TLS sessions by other keys from now on. */
  setTicketKeys(keys: Buffer): void;
  /** Stops listening, lets requests in flight finish, and resolves when all connections are closed. */
  drain(timeoutMs: number): Promise<void>;
}

export interface DataPlaneOptions {
  log: Log;
  metrics: Metrics;
  /** Whether other processes listen on the same ports. */
  shared: boolean;
  /** The same in every worker, so that TLS sessions can be resumed in any. */
  ticketKeys: Buffer;
  /** Asks the other workers where a broker is. */
  lookUp?: ClusterDeps['lookUp'];
  /** Tells the other workers where brokers are. */
  share?: ClusterDeps['share'];
  /** Tells them that a broker is not where it was. */
  forget?: ClusterDeps['forget'];
  /** Tells filters in the other workers something. */
  tell?: (channel: string, message: unknown) => void;
  onTapped?: (batch: TapBatch) => void;
}

const SWEEP_INTERVAL_MS = 500;
const BIND_RETRY_INTERVAL_MS = 5000;
const DRAIN_POLL_INTERVAL_MS = 50;

export function createDataPlane(options: DataPlaneOptions): DataPlane {
  const { log, metrics, shared, ticketKeys } = options;
  const stats = createStats(metrics);
  const tap = new Tap(options.onTapped);
  const deps = {
    log,
    stats,
    tap,
    memory: new ProcessBudget(),
    metrics: sharedFamilies(metrics),
    lookUp: options.lookUp ?? (async () => undefined),
    share: options.share ?? (() => {}),
    forget: options.forget ?? (() => {}),
    peers: createPeerBus(options.tell ?? (() => {})),
  };
  const router = createRouter(deps, ticketKeys);
  const openFiles = maxOpenFiles();
  const limit = createConnectionLimit(() => connectionsWithin(openFiles, bindings.size));
  const contextOf = acceptContexts((destination) => router.find(destination), limit, stats, log);
  let contexts: ReadonlyMap<string, AcceptContext> = new Map();
  let bindings: ReadonlyMap<string, PortBinding> = new Map();
  let startProblems: Problem[] = [];
  let changing: Promise<void> = Promise.resolve();
  let stopped = false;
  const onConnection = (key: string, socket: Socket) => {
    const binding = bindings.get(key);
    const context = contexts.get(key);
    if (binding && context) accept(socket, binding, context);
    else socket.destroy();
  };
  const listeners = createListeners(shared, onConnection, acceptErrorLog(stats, log));
  const stopSweeping = sweepPeriodically(router, listeners);

  async function change(next: ProxyConfig): Promise<void> {
    if (stopped) return;
    const { difference, problems } = await router.change(next);
    startProblems = problems;
    // By what runs: a virtual cluster that could not be started anew goes on as it was, with its own ports, unless
    // they are another's now.
    const isOld = new Set(problems.map(({ cluster }) => cluster));
    const running = router
      .configs()
      .toSorted((a, b) => Number(isOld.has(a.name)) - Number(isOld.has(b.name)));
    ({ bindings } = portBindings(running));
    const common = contextOf(next);
    contexts = new Map(
      [...bindings].map(([key, { proxyProtocol: own }]) => [key, own ? contextOf(next, own) : common]),
    );
    if (!stopped) await listeners.set([...bindings].map(([key, { host, port }]) => ({ key, host, port })));
    log.info({ ...difference }, 'configuration applied');
  }

  return {
    // One at a time, and one that failed does not keep the next from being tried.
    apply: (next) => (changing = changing.catch(() => {}).then(() => change(next))),
    problems: () => [...startProblems, ...bindProblems(listeners, bindings), ...router.filterProblems()],
    learn: (cluster, nodes) => router.learn(cluster, nodes),
    hear: (channel, message) => deps.peers.hear(channel, message),
    counts() {
      const { total, addresses } = limit.counts();
      return { total, addresses: [...addresses] };
    },
    setOthers: ({ total, addresses }) => limit.setOthers(total, new Map(addresses)),
    tap: (on) => tap.set(on),
    setTicketKeys: (keys) => router.setTicketKeys(keys),
    async drain(timeoutMs) {
      stopped = true;
      listeners.close();
      await drainSessions(router, timeoutMs);
      stopSweeping();
      tap.set(false);
      await router.close();
    },
  };
}

/** Counts connections that could not be accepted, and logs some of them. */
function acceptErrorLog(stats: ProxyStats, log: Log) {
  const throttle = createLogThrottle();
  return (listener: string, { code = 'unknown', message }: NodeJS.ErrnoException) => {
    stats.acceptErrors(code).value += 1;
    const unreported = throttle(code);
    if (unreported !== undefined)
      log.error({ listener, why: message, alsoUnreported: unreported }, 'connection could not be accepted');
  };
}

async function drainSessions(router: Router, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    // Again and again: a connection in its TLS handshake becomes a session later.
    for (const session of router.sessions()) session.drain('proxy is shutting down', timeoutMs);
    if (router.sessions().length === 0 || performance.now() >= deadline) break;
    await delay(DRAIN_POLL_INTERVAL_MS);
  }
  for (const session of router.sessions()) session.destroy();
}

/** Enforces time-outs and binds again what could not be bound; the result stops it. */
function sweepPeriodically(router: Router, listeners: Listeners): () => void {
  let sweeps = 0;
  const timer = setInterval(() => {
    router.sweep(performance.now());
    if (++sweeps % (BIND_RETRY_INTERVAL_MS / SWEEP_INTERVAL_MS) === 0) void listeners.retry();
  }, SWEEP_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function bindProblems(listeners: Listeners, bindings: ReadonlyMap<string, PortBinding>): Problem[] {
  return [...listeners.failures()].map(([key, why]) => {
    const binding = bindings.get(key);
    const cluster = binding?.destination?.cluster ?? binding?.sni[0]?.cluster ?? '';
    return { cluster, problem: `port ${binding?.port} cannot be bound: ${why}`, stage: 'listen' };
  });
}
