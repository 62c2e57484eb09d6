/** A Kubernetes cluster made of nothing but objects in memory, for planners: what is applied can be observed again. */
import { accessIn } from '../../../src/control/proxy/pods/management-access.ts';
import type { ManagementAccesses } from '../../../src/control/proxy/pods/management-access.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { Store } from '../../../src/kube/cache/store.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { NOTHING_LEARNED } from '../../../src/control/kernel/reconcile.ts';
import type { Learned } from '../../../src/control/kernel/reconcile.ts';
import { nextStatus } from '../../../src/control/kernel/status.ts';
import { hasLabelSet } from '../../../src/control/kernel/targets.ts';
import { rowsOf } from '../../../src/control/kernel/watches.ts';
import type { RowName, View } from '../../../src/control/kernel/watches.ts';
import type { ConfigRejections } from '../../../src/control/proxy/config/checks.ts';
import { PROXY_LABEL } from '../../../src/control/proxy/names.ts';
import { observeProxy } from '../../../src/control/proxy/observe.ts';
import type { PodAnswers, ProxyCaches } from '../../../src/control/proxy/observe.ts';
import type { Observed } from '../../../src/control/proxy/observed.ts';
import { planProxy } from '../../../src/control/proxy/plan.ts';
import type { ProxyPlan } from '../../../src/control/proxy/plan.ts';
import type { PortBlock } from '../../../src/control/proxy/ports/blocks.ts';
import { PROXY_WATCHES } from '../../../src/control/proxy/watches.ts';
import type { ProxyViews } from '../../../src/control/proxy/watches.ts';

type Name = RowName<ProxyViews>;

export const SETTINGS = {
  image: 'isthmus:test',
  version: '1.2.0',
  clusterDomain: 'cluster.local',
};

export interface MemoryCluster {
  put(object: AnyObject): void;
  delete(kind: string, key: string): void;
  get(kind: string, key: string): AnyObject | undefined;
  observe(key: { namespace: string; name: string }, now: number, answers?: PodAnswers): Observed;
  plan(key: { namespace: string; name: string }, now: number, options?: PlanOptions): ProxyPlan;
  /** Does what the one writer and the status writer would do; returns how many objects that changed. */
  apply(plan: ProxyPlan, now: number): number;
}

export interface PlanOptions {
  learned?: Learned<ConfigRejections>;
  answers?: PodAnswers;
}

/** `absent`: kinds that the cluster does not serve; `undiscovered`: of which it is not known whether it does. */
export function createMemoryCluster(
  absent: readonly Name[] = [],
  undiscovered: Iterable<Name> = [],
): MemoryCluster {
  const stores = new Map<Name, Store<AnyObject>>();
  const views: Partial<Record<Name, View>> = {};
  let version = 0;
  for (const [name, { indexes = {} }] of rowsOf(PROXY_WATCHES)) {
    if (absent.includes(name)) continue;
    const store = createStore<AnyObject>();
    for (const [index, valuesOf] of Object.entries(indexes)) store.addIndex(index, valuesOf);
    stores.set(name, store);
    const isIn = (namespace?: string) => (object: AnyObject) =>
      namespace === undefined || object.metadata.namespace === namespace;
    views[name] = {
      get: (key) => store.get(key),
      find: (index, value) => store.find(index, value),
      list: (namespace) => [...store.values()].filter(isIn(namespace)),
    };
  }
  const caches: ProxyCaches = {
    views: views as ProxyViews,
    get undiscovered() {
      return new Set(undiscovered);
    },
    versionOf: (name) => (stores.has(name) ? PROXY_WATCHES[name].kind.versions.at(-1) : undefined),
  };

  const storeOf = (kind: string, isOwned: boolean) =>
    [...stores].find(([name]) => {
      const row = PROXY_WATCHES[name];
      return row.kind.kind === kind && (kind !== 'Secret' || (row.owned ?? false) === isOwned);
    })?.[1];
  const storeFor = ({ kind, metadata }: AnyObject) =>
    storeOf(kind, metadata.labels?.[PROXY_LABEL] !== undefined);
  const put = (object: AnyObject) => {
    version += 1;
    storeFor(object)?.set({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(version) },
    });
  };

  function applyObjects({ targets }: ProxyPlan): number {
    let changes = 0;
    for (const { objects, labels, namespaces, prune, keeps = [] } of targets) {
      const wanted = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      for (const object of objects) {
        const live = storeFor(object)?.get(keyOf(object.metadata));
        if (live && contentOf(live) === contentOf(object)) continue;
        changes += 1;
        put(live?.['status'] ? { ...object, status: live['status'] } : object);
      }
      for (const [name, store] of prune ? stores : []) {
        if (!PROXY_WATCHES[name].owned) continue;
        for (const object of Array.from(store.values())) {
          const { kind, metadata } = object;
          const isOwn = metadata.labels?.[PROXY_LABEL] === labels[PROXY_LABEL];
          if (!namespaces.includes(metadata.namespace ?? '') || !isOwn) continue;
          if (wanted.has(`${kind} ${metadata.name}`)) continue;
          if (keeps.some((set) => hasLabelSet(object, set))) continue;
          changes += 1;
          store.delete(keyOf(metadata));
        }
      }
    }
    return changes;
  }

  // The same each time, so that plans can be compared.
  const fresh = {
    token: 'a-token',
    metricsToken: 'a-token',
    certificate: 'a-certificate',
    privateKey: 'a-key',
  };
  const accessOf: ManagementAccesses['of'] = (_, secret) => accessIn(secret) ?? fresh;
  const cluster: MemoryCluster = {
    put,
    delete: (kind, key) => void storeOf(kind, false)!.delete(key),
    get: (kind, key) => storeOf(kind, false)?.get(key) ?? storeOf(kind, true)?.get(key),
    observe: (key, now, answers = new Map()) =>
      observeProxy(caches, key, now, accessOf, { answers, since: now }),
    plan(key, now, { learned = NOTHING_LEARNED, answers } = {}) {
      return planProxy(cluster.observe(key, now, answers), SETTINGS, learned);
    },
    apply(plan, now) {
      let changes = applyObjects(plan);
      for (const planned of plan.statuses) {
        const live = storeOf(planned.kind, false)!.get(keyOf(planned))!;
        const merged = nextStatus(live['status'] as object | undefined, planned, new Date(now));
        if (JSON.stringify(merged) === JSON.stringify(live['status'])) continue;
        changes += 1;
        put({ ...live, status: merged });
      }
      return changes;
    },
  };
  return cluster;
}

/** All objects that a plan wants. */
export const objectsIn = ({ targets }: ProxyPlan) => targets.flatMap(({ objects }) => objects);

/** The ports that a plan gives out. */
export function portBlocksIn({ persist }: ProxyPlan): PortBlock[] {
  return persist.flatMap(({ value }) => value as PortBlock[]);
}

function contentOf({ metadata, ...object }: AnyObject): string {
  return JSON.stringify({
    ...object,
    status: undefined,
    metadata: { ...metadata, resourceVersion: undefined },
  });
}
