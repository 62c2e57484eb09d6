/** Undoes a join. What is deleted first is what others would use: the Secret here, then the account there. */
import { CLUSTER_UID_ANNOTATION, secretName } from '../../control/join/secret.ts';
import { joinedByOf } from '../../control/join/manifests.ts';
import { MANAGED_BY } from '../../control/kernel/field-manager.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import { keyOf, selectorOf, typeOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { listOf } from '../kube/read.ts';
import { textOf } from './changes.ts';
import type { Change } from './changes.ts';
import { clusterUid } from './connect.ts';
import type { LeaveFlags } from './leave-command.ts';
import { madeBy, renewalRightsHere } from './made.ts';

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

export type LeaveRequest = LeaveFlags & { name: string };

export async function runLeave(
  request: LeaveRequest,
  central: Client,
  remote: Client | undefined,
): Promise<Change[]> {
  const { name, namespace, dryRun = false, force = false } = request;
  const secret = await central.get<Secret>(SECRET, { name: secretName(name), namespace });
  const made = remote ? await madeThere(request, central, remote, secret) : [];
  if (remote && !force) await refuseWithBrokers(remote, name);
  const here: AnyObject[] = [
    ...(secret ? [secret as AnyObject] : []),
    ...(await renewalRightsHere(central, name, namespace)),
  ];
  const changes: Change[] = [
    ...here.map((object) => ({ cluster: 'here', object: textOf(object), change: 'delete' as const })),
    ...made.map((object) => ({ cluster: name, object: textOf(object), change: 'delete' as const })),
  ];
  if (dryRun) return changes;
  for (const object of here)
    await central.delete(typeOf(object), object.metadata, { uid: object.metadata.uid });
  for (const object of made)
    await remote!.delete(typeOf(object), object.metadata, { uid: object.metadata.uid });
  return changes;
}

/** What this cluster has made in the other one, which must be the one of that name. */
async function madeThere(
  { name }: LeaveRequest,
  central: Client,
  remote: Client,
  secret: Secret | undefined,
): Promise<AnyObject[]> {
  const [here, there] = await Promise.all([clusterUid(central), clusterUid(remote)]);
  const joined = secret?.metadata.annotations?.[CLUSTER_UID_ANNOTATION];
  if (here === there) throw new IsthmusError('USAGE', '--context is the cluster that leaves, not this one');
  if (joined !== undefined && joined !== there)
    throw new IsthmusError('USAGE', `--context is another cluster than the one that was joined as "${name}"`);
  return madeBy(remote, joinedByOf(here));
}

/** Without the account nobody would look after them. */
async function refuseWithBrokers(remote: Client, name: string): Promise<void> {
  const sets = await listOf(remote, strimziPodSet, { labelSelector: selectorOf(MANAGED_BY) });
  if (sets.length === 0) return;
  const names = sets.map(({ metadata }) => keyOf(metadata)).join(', ');
  throw new IsthmusError(
    'CLUSTER_REFUSED',
    `brokers run in ${name} (${names}); move or delete their node pools first, or say --force`,
  );
}
