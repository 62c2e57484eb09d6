/** Does what a plan cannot say by objects: makes keys, asks Kafka, and takes at most one step of a roll. */
import type { Admin } from '../../kafka/admin/admin.ts';
import type { OnRequest } from '../../kafka/admin/routing.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { ActResult } from '../kernel/reconcile.ts';
import { Stale } from '../kernel/status.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Minted, MintRequest } from './certificates/authorities.ts';
import { mint } from './certificates/mint.ts';
import { noticeOf } from './certificates/notices.ts';
import { admitted } from './look/admission.ts';
import { connectTo, identityOf } from './look/connect.ts';
import type { Identity } from './look/connect.ts';
import { NO_FACTS, askBrokers, askControllers } from './look/facts.ts';
import type { KafkaFacts } from './look/facts.ts';
import { forget, strandedBrokers } from './look/gone-brokers.ts';
import { cordonedAmong, isThrottled, moveOn, uncordon, wantsMoves } from './look/move.ts';
import type { MoveProgress, MoveWish } from './look/move.ts';
import { reloadCertificates } from './look/reload.ts';
import type { Reloads } from './look/reload.ts';
import { rollInput } from './look/roll-input.ts';
import type { WantedNodes } from './look/roll-input.ts';
import { patchUnchanged } from './entities/mark.ts';
import type { LayoutWarning } from './moves/layout-warnings.ts';
import { hasRole, nodesOf } from './model/cluster.ts';
import { podName } from './model/names.ts';
import { asksForNewDisks, claimsOfNode } from './requests.ts';
import type { ObjectPatch } from './requests.ts';
import { isPodReady } from './status.ts';
import type { News } from './news.ts';
import { nextRoll } from './roll/next-roll.ts';
import { eventReason } from './roll/restart-reasons.ts';
import { alterationsOf } from './roll/config-change.ts';
import type { RollDecision } from './roll/facts.ts';

/** What is to be done besides objects. */
export type Action =
  | { do: 'mint'; cluster: string; requests: readonly MintRequest[] }
  /** Looks at Kafka, and takes the next step of a roll. `anchorWith` is the document that a step is written down in before. */
  | { do: 'look'; wanted: WantedNodes; anchorWith: AnchorWith }
  | ({ do: 'patch' } & ObjectPatch)
  | { do: 'delete claims'; claims: readonly AnyObject[] }
  | ({ do: 'tell' } & News);

/** The document in which a restart is written down, and that the volumes of a node may be formatted again. */
export type AnchorWith = (inFlight: RollDecision['inFlight'], emptied?: number) => AnyObject;

/** What doing it has brought. */
export interface Acted {
  minted: readonly Minted[];
  facts: KafkaFacts | undefined;
  decision: RollDecision | undefined;
  /** How many nodes are still to be restarted. */
  toRestart?: number | undefined;
  /** By uid of a pod: settings that its process refused to change while it runs. */
  refused: ReadonlyMap<string, ReadonlySet<string>>;
  /** Brokers that are loading new certificates while they run. */
  reloads: Reloads;
  /** How far brokers that are to go are empty, and when that was so. */
  moved: (MoveProgress & { at: number }) | undefined;
  /** What partitions would not survive, as was seen last: what cannot be asked for a moment is not over. */
  layout?: readonly LayoutWarning[] | undefined;
}

export interface ActContext {
  client: () => Client;
  targets: Targets;
  /** The pods of a cluster, and a Secret of its namespace with what it holds. */
  podsOf: () => readonly AnyObject[];
  secretOf: (name: string) => AnyObject | undefined;
  /** Tells whoever looks at the Kafka. */
  tell: (reason: string, note: string) => void;
  /** Told of each request to Kafka. */
  onRequest: OnRequest;
  log: Log;
  clock: () => number;
  /** `connectTo` if left out. */
  connect?: typeof connectTo | undefined;
}

const POD = { group: '', version: 'v1', kind: 'Pod' };
const CLAIM = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' };

export async function act(
  actions: readonly Action[],
  before: Acted | undefined,
  context: ActContext,
  signal: AbortSignal,
): Promise<ActResult<Acted>> {
  const acted: Acted = {
    minted: [],
    facts: undefined,
    decision: undefined,
    refused: before?.refused ?? new Map(),
    reloads: before?.reloads ?? new Map(),
    moved: undefined,
    layout: before?.layout,
  };
  try {
    for (const action of actions)
      if (action.do === 'mint') acted.minted = await mintAll(action, context);
      else if (action.do === 'look') await look(action, acted, context, signal);
      else if (action.do === 'patch')
        await patchUnchanged(context.client(), action.object, action.patch, signal);
      else if (action.do === 'tell') context.tell(action.reason, action.note);
      else await deleteClaims(action.claims, context, signal);
  } catch (failure) {
    if (failure instanceof Stale) throw failure;
    return { acted, failure };
  }
  return { acted };
}

