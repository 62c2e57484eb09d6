/** Does what a plan cannot say by objects: asks Redpanda, and takes at most one step of a roll. */
import type { Client } from '../../kube/http/client.ts';
import { hasStatus } from '../../kube/http/errors.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import type { Log } from '../../ops/log.ts';
import { refusalOf } from '../brokers/look/admission.ts';
import type { RollDecision } from '../brokers/roll/facts.ts';
import { nextRoll } from '../brokers/roll/next-roll.ts';
import type { ActResult } from '../kernel/reconcile.ts';
import { Stale } from '../kernel/status.ts';
import { askHealth } from './health.ts';
import { ROLL_ANNOTATION, podName } from './names.ts';
import { podOf } from './stateful-set.ts';
import { brokerFacts, isSameMemory, memoryText, rollInput } from './roll.ts';
import type { RollMemory, WantedBrokers } from './roll.ts';

/** Looks at the cluster, and takes the next step of a roll. The StatefulSet is where a step is written down before. */
export interface Action {
  do: 'look';
  cluster: AnyObject;
  statefulSet: AnyObject;
  /** The one that pods are made from now. */
  planned: AnyObject;
  wanted: WantedBrokers;
}

/** What doing it has brought. */
export interface Acted {
  decision: RollDecision;
  /** What stands against a restart, by what Redpanda says of itself, or why that is not known. */
  problem: string | undefined;
}

export interface ActContext {
  client: () => Client;
  /** The pods of the cluster. */
  podsOf: () => readonly AnyObject[];
  events: EventRecorder;
  log: Log;
  clock: () => number;
}

const POD = { group: '', version: 'v1', kind: 'Pod' };
const STATEFUL_SET = { group: 'apps', version: 'v1', kind: 'StatefulSet' };
/** Who writes the annotation, beside what is applied. */
const ROLL_FIELD_MANAGER = 'isthmus-roll';

export async function act(
  actions: readonly Action[],
  context: ActContext,
  signal: AbortSignal,
): Promise<ActResult<Acted>> {
  const [action] = actions;
  return action ? { acted: await look(action, context, signal) } : { acted: undefined };
}

async function look(action: Action, context: ActContext, signal: AbortSignal): Promise<Acted> {
  const { wanted } = action;
  const { clock, podsOf } = context;
  const podsSeenAt = clock();
  const pods = podsOf();
  const { health, problem } = await askHealth(addressesOf(pods), wanted.model.admin.port, clock, signal);
  const hasRun = wanted.memory.hasRun || pods.some((pod) => brokerFacts(pod).ready);
  const known = { ...wanted, memory: { ...wanted.memory, hasRun } };
  const next = nextRoll(rollInput(known, pods, health, { now: clock(), podsSeenAt }));
  const decision = await admitted(next, action, pods, context, signal);
  const memory = { hasRun, inFlight: decision.inFlight };
  if (!isSameMemory(memory, wanted.memory)) await remember(action, memory, context, signal);
  if (decision.do === 'restart') await restart(action, decision, pods, context, signal);
  return { decision, problem };
}

const LOOK_AGAIN_MS = 30_000;

/** The decision; blocked where nobody would let the new pod in, because of its host port for one. One that was begun already goes on. */
async function admitted(
  decision: RollDecision,
  { planned, wanted }: Action,
  live: readonly AnyObject[],
  { client }: ActContext,
  signal: AbortSignal,
): Promise<RollDecision> {
  if (decision.do !== 'restart' || wanted.memory.inFlight?.podUid === decision.podUid) return decision;
  const { node, podUid } = decision;
  const former = live.find(({ metadata }) => metadata.uid === podUid);
  const refusal = await refusalOf(podOf(planned, podName(wanted.model.name, node)), former, client(), signal);
  if (refusal === undefined) return decision;
  const why = `broker ${node} is not restarted, because the API server refuses its new pod: ${refusal}`;
  return { do: 'blocked', why, node, lookAgainInMs: LOOK_AGAIN_MS, inFlight: wanted.memory.inFlight };
}

/** Those that are ready first: they are most likely to answer. */
function addressesOf(pods: readonly AnyObject[]): string[] {
  const rank = (pod: AnyObject) => (brokerFacts(pod).ready ? 0 : 1);
  return pods
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap((pod) => ((pod['status'] ?? {}) as { podIP?: string }).podIP ?? []);
}

/** Over just the version that the decision was made from. */
async function remember(
  { statefulSet: { metadata } }: Action,
  memory: RollMemory,
  { client }: ActContext,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = metadata;
  const annotations = { [ROLL_ANNOTATION]: memoryText(memory) };
  const patch = { metadata: { uid, resourceVersion, annotations } };
  try {
    await client().mergePatch(STATEFUL_SET, metadata, patch, { fieldManager: ROLL_FIELD_MANAGER, signal });
  } catch (error) {
    if (hasStatus(error, 409) || hasStatus(error, 404))
      throw new Stale(`StatefulSet ${metadata.name} has changed meanwhile`);
    throw error;
  }
}

async function restart(
  { cluster }: Action,
  { node, podUid, why }: Extract<RollDecision, { do: 'restart' }>,
  pods: readonly AnyObject[],
  { client, events, log }: ActContext,
  signal: AbortSignal,
): Promise<void> {
  const pod = pods.find(({ metadata }) => metadata.uid === podUid);
  if (!pod) return;
  log.info({ node, reason: why }, 'broker is restarted');
  try {
    await client().delete(POD, pod.metadata, { uid: podUid, signal });
  } catch (error) {
    if (hasStatus(error, 409)) throw new Stale(`Pod ${pod.metadata.name} is another one by now`);
    throw error;
  }
  const note = `restarted broker ${node}: ${why}`;
  events.record(cluster, { type: 'Normal', reason: 'BrokerRestarted', action: 'Reconcile', note });
}
