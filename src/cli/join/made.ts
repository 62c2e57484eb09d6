/** What a join or a mesh has made in a cluster, found by the label that says who has made it. */
import { JOINED_BY_LABEL, accountName } from '../../control/join/manifests.ts';
import { CLUSTER_LABEL } from '../../control/targets/names.ts';
import type { Client } from '../../kube/http/client.ts';
import type { ListOptions } from '../../kube/http/list.ts';
import { apiVersionOf, selectorOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject, ResourceType } from '../../kube/object.ts';
import { textOf } from './changes.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** What says who may do what, in the order in which it goes. */
const RIGHTS: readonly ResourceType[] = [
  { group: '', version: 'v1', kind: 'Secret' },
  { group: RBAC, version: 'v1', kind: 'RoleBinding' },
  { group: RBAC, version: 'v1', kind: 'Role' },
  { group: RBAC, version: 'v1', kind: 'ClusterRoleBinding' },
  { group: RBAC, version: 'v1', kind: 'ClusterRole' },
];

/** All kinds: what runs, then what it may do, then who it is. */
const ALL: readonly ResourceType[] = [
  { group: 'apps', version: 'v1', kind: 'Deployment' },
  { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
  { group: '', version: 'v1', kind: 'Service' },
  { group: '', version: 'v1', kind: 'ConfigMap' },
  ...RIGHTS,
  { group: '', version: 'v1', kind: 'ServiceAccount' },
];

/** Everything that was made for a joining cluster. */
export const madeBy = (client: Client, joinedBy: string): Promise<AnyObject[]> =>
  madeWith(client, { [JOINED_BY_LABEL]: joinedBy });

/** Everything that was made under some labels. */
export function madeWith(client: Client, labels: Readonly<Record<string, string>>): Promise<AnyObject[]> {
  return list(client, ALL, { labelSelector: selectorOf(labels) });
}

/** Rights of the joined account that an earlier join gave it, and that are not wanted any more. */
export async function formerRights(
  client: Client,
  joinedBy: string,
  wanted: readonly KubeObject[],
): Promise<AnyObject[]> {
  const kept = new Set(wanted.map(textOf));
  const made = await list(client, RIGHTS, { labelSelector: selectorOf({ [JOINED_BY_LABEL]: joinedBy }) });
  return made.filter(
    (object) => object.metadata.name.startsWith(accountName(joinedBy)) && !kept.has(textOf(object)),
  );
}

/** The rights in the joining cluster to renew the token of a joined one. */
export function renewalRightsHere(client: Client, cluster: string, namespace: string): Promise<AnyObject[]> {
  const types = RIGHTS.filter(({ kind }) => kind === 'RoleBinding' || kind === 'Role');
  return list(client, types, { namespace, labelSelector: selectorOf({ [CLUSTER_LABEL]: cluster }) });
}

async function list(
  client: Client,
  types: readonly ResourceType[],
  options: ListOptions,
): Promise<AnyObject[]> {
  const found: AnyObject[] = [];
  for (const type of types) {
    const { items } = await client.list(type, options);
    // Lists leave out what all of their objects have in common.
    found.push(...items.map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind })));
  }
  return found;
}
