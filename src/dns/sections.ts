import { putAdditional } from './additional.ts';
import { RCODE, TYPE } from './constants.ts';
import { lookup } from './lookup.ts';
import { putSet } from './message.ts';
import { soaOf } from './zone.ts';
import type { Exchange } from './exchange.ts';
import type { Lookup } from './lookup.ts';
import type { Message } from './message.ts';
import type { Zone } from './zone.ts';
import type { Zones } from './zones.ts';

/** Extended errors (RFC 8914) that say why: 14 "not ready", 20 "not authoritative". */
const EDE: Partial<Record<Lookup['kind'], number>> = { notReady: 14, refused: 20 };
const RCODE_OF: Record<Lookup['kind'], number> = {
  answer: RCODE.NOERROR,
  nodata: RCODE.NOERROR,
  nxdomain: RCODE.NXDOMAIN,
  delegation: RCODE.NOERROR,
  refused: RCODE.REFUSED,
  notReady: RCODE.SERVFAIL,
};

/** Looks the question up and writes the sections; whatever does not fit and matters turns into TC. */
export function resolve(zones: Zones, exchange: Exchange): void {
  const { query, message } = exchange;
  const found = lookup(zones, query.name, query.type);
  exchange.rcode = RCODE_OF[found.kind];
  exchange.extendedError = EDE[found.kind] ?? 0;
  if (found.kind === 'refused' || found.kind === 'notReady') return;
  exchange.authoritative = found.kind !== 'delegation' || found.aliases.length > 0;
  const afterQuestion = message.at;
  if (!putSections(exchange, found)) {
    // A part of the truth would be taken for the whole by some: only the question goes back.
    message.at = afterQuestion;
    exchange.truncated = true;
    exchange.answers = 0;
    exchange.authorities = 0;
    exchange.additionals = 0;
  }
}

function putSections(exchange: Exchange, found: Lookup): boolean {
  const { message, query } = exchange;
  for (const alias of found.aliases) {
    if (!putSet(message, alias.owner, alias.set)) return false;
    exchange.answers += 1;
  }
  const { set } = found;
  switch (found.kind) {
    case 'answer':
      if (!set) return true;
      // Clients tend to take the first address: the query's random id decides which one that is.
      if (!putSet(message, found.owner, set, set.ttl, rotation(set.type, set.data.length, query.id)))
        return false;
      exchange.answers += set.data.length;
      exchange.additionals = putAdditional(message, found);
      return true;
    case 'nodata':
    case 'nxdomain':
      exchange.authorities = 1;
      return putNegative(message, found.zone!);
    case 'delegation':
      if (!putSet(message, found.owner, set!)) return false;
      exchange.authorities = set!.data.length;
      exchange.additionals = putAdditional(message, found);
      return exchange.additionals >= 0;
    case 'refused':
    case 'notReady':
      return true;
  }
  return found.kind satisfies never;
}

function rotation(type: number, count: number, id: number): number {
  return count > 1 && (type === TYPE.A || type === TYPE.AAAA) ? id % count : 0;
}

/** How long a "no" may be remembered is the smaller of the SOA's own TTL and its last field (RFC 2308 section 5). */
function putNegative(message: Message, zone: Zone): boolean {
  const soa = soaOf(zone);
  const data = soa.data[0]!;
  const end = data.length;
  const minimum =
    ((data.charCodeAt(end - 4) << 24) |
      (data.charCodeAt(end - 3) << 16) |
      (data.charCodeAt(end - 2) << 8) |
      data.charCodeAt(end - 1)) >>>
    0;
  return putSet(message, zone.name, soa, Math.min(soa.ttl, minimum));
}
