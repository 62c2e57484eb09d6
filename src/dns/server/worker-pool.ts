import { randomBytes } from 'node:crypto';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { startWorker } from './worker-handle.ts';
import type { Log } from '../../ops/log.ts';
import type { CookieSecrets } from '../wire/cookie.ts';
import type { TsigKey } from '../wire/tsig.ts';
import type { SharedZones } from '../zone/zones.ts';
import type { DnsConfig } from './config.ts';
import type { Counters } from './counters.ts';
import type { Endpoint } from './endpoint.ts';
import type { Network } from './networks.ts';
import type { RateLimitOptions } from './rate-limit.ts';
import type { WorkerHandle, WorkerOptions } from './worker-handle.ts';
import type { UdpMode, WorkerMessage } from './worker-protocol.ts';

export interface WorkerPoolOptions {
  config: DnsConfig;
  cookies: CookieSecrets;
  keys: readonly TsigKey[];
  /** The zones, once they are there. */
  zones: () => SharedZones;
  /** Has a name outside of our zones resolved; undefined where there is no resolver. */
  ask: WorkerOptions['ask'] | undefined;
  log: Log;
}

/** The UDP workers of a server: threads that share its ports and its zones. */
export interface WorkerPool {
  /** Starts all workers, or none and throws; from then on each gets every posted message. */
  start(endpoints: readonly Endpoint[]): Promise<void>;
  post(message: WorkerMessage): void;
  /** Resolves when no worker uses anything that it looked up before the call. */
  settled(): Promise<void>;
  /** Exempts networks from limits of single clients, instead of those of the last call. */
  trust(networks: readonly Network[]): void;
  readonly trusted: readonly Network[];
  counters(): Counters[];
  readonly mode: UdpMode;
  /** Whether at least one worker serves. */
  readonly isServing: boolean;
  close(): Promise<void>;
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const workers: WorkerHandle[] = [];
  const closeAll = async () => void (await Promise.all(workers.map((worker) => worker.close())));

  let started: Promise<unknown> = Promise.resolve();
  let trusted: readonly Network[] = [];

  async function start(endpoints: readonly Endpoint[]): Promise<void> {
    const { config } = options;
    const workerOptions = workerOptionsOf(options, endpoints);
    // Read again for a thread that replaces another.
    Object.defineProperty(workerOptions.start, 'trusted', { get: () => trusted, enumerable: true });
    const starting = Array.from({ length: config.workers }, () => startWorker(workerOptions));
    started = Promise.allSettled(starting);
    const results = await Promise.allSettled(starting);
    for (const result of results) if (result.status === 'fulfilled') workers.push(result.value);
    const failed = results.find((result) => result.status === 'rejected');
    const isSlow = config.udp === 'fast' && workers.some((worker) => worker.mode !== 'fast');
    if (!failed && !isSlow) return;
    await closeAll();
    workers.length = 0;
    if (failed) throw new IsthmusError('LISTEN_FAILED', messageOf(failed.reason), { cause: failed.reason });
    throw new IsthmusError('CONFIG_INVALID', 'udp: "fast" needs Linux and a Node with node:ffi; use "auto"');
  }

  return {
    start,
    post(message) {
      for (const worker of workers) worker.post(message);
    },
    trust(networks) {
      trusted = networks;
      for (const worker of workers) worker.post({ kind: 'trust', networks });
    },
    get trusted() {
      return trusted;
    },
    async settled() {
      await started; // one that starts may serve already
      await Promise.all(workers.map((worker) => worker.settled()));
    },
    counters: () => workers.map((worker) => worker.counters),
    get mode() {
      return workers[0]!.mode;
    },
    get isServing() {
      return workers.some((worker) => worker.serving);
    },
    close: closeAll,
  };
}

function workerOptionsOf(
  { config, cookies, keys, zones, ask, log }: WorkerPoolOptions,
  endpoints: readonly Endpoint[],
): WorkerOptions {
  const start = {
    endpoints,
    mode: config.udp === 'portable' ? ('portable' as const) : ('fast' as const),
    maxUdpPayload: config.maxUdpPayload,
    cookies,
    keys,
    rateLimit: rateLimitOf(config),
    seed: randomBytes(4).readInt32LE(),
    resolves: ask !== undefined,
    zones: zones(),
    trusted: [],
  };
  return { start, ask: ask ?? (() => undefined), log };
}

function rateLimitOf({ rateLimit }: DnsConfig): RateLimitOptions | undefined {
  if (!rateLimit) return undefined;
  const { responsesPerSecond: perSecond, slip, exempt } = rateLimit;
  return { perSecond, slip, exempt };
}
