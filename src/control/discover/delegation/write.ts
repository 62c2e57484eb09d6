/** Writes what was planned, if the object is still as it was read. */
import type { Cluster } from '../../../kube/cluster.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { typeOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { FIELD_MANAGER } from '../../kernel/field-manager.ts';
import type { Write } from './platform.ts';

/** The object after a write, or undefined after its deletion; `conflict` if it was changed meanwhile and nothing was written. */
export type Written = KubeObject | undefined | 'conflict';

export async function writeChange(
  { client }: Cluster,
  { object, patch }: Pick<Write, 'object' | 'patch'>,
): Promise<Written> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const type = typeOf(object);
  try {
    if (!patch) {
      await client.delete(type, { name, namespace }, { uid, resourceVersion });
      return undefined;
    }
    if (resourceVersion === undefined)
      // Server-side apply instead of create: RBAC can limit `create` to a resource name only where the name is in the request path.
      return (await client.apply({ ...object, ...patch }, { fieldManager: FIELD_MANAGER })).object;
    const guarded = { ...patch, metadata: { ...(patch as Partial<KubeObject>).metadata, resourceVersion } };
    return await client.mergePatch(type, { name, namespace }, guarded, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    if (hasStatus(error, 409) || hasStatus(error, 404)) return 'conflict';
    throw error;
  }
}
