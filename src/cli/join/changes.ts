/** What a command will make, and does: each object by server-side apply, looked at before without making anything. */
import type { Client } from '../../kube/http/client.ts';
import { hasStatus } from '../../kube/http/errors.ts';
import { isSameJson } from '../../kube/json.ts';
import { keyOf, typeOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';

/** Who owns the fields that are applied. */
export const JOIN_MANAGER = 'isthmus-join';

export type ChangeKind = 'create' | 'change' | 'keep' | 'delete';

/** What becomes of one object. */
export interface Change {
  /** The name of the cluster. */
  cluster: string;
  /** `Kind namespace/name`. */
  object: string;
  change: ChangeKind;
}

export const textOf = ({ kind, metadata }: KubeObject): string => `${kind} ${keyOf(metadata)}`;

/** What an apply would do. An object in a namespace that is still to be made cannot be tried. */
export async function previewApply(
  client: Client,
  object: KubeObject,
  isNamespaceThere: boolean,
): Promise<Exclude<ChangeKind, 'delete'>> {
  if (!isNamespaceThere) return 'create';
  const live = await client.get(typeOf(object), object.metadata);
  if (!live) return 'create';
  try {
    const { object: tried } = await client.apply(object, { fieldManager: JOIN_MANAGER, dryRun: true });
    return isSameJson(comparable(live), comparable(tried as AnyObject)) ? 'keep' : 'change';
  } catch (error) {
    // What cannot be changed in place, such as the role of a binding, shows when it is tried in earnest.
    if (hasStatus(error, 422)) return 'change';
    throw error;
  }
}

/** Without what changes with every write, or with none. */
function comparable({ metadata, ...rest }: AnyObject): object {
  const { name, namespace, labels, annotations } = metadata;
  return { ...rest, metadata: { name, namespace, labels, annotations } };
}

export async function applyObject(client: Client, object: KubeObject): Promise<void> {
  await client.apply(object, { fieldManager: JOIN_MANAGER });
}

const WORDS: Record<ChangeKind, string> = { create: '+', change: '~', keep: '=', delete: '-' };

/** For people: a line each, by cluster. */
export function changesText(changes: readonly Change[]): string {
  const groups = Map.groupBy(changes, ({ cluster }) => cluster);
  return [...groups]
    .map(([cluster, its]) =>
      [`${cluster}:`, ...its.map(({ object, change }) => `  ${WORDS[change]} ${object}`), ''].join('\n'),
    )
    .join('');
}
