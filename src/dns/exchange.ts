import { createClientAddress } from './address.ts';
import { RCODE } from './constants.ts';
import { createMessage } from './message.ts';
import { createQuery } from './query.ts';
import type { ClientAddress } from './address.ts';
import type { CookieSecrets } from './cookie.ts';
import type { Message } from './message.ts';
import type { Query } from './query.ts';

/** What answers depend on besides the data. */
export interface AnswerOptions {
  /** The largest answer over UDP; clients that can take less say so. */
  maxUdpPayload: number;
  cookies: CookieSecrets;
  /** Who may transfer whole zones. */
  transferAllowed: (client: ClientAddress) => boolean;
}

/** One query on its way to an answer: everything that the steps of it share. */
export interface Exchange {
  readonly query: Query;
  readonly message: Message;
  readonly options: AnswerOptions;
  bytes: Uint8Array;
  start: number;
  client: ClientAddress;
  now: number;
  rcode: number;
  authoritative: boolean;
  truncated: boolean;
  answers: number;
  authorities: number;
  additionals: number;
  extendedError: number;
}

/** Makes the reused object of one responder. */
export function createExchange(options: AnswerOptions): Exchange {
  const query = createQuery();
  return {
    query,
    message: createMessage(query.name),
    options,
    bytes: new Uint8Array(0),
    start: 0,
    client: createClientAddress(),
    now: 0,
    rcode: 0,
    authoritative: false,
    truncated: false,
    answers: 0,
    authorities: 0,
    additionals: 0,
    extendedError: 0,
  };
}

/** Begins with the next query, which has been parsed. */
export function resetExchange(
  exchange: Exchange,
  bytes: Uint8Array,
  start: number,
  client: ClientAddress,
  now: number,
): void {
  exchange.bytes = bytes;
  exchange.start = start;
  exchange.client = client;
  exchange.now = now;
  exchange.rcode = RCODE.NOERROR;
  exchange.authoritative = false;
  exchange.truncated = false;
  exchange.answers = 0;
  exchange.authorities = 0;
  exchange.additionals = 0;
  exchange.extendedError = 0;
}
