/** Does what a plan cannot say by objects: makes keys, asks Kafka, and takes at most one step of a roll. */
import type { Admin } from '../../kafka/admin/admin.ts';
import type { OnRequest } from '../../kafka/admin/routing.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { addFinalizer, removeFinalizer } from '../../kube/write/finalizers.ts';
import type { Log } from '../../ops/log.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { ActResult } from '../kernel/reconcile.ts';
import { Stale } from '../kernel/status.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Minted, MintRequest } from './certificates/authorities.ts';
import { mint } from './certificates/mint.ts';
import { carryOut, deleteClaims } from './carry-out.ts';
import type { StepContext } from './carry-out.ts';
import { noticeOf } from './certificates/notices.ts';
import { admitted } from './look/admission.ts';
import { connectTo, identityOf } from './look/connect.ts';
import type { Identity } from './look/connect.ts';
import { NO_FACTS, askBrokers, askControllers } from './look/facts.ts';
import type { KafkaFacts } from './look/facts.ts';
import { forget, strandedBrokers } from './look/gone-brokers.ts';
import { cordonedAmong, isThrottled, moveOn, uncordon, wantsMoves } from './look/move.ts';
import type { MoveProgress, MoveWish } from './look/move.ts';
import { changeVoters } from './look/voters.ts';
import type { VoterProgress } from './look/voters.ts';
import { reloadCertificates } from './look/reload.ts';
import type { Reloads } from './look/reload.ts';
import { rollInput } from './look/roll-input.ts';
import type { WantedNodes } from './look/roll-input.ts';
import { patchUnchanged } from './entities/mark.ts';
import type { LayoutWarning } from './moves/layout-warnings.ts';
import { namesOfReady } from './departures.ts';
import { dynamicQuorumOf } from './model/charter.ts';
import type { VoterChange } from './model/charter.ts';
import { hasRole, nodesOf } from './model/cluster.ts';
import { podName } from './model/names.ts';
import { asksForNewDisks } from './requests.ts';
import type { ObjectPatch } from './requests.ts';
import { isPodReady } from './status.ts';
import { moveNews } from './news.ts';
import type { News } from './news.ts';
import { loanKey } from './stretch/adoption.ts';
import type { Borrowed, Loan } from './stretch/adoption.ts';
import { STRETCH_FINALIZER } from './stretch/anchor.ts';
import { nextRoll } from './roll/next-roll.ts';
import type { RollDecision } from './roll/facts.ts';

/** What is to be done besides objects. */
export type Action =
  | { do: 'mint'; cluster: string; requests: readonly MintRequest[] }
  /** Looks at Kafka, and takes the next step of a roll. `anchorWith` is the document that a step is written down in before. */
  | { do: 'look'; wanted: WantedNodes; anchorWith: AnchorWith }
  | ({ do: 'patch'; cluster: string } & ObjectPatch)
  | { do: 'delete claims'; cluster: string; claims: readonly AnyObject[] }
  /** Keeps the Kafka until other clusters are clean, or no longer. */
  | { do: 'hold' | 'let go'; kafka: KubeObject }
  /** Reads Secrets in other clusters. */
  | { do: 'borrow'; loans: readonly Loan[] }
  | ({ do: 'tell' } & News);

/** What is written down before it is done: a restart, that the volumes of a node may be formatted again, a change of voters. */
export interface Begun {
  inFlight?: RollDecision['inFlight'];
  emptied?: number | undefined;
  change?: VoterChange | undefined;
}

/** The document that it is written down in, in the place of all that was begun before. */
export type AnchorWith = (begun: Begun) => AnyObject;

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
  /** How far brokers that are to go are empty, when that was so, and which pods were ready before Kafka was asked. */
  moved: (MoveProgress & { at: number; ready: ReadonlySet<string> }) | undefined;
  /** How far controllers that are to vote, or to go, are; undefined where voters stay the same, or nobody could ask. */
  voters?: VoterProgress | undefined;
  /** Secrets that were read in other clusters, until they are written here. */
  borrowed?: Borrowed | undefined;
  /** What partitions would not survive, as was seen last: what cannot be asked for a moment is not over. */
  layout?: readonly LayoutWarning[] | undefined;
}

