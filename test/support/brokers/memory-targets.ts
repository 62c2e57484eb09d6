/**
 * Other Kubernetes clusters made of nothing but objects in memory, for Kafkas that are stretched over them. Each has a pod-set controller
 * whose pods are ready at once, and a garbage collector. One that is `unseen` neither shows what becomes of it nor takes any write.
 */
import type { KafkaPlan } from '../../../src/control/brokers/plan.ts';
import { planTarget } from '../../../src/control/brokers/stretch/plan-target.ts';
import type { TargetWish } from '../../../src/control/brokers/stretch/plan-target.ts';
import type { Fault } from '../../../src/control/brokers/faults.ts';
import { sightsOf } from '../../../src/control/brokers/stretch/sight.ts';
import { TARGET_WATCHES } from '../../../src/control/brokers/stretch/watches.ts';
import type { TargetViews } from '../../../src/control/brokers/stretch/watches.ts';
import { NOTHING_LEARNED } from '../../../src/control/kernel/reconcile.ts';
import type { Remotes } from '../../../src/control/kernel/remotes.ts';
import { Stale } from '../../../src/control/kernel/status.ts';
import { hasLabelSet } from '../../../src/control/kernel/targets.ts';
import { rowsOf } from '../../../src/control/kernel/watches.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { Store } from '../../../src/kube/cache/store.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { podsIn } from '../../../src/control/brokers/objects/pod-sets.ts';
import { contentOf, labelled, withAnnotationsOf } from './memory-objects.ts';

const PRUNED = rowsOf(TARGET_WATCHES).flatMap(([, row]) => (row.owned && !row.kept ? [row.kind.kind] : []));

export interface MemoryTarget {
  stores: ReadonlyMap<string, Store<AnyObject>>;
  views: TargetViews;
}

export interface MemoryTargets {
  /** For another central cluster that is joined with the same ones. */
  clusters: ReadonlyMap<string, MemoryTarget>;
  remotes: Remotes<TargetViews>;
  /** Clusters that do not answer. */
  unseen: Set<string>;
  /** What stands in the way in each. */
  faults: Map<string, readonly Fault[]>;
  /** Carries out what a plan wants in other clusters; returns how many objects it wrote. */
  carryOut(plan: KafkaPlan): number;
  /** The operator has ended, and with it all that it wanted. */
  restart(): void;
  /** What the clusters themselves do, also those that are unseen. */
  tick(): void;
  list(cluster: string, kind: string): AnyObject[];
  put(cluster: string, object: AnyObject): void;
  delete(cluster: string, object: AnyObject): void;
  /** Remembers all objects; what is returned brings them back, all clusters seen. */
  remember(): () => void;
}

export interface MemoryTargetHooks {
  namespace: string;
  name: string;
  nextVersion: () => number;
  beforeWrite: (verb: 'write' | 'delete', object: AnyObject) => void;
}

