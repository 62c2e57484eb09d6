/** Makes the cluster hold what one proxy needs: observe, plan, apply, say so. */
import { createWriter } from '../../kube/write/apply.ts';
import type { Summary } from '../../kube/write/apply.ts';
import { isOurs, referenceOf } from '../../kube/write/apply-decision.ts';
import type { Owner } from '../../kube/write/apply-decision.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { SUCCESS } from '../../kube/controller/controller.ts';
import type { Outcome } from '../../kube/controller/controller.ts';
import { ApiError } from '../../kube/http/errors.ts';
import { canonicalJson } from '../../kube/json.ts';
import { keyOf, nameOfKey, typeOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { messageOf } from '../../ops/errors.ts';
import type { PortBlock } from './blocks.ts';
import type { ProxyCaches } from './caches.ts';
import { checkedPlan } from './checked-plan.ts';
import type { CheckedPlan } from './checked-plan.ts';
import type { Checker } from './checks.ts';
import { SIGNATURE, ownerLabels } from './names.ts';
import { observeProxy } from './observe.ts';
import type { PodAnswers } from './observe.ts';
import { NO_FINDINGS } from './observed.ts';
import type { Findings, Observed, PlanSettings } from './observed.ts';
import { lookAt } from './patience.ts';
import type { Look } from './patience.ts';
import { planProxy } from './plan.ts';
import type { Plan } from './plan.ts';
import type { PodTalk } from './pods.ts';
import type { RoadMetrics } from './metrics.ts';
import type { PlannedStatus } from './status.ts';
import { workThrough } from './work-through.ts';
import { nextStatus } from './write-status.ts';
import type { WriteStatus } from './write-status.ts';

export interface ReconcilerOptions {
  cluster: Cluster;
  caches: ProxyCaches;
  checker: Checker;
  pods: PodTalk;
  settings: PlanSettings;
  metrics: RoadMetrics;
  writeStatus: WriteStatus;
  /** Names that others have, by reference, and the proxy that waits for each: kept here, for whoever sees one become free. */
  waiting: Map<string, string>;
}

type ProxyName = { namespace: string; name: string };

/** The cache is behind what this program wrote itself a moment ago. */
class Stale extends Error {}
const STALE_MS = 50;
const STATUSES_AT_ONCE = 8;

const SOURCE_OF = {
  KafkaProxy: 'proxies',
  KafkaProxyIngress: 'ingresses',
  VirtualKafkaCluster: 'virtualClusters',
} as const satisfies Record<PlannedStatus['kind'], string>;

export function createReconciler(options: ReconcilerOptions) {
  const { cluster, caches, checker, pods, settings, metrics, writeStatus, waiting } = options;
  const { sources } = caches;
  const writer = createWriter(
    () => ({ client: cluster.client, cacheOf: (type) => caches.cacheOf(type) }),
    SIGNATURE,
  );
  const lastLooks = new Map<string, Look & { answers: PodAnswers }>();

  /** Plans, finds out what the proxy or the names of others stand against, and plans around that. */
  async function plan(
    proxy: ProxyName,
    owner: Owner,
    now: number,
    signal: AbortSignal,
  ): Promise<CheckedPlan> {
    const { answers } = lastLooks.get(keyOf(proxy)) ?? { answers: new Map() };
    const observed = observeProxy(sources, proxy, { kinds: caches.served(), answers, now });
    const first = await checkedPlan(observed, settings, NO_FINDINGS, checker);
    const taken = await findTaken(first.plan.objects, owner, signal);
    for (const [reference, key] of waiting)
      if (key === keyOf(proxy) && !taken.has(reference)) waiting.delete(reference);
    for (const reference of taken) waiting.set(reference, keyOf(proxy));
    return taken.size === 0 ? first : checkedPlan(observed, settings, { ...first.findings, taken }, checker);
  }

  /** Names of ours that someone else has. Told before anything is written, so that nothing is written twice. */
  async function findTaken(
    objects: readonly AnyObject[],
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Set<string>> {
    const taken = new Set<string>();
    for (const object of objects) {
      const type = typeOf(object);
      const cached = caches.cacheOf(type)?.get(keyOf(object.metadata));
      if (!cached && caches.isComplete(type)) continue;
      const live = cached ?? (await cluster.client.get(type, object.metadata, { signal }));
      if (live && !isOurs(live, owner, SIGNATURE)) taken.add(referenceOf(object));
    }
    return taken;
  }

  /** Ports are written down before anybody can be sent to them: forgotten, they would go to someone else. */
  async function persistPorts(proxy: ProxyName, { portBlocks }: Plan, signal: AbortSignal): Promise<void> {
    const live = sources.proxies.get(keyOf(proxy));
    if (!live) return;
    const seen = blocksIn(live);
    if (canonicalJson(seen) === canonicalJson(portBlocks)) return;
    const statusOf = (status: StatusWithPorts | undefined) => {
      requireBlocks(status, [seen, portBlocks]);
      return { ...status, portBlocks };
    };
    await writeStatus(live, statusOf, signal);
  }

  async function writeOne(proxy: ProxyName, planned: PlannedStatus, now: number, signal: AbortSignal) {
    const { kind, name, status } = planned;
    const live = sources[SOURCE_OF[kind]].get(keyOf({ namespace: proxy.namespace, name }));
    if (!live) return;
    const blocks = (status as StatusWithPorts).portBlocks;
    const statusOf = (existing: StatusWithPorts | undefined) => {
      // An older version of the status is brought up to date; an older version of the ports never.
      if (blocks) requireBlocks(existing, [blocks, blocksIn(live)]);
      return nextStatus(existing, planned, new Date(now));
    };
    await writeStatus(live, statusOf, signal);
  }

  async function writeStatuses(
    proxy: ProxyName,
    statuses: readonly PlannedStatus[],
    now: number,
    signal: AbortSignal,
  ): Promise<void> {
    // None may still be on its way when the next plan writes its own.
    await workThrough(statuses, STATUSES_AT_ONCE, (next) => writeOne(proxy, next, now, signal));
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { namespace = '', name } = nameOfKey(key);
    const proxy = { namespace, name };
    const owner: Owner = { labels: ownerLabels(name), kinds: caches.made(), namespaces: [namespace] };
    const now = Date.now();
    const { plan: first, findings } = await plan(proxy, owner, now, signal);
    if (first.isUnknown) {
      await writeStatuses(proxy, first.statuses, now, signal);
      return soonAgain(first);
    }
    metrics.planned(key, first.objects.length);
    await persistPorts(proxy, first, signal);
    const kinds = first.keepsLeftovers ? [] : owner.kinds;
    const summary = await writer.apply({ owner: { ...owner, kinds }, objects: first.objects, signal });
    count(summary, metrics);

    const live = sources.pods.find('proxy', key);
    const answers = await pods.ask(live, signal);
    const nudged = await pods.nudge(live, first.config.hash, answers, signal);
    metrics.wrote('pod', nudged.told);
    // Said again with what the pods answered.
    const observed = observeProxy(sources, proxy, { kinds: caches.served(), answers, now });
    const look = lookAtPods(observed, first, lastLooks.get(key));
    if (live.length > 0) lastLooks.set(key, { ...look, answers });
    else lastLooks.delete(key);
    const seen = { ...observed, podsSince: look.since };
    const last = planProxy(seen, settings, { ...findings, denied: denialsIn(summary) });
    await writeStatuses(proxy, last.statuses, now, signal);
    if (summary.errors.length > 0) return { outcome: 'error', error: failureOf(summary) };
    if (nudged.failure !== undefined) return { outcome: 'error', error: nudged.failure };
    return soonAgain(last);
  }

  return async (key: string, signal: AbortSignal): Promise<Outcome> => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (error instanceof Stale) return { outcome: 'lookAgain', afterMs: STALE_MS };
      throw error;
    }
  };
}

