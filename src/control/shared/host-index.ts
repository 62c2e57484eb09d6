/**
 * Who has which host names. A pattern stands for the names of all brokers there may ever be: a proxy routes them all, and a
 * cluster that grows must not find the name of its new broker taken.
 */
import { NODE_ID, intersect, meetingsOf } from './host-patterns.ts';

/** Who has a host name. */
export interface HostHolder {
  /** For people. */
  holder: string;
  /** The first in this order has a name that several claim, see `hostRank`. */
  rank: string;
}

/** A name that is taken, which a pattern may only cover, and by whom. */
export interface TakenHost extends HostHolder {
  host: string;
}

export interface HostIndex {
  /** Takes a host name or a pattern; of two holders of one, the first in rank counts. */
  add(name: string, holder: HostHolder): void;
  /** The first in rank that has a name in common with this name or pattern. */
  find(name: string): TakenHost | undefined;
}

export function createHostIndex(): HostIndex {
  /** Names and patterns as they were added. */
  const named = new Map<string, TakenHost>();
  /** For each pattern there could be: a name among those added that it would cover. */
  const covered = new Map<string, TakenHost>();
  /** Patterns by where they could meet another one. */
  const meeting = new Map<string, TakenHost[]>();
  const put = (map: Map<string, TakenHost>, key: string, taken: TakenHost) => {
    map.set(key, first(map.get(key), taken)!);
  };
  return {
    add(name, holder) {
      const taken = { host: name, ...holder };
      put(named, name, taken);
      for (const pattern of patternsOf(name)) put(covered, pattern, taken);
      if (isPattern(name))
        for (const { own } of meetingsOf(name)) {
          const there = meeting.get(own);
          if (there) there.push(taken);
          else meeting.set(own, [taken]);
        }
    },
    find(name) {
      if (isPattern(name)) {
        const met = meetingsOf(name).flatMap(({ others }) => others.flatMap((key) => meeting.get(key) ?? []));
        return met.filter(({ host }) => intersect(name, host)).reduce(first, covered.get(name));
      }
      const patterns = patternsOf(name).map((pattern) => named.get(pattern));
      const found = [named.get(name), ...patterns].reduce<TakenHost | undefined>(first, undefined);
      return found && { ...found, host: name };
    },
  };
}

const isPattern = (name: string) => name.includes(NODE_ID);

const first = (a: TakenHost | undefined, b: TakenHost | undefined): TakenHost | undefined =>
  a && b && b.rank < a.rank ? b : (a ?? b);

/** As the proxy reads the number in a server name. */
const NODE = /^(0|[1-9]\d{0,9})$/;

/** Every pattern that stands for this host name, among others. */
function patternsOf(name: string): string[] {
  if (isPattern(name)) return [];
  const patterns: string[] = [];
  for (let start = 0; start < name.length; start++)
    for (let end = start + 1; end <= name.length && NODE.test(name.slice(start, end)); end++)
      patterns.push(name.slice(0, start) + NODE_ID + name.slice(end));
  return patterns;
}
