/** The clusters of a mesh, and how each is joined with the others. */
import { secretName } from '../../control/join/secret.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../control/targets/joined-secret.ts';
import type { JoinRoad } from '../../control/targets/names.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Change } from './changes.ts';
import { withCluster } from './connect.ts';
import type { Connected } from './connect.ts';
import type { JoinRequest } from './join.ts';
import type { MeshFlags, MeshMember } from './mesh-command.ts';
import { rememberedFlags } from './remembered.ts';

export type MeshRequest = MeshFlags & { defaultImage: string };

export type Member = MeshMember & Connected;

/** On what was made for a mesh: another DNS server than one of ours has somebody who has configured it, and is left alone. */
export const MESH_LABEL = { 'isthmus.dev/mesh': 'true' };

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** What a join calls `here` is one of several in a mesh. */
export const inMesh = (change: Change, { name }: MeshMember): Change =>
  change.cluster === 'here' ? { ...change, cluster: name } : change;

/** Connects to all of them, one within the other, so that each is closed. */
export function withMembers<T>(
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

/** What one knows another for; nothing where it does not know it. */
export async function roadsBefore(here: Member, there: Member, namespace: string): Promise<JoinRoad[]> {
  const secret = await here.client.get<Secret>(SECRET, { name: secretName(there.name), namespace });
  return rememberedFlags(secret).roads ?? [];
}

/** Whoever has joined it for other roads has seen to what they need there. */
export const joinRequest = (
  there: Member,
  roads: JoinRoad[],
  { namespace, dryRun, output, defaultImage }: MeshRequest,
): JoinRequest => ({
  name: there.name,
  roads,
  namespace,
  kafkaNamespaces: ['kafka'],
  tokenLifetime: TOKEN_LIFETIME_SECONDS,
  podSets: false,
  nodes: false,
  crds: true,
  ...(dryRun && { dryRun }),
  output,
  defaultImage,
  given: new Set(['roads']),
});
