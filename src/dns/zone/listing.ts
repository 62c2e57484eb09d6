import { createShardedMap } from '../../ops/sharded-map.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';

/** The RRsets at a name. */
export interface NamedRRsets {
  name: Name;
  rrsets: readonly RRset[];
}

/**
 * Lists of zones as they were at one moment, although they take many turns to make and records change meanwhile: a name that is about to
 * change is listed before it does.
 */
export interface Listings {
  /** To be called before the RRsets of a name change. */
  beforeChange(zone: Name, before: NamedRRsets): void;
  /** Lists a zone as it is now, step by step; a step may have nothing. To be gone through to its end, from this turn on. */
  begin(zone: Name, present: Iterable<NamedRRsets | undefined>): Generator<NamedRRsets | undefined>;
}

interface Listing {
  zone: Name;
  listed: { has(name: Name): boolean; set(name: Name, is: true): void };
  /** What is to be listed next, because it has changed. */
  early: NamedRRsets[];
}

export function createListings(): Listings {
  const open = new Set<Listing>();

  function* steps(
    listing: Listing,
    present: Iterable<NamedRRsets | undefined>,
  ): Generator<NamedRRsets | undefined> {
    const { listed, early } = listing;
    try {
      for (const one of present) {
        yield* early.splice(0);
        const isNew = one !== undefined && !listed.has(one.name);
        if (isNew) listed.set(one.name, true);
        yield isNew ? one : undefined;
      }
    } finally {
      open.delete(listing);
    }
    yield* early;
  }

  return {
    beforeChange(zone, before) {
      for (const { zone: its, listed, early } of open) {
        if (its !== zone || listed.has(before.name)) continue;
        listed.set(before.name, true);
        if (before.rrsets.length > 0) early.push(before);
      }
    },
    begin(zone, present) {
      const listing: Listing = { zone, listed: createShardedMap<true>(), early: [] };
      open.add(listing);
      return steps(listing, present);
    },
  };
}
