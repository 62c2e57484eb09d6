import type { MessagePort } from 'node:worker_threads';
import type { Endpoint } from './endpoint.ts';
import type { Network } from './networks.ts';
import type { RateLimitOptions } from './rate-limit.ts';
import type { CookieSecrets } from '../wire/cookie.ts';
import type { Name } from '../wire/name.ts';
import type { TsigKey } from '../wire/tsig.ts';
import type { OutsideAnswer } from '../zone/outside.ts';
import type { SharedZones } from '../zone/zones.ts';

export type UdpMode = 'fast' | 'portable';

/** What a UDP worker is started with. Data only; `updates` is transferred. */
export interface WorkerStart {
  endpoints: readonly Endpoint[];
  mode: UdpMode;
  maxUdpPayload: number;
  cookies: CookieSecrets;
  keys: readonly TsigKey[];
  rateLimit: RateLimitOptions | undefined;
  seed: number;
  zones: SharedZones;
  /** Networks that the main thread exempts from the rate limit, and from what one client may have of the resolver. */
  trusted: readonly Network[];
  /** Whether the main thread can resolve names outside of our zones. */
  resolves: boolean;
  updates: MessagePort;
  /** Int32 cells by the indices below. */
  control: SharedArrayBuffer;
  counters: SharedArrayBuffer;
}

/** How many messages the main thread has posted, and how many of them the worker has applied. */
export const POSTED = 0;
export const APPLIED = 1;
export const CONTROL_CELLS = 2;

/** `pass`: to be applied once everything that was looked up before has been let go of. */
export type WorkerMessage =
  | { kind: 'outside'; answers: OutsideAnswer[] }
  | { kind: 'trust'; networks: readonly Network[] }
  | { kind: 'pass' }
  | { kind: 'stop' };

/** A worker's message: that it serves, or what is to be resolved. A worker that cannot start throws. */
export type WorkerReport =
  | ServingReport
  | { kind: 'ask'; name: Name; type: number; client: string | undefined };

export interface ServingReport {
  kind: 'serving';
  mode: UdpMode;
  /**
   * Descriptors that nothing closes when the thread exits: the main thread must. One left open would go on receiving
   * its share of the port's queries, and nobody would answer them.
   */
  sockets: number[];
}
