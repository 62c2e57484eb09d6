import { RCODE, TYPE } from '../wire/constants.ts';
import { firstData } from '../wire/packed-rrset.ts';
import { createSearchName, setSearchName, toName } from '../wire/search-name.ts';
import { findOutside, isResolvedOutside } from './outside.ts';
import { findNode, findWildcard, nameOf, NODE, NONE, rrsetOf } from './zone.ts';
import { findZone } from './zones.ts';
import type { Name } from '../wire/name.ts';
import type { PackedRRset } from '../wire/packed-rrset.ts';
import type { SearchName } from '../wire/search-name.ts';
import type { FoundOutside } from './outside.ts';
import type { Zone, ZoneNode } from './zone.ts';
import type { Zones } from './zones.ts';

export type LookupKind =
  | 'answer'
  | 'nodata'
  | 'nxdomain'
  | 'delegation'
  | 'refused'
  | 'notReady'
  /** An alias leads to a name outside of our zones, which the resolver has not been asked for yet. */
  | 'unresolved'
  /** The resolver could not resolve such a name. */
  | 'failed';

/** The response code of each result. */
export const RCODE_OF: Record<LookupKind, number> = {
  answer: RCODE.NOERROR,
  nodata: RCODE.NOERROR,
  nxdomain: RCODE.NXDOMAIN,
  delegation: RCODE.NOERROR,
  refused: RCODE.REFUSED,
  notReady: RCODE.SERVFAIL,
  unresolved: RCODE.SERVFAIL,
  failed: RCODE.SERVFAIL,
};

/** One CNAME that was followed. `owner` undefined means the question's own name. */
export interface Alias {
  owner: Name | undefined;
  rrset: PackedRRset;
}

/** The result of a lookup, apart from how it is written into a message. */
export interface Lookup {
  kind: LookupKind;
  /** The zone that was searched last; undefined when refused, not ready, or outside of our zones. */
  zone: Zone | undefined;
  aliases: readonly Alias[];
  /** The owner name of `rrset`; undefined means the question's own name. */
  owner: Name | undefined;
  /** The answer, or the NS records of a delegation. */
  rrset: PackedRRset | undefined;
  /** For a negative answer about a name outside of our zones: the SOA of its zone, if the resolver gave one. */
  outsideSoa?: FoundOutside['soa'];
}

/** As many as BIND follows. A longer chain is answered with what was found so far. */
const MAX_ALIASES = 16;
const NO_ALIASES: readonly Alias[] = [];
/** ANY gets one RRset, whichever comes first (RFC 8482): correct, and of no use for amplification. */
const FIRST = 0;
const NOT_READY: Lookup = {
  kind: 'notReady',
  zone: undefined,
  aliases: NO_ALIASES,
  owner: undefined,
  rrset: undefined,
};
const REFUSED: Lookup = { ...NOT_READY, kind: 'refused' };

/**
 * Answers one question from the zones (RFC 1034 section 4.3.2, with the wildcards of RFC 4592):
 * find the zone; find the name, or else the closest ancestor of it that exists (the closest encloser); a zone cut on
 * the path there gives a delegation; an existing name gives an answer or NODATA; for one that does not exist, the
 * wildcard below the closest encloser is the source of synthesis. A CNAME restarts the search at its target, in whichever
 * of our zones that is, or in what the resolver has found at `now`, in seconds.
 */
export function lookup(zones: Zones, name: SearchName, type: number, now = 0): Lookup {
  if (!zones.ready) return NOT_READY;
  let zone = findZone(zones, name);
  if (!zone) return REFUSED;
  if (type === TYPE.DS && zone.name.length === name.length) {
    // A DS record is on the parent side of a zone cut: if the parent zone is served here too, it answers.
    zone = findZone(zones, name, 1) ?? zone;
  }
  const first = searchZone(zone, name, type, undefined);
  if (first.kind !== 'answer' || first.rrset!.type !== TYPE.CNAME) return first;
  return type === TYPE.CNAME || type === TYPE.ANY
    ? first
    : followAliases(zones, zone, name, first.rrset!, type, now);
}

