import { TYPE } from '../wire/constants.ts';
import { isSubdomain, parentOf } from '../wire/name.ts';
import { createSearchName, setSearchName, toName } from '../wire/search-name.ts';
import { rrsetOf } from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { SearchName } from '../wire/search-name.ts';
import type { Zone, ZoneNode } from './zone.ts';
import type { Zones } from './zones.ts';

export type LookupKind = 'answer' | 'nodata' | 'nxdomain' | 'delegation' | 'refused' | 'notReady';

/** One CNAME that was followed. `owner` undefined means the question's own name. */
export interface Alias {
  owner: Name | undefined;
  rrset: RRset;
}

/** What the data say about a question; how to put it into a message is somebody else's business. */
export interface Lookup {
  kind: LookupKind;
  /** The zone that decided; undefined when refused or not ready. */
  zone: Zone | undefined;
  aliases: readonly Alias[];
  /** The name that `set` belongs to; undefined means the question's own name. */
  owner: Name | undefined;
  /** The answer, or the NS records of a delegation. */
  rrset: RRset | undefined;
}

/** As many as BIND follows. Where a chain ends for this reason, what was found so far is the answer. */
const MAX_ALIASES = 16;
const NO_ALIASES: readonly Alias[] = [];
const NOT_READY: Lookup = {
  kind: 'notReady',
  zone: undefined,
  aliases: NO_ALIASES,
  owner: undefined,
  rrset: undefined,
};
const REFUSED: Lookup = { ...NOT_READY, kind: 'refused' };

/** The zone with the longest name that the question lies in. */
export function findZone(zones: Zones, name: SearchName): Zone | undefined {
  for (let label = 0; label <= name.labels; label++) {
    const zone = zones.table.find(name, label);
    if (zone) return zone;
  }
  return undefined;
}

/** A DS record lives on the parent's side of a cut: at the apex of a zone below another of ours, the parent answers. */
function findParentZone(zones: Zones, name: SearchName): Zone | undefined {
  for (let label = 1; label <= name.labels; label++) {
    const zone = zones.table.find(name, label);
    if (zone) return zone;
  }
  return undefined;
}

/**
 * Answers one question from the zones (RFC 1034 section 4.3.2, with the wildcards of RFC 4592):
 * find the zone; find the name, or else the closest name above it that exists (the closest encloser); a delegation on
 * the way there ends the search; an existing name has the data or has not; for one that does not exist, the wildcard
 * below the closest encloser speaks. A CNAME starts the search again while its target stays in the zone.
 */
export function lookup(zones: Zones, name: SearchName, type: number): Lookup {
  if (!zones.ready) return NOT_READY;
  let zone = findZone(zones, name);
  if (!zone) return REFUSED;
  if (type === TYPE.DS && zone.name.length === name.length) zone = findParentZone(zones, name) ?? zone;
  const first = step(zone, name, type, undefined);
  if (first.kind !== 'answer' || first.rrset!.type !== TYPE.CNAME) return first;
  return type === TYPE.CNAME || type === TYPE.ANY
    ? first
    : followAliases(zones, zone, name, first.rrset!, type);
}

function followAliases(zones: Zones, zone: Zone, name: SearchName, first: RRset, type: number): Lookup {
  const aliases: Alias[] = [{ owner: undefined, rrset: first }];
  const seen = new Set<Name>([toName(name)]);
  const search = createSearchName();
  for (;;) {
    const owner = aliases.at(-1)!.rrset.data[0]!;
    setSearchName(search, owner);
    const leaves = !isSubdomain(owner, zone.name) || findZone(zones, search) !== zone;
    if (leaves || seen.has(owner) || aliases.length >= MAX_ALIASES) {
      return { kind: 'answer', zone, aliases, owner: undefined, rrset: undefined };
    }
    seen.add(owner);
    const next = step(zone, search, type, owner);
    if (next.kind !== 'answer' || next.rrset!.type !== TYPE.CNAME) return { ...next, aliases };
    aliases.push({ owner, rrset: next.rrset! });
  }
}

/** One round of the search. A CNAME found instead of the wanted type is an `answer` with that CNAME. */
function step(zone: Zone, name: SearchName, type: number, owner: Name | undefined): Lookup {
  let label = 0;
  let node = zone.nodes.find(name, 0);
  while (!node) node = zone.nodes.find(name, ++label); // the apex, at the latest

  if (zone.cuts > 0) {
    const cut = topmostCut(zone, node);
    // The parent side of a cut has one kind of data of its own: DS (RFC 4035 section 3.1.4.1).
    const atCutForDs = type === TYPE.DS && cut === node && label === 0;
    if (cut && !atCutForDs) {
      const rrset = rrsetOf(cut, TYPE.NS);
      return { kind: 'delegation', zone, aliases: NO_ALIASES, owner: cut.name, rrset };
    }
  }
  const source = label === 0 ? node : node.wildcard;
  if (!source) return { kind: 'nxdomain', zone, aliases: NO_ALIASES, owner, rrset: undefined };
  // ANY gets one RRset, whichever comes first (RFC 8482): correct, and worth nothing to an amplifier.
  const rrset = type === TYPE.ANY ? source.rrsets[0] : (rrsetOf(source, type) ?? rrsetOf(source, TYPE.CNAME));
  return { kind: rrset ? 'answer' : 'nodata', zone, aliases: NO_ALIASES, owner, rrset };
}

/** The node whose records a host inside the zone has: its own, also as glue below a cut, or the wildcard's. */
export function hostNode(zone: Zone, host: Name): ZoneNode | undefined {
  const own = zone.nodes.get(host);
  if (own) return own;
  let encloser: ZoneNode | undefined;
  for (let name = parentOf(host); !encloser; name = parentOf(name!)) encloser = zone.nodes.get(name!);
  return topmostCut(zone, encloser) ? undefined : encloser.wildcard;
}

/** The delegation nearest to the apex decides; what lies below it is somebody else's. */
function topmostCut(zone: Zone, start: ZoneNode): ZoneNode | undefined {
  let cut: ZoneNode | undefined;
  for (let node: ZoneNode | undefined = start; node && node !== zone.apex; node = node.parent) {
    if (rrsetOf(node, TYPE.NS)) cut = node;
  }
  return cut;
}
