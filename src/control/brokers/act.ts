/** Does what a plan cannot say by objects: makes keys, asks Kafka, and takes at most one step of a roll. */
import type { Admin } from '../../kafka/admin/admin.ts';
import type { ConfigChanges } from '../../kafka/admin/configs.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { ActResult } from '../kernel/reconcile.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Minted, MintRequest } from './certificates/authorities.ts';
import { mint } from './certificates/mint.ts';
import { connectTo, identityOf } from './look/connect.ts';
import type { Identity } from './look/connect.ts';
import { NO_FACTS, askBrokers, askControllers } from './look/facts.ts';
import type { KafkaFacts } from './look/facts.ts';
import { moveOn } from './look/move.ts';
import type { MoveProgress } from './look/move.ts';
import { rollInput } from './look/roll-input.ts';
import type { WantedNodes } from './look/roll-input.ts';
import { hasRole, nodesOf } from './model/cluster.ts';
import { podName } from './model/names.ts';
import { isPodReady } from './status.ts';
import { nextRoll } from './roll/next-roll.ts';
import type { DynamicChange } from './roll/config-change.ts';
import type { RollDecision } from './roll/facts.ts';

/** What is to be done besides objects. */
export type Action =
  | { do: 'mint'; cluster: string; requests: readonly MintRequest[] }
  /** Looks at Kafka, and takes the next step of a roll. `anchorWith` is the document that a step is written down in before. */
  | { do: 'look'; wanted: WantedNodes; anchorWith: (inFlight: RollDecision['inFlight']) => AnyObject };

/** What doing it has brought. */
export interface Acted {
  minted: readonly Minted[];
  facts: KafkaFacts | undefined;
  decision: RollDecision | undefined;
  /** By uid of a pod: settings that its process refused to change while it runs. */
  refused: ReadonlyMap<string, ReadonlySet<string>>;
  /** How far brokers that are to go are empty. */
  moved: MoveProgress | undefined;
}

export interface ActContext {
  client: () => Client;
  targets: Targets;
  /** The pods of a cluster, and a Secret of its namespace with what it holds. */
  podsOf: () => readonly AnyObject[];
  secretOf: (name: string) => AnyObject | undefined;
  log: Log;
  clock: () => number;
}

const POD = { group: '', version: 'v1', kind: 'Pod' };

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
    moved: undefined,
  };
  for (const action of actions)
    if (action.do === 'mint') {
      const now = new Date(context.clock());
      const minted = await Promise.all(
        action.requests.map((request) => mint(request, action.cluster, context.secretOf, now)),
      );
      acted.minted = [...acted.minted, ...minted];
    } else Object.assign(acted, await look(action, context, signal));
  return { acted };
}

async function look(
  { wanted, anchorWith }: Extract<Action, { do: 'look' }>,
  context: ActContext,
  signal: AbortSignal,
): Promise<Omit<Acted, 'minted'>> {
  const { clock, podsOf, targets } = context;
  const podsSeenAt = clock();
  const pods = podsOf();
  const tls = identityOf(wanted.cluster.name, context.secretOf);
  const brokers = tls && connectTo(wanted.cluster, pods, tls, 'brokers');
  try {
    const facts = tls && (await ask(wanted, pods, tls, brokers, clock));
    const decision = nextRoll(rollInput(wanted, pods, facts, { now: clock(), podsSeenAt }));
    if (!isSameFlight(decision.inFlight, wanted.charter.inFlight))
      await targets.persist([{ cluster: LOCAL, object: anchorWith(decision.inFlight) }], signal);
    const refused = await carryOut(decision, wanted, { ...context, pods, brokers }, signal);
    const isCalm = decision.do === 'done' && brokers !== undefined;
    if (isCalm) await forget(brokers, wanted, facts, context.log);
    const moved = isCalm && wanted.move ? await moveOn(brokers, wanted.move) : undefined;
    return { facts, decision, refused, moved };
  } finally {
    brokers?.close();
  }
}

const isSameFlight = (a: RollDecision['inFlight'], b: RollDecision['inFlight']) =>
  a?.podUid === b?.podUid && a?.node === b?.node;