function followAliases(
  zones: Zones,
  zone: Zone,
  name: SearchName,
  first: PackedRRset,
  type: number,
  now: number,
): Lookup {
  const aliases: Alias[] = [{ owner: undefined, rrset: first }];
  const seen = new Set<Name>([toName(name)]);
  const search = createSearchName();
  for (;;) {
    const target = firstData(aliases.at(-1)!.rrset);
    setSearchName(search, target);
    const next =
      seen.has(target) || aliases.length >= MAX_ALIASES
        ? undefined
        : searchTarget(zones, search, target, type, now);
    if (!next) return { kind: 'answer', zone, aliases, owner: undefined, rrset: undefined };
    seen.add(target);
    if (next.kind !== 'answer' || next.rrset!.type !== TYPE.CNAME) return { ...next, aliases };
    aliases.push({ owner: target, rrset: next.rrset! });
  }
}

/** Searches our zones, or else what the resolver has found; undefined if the client has to go on by itself. */
function searchTarget(
  zones: Zones,
  search: SearchName,
  target: Name,
  type: number,
  now: number,
): Lookup | undefined {
  const zone = findZone(zones, search);
  if (zone) return searchZone(zone, search, type, target);
  if (!zones.outside || !isResolvedOutside(type)) return undefined;
  const found = findOutside(zones.outside, target, type, now);
  const { kind, rrset, soa } = found ?? { kind: 'unresolved' as const };
  return { kind, zone: undefined, aliases: NO_ALIASES, owner: target, rrset, outsideSoa: soa };
}

/** Searches one zone for one name. A CNAME found instead of the wanted type is an `answer` with that CNAME. */
function searchZone(zone: Zone, name: SearchName, type: number, owner: Name | undefined): Lookup {
  let label = 0;
  let node = findNode(zone, name, 0);
  while (node === NONE) node = findNode(zone, name, ++label); // the apex, at the latest
  if (zone.memory.words[zone.cutsAt]! > 0) {
    const cut = topmostCut(zone, node);
    // The parent side of a zone cut is authoritative for one type: DS (RFC 4035 section 3.1.4.1).
    const atCutForDs = type === TYPE.DS && cut === node && label === 0;
    const rrset = cut === NONE || atCutForDs ? undefined : rrsetOf(zone, cut, TYPE.NS);
    if (rrset) return { kind: 'delegation', zone, aliases: NO_ALIASES, owner: nameOf(zone, cut), rrset };
  }
  const source = label === 0 ? node : findWildcard(zone, node, name, label);
  if (source === NONE) return { kind: 'nxdomain', zone, aliases: NO_ALIASES, owner, rrset: undefined };
  const rrset = rrsetOf(zone, source, type === TYPE.ANY ? FIRST : type) ?? rrsetOf(zone, source, TYPE.CNAME);
  return { kind: rrset ? 'answer' : 'nodata', zone, aliases: NO_ALIASES, owner, rrset };
}

const hostSearch = createSearchName();

/** The node with the addresses of a host in the zone: its own, also as glue below a zone cut, or the wildcard's; or NONE. */
export function hostNode(zone: Zone, host: Name): ZoneNode {
  setSearchName(hostSearch, host);
  const own = findNode(zone, hostSearch, 0);
  if (own !== NONE) return own;
  let label = 1;
  let encloser = findNode(zone, hostSearch, label);
  while (encloser === NONE) encloser = findNode(zone, hostSearch, ++label);
  return topmostCut(zone, encloser) === NONE ? findWildcard(zone, encloser, hostSearch, label) : NONE;
}

/** The zone cut nearest to the apex: what is below it belongs to another zone. */
function topmostCut(zone: Zone, start: ZoneNode): ZoneNode {
  let cut = NONE;
  for (let node = start; node !== zone.apex; node = zone.memory.words[node + NODE.parent]!) {
    if (rrsetOf(zone, node, TYPE.NS)) cut = node;
  }
  return cut;
}