export function createMemoryTargets(
  clusters: readonly string[],
  hooks: MemoryTargetHooks,
  shared?: Pick<MemoryTargets, 'clusters'>,
): MemoryTargets {
  const targets = shared?.clusters ?? new Map(clusters.map((name) => [name, openTarget()]));
  const unseen = new Set<string>();
  const wishes = new Map<string, TargetWish>();
  const faults = new Map<string, readonly Fault[]>();
  const storeOf = (cluster: string, kind: string) => targets.get(cluster)!.stores.get(kind)!;
  const remotes = {
    names: () => [...clusters],
    get: (name: string) => ({
      name,
      watched: { views: targets.get(name)!.views, versionOf: () => 'v1' },
      sight: unseen.has(name) ? { isSeen: false, since: 0, problem: 'no answer in time' } : { isSeen: true },
    }),
  } as unknown as Remotes<TargetViews>;

  function put(cluster: string, object: AnyObject): void {
    const version = hooks.nextVersion();
    const uid = object.metadata.uid ?? `uid-${version}`;
    const metadata = { ...object.metadata, uid, resourceVersion: String(version) };
    storeOf(cluster, object.kind).set({ ...object, metadata });
  }

  function write(cluster: string, asked: AnyObject): number {
    const live = storeOf(cluster, asked.kind).get(keyOf(asked.metadata));
    const object = withAnnotationsOf(live, asked);
    // Anchors are written over just the version that was seen.
    if (asked.kind === 'KafkaAnchor' && live?.metadata.resourceVersion !== asked.metadata.resourceVersion)
      throw new Stale('somebody else has written it');
    if (live && contentOf(live) === contentOf(object)) return 0;
    hooks.beforeWrite('write', object);
    put(cluster, { ...object, metadata: { ...object.metadata, ...(live && { uid: live.metadata.uid }) } });
    return 1;
  }

  function remove(cluster: string, live: AnyObject): void {
    hooks.beforeWrite('delete', live);
    storeOf(cluster, live.kind).delete(keyOf(live.metadata));
  }

  /** One reconcile of one Kafka in one cluster. */
  function reconcile(cluster: string, wish: TargetWish): number {
    const seen = sightsOf(remotes, hooks)?.get(cluster);
    const plan = planTarget(cluster, wish, seen, NOTHING_LEARNED);
    faults.set(cluster, plan.faults);
    let writes = 0;
    for (const { object } of plan.documents ?? []) writes += write(cluster, object);
    for (const { anchor } of plan.actions) {
      remove(cluster, anchor as unknown as AnyObject);
      writes += 1;
    }
    for (const { objects, labels, prune } of plan.targets) {
      for (const object of objects) writes += write(cluster, labelled(object, labels));
      const wanted = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      for (const kind of prune ? PRUNED : [])
        for (const live of Array.from(storeOf(cluster, kind).values()))
          if (hasLabelSet(live, labels) && !wanted.has(`${kind} ${live.metadata.name}`)) {
            remove(cluster, live);
            writes += 1;
          }
    }
    return writes;
  }

  /** What hangs off an owner that is gone goes. */
  function collectGarbage(cluster: string): void {
    const { stores } = targets.get(cluster)!;
    const uids = new Set([...stores.values()].flatMap((store) => [...store.values()].map(({ metadata }) => metadata.uid))); // prettier-ignore
    for (const store of stores.values())
      for (const { metadata } of Array.from(store.values()))
        if (metadata.ownerReferences?.some(({ uid }) => !uids.has(uid))) store.delete(keyOf(metadata));
  }

  function keepPods(cluster: string): void {
    const pods = storeOf(cluster, 'Pod');
    const listed = [...storeOf(cluster, 'StrimziPodSet').values()].flatMap(podsIn);
    for (const pod of listed)
      if (!pods.get(keyOf(pod.metadata)))
        put(cluster, {
          ...pod,
          status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        });
    const names = new Set(listed.map(({ metadata }) => metadata.name));
    for (const { metadata } of Array.from(pods.values()))
      if (!names.has(metadata.name)) pods.delete(keyOf(metadata));
  }

  return {
    clusters: targets,
    remotes,
    unseen,
    faults,
    carryOut(plan) {
      for (const [cluster, wish] of plan.wishes) wishes.set(cluster, wish);
      let writes = 0;
      for (const [cluster, wish] of wishes) if (!unseen.has(cluster)) writes += reconcile(cluster, wish);
      return writes;
    },
    restart() {
      wishes.clear();
      faults.clear();
    },
    tick() {
      for (const cluster of clusters) {
        collectGarbage(cluster);
        keepPods(cluster);
      }
    },
    list: (cluster, kind) => [...storeOf(cluster, kind).values()],
    put,
    remember() {
      const stores = [...targets.values()].flatMap((one) => [...one.stores.values()]);
      const kept = stores.map((store) => [store, [...store.values()]] as const);
      return () => {
        unseen.clear();
        wishes.clear();
        faults.clear();
        for (const [store, objects] of kept) {
          for (const key of Array.from(store.keys())) store.delete(key);
          for (const object of objects) store.set(object);
        }
      };
    },
    delete: (cluster, { kind, metadata }) => void storeOf(cluster, kind).delete(keyOf(metadata)),
  };
}

function openTarget(): MemoryTarget {
  const stores = new Map<string, Store<AnyObject>>();
  const views: Record<string, unknown> = {};
  for (const [name, { kind, indexes = {} }] of rowsOf(TARGET_WATCHES)) {
    const store = createStore<AnyObject>();
    for (const [index, valuesOf] of Object.entries(indexes)) store.addIndex(index, valuesOf);
    stores.set(kind.kind, store);
    views[name] = {
      get: (key: string) => store.get(key),
      find: (index: string, value: string) => store.find(index, value),
      list: () => [...store.values()],
    };
  }
  return { stores, views: views as unknown as TargetViews };
}
