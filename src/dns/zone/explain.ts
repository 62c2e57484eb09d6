import { RCODE, rcodeName, typeName } from '../wire/constants.ts';
import { formatName, parentOf } from '../wire/name.ts';
import { formatData } from '../wire/record.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { lookup } from './lookup.ts';
import { soaOf } from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { RecordSet } from '../wire/record.ts';
import type { Lookup, LookupKind } from './lookup.ts';
import type { Store } from './store.ts';
import type { Zones } from './zones.ts';

/** One record set of an answer, in words, with the objects it came from. */
export interface ExplainedSet {
  name: string;
  type: string;
  ttl: number;
  data: string[];
  sources: string[];
  /** The wildcard it was made from. */
  wildcard?: string;
}

/** What would be answered to a question, and why. */
export interface Explanation {
  kind: LookupKind;
  rcode: string;
  zone?: string;
  answer: ExplainedSet[];
  authority: ExplainedSet[];
}

const RCODES: Partial<Record<LookupKind, number>> = {
  nxdomain: RCODE.NXDOMAIN,
  refused: RCODE.REFUSED,
  notReady: RCODE.SERVFAIL,
};

/** Says what would be answered to a question and which objects the answer came from. */
export function explain(zones: Zones, store: Store, name: Name, type: number): Explanation {
  const search = createSearchName();
  setSearchName(search, name);
  const found = lookup(zones, search, type);
  const describe = (owner: Name, set: RecordSet) => describeSet(found, store, owner, set);
  const answer = found.aliases.map((alias) => describe(alias.owner ?? name, alias.set));
  const authority: ExplainedSet[] = [];
  if (found.set)
    (found.kind === 'delegation' ? authority : answer).push(describe(found.owner ?? name, found.set));
  if (found.kind === 'nodata' || found.kind === 'nxdomain') {
    authority.push(describe(found.zone!.name, soaOf(found.zone!)));
  }
  return {
    kind: found.kind,
    rcode: rcodeName(RCODES[found.kind] ?? RCODE.NOERROR),
    ...(found.zone && { zone: formatName(found.zone.name) }),
    answer,
    authority,
  };
}

function describeSet(found: Lookup, store: Store, owner: Name, set: RecordSet): ExplainedSet {
  const source = storedName(found, owner);
  return {
    name: formatName(owner),
    type: typeName(set.type),
    ttl: set.ttl,
    data: set.data.map((data) => formatData(set.type, data)),
    sources: store.sourcesOf(source, set.type),
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
