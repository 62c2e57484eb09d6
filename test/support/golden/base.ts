/**
 * What documents of one kind have in common. A base is written by hand, and follows by itself where nearly all documents
 * differ from it in the same way: one more scenario leaves it as it is, and a field that all of them gain is one line in it.
 */
import { isDeepStrictEqual } from 'node:util';
import { ANY_ITEM, isMap, itemsByName, nameKeyOf } from './patch.ts';
import type { Json, JsonMap, NameKey } from './patch.ts';

const NEARLY_ALL = 0.9;

/** Values of placeholders by name. */
export type Names = Record<string, string>;

/** Fills in what stands as `<name>` in a base. */
export function fillIn(base: Json, names: Names): Json {
  const fill = (text: string) =>
    text.replaceAll(/<(\w+)>/g, (written: string, name: string) => names[name] ?? written);
  return mapTexts(base, fill);
}

/** The other way round: puts placeholders where a text has one of the names as a word. */
export function takeOut(value: Json, names: Names): Json {
  const known = Object.entries(names).filter(([, text]) => text !== '');
  const words = known.map(([name, text]) => {
    const literal = text.replaceAll(/[^\w-]/g, String.raw`\$&`);
    return [name, new RegExp(`(?<![A-Za-z0-9<])${literal}(?![A-Za-z0-9>])`, 'g')] as const;
  });
  return mapTexts(value, (text) =>
    words.reduce((rest, [name, word]) => rest.replaceAll(word, () => `<${name}>`), text),
  );
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), mapTexts(inner, change)]),
  );
}

/** The base as it should be for these values, of which each is undefined where its owner has none. */
export function settleBase(base: Json | undefined, values: readonly (Json | undefined)[]): Json | undefined {
  const key = nameKeyOf(base) ?? values.map(nameKeyOf).find((key) => key);
  const lists = values.filter((value) => key && nameKeyOf(value) === key);
  const isOpen = key && (nameKeyOf(base) ? itemsByName(base, key).has(ANY_ITEM) : !haveSameNames(lists));
  // An open list adds nothing by itself, so it may stand there however few have one.
  if (isOpen) return openList(base, lists, key);

  const shape = prevailing(values.map(shapeOf))?.value ?? shapeOf(base);
  const maps = values.filter(isMap);
  if (shape === 'map' && maps.length > 0) return settleMap(isMap(base) ? base : {}, maps);
  if (shape === 'list' && key && lists.length > 0) return closedList(base, lists, key);
  const common = prevailing(values);
  const isNeeded = (common ? [common.value] : values).some((value) => isDeepStrictEqual(value, base));
  return isNeeded ? base : common?.value;
}

function settleMap(base: JsonMap, maps: readonly JsonMap[]): JsonMap {
  const keys = new Set([base, ...maps].flatMap((map) => Object.keys(map)));
  const entries = [...keys].map((key) => {
    const values = maps.map((map) => map[key]);
    return [key, settleBase(base[key], values)] as const;
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function openList(
  base: Json | undefined,
  lists: readonly (Json | undefined)[],
  key: NameKey,
): Json | undefined {
  const items = lists.flatMap((list) => [...itemsByName(list, key).values()]);
  if (items.length === 0) return undefined;
  const known = nameKeyOf(base) && itemsByName(base, key).get(ANY_ITEM);
  return [{ [key]: ANY_ITEM, ...settleMap(known ?? {}, items) }];
}

function closedList(
  base: Json | undefined,
  lists: readonly (Json | undefined)[],
  key: NameKey,
): Json | undefined {
  const known: Map<string, JsonMap> = nameKeyOf(base) === key ? itemsByName(base, key) : new Map();
  const found = lists.map((list) => itemsByName(list, key));
  const names = new Set([...known.keys(), ...found.flatMap((items) => [...items.keys()])]);
  const items = [...names].flatMap((name) => {
    const alike = found.map((list) => list.get(name));
    const settled = settleBase(known.get(name), alike);
    return isMap(settled) ? [{ [key]: name, ...settled }] : [];
  });
  // Nothing of it is needed any more: then it is as if the base had never had the list.
  return items.length > 0 ? items : settleBase(undefined, lists);
}

function haveSameNames(lists: readonly (Json | undefined)[]): boolean {
  const names = lists.map((list) => (list as JsonMap[]).map((item) => item['name'] ?? item['type']));
  return names.every((one) => isDeepStrictEqual(one, names[0]));
}

function shapeOf(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  if (isMap(value)) return 'map';
  return nameKeyOf(value) ? 'list' : 'plain';
}

/** The value of nearly all, if there is one; which may well be undefined. */
function prevailing<T>(values: readonly T[]): { value: T } | undefined {
  const groups = Map.groupBy(values, (value) => JSON.stringify(value) ?? '');
  const found = [...groups.values()].find((group) => group.length >= values.length * NEARLY_ALL);
  return found && { value: found[0] as T };
}
