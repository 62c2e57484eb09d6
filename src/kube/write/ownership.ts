import { contains, isJsonObject } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';

/**
 * Reads in `managedFields` whether all that one manager applied is still its own.
 *
 * The server strips a field from a manager's entry as soon as somebody else changes its value or removes it (and only then). So
 * as long as the entry covers a field, the field has the value that the manager applied last; no values need to be compared,
 * which would go wrong anyway wherever the server writes a value its own way (`1000m` becomes `1`) or adds defaults.
 *
 * The grammar: `f:name` is a field, `k:{…}` the list item with these keys, `v:…` the item of a set, `.` the thing itself.
 * `{}` is owned whole: a scalar, an atomic list or map. But an item of a map, owned for itself, is `{}` as well once all within has
 * been stripped; so where `{}` stands for something that has content, the content is compared after all.
 */
export function ownsAll(entry: ManagedFieldsEntry, wanted: KubeObject, live: KubeObject): boolean {
  const metadata = without(wanted.metadata, NAMING);
  return covers(entry.fieldsV1 ?? {}, { ...without(wanted, ['apiVersion', 'kind']), metadata }, live);
}

/** What names an object is nobody's field. */
const NAMING = ['name', 'namespace', 'uid', 'resourceVersion'];

function without(object: object, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function covers(fields: unknown, wanted: unknown, live: unknown): boolean {
  if (!isJsonObject(fields)) return false;
  const isWhole = Object.keys(fields).length === 0;
  if (Array.isArray(wanted) && wanted.length > 0)
    return isWhole ? contains(live, wanted) : coversList(fields, wanted, live);
  if (!isJsonObject(wanted)) return true;
  const wantedFields = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== null);
  if (isWhole) return contains(live, wanted);
  return wantedFields.every(([name, value]) =>
    covers(fields[`f:${name}`], value, isJsonObject(live) ? live[name] : undefined),
  );
}

interface KeyedItem {
  keys: JsonObject;
  inner: unknown;
}

/** Items that name all keys choose first; an item that leaves a key to the server's default takes what is left. */
function coversList(fields: JsonObject, wanted: readonly unknown[], live: unknown): boolean {
  const free = new Set<KeyedItem>(
    Object.entries(fields)
      .filter(([name]) => name.startsWith('k:'))
      .map(([name, inner]) => ({ keys: JSON.parse(name.slice(2)) as JsonObject, inner })),
  );
  const isOwned = (item: JsonObject, entry: KeyedItem | undefined) =>
    entry !== undefined &&
    free.delete(entry) &&
    covers(
      entry.inner,
      item,
      Array.isArray(live) ? live.find((one) => contains(one, entry.keys)) : undefined,
    );
  const vague: JsonObject[] = [];
  for (const item of wanted) {
    if (!isJsonObject(item)) {
      if (!(`v:${JSON.stringify(item)}` in fields)) return false;
      continue;
    }
    const exact = [...free].find(({ keys }) => contains(item, keys));
    if (!exact) vague.push(item);
    else if (!isOwned(item, exact)) return false;
  }
  return vague.every((item) =>
    isOwned(
      item,
      [...free].find(({ keys }) => mayBe(item, keys)),
    ),
  );
}

function mayBe(item: JsonObject, keys: JsonObject): boolean {
  return Object.entries(keys).every(([name, key]) => item[name] === undefined || item[name] === key);
}
