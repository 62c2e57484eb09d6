/** Joins two clusters: what will be made, in which order, and whether it works then. */
import { accountName, joinManifests, joinedByOf, JOINED_BY_LABEL } from '../../control/join/manifests.ts';
import type { JoinOptions } from '../../control/join/manifests.ts';
import {
  CLUSTER_UID_ANNOTATION,
  joinedKubeconfig,
  joinedSecret,
  renewalRights,
  secretName,
} from '../../control/join/secret.ts';
import type { SecretOptions } from '../../control/join/secret.ts';
import type { Manifest } from '../../control/install/objects.ts';
import { labelsOf } from '../../control/install/objects.ts';
import { CLUSTER_LABEL } from '../../control/targets/names.ts';
import { requestToken } from '../../control/targets/token.ts';
import type { TokenAccount } from '../../control/targets/joined-secret.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import type { Connection } from '../../kube/http/connection.ts';
import { typeOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { crdOf } from '../../resources/crd.ts';
import type { Kind } from '../../resources/kind.ts';
import type { Category } from '../check/checks.ts';
import { operatorFacts } from '../check/gather.ts';
import { servedType } from '../kube/read.ts';
import { applyObject, previewApply, textOf } from './changes.ts';
import type { Change } from './changes.ts';
import { clusterUid, hasNamespace } from './connect.ts';
import type { Connected } from './connect.ts';
import type { JoinFlags } from './join-command.ts';
import { neededKinds } from './kinds.ts';
import { formerRights, renewalRightsHere } from './made.ts';
import { programOf } from './program.ts';
import type { Program } from './program.ts';
import { rememberedFlags } from './remembered.ts';
import { reusableToken, waitForToken } from './token.ts';
import { verifyJoin } from './verify-join.ts';

export type JoinRequest = JoinFlags & {
  name: string;
  defaultImage: string;
  /** Flags that somebody has given; of the others an earlier join counts for more than the default. */
  given: ReadonlySet<string>;
};

export interface JoinTalk {
  /** Told what will be done, before it is. */
  onPlan: (changes: readonly Change[]) => void;
  say: (text: string) => void;
}

/** What a join is about, once both clusters have been looked at. */
interface Situation {
  request: JoinRequest;
  central: Connected;
  remote: Connected;
  /** How pods here reach the other cluster. */
  way: Pick<Connection, 'server' | 'tls'>;
  options: JoinOptions;
  remoteUid: string;
  account: TokenAccount;
}

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** Plans, tells, does and verifies; with `dryRun` it ends before anything is done. */
export async function runJoin(
  asked: JoinRequest,
  central: Connected,
  remote: Connected,
  talk: JoinTalk,
): Promise<{ changes: Change[]; checks?: Category }> {
  const request = await withRemembered(asked, central.client);
  const situation = await lookAround(request, central, remote, talk);
  await refuseOtherClusters(situation);
  const there = await objectsThere(situation);
  const former = await formerRights(remote.client, situation.options.joinedBy, there);
  const namespaces = await missingNamespaces(central.client, [request.namespace]);
  const token = await reusableToken(central.client, situation);
  const formerHere = await formerRenewal(central.client, situation);
  const changes = [
    ...(await preview(request.name, remote.client, there)),
    ...former.map((object) => ({ cluster: request.name, object: textOf(object), change: 'delete' as const })),
    ...(await preview('here', central.client, [...namespaces, ...objectsHere(situation, token ?? '')])),
    ...formerHere.map((object) => ({ cluster: 'here', object: textOf(object), change: 'delete' as const })),
  ];
  talk.onPlan(changes);
  if (request.dryRun) return { changes };
  for (const object of there) await applyObject(remote.client, object);
  for (const object of former) await remote.client.delete(typeOf(object), object.metadata);
  const good = token ?? (await newToken(situation));
  for (const object of [...namespaces, ...objectsHere(situation, good)])
    await applyObject(central.client, object);
  for (const object of formerHere) await central.client.delete(typeOf(object), object.metadata);
  const checks = await verifyJoin({
    ...situation,
    kubeconfig: secretOptions(situation, good).kubeconfig,
    isNarrowed: former.length > 0,
  });
  return { changes, checks };
}

async function withRemembered(asked: JoinRequest, client: Client): Promise<JoinRequest> {
  const { name, namespace, given } = asked;
  const secret = await client.get<Secret>(SECRET, { name: secretName(name), namespace });
  const remembered = Object.entries(rememberedFlags(secret)).filter(([flag]) => !given.has(flag));
  return { ...asked, ...Object.fromEntries(remembered) };
}

async function lookAround(
  request: JoinRequest,
  central: Connected,
  remote: Connected,
  talk: JoinTalk,
): Promise<Situation> {
  const { namespace, roads, kafkaNamespaces, nodes: readsNodes } = request;
  const [centralUid, remoteUid] = await Promise.all([clusterUid(central.client), clusterUid(remote.client)]);
  if (centralUid === remoteUid)
    throw new IsthmusError(
      'USAGE',
      `${remote.connection.name} and ${central.connection.name} are one cluster; --context is the other one, --central-context this one`,
    );
  const joinedBy = joinedByOf(centralUid);
  const podSets = await podSetProgram(request, central.client, remote.client, joinedBy, talk);
  const options: JoinOptions = {
    joinedBy,
    namespace,
    roads,
    kafkaNamespaces,
    reach: request.reach ?? 'pods',
    isLongLived: request.longLived ?? false,
    podSetImage: podSets?.image,
    podSetVersion: podSets?.version,
    readsNodes,
  };
  const account = { namespace, name: accountName(joinedBy), lifetimeSeconds: request.tokenLifetime };
  return { request, central, remote, way: wayTo(remote.connection, request), options, remoteUid, account };
}

/** What to install as a pod-set controller; undefined where none is wanted, or somebody else has seen to it. */
async function podSetProgram(
  request: JoinRequest,
  central: Client,
  remote: Client,
  joinedBy: string,
  talk: JoinTalk,
): Promise<Program | undefined> {
  const { roads, podSets, namespace } = request;
  if (!roads.includes('stretch') || !podSets) return undefined;
  const there = await operatorFacts(remote, namespace);
  if (there && there.labels?.[JOINED_BY_LABEL] !== joinedBy) {
    if (!there.roads.includes('pod-sets'))
      talk.say(
        `isthmus: the operator in ${namespace} there was installed by somebody else and does not serve pod-sets; add that road to it`,
      );
    return undefined;
  }
  return programOf(request, await operatorFacts(central, namespace));
}

function wayTo({ server, tls }: Connection, request: JoinRequest): Situation['way'] {
  const isInsecure = request.insecureSkipTlsVerify ?? false;
  if (tls.insecure && !isInsecure)
    throw new IsthmusError(
      'USAGE',
      'the context has insecure-skip-tls-verify; give it the authority of the server, or say --insecure-skip-tls-verify',
    );
  return {
    server: request.server ?? server,
    tls: isInsecure ? { insecure: true } : tls,
  };
}

/** One name, one cluster: neither is a Secret of somebody else's overwritten, nor another cluster put in the place of one. */
async function refuseOtherClusters({ request, central, remoteUid }: Situation): Promise<void> {
  const { name, namespace } = request;
  const { items } = (await hasNamespace(central.client, namespace))
    ? await central.client.list<Secret>(SECRET, { namespace, labelSelector: `${CLUSTER_LABEL}=${name}` })
    : { items: [] };
  for (const { metadata } of items) {
    if (metadata.name !== secretName(name))
      throw new IsthmusError(
        'CLUSTER_REFUSED',
        `Secret ${namespace}/${metadata.name} joins a cluster "${name}" already; delete it, or choose another --name`,
      );
    const uid = metadata.annotations?.[CLUSTER_UID_ANNOTATION];
    if (uid !== undefined && uid !== remoteUid)
      throw new IsthmusError(
        'CLUSTER_REFUSED',
        `"${name}" is another cluster; \`isthmus leave ${name}\` first, or choose another --name`,
      );
  }
}

/** Everything that is to be in the other cluster, in order. */
async function objectsThere({ request, remote, options }: Situation): Promise<KubeObject[]> {
  const { namespace, kafkaNamespaces, roads, crds = false, dns } = request;
  const places = [namespace, ...(roads.includes('stretch') ? kafkaNamespaces : [])];
  return [
    ...(await missingNamespaces(remote.client, places)),
    ...(crds ? await missingCrds(remote.client, neededKinds(roads)) : []),
    ...joinManifests(options),
    ...(dns === undefined ? [] : await dnsObjects(request, dns, options.joinedBy)),
  ] as KubeObject[];
}

async function missingNamespaces(client: Client, names: readonly string[]): Promise<Manifest[]> {
  const found = await Promise.all(
    [...new Set(names)].map(async (name) => ((await hasNamespace(client, name)) ? [] : [name])),
  );
  const labels = { 'app.kubernetes.io/part-of': 'isthmus' };
  return found.flat().map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }));
}

