import { CELL, count, countAnswer } from './counters.ts';
import { createRateLimit } from './rate-limit.ts';
import { createResponder } from './responder.ts';
import { SLACK } from '../wire/message.ts';
import type { Counters } from './counters.ts';
import type { ResponderOptions } from './query-context.ts';
import type { RateLimitOptions } from './rate-limit.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { Zones } from '../zone/zones.ts';

export interface UdpOptions extends ResponderOptions {
  /** Undefined: no limit. */
  rateLimit: RateLimitOptions | undefined;
  /** Mixed into hashes, so that nobody can guess which networks share a bucket. */
  seed: number;
}

/** Answers one datagram: answer, count, limit. Both ways of doing UDP call this, so they cannot differ. */
export type UdpAnswer = (
  query: Uint8Array,
  start: number,
  length: number,
  out: Uint8Array,
  at: number,
  client: ClientAddress,
) => number;

export interface UdpResponder {
  answer: UdpAnswer;
  /** Tells the time, in milliseconds; once a batch is enough. */
  setTime(ms: number): void;
  /** Room that each answer needs. */
  readonly room: number;
}

export function createUdpResponder(zones: Zones, options: UdpOptions, counters: Counters): UdpResponder {
  const responder = createResponder(zones, options);
  const limit = options.rateLimit && createRateLimit(options.rateLimit, options.seed);
  const { outcome } = responder;
  let now = 0;

  return {
    room: options.maxUdpPayload + SLACK,
    setTime(ms) {
      now = ms;
      responder.now = Math.floor(ms / 1000);
    },
    answer(query, start, length, out, at, client) {
      const size = responder.answer(query, start, length, out, at, client, false);
      if (size === 0) {
        count(counters, CELL.dropped);
        return 0;
      }
      if (limit && !outcome.trusted) {
        const verdict = limit.judge(client, now);
        if (verdict === 'drop') {
          count(counters, CELL.rateDropped);
          return 0;
        }
        if (verdict === 'slip') {
          count(counters, CELL.rateSlipped);
          return truncate(out, at, outcome.questionEnd);
        }
      }
      countAnswer(counters, false, outcome.type, outcome.rcode);
      if (outcome.truncated) count(counters, CELL.truncated);
      return size;
    },
  };
}

/** Cuts an answer down to its question, with TC set: no larger than the query, and a real client asks again over TCP. */
function truncate(out: Uint8Array, at: number, questionEnd: number): number {
  out[at + 2]! |= 2;
  out[at + 3]! &= 0xf0;
  out.fill(0, at + 6, at + 12);
  return questionEnd;
}
