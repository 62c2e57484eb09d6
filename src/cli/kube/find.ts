import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { IsthmusError } from '../../ops/errors.ts';
import type { Kind } from '../../resources/kind.ts';
import { servedType } from './read.ts';

/** The object of a name; an error for people where there is none. */
export async function findObject(
  client: Client,
  kind: Kind,
  name: { namespace: string; name: string },
): Promise<AnyObject> {
  const found = await findIfThere(client, kind, name);
  const where = kind.scope === 'Cluster' ? '' : ` in namespace ${name.namespace}`;
  if (!found) throw new IsthmusError('CLUSTER_REFUSED', `there is no ${kind.kind} ${name.name}${where}`);
  return found;
}

export async function findIfThere(
  client: Client,
  kind: Kind,
  { namespace, name }: { namespace: string; name: string },
): Promise<AnyObject | undefined> {
  const type = await servedType(client, kind);
  if (!type) throw new IsthmusError('CLUSTER_REFUSED', `the API server has no kind ${kind.kind}`);
  return client.get(type, kind.scope === 'Cluster' ? { name } : { namespace, name });
}