/** Takes brokers off Kafka's books that are gone for good. */
async function forget(
  brokers: Admin,
  { charter }: WantedNodes,
  facts: KafkaFacts | undefined,
  log: Log,
): Promise<void> {
  const known = new Set(charter.nodes.map(({ id }) => id));
  for (const [id, { fenced }] of facts?.brokers?.registered ?? []) {
    if (known.has(id) || !fenced) continue;
    const { error } = await brokers.unregisterBroker(id);
    log.info({ node: id, refused: error?.message }, 'broker was unregistered');
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
  const { client, log, pods, brokers } = context;
  if (decision.do === 'restart') {
    log.info({ node: decision.node, reason: decision.why }, 'node is restarted');
    const pod = pods.find(({ metadata }) => metadata.uid === decision.podUid);
    if (pod) await client().delete(POD, pod.metadata, { uid: decision.podUid, signal });
  } else if (decision.do === 'reconfigure' && brokers) {
    return reconfigure(decision, wanted, { ...context, brokers });
  } else if (decision.do === 'done' && wanted.finalize && brokers) {
    const { level, downgrade } = wanted.finalize;
    const kind = downgrade ? 'safe-downgrade' : 'upgrade';
    const { error } = await brokers.updateFeatures([{ feature: 'metadata.version', level, kind }]);
    if (error) throw new Error(`Kafka refused metadata.version ${level}: ${error.message}`);
    log.info({ level }, 'metadata version was changed');
  }
  return wanted.refused;
}

/** What a process refuses to change while it runs takes a restart, which the next look decides about. */
async function reconfigure(
  { node, change }: Extract<RollDecision, { do: 'reconfigure' }>,
  { cluster, refused }: WantedNodes,
  { brokers, pods, log }: StepContext & { brokers: Admin },
): Promise<Acted['refused']> {
  const results = await brokers.alterConfigs(alterationsOf(node, change));
  const error = results.find((result) => result.error)?.error;
  log.info({ node, change, refused: error?.message }, 'node was reconfigured while it runs');
  if (!error) return refused;
  const pool = cluster.pools.find(({ nodes }) => nodes.some(({ id }) => id === node));
  const pod = pods.find(({ metadata }) => metadata.name === podName(cluster.name, pool?.name ?? '', node));
  const keys = [
    ...Object.keys(change.perBroker.set),
    ...Object.keys(change.clusterWide.set),
    ...change.perBroker.delete,
  ];
  const uid = pod?.metadata.uid ?? '';
  return new Map([...refused, [uid, new Set([...(refused.get(uid) ?? []), ...keys])]]);
}

function alterationsOf(node: number, { perBroker, clusterWide }: DynamicChange): ConfigChanges[] {
  const set = (properties: Readonly<Record<string, string>>) =>
    Object.entries(properties).map(([name, value]) => ({ name, change: 'set' as const, value }));
  const own = [
    ...set(perBroker.set),
    ...perBroker.delete.map((name) => ({ name, change: 'delete' as const })),
  ];
  const all = set(clusterWide.set);
  return [
    ...(own.length > 0 ? [{ resource: { type: 'broker' as const, name: String(node) }, changes: own }] : []),
    ...(all.length > 0 ? [{ resource: { type: 'broker' as const, name: '' }, changes: all }] : []),
  ];
}

/** Brokers know everything; while none of them answers, controllers know at least who leads them. */
async function ask(
  { cluster }: WantedNodes,
  pods: readonly AnyObject[],
  tls: Identity,
  brokers: Admin | undefined,
  clock: () => number,
): Promise<KafkaFacts> {
  const nodes = nodesOf(cluster);
  const ready = new Set(pods.filter(isPodReady).map(({ metadata }) => metadata.name));
  const ids = nodes.flatMap(({ pool, node }) => (hasRole(pool, 'broker') ? [node.id] : []));
  const unready = nodes.filter(({ pool, node }) => !ready.has(podName(cluster.name, pool.name, node.id)));
  const asked = { ids, unready: new Set(unready.map(({ node }) => node.id)) };
  const facts = brokers && (await askBrokers(brokers, asked, clock));
  if (facts?.quorum) return facts;
  const controllers = connectTo(cluster, pods, tls, 'controllers');
  try {
    return controllers ? await askControllers(controllers, clock) : { ...NO_FACTS, at: clock() };
  } finally {
    controllers?.close();
  }
}