function mintAll(
  { requests, cluster }: Extract<Action, { do: 'mint' }>,
  { secretOf, clock, tell }: ActContext,
): Promise<Minted[]> {
  const now = new Date(clock());
  for (const { reason, note } of requests.flatMap((request) => noticeOf(request) ?? [])) tell(reason, note);
  return Promise.all(requests.map((request) => mint(request, cluster, secretOf, now)));
}

/** Puts into `acted` what it finds out as soon as it knows: what fails after that takes nothing of it away. */
async function look(
  { wanted, anchorWith }: Extract<Action, { do: 'look' }>,
  acted: Acted,
  context: ActContext,
  signal: AbortSignal,
): Promise<void> {
  const { clock, podsOf, targets, connect = connectTo } = context;
  const podsSeenAt = clock();
  const pods = podsOf();
  const tls = identityOf(wanted.cluster.name, context.secretOf);
  const brokers = tls && connect(wanted, pods, tls, 'brokers', context.onRequest);
  try {
    const facts = tls && (await ask(wanted, pods, tls, brokers, context));
    const input = rollInput(wanted, pods, facts, { now: clock(), podsSeenAt });
    const decision = await admitted(nextRoll(input), wanted, pods, context.client, signal);
    const toRestart = input.nodes.filter(({ reasons }) => reasons.length > 0).length;
    Object.assign(acted, { facts, decision, toRestart, layout: facts?.layout ?? acted.layout });
    const emptied = emptiedBy(decision, pods);
    const isWritten =
      isSameFlight(decision.inFlight, wanted.charter.inFlight) && !mayKeepData(wanted.charter, emptied);
    if (!isWritten)
      await targets.persist([{ cluster: LOCAL, object: anchorWith(decision.inFlight, emptied) }], signal);
    acted.refused = await carryOut(decision, wanted, { ...context, pods, brokers }, signal);
    if (tls && brokers && !wanted.paused)
      acted.reloads = await reload(
        decision,
        wanted,
        { ...context, pods, brokers },
        tls,
        acted.reloads,
        signal,
      );
    if (decision.do !== 'done' || brokers === undefined) return;
    const move = facts ? withStranded(wanted, facts) : wanted.move;
    if (facts) await forget(brokers, wanted.charter, facts, context);
    if (facts) await uncordon(brokers, cordonedAmong(facts.configs, move.leaving));
    if (wantsMoves(move) || (facts && isThrottled(facts.configs)))
      acted.moved = { ...(await moveOn(brokers, move)), at: clock() };
  } finally {
    brokers?.close();
  }
}

/** Where cordoning cannot keep replicas off a broker, one may come just before it goes. */
const withStranded = ({ move, charter }: WantedNodes, facts: KafkaFacts): MoveWish => ({
  ...move,
  leaving: [...move.leaving, ...strandedBrokers(charter, facts)],
});

function reload(
  decision: RollDecision,
  wanted: WantedNodes,
  context: StepContext & { brokers: Admin },
  tls: Identity,
  before: Reloads,
  signal: AbortSignal,
): Promise<Reloads> {
  const restarted = decision.do === 'restart' ? decision.node : undefined;
  const tell = (node: string) =>
    context.tell('CertificatesReloaded', `${node} has loaded its certificates without a restart`);
  return reloadCertificates(
    { ...context, wanted, tls, client: context.client(), tell },
    before,
    restarted,
    signal,
  );
}

const isSameFlight = (a: RollDecision['inFlight'], b: RollDecision['inFlight']) =>
  a?.podUid === b?.podUid && a?.node === b?.node;

/** The node that is restarted with new disks, if one is. */
function emptiedBy(decision: RollDecision, pods: readonly AnyObject[]): number | undefined {
  if (decision.do !== 'restart') return undefined;
  const pod = pods.find(({ metadata }) => metadata.uid === decision.podUid);
  return pod && asksForNewDisks(pod) ? decision.node : undefined;
}

/** Whether it is written down that a node has data, although it is to lose it. */
const mayKeepData = ({ nodes }: WantedNodes['charter'], emptied: number | undefined) =>
  nodes.some(({ id, formatted }) => id === emptied && formatted.length > 0);

