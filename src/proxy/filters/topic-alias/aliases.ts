import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { TopicAliasConfig } from './config.ts';

/** From what clients call a topic to what the broker calls it, and back. Pure. */
export interface Aliases {
  /** What the broker calls it; undefined if clients cannot use this name. */
  readonly outward: (name: string) => string | undefined;
  /** What clients call it; undefined if they do not see this topic. */
  readonly inward: (topic: string) => string | undefined;
}

type Translate = (name: string) => string | undefined;

/** Names that were asked for last are remembered: a table of prefixes is gone through from its start. */
const REMEMBERED = 10_000;

/**
 * A name leads to a topic only if that leads back to the name. So two names never mean one topic, no topic is seen under
 * two names, and a topic whose own name is taken by an alias, or that has one itself, is not seen under its own.
 */
export function aliasesOf({ aliases, otherTopics }: TopicAliasConfig): Aliases {
  const out = new Map<string, string>();
  const back = new Map<string, string>();
  const prefixes: [outside: string, inside: string][] = [];
  for (const each of aliases)
    if ('alias' in each) {
      out.set(each.alias, each.topic);
      back.set(each.topic, each.alias);
    } else prefixes.push([each.aliasPrefix, each.topicPrefix]);
  const through = (table: ReadonlyMap<string, string>, from: 0 | 1): Translate => {
    const into = from === 0 ? 1 : 0;
    return (name) => {
      const exact = table.get(name);
      if (exact !== undefined) return exact;
      const prefix = prefixes.find((pair) => name.startsWith(pair[from]));
      if (prefix) return prefix[into] + name.slice(prefix[from].length);
      return otherTopics === 'pass' ? name : undefined;
    };
  };
  const [outside, inside] = [through(out, 0), through(back, 1)];
  return { outward: invertible(outside, inside), inward: invertible(inside, outside) };
}

function invertible(there: Translate, back: Translate): Translate {
  const known = new BoundedMap<string, string | undefined>(REMEMBERED);
  return (name) => {
    if (name === '') return name; // there is no such topic: brokers refuse it
    if (known.has(name)) return known.get(name);
    const found = there(name);
    // A topic that is called just like a prefix would be left without a name.
    const result = found && back(found) === name ? found : undefined;
    known.set(name, result);
    return result;
  };
}
