/** Lets clusters know each other: every one is joined with every other, and has a DNS server that answers for what all of them export. */
import { CLUSTERSET_ZONE } from '../../control/discover/names.ts';
import { DNS_NAME } from '../../control/discover/install.ts';
import { labelsOf } from '../../control/install/objects.ts';
import { secretName } from '../../control/join/secret.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../control/targets/joined-secret.ts';
import type { JoinRoad } from '../../control/targets/names.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Category } from '../check/checks.ts';
import type { OperatorFacts } from '../check/facts.ts';
import { deploymentFacts, operatorFacts } from '../check/gather.ts';
import { dnsCommandSchema } from '../dns-config.ts';
import { manifestsOf } from '../dns-manifests.ts';
import { applyObject, previewApply, textOf } from './changes.ts';
import type { Change } from './changes.ts';
import { hasNamespace, withCluster } from './connect.ts';
import type { Connected } from './connect.ts';
import { missingCrds, runJoin } from './join.ts';
import type { JoinRequest, JoinTalk } from './join.ts';
import { neededKinds } from './kinds.ts';
import type { MeshFlags, MeshMember } from './mesh-command.ts';
import { programOf } from './program.ts';
import type { Program } from './program.ts';
import { rememberedFlags } from './remembered.ts';

export type MeshRequest = MeshFlags & { defaultImage: string };

type Member = MeshMember & Connected;

/** On what was made here: another DNS server than one of ours has somebody who has configured it, and is left alone. */
const MESH_LABEL = { 'isthmus.dev/mesh': 'true' };

/** Seconds for which an answer counts: a node that has moved is to be found before anybody gives up. */
const TTL_SECONDS = 5;

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

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
        const joined = await runJoin(await joinRequest(here, there, request), here, there, {
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

/** What a join calls `here` is one of several in a mesh. */
const inMesh = (change: Change, { name }: MeshMember): Change =>
  change.cluster === 'here' ? { ...change, cluster: name } : change;

/** Connects to all of them, one within the other, so that each is closed. */
function withMembers<T>(
  members: readonly MeshMember[],
  flags: Pick<MeshFlags, 'kubeconfig'>,
  work: (connected: readonly Member[]) => Promise<T>,
): Promise<T> {
  const [first, ...rest] = members;
  if (!first) return work([]);
  const { kubeconfig } = flags;
  return withCluster(
    { context: first.context, ...(kubeconfig !== undefined && { kubeconfig }) },
    (connected) => withMembers(rest, flags, (others) => work([{ ...first, ...connected }, ...others])),
  );
}

/** A cluster that was joined for more stays joined for that. */
async function joinRequest(here: Member, there: Member, request: MeshRequest): Promise<JoinRequest> {
  const { namespace, dryRun, output, defaultImage } = request;
  const secret = await here.client.get<Secret>(SECRET, { name: secretName(there.name), namespace });
  const before = rememberedFlags(secret).roads ?? [];
  const roads: JoinRoad[] = [...new Set<JoinRoad>([...before, 'discover'])];
  return {
    name: there.name,
    roads,
    namespace,
    kafkaNamespaces: ['kafka'],
    tokenLifetime: TOKEN_LIFETIME_SECONDS,
    // Whoever has joined it for that has seen to it.
    podSets: false,
    nodes: false,
    crds: true,
    ...(dryRun && { dryRun }),
    output,
    defaultImage,
    given: new Set(['roads']),
  };
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