/** Each by its uid, so that no claim of the same name that came since goes. */
async function deleteClaims(
  claims: readonly AnyObject[],
  { client, tell, log }: Pick<ActContext, 'client' | 'tell' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of claims) {
    log.info({ claim: metadata.name }, 'claim is deleted');
    await client().delete(CLAIM, metadata, { uid: metadata.uid ?? '', signal });
    tell('ClaimDeleted', `deleted PersistentVolumeClaim "${metadata.name}", as was asked for`);
  }
}

interface StepContext extends ActContext {
  pods: readonly AnyObject[];
  brokers: Admin | undefined;
}

/** At most one step, which was written down if it is one that a crash must not repeat. Returns what was refused, so far. */
async function carryOut(
  decision: RollDecision,
  wanted: WantedNodes,
  context: StepContext,
  signal: AbortSignal,
): Promise<Acted['refused']> {
  const { client, tell, log, pods, brokers } = context;
  if (decision.do === 'restart') {
    log.info({ node: decision.node, reason: decision.why }, 'node is restarted');
    const pod = pods.find(({ metadata }) => metadata.uid === decision.podUid);
    // First: a claim that is on its way out keeps the next pod waiting until there is a new one.
    if (pod && asksForNewDisks(pod))
      await deleteClaims(claimsOfNode(wanted.claims, decision.node), context, signal);
    if (pod) await client().delete(POD, pod.metadata, { uid: decision.podUid, signal });
    for (const reason of decision.reasons)
      tell(eventReason(reason), `node ${decision.node} is restarted: ${reason.note}`);
  } else if (decision.do === 'reconfigure' && brokers) {
    return reconfigure(decision, wanted, { ...context, brokers });
  } else if (decision.do === 'done' && wanted.finalize && brokers) {
    const { level, downgrade } = wanted.finalize;
    const kind = downgrade ? 'safe-downgrade' : 'upgrade';
    const { error } = await brokers.updateFeatures([{ feature: 'metadata.version', level, kind }]);
    if (error) throw new Error(`Kafka refused metadata.version ${level}: ${error.message}`);
    log.info({ level }, 'metadata version was changed');
    tell('MetadataVersionChanged', `metadata.version is ${level} now`);
  }
  return wanted.refused;
}

/** What a process refuses to change while it runs takes a restart, which the next look decides about. */
async function reconfigure(
  { node, change }: Extract<RollDecision, { do: 'reconfigure' }>,
  { cluster, refused }: WantedNodes,
  { brokers, pods, tell, log }: StepContext & { brokers: Admin },
): Promise<Acted['refused']> {
  const results = await brokers.alterConfigs(alterationsOf(node, change));
  const error = results.find((result) => result.error)?.error;
  const keys = [
    ...Object.keys(change.perBroker.set),
    ...Object.keys(change.clusterWide.set),
    ...change.perBroker.delete,
  ];
  // Values may be secrets of plug-ins.
  log.info({ node, settings: keys, refused: error !== undefined }, 'node was reconfigured while it runs');
  if (!error) tell('NodeReconfigured', `node ${node} has taken ${keys.join(', ')} without a restart`);
  if (!error) return refused;
  const pool = cluster.pools.find(({ nodes }) => nodes.some(({ id }) => id === node));
  const pod = pods.find(({ metadata }) => metadata.name === podName(cluster.name, pool?.name ?? '', node));
  const uid = pod?.metadata.uid ?? '';
  const alive = [...refused].filter(([known]) => pods.some(({ metadata }) => metadata.uid === known));
  return new Map([...alive, [uid, new Set([...(refused.get(uid) ?? []), ...keys])]]);
}

/** Brokers know everything; while none of them answers, controllers know at least who leads them. */
async function ask(
  wanted: WantedNodes,
  pods: readonly AnyObject[],
  tls: Identity,
  brokers: Admin | undefined,
  { clock, onRequest, connect = connectTo }: Pick<ActContext, 'clock' | 'onRequest' | 'connect'>,
): Promise<KafkaFacts> {
  const { cluster, charter } = wanted;
  const ready = new Set(pods.filter(isPodReady).map(({ metadata }) => metadata.name));
  const ids = nodesOf(cluster).flatMap(({ pool, node }) => (hasRole(pool, 'broker') ? [node.id] : []));
  // Also those whose pool was deleted: they may have the last replica of something.
  const unready = charter.nodes.filter(({ pool, id }) => !ready.has(podName(cluster.name, pool, id)));
  const asked = { ids, unready: new Set(unready.map(({ id }) => id)) };
  const facts = brokers && (await askBrokers(brokers, asked, clock));
  if (facts?.quorum) return facts;
  const controllers = connect(wanted, pods, tls, 'controllers', onRequest);
  try {
    return controllers ? await askControllers(controllers, clock) : { ...NO_FACTS, at: clock() };
  } finally {
    controllers?.close();
  }
}
