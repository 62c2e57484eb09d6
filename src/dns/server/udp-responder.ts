import { CELL, count, countResponse, countZone } from './counters.ts';
import { createRateLimit } from './rate-limit.ts';
import { createResponder, UNRESOLVED } from './responder.ts';
import { SLACK } from '../wire/message.ts';
import type { Counters } from './counters.ts';
import type { ResponderOptions } from './query-context.ts';
import type { MayWait, Outcome } from './responder.ts';
import type { RateLimitOptions } from './rate-limit.ts';
import type { Network } from './networks.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { Zones } from '../zone/zones.ts';

export interface UdpOptions extends ResponderOptions {
  /** Undefined: no limit. */
  rateLimit: RateLimitOptions | undefined;
  /** Mixed into hashes, so that no attacker knows which networks share a bucket. */
  seed: number;
}

/**
 * Responds to one datagram: answer, limit the rate, count. Both UDP loops call it, so they cannot differ. Returns the size,
 * 0 for no response, or UNRESOLVED, if it may wait.
 */
export type UdpRespond = (
  query: Uint8Array,
  start: number,
  length: number,
  out: Uint8Array,
  at: number,
  client: ClientAddress,
  mayWait: MayWait,
) => number;

export interface UdpResponder {
  respond: UdpRespond;
  readonly outcome: Pick<Outcome, 'type' | 'unresolved'>;
  /** Exempts networks from the rate limit, besides those of the options. */
  trust(networks: readonly Network[]): void;
  /** Sets the time, in milliseconds; once a batch is enough. */
  setTime(ms: number): void;
  /** Size of the buffer that a response needs. */
  readonly bufferSize: number;
}

export function createUdpResponder(zones: Zones, options: UdpOptions, counters: Counters): UdpResponder {
  const responder = createResponder(zones, options);
  const limit = options.rateLimit && createRateLimit(options.rateLimit, options.seed);
  const { outcome } = responder;
  let now = 0;

  return {
    outcome,
    bufferSize: options.maxUdpPayload + SLACK,
    trust: (networks) => limit?.trust(networks),
    setTime(ms) {
      now = ms;
      responder.now = Math.floor(ms / 1000);
    },
    respond(query, start, length, out, at, client, mayWait) {
      responder.mayWait = mayWait;
      const size = responder.respond(query, start, length, out, at, client, false);
      if (size === UNRESOLVED) return UNRESOLVED;
      if (size === 0) {
        count(counters, CELL.dropped);
        return 0;
      }
      if (limit && !outcome.addressProven) {
        const action = limit.check(client, now);
        if (action === 'drop') {
          count(counters, CELL.rateDropped);
          return 0;
        }
        if (action === 'slip') {
          count(counters, CELL.rateSlipped);
          return truncate(out, at, outcome.questionEnd);
        }
      }
      countResponse(counters, false, outcome.type, outcome.rcode);
      countZone(counters, outcome.zone);
      if (outcome.truncated) count(counters, CELL.truncated);
      return size;
    },
  };
}

/** Cuts a response down to its question, with TC set: no larger than the query, and a real client retries over TCP. */
function truncate(out: Uint8Array, at: number, questionEnd: number): number {
  out[at + 2]! |= 2;
  out[at + 3]! &= 0xf0;
  out.fill(0, at + 6, at + 12);
  return questionEnd;
}
