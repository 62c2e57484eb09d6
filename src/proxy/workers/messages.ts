import type { Snapshot } from '../../ops/metrics.ts';
import type { TapBatch } from '../cluster/tap.ts';
import type { Address, Problem, ProxyConfig } from '../config/model.ts';
import type { Counts } from './data-plane.ts';

/** Messages from the supervisor to a worker. `id` ties a response to its request. */
export type ToWorker =
  | { type: 'apply'; id: number; config: ProxyConfig }
  | { type: 'nodes'; cluster: string; nodes: [number, Address][] }
  | { type: 'found'; id: number; address: Address | undefined }
  | { type: 'others'; counts: Counts }
  | { type: 'told'; channel: string; message: unknown }
  | { type: 'ticketKeys'; keys: string }
  | { type: 'tap'; on: boolean }
  | { type: 'report'; id: number }
  | { type: 'drain'; timeoutMs: number };

/** Messages from a worker to the supervisor. */
export type FromWorker =
  /** Each second, so that a worker that stands still is noticed. */
  | { type: 'alive' }
  | { type: 'applied'; id: number; problems: Problem[] }
  | { type: 'learned'; cluster: string; nodes: [number, Address][] }
  | { type: 'forgot'; cluster: string; node: number; address: Address }
  | { type: 'where'; id: number; cluster: string; node: number }
  | { type: 'counts'; counts: Counts }
  /** A filter tells the same filter in the other workers something. */
  | { type: 'tell'; channel: string; message: unknown }
  | { type: 'tapped'; batch: TapBatch }
  | { type: 'report'; id: number; snapshot: Snapshot; problems: Problem[] };

/** How a worker is set up: in its environment, as one JSON text. */
export interface WorkerSetup {
  number: number;
  logLevel: string;
  ticketKeys: string;
}

export const SETUP_VARIABLE = 'ISTHMUS_PROXY_WORKER';
