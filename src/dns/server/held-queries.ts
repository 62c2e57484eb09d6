import { outsideKey } from '../zone/outside.ts';
import type { Name } from '../wire/name.ts';
import type { OutsideAnswer } from '../zone/outside.ts';

/** Queries that wait for the resolver, by what they wait for. Bounded; above that a query gets SERVFAIL at once. */
export interface HeldQueries<T> {
  /** Whether another can be held. */
  readonly hasRoom: boolean;
  readonly size: number;
  hold(name: Name, type: number, query: T): void;
  /** Takes out those that waited for one of the answers. */
  release(answers: readonly OutsideAnswer[]): T[];
}

const MAX_HELD = 1024;
/** How often a query may wait: an alias may leave our zones, come back and leave again. */
export const MAX_WAITS = 4;

/** Makes the queue of one thread; `ask` is called for the first query that waits for a name. */
export function createHeldQueries<T>(ask: (name: Name, type: number) => void): HeldQueries<T> {
  const held = new Map<string, T[]>();
  let size = 0;
  return {
    get hasRoom() {
      return size < MAX_HELD;
    },
    get size() {
      return size;
    },
    hold(name, type, query) {
      const key = outsideKey(name, type);
      const same = held.get(key);
      size += 1;
      if (same) {
        same.push(query);
      } else {
        held.set(key, [query]);
        ask(name, type);
      }
    },
    release(answers) {
      return answers.flatMap(({ name, type }) => {
        const key = outsideKey(name, type);
        const queries = held.get(key) ?? [];
        held.delete(key);
        size -= queries.length;
        return queries;
      });
    },
  };
}
