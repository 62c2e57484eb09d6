/** What a Kafka over several Kubernetes clusters needs beyond one in a single cluster. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { LOCAL } from '../../kernel/plan.ts';
import type { Action } from '../act.ts';
import { charterOf } from '../anchor.ts';
import type { Fault } from '../faults.ts';
import type { Charter } from '../model/charter.ts';
import { podName } from '../model/names.ts';
import type { Observed } from '../observe.ts';
import type { Wanted } from '../target.ts';
import { remoteTarget } from '../target.ts';
import { adoptionFaults } from './adoption.ts';
import { STRETCH_FINALIZER, claimantOf, fenceOf } from './anchor.ts';
import type { TargetWish } from './plan-target.ts';
import { isClean, unseenAmong } from './sight.ts';
import type { TargetSight } from './sight.ts';

export type TargetWishes = ReadonlyMap<string, TargetWish>;

const awayIn = ({ targets }: Pick<Charter, 'targets'>) =>
  Object.keys(targets).filter((name) => name !== LOCAL);

/** How long something has not been seen, and why. */
const outage = (name: string, seen: TargetSight | undefined) => {
  if (!seen) return `cluster "${name}" is not joined any more`;
  const { since, problem } = seen.sight;
  if (since === undefined) return `cluster "${name}"`;
  return `cluster "${name}" cannot be seen since ${new Date(since).toISOString()}: ${problem}`;
};

/**
 * Why nothing can be decided yet about a Kafka of which nothing is written down: it may exist in a cluster that was not read, or does in
 * one that was. Another one of its name would be made beside it.
 */
export function firstSightFaults(observed: Observed, centralId: string | undefined): Fault[] {
  const { anchor, pools, targets } = observed;
  if (anchor || !targets) return [];
  const named = new Set(pools.flatMap(({ spec: { cluster } }) => cluster ?? []));
  const known = [...named].filter((name) => targets.has(name));
  const unseen = unseenAmong(targets, known);
  if (unseen.length > 0) {
    const message = unseen.map((name) => outage(name, targets.get(name))).join('; ');
    return [{ reason: 'ClustersPending', path: [], message }];
  }
  return adoptionFaults(observed, centralId);
}

/** Whoever has lost the Kafka to another central does nothing any more, anywhere. */
export function lostFaults({ kafka, targets }: Observed, charter: Charter, holder: string): Fault[] {
  if (!kafka || !targets) return [];
  const own = claimantOf(kafka, charter, holder);
  return awayIn(charter).flatMap((name): Fault[] => {
    const anchor = targets.get(name)?.anchor;
    const fence = anchor && fenceOf(anchor, own);
    return fence === undefined
      ? []
      : [{ reason: 'RunByAnother', path: [], message: `cluster "${name}": ${fence}` }];
  });
}

/** Clusters that nodes are in, and of which nothing is known now. */
export const unseenTargets = ({ targets }: Observed, charter: Charter): ReadonlySet<string> =>
  new Set(unseenAmong(targets, awayIn(charter)));

/** What is wrong elsewhere: that takes nothing away from what runs. */
export function targetFaultsOf(observed: Observed, charter: Charter): Fault[] {
  const { targets, targetFaults, name } = observed;
  const unseen = [...unseenTargets(observed, charter)].map((cluster): Fault => {
    const nodes = charter.nodes.filter(({ target }) => target === cluster);
    const names = nodes.map(({ pool, id }) => podName(name, pool, id)).join(', ');
    const message = `${outage(cluster, targets?.get(cluster))}; what runs there goes on as it is${names === '' ? '' : ` (${names})`}, and no node is restarted anywhere meanwhile`;
    return { reason: 'ClusterUnreachable', path: [], message };
  });
  const reported = awayIn(charter).flatMap((cluster) => targetFaults.get(cluster) ?? []);
  return [...unseen, ...reported];
}

/** Pods of nodes that are where nothing can be seen, and that were never seen since the operator began: nobody knows what they have loaded. */
export function unknownPods(observed: Observed, charter: Charter): AnyObject[] {
  const unseen = unseenTargets(observed, charter);
  const known = new Set(observed.pods.map(({ metadata }) => metadata.name));
  return charter.nodes
    .filter(({ target }) => unseen.has(target))
    .map(({ pool, id }) => podName(observed.name, pool, id))
    .filter((name) => !known.has(name))
    .map((name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: observed.namespace } }));
}

/** Whether a finalizer keeps the Kafka until other clusters are clean. */
const isHeld = ({ metadata }: Kafka) => (metadata.finalizers ?? []).includes(STRETCH_FINALIZER);

/** Before anything is made elsewhere. */
export const holdActions = (kafka: Kafka, charter: Charter): Action[] =>
  awayIn(charter).length === 0 || isHeld(kafka) ? [] : [{ do: 'hold', kafka }];

/** What is wanted in each other cluster that can be seen, once the charter is written down, and nobody can delete the Kafka unnoticed. */
export function wishesOf(observed: Observed, wanted: Wanted, holder: string): TargetWishes {
  const { charter } = wanted;
  const kafka = observed.kafka!;
  if (!isHeld(kafka)) return new Map();
  const seen = awayIn(charter).filter((name) => observed.targets?.get(name)?.sight.isSeen);
  return new Map(
    seen.map((name) => {
      const hasNodes =
        charter.nodes.some(({ target }) => target === name) ||
        wanted.cluster.pools.some(({ target }) => target === name);
      const wish: TargetWish = hasNodes
        ? { do: 'have', kafka, charter, holder, target: remoteTarget(name, wanted) }
        : { do: 'leave', kafka, charter, holder };
      return [name, wish];
    }),
  );
}

/** Lets the Kafka go although a cluster may still have something of it. */
export const FORCE_CLEANUP_ANNOTATION = 'isthmus.dev/force-cleanup';

export interface Farewell {
  wishes: TargetWishes;
  actions: Action[];
  faults: Fault[];
}

/** What is left to do for a Kafka that is being deleted. */
export function farewellOf(observed: Observed, holder: string): Farewell {
  const { kafka, anchor, targets } = observed;
  if (!kafka) return { wishes: new Map(), actions: [], faults: [] };
  const charter = anchor && charterOf(anchor);
  const own = charter && claimantOf(kafka, charter, holder);
  const isDone = (name: string) => {
    const seen = targets?.get(name);
    // What another central has taken over is not ours to delete.
    return (
      isClean(seen) || (seen?.sight.isSeen && seen.anchor && own && fenceOf(seen.anchor, own) !== undefined)
    );
  };
  const left = charter ? awayIn(charter).filter((name) => !isDone(name)) : [];
  const isForced = kafka.metadata.annotations[FORCE_CLEANUP_ANNOTATION] === 'true';
  const pending = isForced ? left.filter((name) => targets?.get(name)?.sight.isSeen) : left;
  if (!charter || pending.length === 0)
    return { wishes: new Map(), actions: [{ do: 'let go', kafka }], faults: [] };
  const wish: TargetWish = { do: 'leave', kafka, charter, holder };
  const message = `still to be cleaned: ${pending.map((name) => outage(name, targets?.get(name))).join('; ')}`;
  return {
    wishes: new Map(pending.map((name) => [name, wish])),
    actions: [],
    faults: [{ reason: 'CleanupPending', path: [], message }],
  };
}
