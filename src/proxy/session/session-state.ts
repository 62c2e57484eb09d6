import type { Connection } from '../net/connection.ts';
import type { MemoryAccount } from '../net/byte-budget.ts';
import type { ConnectionInfo, SessionRules } from './connection-info.ts';
import type { FilterChain } from './filter-chain.ts';
import type { InFlightQueue } from './in-flight.ts';
import type { Pause } from './pause.ts';

/** What the two sides of a session share. */
export interface SessionState {
  readonly info: ConnectionInfo;
  readonly rules: SessionRules;
  readonly client: Connection;
  readonly chain: FilterChain;
  readonly inFlight: InFlightQueue;
  /** What it holds in memory. */
  readonly account: MemoryAccount;
  /** The broker has answered a request that is not part of a login. Until then the client costs as little as possible. */
  accepted: boolean;
  /** Connected to any broker, in place of one whose address nobody knows yet. */
  guessed: boolean;
  /** While it is on, no further request is taken. */
  readonly pause: Pause;
  /** Takes no further requests. */
  draining: boolean;
}
