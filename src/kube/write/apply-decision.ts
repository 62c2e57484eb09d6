import { hashOf } from '../json.ts';
import { isBeingDeleted, keyOf } from '../object.ts';
import type { KubeObject, ManagedFieldsEntry, ResourceType } from '../object.ts';
import { ownsAll } from './ownership.ts';

/** Whoever has objects made: a resource, seen from the objects made for it. */
export interface Owner {
  /** Put on each object. Nothing without all of them is ever changed or deleted. */
  labels: Readonly<Record<string, string>>;
  /** What it may have made. Only these kinds are looked through for leftovers. */
  kinds: readonly ResourceType[];
  /** Where it may have made it: all namespaces if not given. */
  namespaces?: readonly string[];
}

/** How the writer signs what it writes. */
export interface Signature {
  fieldManager: string;
  /** The annotation that holds the hash of what was applied. */
  hashAnnotation: string;
}

/** What the last write of an object, by this process, left behind. */
export interface Remembered {
  hash: string;
  uid: string | undefined;
  resourceVersion: string | undefined;
}

/** The object as it is sent: with the owner's labels and the hash of everything else. */
export function signed<T extends KubeObject>(object: T, owner: Owner, { hashAnnotation }: Signature): T {
  const { metadata } = object;
  const labelled = { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...owner.labels } } };
  const annotations = { ...metadata.annotations, [hashAnnotation]: hashOf(labelled) };
  return { ...labelled, metadata: { ...labelled.metadata, annotations } };
}

/**
 * Whether an object (signed) must be written.
 *
 * Not if this process wrote just this and the object has not changed since at all. Otherwise not if both hold: the hash on
 * the live object says that we applied exactly this, and `managedFields` says that everything we applied is still ours, that
 * is, unchanged by anybody. The first fails when the plan has changed, the second when somebody else has changed a field of ours
 * (drift); fields of others play no part in either. When in doubt, write: the server makes nothing of an apply that changes nothing.
 *
 * `live` may be old, if it comes from a cache. What we remember to have written last wins then: a plan that went from A to B and
 * back must not be taken for done because the cache still shows the first A.
 */
export function needsWrite(
  wanted: KubeObject,
  live: KubeObject | undefined,
  remembered: Remembered | undefined,
  { fieldManager, hashAnnotation }: Signature,
): boolean {
  if (!live) return true;
  const hash = wanted.metadata.annotations?.[hashAnnotation];
  if (remembered && remembered.uid === live.metadata.uid) {
    if (remembered.hash !== hash) return true;
    if (remembered.resourceVersion === live.metadata.resourceVersion) return false;
  }
  if (live.metadata.annotations?.[hashAnnotation] !== hash) return true;
  const entry = applyEntry(live, fieldManager);
  return !entry || entry.apiVersion !== wanted.apiVersion || !ownsAll(entry, wanted, live);
}

/** What a field manager applied to the object itself, not to its status. */
export function applyEntry(object: KubeObject, fieldManager: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(
    ({ manager, operation, subresource }) =>
      manager === fieldManager && operation === 'Apply' && !subresource,
  );
}

/**
 * Whether an object is the owner's to change: it carries the labels. One that lost a label (drift) but was applied by us is, too;
 * one that carries another owner's is not.
 */
export function isOurs(live: KubeObject, owner: Owner, { fieldManager }: Signature): boolean {
  const applied = applyEntry(live, fieldManager) !== undefined;
  return Object.entries(owner.labels).every(([name, value]) => {
    const found = live.metadata.labels?.[name];
    return found === value || (found === undefined && applied);
  });
}

/** Which objects of a kind are left over: made by the owner, no longer wanted, and not on their way out already. */
export function leftovers<T extends KubeObject>(found: readonly T[], wanted: ReadonlySet<string>): T[] {
  return found.filter((object) => !wanted.has(referenceOf(object)) && !isBeingDeleted(object));
}

/** Names an object within a cluster. The version is left out: two versions of a kind are the same object. */
export function referenceOf({ apiVersion, kind, metadata }: KubeObject): string {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${apiVersion.slice(0, slash)}`;
  return `${kind}${group} ${keyOf(metadata)}`;
}
