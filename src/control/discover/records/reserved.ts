/**
 * Names that no object may claim: those that the configuration of the DNS server has records of, the apex and the name servers of
 * its zones, and the names by which this program itself is recognised.
 */
import { CLUSTERSET_ZONE } from '../names.ts';
import { PROBE_LABEL } from '../delegation/probe.ts';
import type { DnsRecord } from './dns-record.ts';
import { VERSION_RECORD } from './mcs-records.ts';

/** What the configuration of the DNS server has. Names are in lower case, without the final dot. */
export interface Configured {
  readonly zones: readonly string[];
  /** The names of all configured records and of the zones' name servers. */
  names(): Iterable<string>;
  /** Calls back when the names have changed: records may be in a file of their own. */
  subscribe(notify: () => void): () => void;
}

export const NOTHING_CONFIGURED: Configured = { zones: [], names: () => [], subscribe: () => () => {} };

export interface ReservedNames {
  /** Why an object may not have this record; undefined if it may. */
  problemOf(record: Pick<DnsRecord, 'name' | 'type'>): string | undefined;
}

/**
 * Collects them step by step: there may be a hundred thousand. An object has no record at a reserved name, since it would answer for it; none below one, since `_acme-challenge` or `_tcp` there
 * speak for it; and no delegation or wildcard above one, since these reach down to it. Everything is below an apex, so that only
 * the name itself and its `_` names are reserved there.
 */
export function* reservedNames(configured: Configured): Generator<undefined, ReservedNames> {
  const { zones } = configured;
  const apexes = new Set(zones);
  const reserved = new Set<string>();
  /** A reserved name below each name that has one. */
  const below = new Map<string, string>();
  const add = (name: string) => {
    if (apexes.has(name)) return;
    reserved.add(name);
    for (const above of namesAbove(name)) {
      if (below.has(above)) break;
      below.set(above, name);
    }
  };
  for (const zone of zones) {
    add(`${PROBE_LABEL}.${zone}`);
    if (zone === CLUSTERSET_ZONE) add(VERSION_RECORD.name);
  }
  for (const name of configured.names()) {
    add(name);
    yield;
  }

  function reservedAbove(name: string): string | undefined {
    if (reserved.has(name)) return name;
    for (const above of namesAbove(name)) {
      if (reserved.has(above)) return above;
      if (reserved.has(`*.${above}`)) return `*.${above}`;
      if (apexes.has(above)) return isAttribute(name, above) ? above : undefined;
    }
    return undefined;
  }

  return {
    problemOf({ name, type }) {
      const isWild = name.startsWith('*.');
      const scope = isWild ? name.slice(2) : name;
      if (apexes.has(name)) return `${name} is reserved: it is the apex of a zone`;
      const above = reservedAbove(name);
      if (above !== undefined)
        return `${name} is reserved: ${above} is in the DNS server's own configuration`;
      if (!isWild && type !== 'NS') return undefined;
      if (isWild && apexes.has(scope)) return `${name} is reserved: it stands for the whole zone`;
      const hit = below.get(scope);
      return hit && `${name} is reserved: ${hit} below it is in the DNS server's own configuration`;
    },
  };
}

/** Whether a name says something about the name above it, by labels that no host has (RFC 8552). */
function isAttribute(name: string, above: string): boolean {
  const labels = name.slice(0, -above.length - 1).split('.');
  return labels.every((label) => label.startsWith('_'));
}

/** The names above a name, the nearest first. */
export function* namesAbove(name: string): Generator<string> {
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) yield name.slice(dot + 1);
}
