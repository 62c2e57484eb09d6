import type { Connection } from '../net/connection.ts';
import type { ConnectionInfo, SessionRules } from './connection-info.ts';
import type { FilterChain } from './filter-chain.ts';
import type { InFlightQueue } from './in-flight.ts';

/** What the two sides of a session share. */
export interface SessionState {
  readonly info: ConnectionInfo;
  readonly rules: SessionRules;
  readonly client: Connection;
  readonly chain: FilterChain;
  readonly inFlight: InFlightQueue;
  /** Past its login, as far as can be seen. */
  authenticated: boolean;
  /** Connected to any broker, in place of one whose address nobody knows yet. */
  guessed: boolean;
  /** Takes no further requests. */
  draining: boolean;
}
