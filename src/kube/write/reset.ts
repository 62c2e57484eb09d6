import type { Client } from '../http/client.ts';
import { typeOf } from '../object.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';

/**
 * Puts an object back to what is wanted, and nothing else. The last resort for drift that an apply cannot repair, because what a
 * stranger added and what we want exclude each other: a second kind of volume beside ours, a port under another number with our name.
 * Metadata stays, since others keep finalizers there; status, too.
 *
 * A plain replacement makes us owner of the fields by way of an update, beside our ownership by apply. That second claim is then
 * taken off, or a field that a later plan drops would never go.
 */
export async function resetObject(
  client: Client,
  wanted: KubeObject,
  { fieldManager, signal }: { fieldManager: string; signal?: AbortSignal | undefined },
): Promise<boolean> {
  const type = typeOf(wanted);
  const live = await client.get(type, wanted.metadata, { signal });
  if (!live) return false;
  const { labels, annotations, managedFields = [] } = live.metadata;
  const metadata = {
    ...live.metadata,
    labels: { ...labels, ...wanted.metadata.labels },
    annotations: { ...annotations, ...wanted.metadata.annotations },
    managedFields: managedFields.filter((entry) => entry.subresource || entry.operation === 'Apply'),
  };
  const status = live['status'] === undefined ? {} : { status: live['status'] };
  const replaced = await client.update<KubeObject>(
    { ...wanted, ...status, metadata },
    { fieldManager, signal },
  );
  const isSecondClaim = (entry: ManagedFieldsEntry) =>
    entry.manager === fieldManager && entry.operation === 'Update' && !entry.subresource;
  const { resourceVersion, managedFields: owned = [] } = replaced.metadata;
  const patch = {
    metadata: { resourceVersion, managedFields: owned.filter((entry) => !isSecondClaim(entry)) },
  };
  await client.mergePatch(type, wanted.metadata, patch, { fieldManager, signal });
  return true;
}
