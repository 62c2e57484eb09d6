/** Lets clusters know each other: every one is joined with every other, and has a DNS server that answers for what all of them export. */
import { CLUSTERSET_ZONE } from '../../control/discover/names.ts';
import { DNS_NAME } from '../../control/discover/install.ts';
import { labelsOf } from '../../control/install/objects.ts';
import type { JoinRoad } from '../../control/targets/names.ts';
import type { Client } from '../../kube/http/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Category } from '../check/checks.ts';
import type { OperatorFacts } from '../check/facts.ts';
import { deploymentFacts, operatorFacts } from '../check/gather.ts';
import { dnsCommandSchema } from '../dns-config.ts';
import { manifestsOf } from '../dns-manifests.ts';
import { applyObject, previewApply, textOf } from './changes.ts';
import type { Change } from './changes.ts';
import { hasNamespace } from './connect.ts';
import { missingCrds, runJoin } from './join.ts';
import type { JoinTalk } from './join.ts';
import { neededKinds } from './kinds.ts';
import type { MeshMember } from './mesh-command.ts';
import { MESH_LABEL, inMesh, joinRequest, roadsBefore, withMembers } from './mesh-members.ts';
import type { Member, MeshRequest } from './mesh-members.ts';
import { programOf } from './program.ts';
import type { Program } from './program.ts';

/** Seconds for which an answer counts: a node that has moved is to be found before anybody gives up. */
const TTL_SECONDS = 5;

export async function runMesh(
  members: readonly MeshMember[],
  request: MeshRequest,
  talk: JoinTalk,
): Promise<{ changes: Change[]; checks: Category[] }> {
  return withMembers(members, request, async (connected) => {
    const changes: Change[] = [];
    const checks: Category[] = [];
    for (const here of connected)
      for (const there of connected) {
        if (here === there) continue;
        const before = await roadsBefore(here, there, request.namespace);
        // A cluster that was joined for more stays joined for that.
        const roads = [...new Set<JoinRoad>([...before, 'discover'])];
        const joined = await runJoin(joinRequest(there, roads, request), here, there, {
          ...talk,
          onPlan: (planned) => talk.onPlan(planned.map((one) => inMesh(one, here))),
        });
        changes.push(...joined.changes.map((one) => inMesh(one, here)));
        if (joined.checks)
          checks.push({ ...joined.checks, name: `${joined.checks.name}, from ${here.name}` });
      }
    for (const member of connected) changes.push(...(await installDns(member, connected, request, talk)));
    return { changes, checks };
  });
}

async function installDns(
  member: Member,
  all: readonly Member[],
  request: MeshRequest,
  talk: JoinTalk,
): Promise<Change[]> {
  const { client, name } = member;
  const { namespace, replicas, dryRun } = request;
  const found = await deploymentFacts(client, { namespace, name: DNS_NAME });
  if (found && found.labels?.['isthmus.dev/mesh'] !== 'true') {
    talk.say(
      `isthmus: ${name} has a DNS server already, which is left as it is; it must import, and be delegated ${CLUSTERSET_ZONE}`,
    );
    return [];
  }
  const program = programOf(request, await operatorIn([member, ...all], namespace));
  const crds = await missingCrds(client, neededKinds(['discover']));
  const objects = [...crds, ...(await dnsObjects(name, { namespace, ...program, replicas }))];
  const isThere = await hasNamespace(client, namespace);
  const changes: Change[] = [];
  for (const object of objects) {
    const change = await previewApply(client, object, isThere);
    changes.push({ cluster: name, object: textOf(object), change });
  }
  talk.onPlan(changes);
  if (!dryRun) for (const object of objects) await applyObject(client, object);
  return changes;
}

/** The operator, here or in another of the clusters. */
async function operatorIn(
  members: readonly { client: Client }[],
  namespace: string,
): Promise<OperatorFacts | undefined> {
  for (const { client } of members) {
    const found = await operatorFacts(client, namespace);
    if (found) return found;
  }
  return undefined;
}

async function dnsObjects(
  clusterId: string,
  options: Program & { namespace: string; replicas: number },
): Promise<KubeObject[]> {
  const zones = [{ name: CLUSTERSET_ZONE, ttl: TTL_SECONDS, negativeTtl: 1 }];
  const config = { zones, kubernetes: { clusterId, import: true, delegation: true } };
  const { kubernetes } = dnsCommandSchema.parse(config);
  const manifests = await manifestsOf(`${JSON.stringify(config, undefined, 2)}\n`, kubernetes, options);
  return manifests.map((manifest) => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...labelsOf('dns'), ...manifest.metadata.labels, ...MESH_LABEL },
    },
  }));
}
