import { rcodeName, typeName } from '../wire/constants.ts';
import { formatName, isSubdomain } from '../wire/name.ts';
import { unpackRRset } from '../wire/packed-rrset.ts';
import { formatRdata } from '../wire/rdata.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { lookup, RCODE_OF } from './lookup.ts';
import { findNode, findWildcard, nameOf, NONE, soaOf } from './zone.ts';
import type { Zone } from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { PackedRRset } from '../wire/packed-rrset.ts';
import type { Lookup, LookupKind } from './lookup.ts';
import type { Store } from './store.ts';
import type { Zones } from './zones.ts';

/** One RRset of an answer in presentation format, with the sources it came from. */
export interface ExplainedRRset {
  name: string;
  type: string;
  ttl: number;
  data: string[];
  sources: string[];
  /** The wildcard it was synthesized from. */
  wildcard?: string;
}

/** What a query would be answered with, and why. */
export interface Explanation {
  kind: LookupKind;
  rcode: string;
  zone?: string;
  answer: ExplainedRRset[];
  authority: ExplainedRRset[];
}

/** Looks a question up and names the sources of the answer. */
export function explain(zones: Zones, store: Store, name: Name, type: number): Explanation {
  const search = createSearchName();
  setSearchName(search, name);
  const found = lookup(zones, search, type);
  const describe = (owner: Name, rrset: PackedRRset) => describeRRset(found, store, owner, rrset);
  const answer = found.aliases.map((alias) => describe(alias.owner ?? name, alias.rrset));
  const authority: ExplainedRRset[] = [];
  if (found.rrset)
    (found.kind === 'delegation' ? authority : answer).push(describe(found.owner ?? name, found.rrset));
  if (found.zone && (found.kind === 'nodata' || found.kind === 'nxdomain')) {
    authority.push(describe(found.zone.name, soaOf(found.zone)));
  }
  return {
    kind: found.kind,
    rcode: rcodeName(RCODE_OF[found.kind]),
    ...(found.zone && { zone: formatName(found.zone.name) }),
    answer,
    authority,
  };
}

function describeRRset(found: Lookup, store: Store, owner: Name, rrset: PackedRRset): ExplainedRRset {
  const source = storedName(found, owner);
  return {
    name: formatName(owner),
    type: typeName(rrset.type),
    ttl: rrset.ttl,
    data: unpackRRset(rrset).data.map((data) => formatRdata(rrset.type, data)),
    sources: store.sourcesOf(source, rrset.type),
    ...(source !== owner && { wildcard: formatName(source) }),
  };
}

/** The name whose records answer for `owner`: itself, or the wildcard below its closest encloser. */
function storedName({ zone }: Lookup, owner: Name): Name {
  return (zone && isSubdomain(owner, zone.name) && wildcardFor(zone, owner)) || owner;
}

function wildcardFor(zone: Zone, owner: Name): Name | undefined {
  const search = createSearchName();
  setSearchName(search, owner);
  let label = 0;
  let node = findNode(zone, search, 0);
  while (node === NONE) node = findNode(zone, search, ++label);
  const wildcard = label === 0 ? NONE : findWildcard(zone, node, search, label);
  return wildcard === NONE ? undefined : nameOf(zone, wildcard);
}
