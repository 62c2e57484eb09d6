/** Changes of one key of a ConfigMap. */
import type { ConfigMap, PlatformChange } from './platform.ts';

/** On a ConfigMap that we created. */
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'isthmus-dns' };

/** Sets or removes a key. */
export function dataChange(object: ConfigMap, key: string, text: string | undefined): PlatformChange {
  const before = object.data?.[key];
  if (before === text) return { object, write: undefined };
  const patchOf = (value: string | undefined) => ({ data: { [key]: value ?? null } });
  return { object, write: { object, patch: patchOf(text), undo: patchOf(before) } };
}

/** Makes a ConfigMap with one key. */
export function createdWith(
  name: { namespace: string; name: string },
  key: string,
  text: string,
): PlatformChange {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...name, labels: MANAGED_BY } };
  return { object, write: { object, patch: { data: { [key]: text } }, undo: undefined } };
}

/** Removes a key, and the ConfigMap if we created it and nothing else is in it. */
export function keyRemoval(object: ConfigMap | undefined, key: string): PlatformChange {
  if (object?.data?.[key] === undefined) return { object, write: undefined };
  const { labels } = object.metadata;
  const isOurs = Object.entries(MANAGED_BY).every(([label, value]) => labels?.[label] === value);
  if (!isOurs || Object.keys(object.data).length > 1) return dataChange(object, key, undefined);
  return { object, write: { object, patch: undefined, undo: undefined } };
}
