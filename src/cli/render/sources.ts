/** Where the objects come from that a configuration is rendered of. */
import { rowsOf } from '../../control/kernel/watches.ts';
import { PROXY_WATCHES } from '../../control/proxy/watches.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { readFolder } from '../../store/folder.ts';
import { listOf, settle } from '../kube/read.ts';

/** The objects of a folder or a file, as an API server would have them. */
export function objectsOfFolder(folder: string, namespace: string): AnyObject[] {
  return readFolder(folder).documents.flatMap(({ value }) => {
    const object = value as Partial<AnyObject> | null;
    if (typeof object?.kind !== 'string' || typeof object.metadata?.name !== 'string') return [];
    return [withData({ ...(object as AnyObject), metadata: { namespace, ...object.metadata } })];
  });
}

/** API servers take `stringData`, and keep it as data. */
function withData(object: AnyObject): AnyObject {
  const { stringData, ...rest } = object as AnyObject & { stringData?: Record<string, string> };
  if (object.kind !== 'Secret' || !stringData) return object;
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    ...rest,
    data: { ...(object['data'] as object), ...Object.fromEntries(encoded) },
  };
}

/** What the operator would look at in a namespace, and what is in none. A kind that may not be read counts as absent. */
export async function objectsOfCluster(client: Client, namespace: string): Promise<AnyObject[]> {
  const kinds = new Map(rowsOf(PROXY_WATCHES).map(([, { kind }]) => [`${kind.group}/${kind.kind}`, kind]));
  const reads = await Promise.all(
    [...kinds.values()].map((kind) =>
      settle(listOf(client, kind, kind.scope === 'Cluster' ? {} : { namespace })),
    ),
  );
  return reads.flatMap((read) => ('value' in read ? read.value : []));
}