const soonAgain = ({ lookAgainInMs }: Plan): Outcome =>
  lookAgainInMs === undefined ? SUCCESS : { outcome: 'lookAgain', afterMs: lookAgainInMs };

function lookAtPods({ world, live, name, now }: Observed, { config }: Plan, before: Look | undefined): Look {
  const proxy = world.proxies.find(({ metadata }) => metadata.name === name);
  const sight = { generation: proxy?.metadata.generation, configVersion: config.hash, pods: live.pods };
  return lookAt(sight, before, now);
}

interface StatusWithPorts {
  portBlocks?: PortBlock[];
}

function blocksIn({ status }: AnyObject): PortBlock[] {
  return (status as StatusWithPorts | undefined)?.portBlocks ?? [];
}

/** Refuses to write over ports that were not known when the plan was made. */
function requireBlocks(status: StatusWithPorts | undefined, known: readonly PortBlock[][]): void {
  const found = canonicalJson(status?.portBlocks ?? []);
  if (!known.some((blocks) => canonicalJson(blocks) === found))
    throw new Stale('ports have changed meanwhile');
}

function count({ created, updated, deleted }: Summary, metrics: RoadMetrics): void {
  metrics.wrote('created', created.length);
  metrics.wrote('updated', updated.length);
  metrics.wrote('deleted', deleted.length);
}

/** Errors that stay until somebody does something about them; others will have gone by the next try. */
function denialsIn({ errors }: Summary): Findings['denied'] {
  return new Map(
    errors.flatMap(({ object, error }) => {
      const isFinal = error instanceof ApiError && FINAL.has(error.status);
      return isFinal ? [[object, error.message] as const] : [];
    }),
  );
}

const FINAL = new Set([400, 403, 413, 422]);

function failureOf({ errors }: Summary): unknown {
  const [first] = errors;
  if (errors.length === 1) return first?.error;
  const all = errors.map(({ object, error }) => `${object}: ${messageOf(error)}`).join('; ');
  return new Error(all, { cause: first?.error });
}
