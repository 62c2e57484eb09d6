/**
 * A JSON merge patch (RFC 7396) that can also look into lists: over a list whose items all have a name, the patch may be a
 * map from name to patch. The item named `*` is what items start from that the list does not name; it is no item itself.
 */
import { isDeepStrictEqual } from 'node:util';

export type Json = null | boolean | number | string | Json[] | JsonMap;
export interface JsonMap {
  [key: string]: Json;
}

/** Stands for every item that is not named. */
export const ANY_ITEM = '*';

/** What an item may be known by; conditions have types. */
const NAME_KEYS = ['name', 'type'] as const;
export type NameKey = (typeof NAME_KEYS)[number];

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** By what the items of a list are known, if they are: each has it, and no two the same. */
export function nameKeyOf(value: Json | undefined): NameKey | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return NAME_KEYS.find((key) => {
    const names = new Set(value.map((item) => (isMap(item) ? item[key] : undefined)));
    return names.size === value.length && [...names].every((name) => typeof name === 'string');
  });
}

/** The items of a named list by name, without their names. */
export function itemsByName(list: Json | undefined, key: NameKey): Map<string, JsonMap> {
  const items = (list ?? []) as JsonMap[];
  return new Map(items.map(({ [key]: name, ...rest }) => [name as string, rest]));
}

/** The patched value; undefined if there is nothing left of it. */
export function applyPatch(base: Json | undefined, patch: Json | undefined): Json | undefined {
  if (patch === null) return undefined;
  if (patch !== undefined && !isMap(patch)) return patch;
  const key = nameKeyOf(base);
  if (key) return patchItems(base, patch ?? {}, key);
  if (patch === undefined && !isMap(base)) return base;
  return patchMap(isMap(base) ? base : {}, patch ?? {});
}

function patchMap(base: JsonMap, patch: JsonMap): JsonMap {
  const keys = new Set([...Object.keys(base), ...Object.keys(patch)]);
  const entries = [...keys].map((key) => [key, applyPatch(base[key], patch[key])] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function patchItems(base: Json | undefined, patch: JsonMap, key: NameKey): Json | undefined {
  const items = itemsByName(base, key);
  const any = items.get(ANY_ITEM);
  items.delete(ANY_ITEM);
  const names = new Set([...items.keys(), ...Object.keys(patch)]);
  const patched = [...names]
    .filter((name) => patch[name] !== null)
    .map((name) => ({ [key]: name, ...(applyPatch(items.get(name) ?? any ?? {}, patch[name]) as JsonMap) }));
  return patched.length > 0 || !any ? patched : undefined;
}

/** The smallest patch that makes `value` of `base`; undefined if there is no difference. */
export function patchBetween(base: Json | undefined, value: Json | undefined): Json | undefined {
  if (isDeepStrictEqual(applyPatch(base, undefined), value)) return undefined;
  if (value === undefined) return null;
  const patch = innerPatch(base, value);
  // Items in another order, or a map in the place of a list, are beyond a patch of the parts.
  return patch && isDeepStrictEqual(applyPatch(base, patch), value) ? patch : whole(value);
}

function innerPatch(base: Json | undefined, value: Json): JsonMap | undefined {
  if (isMap(base) && isMap(value)) {
    const keys = [...new Set([...Object.keys(base), ...Object.keys(value)])];
    return differences(keys, (key) => patchBetween(base[key], value[key]));
  }
  const key = nameKeyOf(base);
  if (!key || key !== nameKeyOf(value)) return undefined;
  const before = itemsByName(base, key);
  const any = before.get(ANY_ITEM) ?? {};
  before.delete(ANY_ITEM);
  const after = itemsByName(value, key);
  return differences([...new Set([...before.keys(), ...after.keys()])], (name) => {
    // An item that is new is mentioned even if it is like any.
    if (!before.has(name)) return patchBetween(any, after.get(name)) ?? {};
    return patchBetween(before.get(name), after.get(name));
  });
}

function differences(keys: readonly string[], differenceOf: (key: string) => Json | undefined): JsonMap {
  const entries = keys.map((key) => [key, differenceOf(key)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function whole(value: Json): Json {
  if (holdsNull(value))
    throw new Error('null means "absent" in a patch, so it cannot be expected as a value');
  return value;
}

function holdsNull(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return value === null;
  return Object.values(value).some(holdsNull);
}
