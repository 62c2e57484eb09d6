import { putAdditional } from './additional.ts';
import { RCODE, TYPE } from '../wire/constants.ts';
import { lookup, RCODE_OF } from '../zone/lookup.ts';
import { putRRset, putRecords } from '../wire/message.ts';
import { soaOf } from '../zone/zone.ts';
import type { QueryContext } from './query-context.ts';
import type { Lookup } from '../zone/lookup.ts';
import type { Message } from '../wire/message.ts';
import type { Zone } from '../zone/zone.ts';
import type { Zones } from '../zone/zones.ts';

/** Extended errors (RFC 8914): 14 "not ready", 20 "not authoritative", 22 "no reachable authority". */
const EDE: Partial<Record<Lookup['kind'], number>> = {
  notReady: 14,
  refused: 20,
  unresolved: 22,
  failed: 22,
};

/** Looks the question up and writes the sections of the response; sets TC if something required does not fit. */
export function putSections(zones: Zones, context: QueryContext): void {
  const { query, message } = context;
  const found = lookup(zones, query.name, query.type, context.now);
  context.rcode = RCODE_OF[found.kind];
  if (found.zone) context.zone = found.zone.id;
  context.extendedError = EDE[found.kind] ?? 0;
  if (context.rcode === RCODE.SERVFAIL || found.kind === 'refused') {
    context.unresolved = found.kind === 'unresolved' ? found.owner : undefined;
    return;
  }
  context.authoritative = found.kind !== 'delegation' || found.aliases.length > 0;
  context.truncated = !putAnswer(context, found);
  const afterAnswer = message.at;
  if (context.truncated || putAuthorityAndAdditional(context, found)) return;
  context.truncated = true;
  message.at = afterAnswer;
  context.authorities = 0;
  context.additionals = 0;
}

/**
 * Writes the answer section; false if it is not whole. What fits stays in it, though a client should retry over TCP:
 * some cannot (musl before 1.2.4), and some of the addresses are better for them than none.
 */
function putAnswer(context: QueryContext, found: Lookup): boolean {
  const { message, query } = context;
  for (const alias of found.aliases) {
    if (!putRRset(message, alias.owner, alias.rrset)) return false;
    context.answers += 1;
  }
  const { rrset, owner } = found;
  if (found.kind !== 'answer' || !rrset) return true;
  const { count } = rrset;
  // Clients tend to take the first address: the query's random id rotates them.
  const written = putRecords(message, owner, rrset, rrset.ttl, rotation(rrset.type, count, query.id));
  context.answers += written;
  return written === count;
}

/** Writes the authority and additional sections; false if something required does not fit. */
function putAuthorityAndAdditional(context: QueryContext, found: Lookup): boolean {
  const { message } = context;
  if (found.kind === 'nodata' || found.kind === 'nxdomain') {
    const { zone, outsideSoa } = found;
    if (!zone && !outsideSoa) return true;
    context.authorities = 1;
    return zone ? putSoa(message, zone) : putRRset(message, outsideSoa!.owner, outsideSoa!.rrset);
  }
  if (found.kind === 'delegation') {
    if (!putRRset(message, found.owner, found.rrset!)) return false;
    context.authorities = found.rrset!.count;
  }
  context.additionals = putAdditional(message, found);
  return context.additionals >= 0;
}

function rotation(type: number, count: number, id: number): number {
  return count > 1 && (type === TYPE.A || type === TYPE.AAAA) ? id % count : 0;
}

/** The TTL of a negative response is the smaller of the SOA's own TTL and its MINIMUM field (RFC 2308 section 5). */
function putSoa(message: Message, zone: Zone): boolean {
  const soa = soaOf(zone);
  const { bytes, at } = soa;
  const end = at + 2 + ((bytes[at]! << 8) | bytes[at + 1]!);
  const minimum =
    ((bytes[end - 4]! << 24) | (bytes[end - 3]! << 16) | (bytes[end - 2]! << 8) | bytes[end - 1]!) >>> 0;
  return putRRset(message, zone.name, soa, Math.min(soa.ttl, minimum));
}