export interface ActContext {
  /** Of a Kubernetes cluster by its name; of the central one if none is given. */
  client: (cluster?: string) => Client;
  targets: Targets;
  /** Of the Kafka, in all clusters. */
  namespace: string;
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

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

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
    borrowed: before?.borrowed,
  };
  try {
    for (const action of actions)
      if (action.do === 'mint') acted.minted = await mintAll(action, context);
      else if (action.do === 'look') await look(action, before, acted, context, signal);
      else if (action.do === 'patch')
        await patchUnchanged(context.client(action.cluster), action.object, action.patch, signal);
      else if (action.do === 'tell') context.tell(action.reason, action.note);
      else if (action.do === 'delete claims')
        await deleteClaims(action.claims, action.cluster, context, signal);
      else if (action.do === 'borrow') acted.borrowed = await borrow(action.loans, acted, context, signal);
      else if (action.do === 'hold')
        await addFinalizer(context.client(), action.kafka, STRETCH_FINALIZER, signal);
      else await removeFinalizer(context.client(), action.kafka, STRETCH_FINALIZER, signal);
  } catch (failure) {
    if (failure instanceof Stale) throw failure;
    return { acted, failure };
  }
  for (const { reason, note } of moveNews(before, acted)) context.tell(reason, note);
  return { acted };
}

/** What cannot be read for a moment is read the next time. */
async function borrow(
  loans: readonly Loan[],
  { borrowed = new Map() }: Pick<Acted, 'borrowed'>,
  { client, namespace }: ActContext,
  signal: AbortSignal,
): Promise<Borrowed> {
  const found = new Map(borrowed);
  for (const loan of loans) {
    const secret = await client(loan.cluster).get(SECRET, { namespace, name: loan.secret }, { signal });
    found.set(loanKey(loan), secret);
  }
  return found;
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
  before: Acted | undefined,
  acted: Acted,
  context: ActContext,
  signal: AbortSignal,
): Promise<void> {
  const { clock, podsOf, targets, connect = connectTo } = context;
  const podsSeenAt = clock();
  const pods = podsOf();
  const nodes = wanted.charter.nodes.map(({ pool, id }) => podName(wanted.cluster.name, pool, id));
  const tls = identityOf(wanted.cluster.name, context.secretOf, nodes);
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
    const { inFlight } = decision;
    const persist = (begun: Begun) =>
      targets.persist([{ cluster: LOCAL, object: anchorWith(begun) }], signal);
    if (!isWritten) await persist({ inFlight, emptied, change: dynamicQuorumOf(wanted.charter)?.change });
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
    // What was just written has another version now, over which nothing can be written before it is seen.
    if (isWritten)
      acted.voters = await changeVoters(wanted, {
        ...context,
        pods,
        facts,
        decision,
        brokers,
        before: before?.voters,
        drained: before?.moved?.drained ?? [],
        now: clock(),
        persist: (change) => persist({ inFlight, change }),
      });
    if (decision.do !== 'done' || brokers === undefined) return;
    const move = facts ? withStranded(wanted, facts) : wanted.move;
    if (facts) await forget(brokers, wanted.charter, facts, context);
    if (facts) await uncordon(brokers, cordonedAmong(facts.configs, move.leaving));
    if (wantsMoves(move) || (facts && isThrottled(facts.configs)))
      acted.moved = { ...(await moveOn(brokers, move)), at: clock(), ready: namesOfReady(pods) };
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
  return reloadCertificates({ ...context, wanted, tls, tell }, before, restarted, signal);
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
  const ids = nodesOf(cluster).flatMap(({ node }) => (hasRole(node, 'broker') ? [node.id] : []));
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
