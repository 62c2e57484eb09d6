import { rcodeName, typeName } from '../wire/constants.ts';
import { formatName, parentOf } from '../wire/name.ts';
import { formatRdata } from '../wire/rdata.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { lookup, RCODE_OF } from './lookup.ts';
import { soaOf } from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
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
  const describe = (owner: Name, rrset: RRset) => describeRRset(found, store, owner, rrset);
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

function describeRRset(found: Lookup, store: Store, owner: Name, rrset: RRset): ExplainedRRset {
  const source = storedName(found, owner);
  return {
    name: formatName(owner),
    type: typeName(rrset.type),
    ttl: rrset.ttl,
    data: rrset.data.map((data) => formatRdata(rrset.type, data)),
    sources: store.sourcesOf(source, rrset.type),
    ...(source !== owner && { wildcard: formatName(source) }),
  };
}

/** The name whose records answer for `owner`: itself, or the wildcard below its closest encloser. */
function storedName({ zone }: Lookup, owner: Name): Name {
  for (let name: Name | undefined = owner; name !== undefined; name = parentOf(name)) {
    const node = zone?.nodes.get(name);
    if (node) return name === owner ? owner : (node.wildcard?.name ?? owner);
  }
  return owner;
}
