import { createHash } from 'node:crypto';

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON with its keys in order, so that equal values have equal texts. Keys that are undefined do not exist. */
export function canonicalJson(value: unknown): string {
  // By hand: a replacer, which would have to copy every object, takes several times as long, and operators do this all day.
  if (Array.isArray(value)) return `[${value.map(canonicalItem).join(',')}]`;
  if (!isJsonObject(value) || 'toJSON' in value) return JSON.stringify(value);
  let text = '';
  for (const key of Object.keys(value).toSorted()) {
    const inner = value[key];
    if (inner !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(inner)}`;
  }
  return `{${text}}`;
}

const canonicalItem = (item: unknown) => (item === undefined ? 'null' : canonicalJson(item));

/** Whether two values are the same JSON. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSameJson(item, b[i]));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const isThere = (key: string) => b[key] !== undefined && a[key] === undefined;
  return Object.keys(a).every((key) => isSameJson(a[key], b[key])) && !Object.keys(b).some(isThere);
}

/** A short hash of a value. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 22);
}

/** Whether everything wanted is there, with equal lists; there may be more keys than wanted. */
export function contains(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((item, i) => contains(found[i], item))
    );
  if (!isJsonObject(wanted)) return found === wanted;
  return (
    isJsonObject(found) &&
    Object.entries(wanted).every(([key, value]) => value === undefined || contains(found[key], value))
  );
}

/** The merge patch (RFC 7396) that makes `to` of `from`; undefined if they are equal. Lists are replaced whole. */
export function mergePatchBetween(from: JsonObject, to: JsonObject): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[key], to[key]];
    if (after === undefined || after === null) {
      if (before !== undefined && before !== null) patch[key] = null;
    } else if (isJsonObject(before) && isJsonObject(after)) {
      const inner = mergePatchBetween(before, after);
      if (inner) patch[key] = inner;
    } else if (!isSameJson(before, after)) patch[key] = after;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}
