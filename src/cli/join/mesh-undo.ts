/**
 * Undoes a mesh. A server that runs restores what it has written, and what is left of the mesh says that there was one: so the server ends
 * first, then the cluster's own DNS and imports are put back, then the joins go, and the rest last. Run again, it goes on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDelegated, removeDelegations } from '../../control/discover/delegation/undelegate.ts';
import { optionsOf } from '../../control/discover/delegation/settings.ts';
import { removeImports } from '../../control/discover/imports/removal.ts';
import { DNS_NAME } from '../../control/discover/install.ts';
import { CLUSTERSET_ZONE } from '../../control/discover/names.ts';
import { selectorOf as podsOf } from '../../control/install/objects.ts';
import { CLUSTER_UID_ANNOTATION } from '../../control/join/secret.ts';
import { clusterOf, roadsOf } from '../../control/targets/joined-secret.ts';
import { CLUSTER_LABEL } from '../../control/targets/names.ts';
import { createCluster } from '../../kube/cluster.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { Secret } from '../../kube/clusters.ts';
import { selectorOf, typeOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import type { Category } from '../check/checks.ts';
import { textOf } from './changes.ts';
import type { Change } from './changes.ts';
import { runJoin } from './join.ts';
import type { JoinTalk } from './join.ts';
import { runLeave } from './leave.ts';
import { madeWith } from './made.ts';
import type { MeshMember } from './mesh-command.ts';
import { MESH_LABEL, inMesh, joinRequest, roadsBefore, withMembers } from './mesh-members.ts';
import type { Member, MeshRequest } from './mesh-members.ts';

const POD = { group: '', version: 'v1', kind: 'Pod' };
const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const POLL_MS = 500;
/** Longer than a pod may take to end. */
const ENDED_MS = 120_000;

export async function undoMesh(
  members: readonly MeshMember[],
  request: MeshRequest,
  talk: JoinTalk,
): Promise<{ changes: Change[]; checks: Category[] }> {
  return withMembers(members, request, async (connected) => {
    const changes: Change[] = [];
    const checks: Category[] = [];
    const all = await Promise.all(
      connected.map(async (here) => ({ here, made: await madeWith(here.client, MESH_LABEL) })),
    );
    for (const { here, made } of all)
      if (made.length > 0) await refuseHalf(here, made, members, request.namespace);
    for (const { here, made } of all) {
      if (made.length === 0) {
        talk.say(`isthmus: ${here.name} has nothing of a mesh; what it is joined with stays`);
        continue;
      }
      changes.push(...(await endServer(here, made, request, talk)));
      for (const there of connected) {
        if (here === there) continue;
        const parted = await part(here, there, request, talk);
        changes.push(...parted.changes);
        checks.push(...parted.checks);
      }
      if (!request.dryRun) await deleteAll(here, made);
    }
    return { changes, checks };
  });
}

/** Refused before anything is done: what is left out would stay, and nothing would say any more that there was a mesh. */
async function refuseHalf(
  here: Member,
  made: readonly AnyObject[],
  members: readonly MeshMember[],
  namespace: string,
): Promise<void> {
  const server = made.find(({ kind }) => kind === 'Deployment' || kind === 'Service');
  const home = server?.metadata.namespace ?? namespace;
  if (home !== namespace) throw refusal(here, `its DNS server is in the namespace ${home}: say -n ${home}`);
  const { items } = await here.client.list<Secret>(SECRET, { namespace, labelSelector: CLUSTER_LABEL });
  const known = items.map((secret) => ({
    name: clusterOf(secret) ?? secret.metadata.name,
    uid: secret.metadata.annotations?.[CLUSTER_UID_ANNOTATION],
    inMesh: roadsOf(secret).includes('discover'),
  }));
  const names = new Set(members.map(({ name }) => name));
  const unnamed = known.filter((one) => one.inMesh && !names.has(one.name)).map(({ name }) => name);
  if (unnamed.length > 0)
    throw refusal(
      here,
      `it also knows the names of ${unnamed.join(', ')}: name those too, as they are called there, or have them leave first`,
    );
  const twice = known.find(
    (one) =>
      one.uid !== undefined &&
      names.has(one.name) &&
      known.some((other) => other !== one && other.uid === one.uid),
  );
  if (twice)
    throw refusal(
      here,
      `${twice.name} is joined under another name, too, by the same account: have one of the two leave first`,
    );
}