/** A kind that is there belongs to somebody, and its CRD is left alone. */
export async function missingCrds(client: Client, kinds: readonly Kind[]): Promise<KubeObject[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => ((await servedType(client, kind)) === undefined ? [kind] : [])),
  );
  return found.flat().map((kind) => crdOf(kind) as unknown as KubeObject);
}

async function dnsObjects(request: JoinRequest, file: string, joinedBy: string): Promise<Manifest[]> {
  const { manifestsOfConfig } = await import('../dns-manifests.ts');
  const program = programOf(request, undefined);
  const { namespace } = request;
  const manifests = await manifestsOfConfig(file, { namespace, ...program, replicas: 2 });
  return manifests.map((manifest) => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...labelsOf('dns'), ...manifest.metadata.labels, [JOINED_BY_LABEL]: joinedBy },
    },
  }));
}

/** What this cluster knows of the other one, and who may renew it. */
function objectsHere(situation: Situation, token: string): (Secret | Manifest)[] {
  const options = secretOptions(situation, token);
  return [joinedSecret(options), ...renewalRights(options)];
}

function secretOptions(
  { request, way, options, account, remoteUid }: Situation,
  token: string,
): SecretOptions {
  const { name: cluster, namespace, roads, kafkaNamespaces, reach } = request;
  const [first = 'default'] = roads.includes('stretch') ? kafkaNamespaces : [];
  return {
    cluster,
    clusterUid: remoteUid,
    namespace,
    roads,
    kafkaNamespaces,
    reach,
    account: options.isLongLived ? undefined : account,
    kubeconfig: joinedKubeconfig(way, { cluster, token, namespace: first }),
  };
}

/** The right to renew a token that is not renewed any more. */
async function formerRenewal(client: Client, situation: Situation): Promise<AnyObject[]> {
  const { name, namespace } = situation.request;
  return situation.options.isLongLived ? renewalRightsHere(client, name, namespace) : [];
}

async function newToken({ remote, options, account }: Situation): Promise<string> {
  return options.isLongLived ? waitForToken(remote.client, account) : requestToken(remote.client, account);
}

async function preview(cluster: string, client: Client, objects: readonly KubeObject[]): Promise<Change[]> {
  const made = new Set(
    objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name),
  );
  const changes: Change[] = [];
  for (const object of objects) {
    const { namespace } = object.metadata;
    const isThere = namespace === undefined || !made.has(namespace);
    changes.push({ cluster, object: textOf(object), change: await previewApply(client, object, isThere) });
  }
  return changes;
}
