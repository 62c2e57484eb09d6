import { createClientAddress } from '../wire/client-address.ts';
import { RCODE } from '../wire/constants.ts';
import { createMessage } from '../wire/message.ts';
import { createQuery } from '../wire/query.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { Name } from '../wire/name.ts';
import type { EdnsContext, EdnsOptions } from '../wire/edns.ts';
import type { Signature, TsigKey } from '../wire/tsig.ts';

/** What responses depend on besides the zones. */
export interface ResponderOptions extends EdnsOptions {
  /** The keys that messages may be signed with. */
  keys: readonly TsigKey[];
  /** Who may transfer whole zones: by address, or by the key that the query is signed with. */
  transferAllowed: (client: ClientAddress, key: TsigKey | undefined) => boolean;
  /** Whether a zone is what its serial says; if not, nobody may transfer it now. */
  isTransferable: (zone: Name) => boolean;
}

/** One query and the response to it, while it is being written: what the steps share. One object, reused. */
export interface QueryContext extends EdnsContext {
  readonly options: ResponderOptions;
  /** Where the query starts in `bytes`. */
  start: number;
  authoritative: boolean;
  truncated: boolean;
  answers: number;
  authorities: number;
  additionals: number;
  /** The id of the zone that was searched last; -1 if none was. */
  zone: number;
  /** The name outside of our zones that must be resolved first. */
  unresolved: Name | undefined;
  /** Set if the query has a TSIG record. */
  signature: Signature | undefined;
}

/** Makes the context of one responder. */
export function createQueryContext(options: ResponderOptions): QueryContext {
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
    zone: -1,
    unresolved: undefined,
    signature: undefined,
  };
}

/** Prepares for the next query, which has been parsed. */
export function resetQueryContext(
  context: QueryContext,
  bytes: Uint8Array,
  start: number,
  client: ClientAddress,
  now: number,
): void {
  context.bytes = bytes;
  context.start = start;
  context.client = client;
  context.now = now;
  context.rcode = RCODE.NOERROR;
  context.authoritative = false;
  context.truncated = false;
  context.answers = 0;
  context.authorities = 0;
  context.additionals = 0;
  context.extendedError = 0;
  context.zone = -1;
  context.unresolved = undefined;
  context.signature = undefined;
}