const deleteAll = async ({ client }: Member, objects: readonly AnyObject[]): Promise<void> => {
  for (const object of objects)
    await client.delete(typeOf(object), object.metadata, { uid: object.metadata.uid });
};

/** Ends the DNS server, and takes back what it has written. */
async function endServer(
  here: Member,
  made: readonly AnyObject[],
  { namespace, dryRun }: MeshRequest,
  talk: JoinTalk,
): Promise<Change[]> {
  const { name, client, connection } = here;
  const cluster = createCluster({ name, connection, log: createLog('error', { role: 'mesh' }) });
  const service = { namespace, name: DNS_NAME };
  const delegation = { service, zones: [CLUSTERSET_ZONE], options: optionsOf(true) };
  try {
    const gone = (object: string): Change => ({ cluster: name, object, change: 'delete' });
    const changes = [
      ...((await isDelegated(cluster, delegation)) ? [gone(`delegation of ${CLUSTERSET_ZONE}`)] : []),
      ...made.map((object) => gone(textOf(object))),
    ];
    talk.onPlan(changes);
    if (dryRun) return changes;
    await deleteAll(
      here,
      made.filter(({ kind }) => kind === 'Deployment'),
    );
    await untilEnded(here, namespace);
    await takeBack(cluster, delegation);
    const { errors } = await removeImports(() => client, namespace);
    const [first] = errors;
    if (first) throw refusal(here, `${first.object}: ${messageOf(first.error)}`);
    return changes;
  } finally {
    await cluster.stop();
  }
}

const refusal = ({ name }: MeshMember, why: string) => new IsthmusError('CLUSTER_REFUSED', `${name}: ${why}`);

async function untilEnded(here: Member, namespace: string): Promise<void> {
  const labelSelector = selectorOf(podsOf('dns'));
  const end = Date.now() + ENDED_MS;
  while ((await here.client.list(POD, { namespace, labelSelector })).items.length > 0) {
    if (Date.now() >= end) throw refusal(here, `pods of the DNS server do not end in ${namespace}`);
    await delay(POLL_MS);
  }
}

async function takeBack(
  cluster: Cluster,
  delegation: Parameters<typeof removeDelegations>[1],
): Promise<void> {
  const removals = await removeDelegations(cluster, delegation);
  const failed = removals.find(({ problem }) => problem !== undefined);
  if (failed)
    throw refusal(
      { context: '', name: cluster.name },
      `${failed.object || failed.platform}: ${failed.problem}`,
    );
}

/** What one knows another for besides the mesh, it is still joined for. */
async function part(
  here: Member,
  there: Member,
  request: MeshRequest,
  talk: JoinTalk,
): Promise<{ changes: Change[]; checks: Category[] }> {
  const before = await roadsBefore(here, there, request.namespace);
  const roads = before.filter((road) => road !== 'discover');
  if (roads.length === before.length) return { changes: [], checks: [] };
  const onPlan = (planned: readonly Change[]) => talk.onPlan(planned.map((one) => inMesh(one, here)));
  if (roads.length > 0) {
    const { changes, checks } = await runJoin(joinRequest(there, roads, request), here, there, {
      ...talk,
      onPlan,
    });
    const named = checks ? [{ ...checks, name: `${checks.name}, from ${here.name}` }] : [];
    return { changes: changes.map((one) => inMesh(one, here)), checks: named };
  }
  // Brokers there, if any, are of somebody who has joined it for that.
  const { namespace, output, dryRun = false } = request;
  const left = await runLeave(
    { name: there.name, namespace, output, dryRun, force: true },
    here.client,
    there.client,
  );
  onPlan(left);
  return { changes: left.map((one) => inMesh(one, here)), checks: [] };
}
