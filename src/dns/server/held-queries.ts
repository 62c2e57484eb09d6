import { createPlaces } from '../resolver/places.ts';
import { domainOf, outsideKey } from '../zone/outside.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { Name } from '../wire/name.ts';
import type { OutsideAnswer } from '../zone/outside.ts';

/** Queries that wait for the resolver, by what they wait for. Bounded; above that a query gets SERVFAIL at once. */
export interface HeldQueries<T> {
  /** Whether another of this client that waits for this name can be held. */
  hasRoomFor(this: void, name: Name, client: ClientAddress): boolean;
  readonly size: number;
  hold(name: Name, type: number, client: ClientAddress, query: T): void;
  /** Takes out those that waited for one of the answers. */
  release(answers: readonly OutsideAnswer[]): T[];
}

/** Has a name resolved. `client`: who wants it; undefined for one that asks for many others. */
export type AskOutside = (name: Name, type: number, client: string | undefined) => void;

const MAX_HELD = 1024;
const MAX_OF_ONE = MAX_HELD / 8;
/** How often a query may wait: an alias may leave our zones, come back and leave again. */
export const MAX_WAITS = 4;

/**
 * Makes the queue of one thread; `ask` is called for the first query that waits for a name. `asksForOthers`: the DNS of a
 * cluster, whose queries are those of all its pods, so that no share would be enough for it.
 */
export function createHeldQueries<T>(
  ask: AskOutside,
  asksForOthers: (client: ClientAddress) => boolean,
): HeldQueries<T> {
  const held = new Map<string, { names: readonly string[]; query: T }[]>();
  const places = createPlaces(MAX_HELD, MAX_OF_ONE);

  const clientOf = (client: ClientAddress) => (asksForOthers(client) ? undefined : keyOfClient(client));
  const namesOf = (name: Name, client: string | undefined) => [domainOf(name), ...(client ? [client] : [])];

  return {
    hasRoomFor: (name, client) => places.hasRoomFor(namesOf(name, clientOf(client))),
    get size() {
      return places.taken;
    },
    hold(name, type, client, query) {
      const key = outsideKey(name, type);
      const asker = clientOf(client);
      const names = namesOf(name, asker);
      places.take(names);
      const same = held.get(key);
      if (same) {
        same.push({ names, query });
      } else {
        held.set(key, [{ names, query }]);
        ask(name, type, asker);
      }
    },
    release(answers) {
      return answers.flatMap(({ name, type }) => {
        const key = outsideKey(name, type);
        const queries = held.get(key) ?? [];
        held.delete(key);
        for (const { names } of queries) places.leave(names);
        return queries.map(({ query }) => query);
      });
    },
  };
}

/** One address, or the /64 that a host has its IPv6 addresses from. No domain looks like this. */
function keyOfClient({ bytes, length }: ClientAddress): string {
  return `client ${Buffer.from(bytes.buffer, bytes.byteOffset, length === 4 ? 4 : 8).toString('hex')}`;
}
