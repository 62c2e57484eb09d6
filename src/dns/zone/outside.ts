import { BoundedMap } from '../../ops/bounded-map.ts';
import { TYPE } from '../wire/constants.ts';
import { labelsOf } from '../wire/name.ts';
import { packRRset } from '../wire/packed-rrset.ts';
import type { Name } from '../wire/name.ts';
import type { PackedRRset } from '../wire/packed-rrset.ts';
import type { RRset } from '../wire/record.ts';

/** The SOA record of a zone that is not ours. */
export interface OutsideSoa {
  owner: Name;
  rrset: RRset;
}

/**
 * What the resolver has found at one name outside of our zones: the records of a type, or the one CNAME that stands there.
 * One step of a chain, not a chain: each has a TTL of its own, and may be shared by several.
 */
export interface OutsideAnswer {
  name: Name;
  type: number;
  kind: 'answer' | 'nodata' | 'nxdomain' | 'failed';
  rrset: RRset | undefined;
  soa: OutsideSoa | undefined;
  /** When it must be asked for again, in seconds. */
  expires: number;
  /** When it would have expired, if it is kept because no resolver responds. */
  goodUntil?: number;
}

/** An answer as it is written into a response. */
export interface FoundOutside {
  kind: OutsideAnswer['kind'];
  rrset: PackedRRset | undefined;
  soa: { owner: Name; rrset: PackedRRset } | undefined;
}

/** The answers about names outside that one thread has; bounded, so that no number of aliases fills its memory. */
export type OutsideAnswers = BoundedMap<string, OutsideAnswer>;

const MAX_ANSWERS = 20_000;

export function createOutsideAnswers(): OutsideAnswers {
  return new BoundedMap(MAX_ANSWERS);
}

/** Adds answers; without a resolver there is nowhere to add them to. */
export function keepOutside(known: OutsideAnswers | undefined, answers: readonly OutsideAnswer[]): void {
  for (const answer of answers) known?.set(outsideKey(answer.name, answer.type), answer);
}

/** Only addresses are asked for outside: they are what clients of an alias want, and two questions a target are few. */
export function isResolvedOutside(type: number): boolean {
  return type === TYPE.A || type === TYPE.AAAA;
}

/** The last two labels, by which most who have names of their own can be told from others. */
export const domainOf = (name: Name) => labelsOf(name).slice(-2).join('.');

export function outsideKey(name: Name, type: number): string {
  return `${type} ${name}`;
}

/** The answer that is still valid at `now`, with the TTL that is left; undefined if there is none. */
export function findOutside(
  answers: OutsideAnswers,
  name: Name,
  type: number,
  now: number,
): FoundOutside | undefined {
  const found = answers.get(outsideKey(name, type));
  if (!found || found.expires <= now) return undefined;
  const ttl = found.expires - now;
  const { kind, rrset, soa } = found;
  return {
    kind,
    rrset: rrset && packRRset({ ...rrset, ttl }),
    soa: soa && { owner: soa.owner, rrset: packRRset({ ...soa.rrset, ttl }) },
  };
}
