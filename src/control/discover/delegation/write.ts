/** Writes what was planned, if the object still is as it was read. */
import type { Cluster } from '../../../kube/cluster.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { typeOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Write } from './platform.ts';

const FIELD_MANAGER = 'isthmus-dns';

/** The object as it is now; undefined if it is gone, `'changed'` if somebody was quicker and nothing was written. */
export async function writeChange(
  { client }: Cluster,
  { object, patch }: Pick<Write, 'object' | 'patch'>,
): Promise<KubeObject | undefined | 'changed'> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const type = typeOf(object);
  try {
    if (!patch) {
      await client.delete(type, { name, namespace }, { uid, resourceVersion });
      return undefined;
    }
    if (resourceVersion === undefined)
      // Applied, not created: the right to create an object of one name only can be given for this alone.
      return (await client.apply({ ...object, ...patch }, { fieldManager: FIELD_MANAGER })).object;
    const guarded = { ...patch, metadata: { ...(patch as Partial<KubeObject>).metadata, resourceVersion } };
    return await client.mergePatch(type, { name, namespace }, guarded, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    if (hasStatus(error, 409) || hasStatus(error, 404)) return 'changed';
    throw error;
  }
}
