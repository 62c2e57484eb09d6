/** A Kubernetes cluster made of nothing but objects in memory, for planners: what is applied can be observed again. */
import { createStore } from '../../../src/kube/cache/store.ts';
import type { Store } from '../../../src/kube/cache/store.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { observeProxy } from '../../../src/control/proxy/observe.ts';
import type { PodAnswers } from '../../../src/control/proxy/observe.ts';
import type { Findings, Observed } from '../../../src/control/proxy/observed.ts';
import { NO_FINDINGS } from '../../../src/control/proxy/observed.ts';
import { planProxy } from '../../../src/control/proxy/plan.ts';
import type { Plan } from '../../../src/control/proxy/plan.ts';
import { FOREIGN_KINDS, KINDS, addIndexes } from '../../../src/control/proxy/sources.ts';
import type { ForeignName, SourceName, Sources, View } from '../../../src/control/proxy/sources.ts';
import { nextStatus } from '../../../src/control/proxy/write-status.ts';

type Name = SourceName | ForeignName;

const PLACE: Record<string, Name> = {
  KafkaProxy: 'proxies',
  KafkaProxyIngress: 'ingresses',
  VirtualKafkaCluster: 'virtualClusters',
  KafkaClusterRef: 'clusterRefs',
  KafkaProtocolFilter: 'filters',
  Secret: 'secrets',
  ConfigMap: 'configMaps',
  Namespace: 'namespaces',
  Service: 'services',
  Deployment: 'deployments',
  Pod: 'pods',
  Kafka: 'kafkas',
  KafkaNodePool: 'nodePools',
  ReferenceGrant: 'grants',
  Gateway: 'gateways',
  TLSRoute: 'tlsRoutes',
  Route: 'routes',
  IngressController: 'ingressControllers',
  DNSEndpoint: 'dnsEndpoints',
};

export const SETTINGS = { image: 'isthmus:test', clusterDomain: 'cluster.local' };
export const OWN_KINDS = 'kroxylicious.io/proxy';

export interface MemoryCluster {
  put(object: AnyObject): void;
  delete(kind: string, key: string): void;
  get(kind: string, key: string): AnyObject | undefined;
  observe(key: { namespace: string; name: string }, now: number, answers?: PodAnswers): Observed;
  plan(key: { namespace: string; name: string }, now: number, options?: PlanOptions): Plan;
  /** Does what the one writer and the status writer would do; returns how many objects that changed. */
  apply(plan: Plan, namespace: string, proxy: string, now: number): number;
}

export interface PlanOptions {
  findings?: Findings;
  answers?: PodAnswers;
}

/** `absent`: kinds that the cluster does not serve; `unsettled`: of which it is not known whether it does. */
export function createMemoryCluster(
  absent: readonly ForeignName[] = [],
  unsettled: Iterable<ForeignName> = [],
): MemoryCluster {
  const stores = new Map<Name, Store<AnyObject>>();
  const views: Partial<Record<Name, View>> = {};
  let version = 0;
  for (const name of [...KINDS, ...FOREIGN_KINDS]) {
    if ((absent as readonly string[]).includes(name)) continue;
    const store = createStore<AnyObject>();
    const list = (namespace?: string) =>
      [...store.values()].filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      );
    stores.set(name, store);
    views[name] = {
      get: (key) => store.get(key),
      find: (index, value) => store.find(index, value),
      addIndex: (index, valuesOf) => store.addIndex(index, valuesOf),
      list,
    };
    addIndexes(name, views[name]);
  }
  const sources = views as Sources;
  const has = (name: ForeignName) => sources[name] !== undefined;
  const kinds = {
    route: has('routes'),
    gateway: has('gateways'),
    tlsRoute: has('tlsRoutes') ? 'v1' : undefined,
    dnsEndpoint: has('dnsEndpoints'),
    get unsettled() {
      return new Set(unsettled);
    },
  };
  const storeOf = (object: AnyObject) => {
    const own = object.metadata.labels?.[OWN_KINDS] !== undefined;
    const name = object.kind === 'Secret' && own ? 'configSecrets' : PLACE[object.kind];
    return name && stores.get(name);
  };
  const others = new Map<string, AnyObject>();
  const put = (object: AnyObject) => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const store = storeOf(object);
    if (store) store.set(stored);
    else others.set(`${object.kind} ${keyOf(object.metadata)}`, stored);
  };

  function applyObjects(plan: Plan, namespace: string, proxy: string): number {
    let changes = 0;
    const wanted = new Set(plan.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    for (const object of plan.objects) {
      const live =
        storeOf(object)?.get(keyOf(object.metadata)) ??
        others.get(`${object.kind} ${keyOf(object.metadata)}`);
      if (live && contentOf(live) === contentOf(object)) continue;
      changes += 1;
      put(live?.['status'] ? { ...object, status: live['status'] } : object);
    }
    for (const store of plan.keepsLeftovers ? [] : stores.values()) {
      for (const { kind, metadata } of Array.from(store.values())) {
        if (metadata.namespace !== namespace || metadata.labels?.[OWN_KINDS] !== proxy || kind === 'Pod')
          continue;
        if (wanted.has(`${kind} ${metadata.name}`)) continue;
        changes += 1;
        store.delete(keyOf(metadata));
      }
    }
    return changes;
  }

  const cluster: MemoryCluster = {
    put,
    delete: (kind, key) => void stores.get(PLACE[kind]!)!.delete(key),
    get: (kind, key) => stores.get(PLACE[kind]!)?.get(key) ?? others.get(`${kind} ${key}`),
    observe: (key, now, answers = new Map()) => observeProxy(sources, key, { kinds, answers, now }),
    plan(key, now, { findings = NO_FINDINGS, answers } = {}) {
      return planProxy(cluster.observe(key, now, answers), SETTINGS, findings);
    },
    apply(plan, namespace, proxy, now) {
      let changes = plan.isUnknown ? 0 : applyObjects(plan, namespace, proxy);
      for (const planned of plan.statuses) {
        const { kind, name } = planned;
        const live = stores.get(PLACE[kind]!)!.get(keyOf({ namespace, name }))!;
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

function contentOf({ metadata, ...object }: AnyObject): string {
  return JSON.stringify({
    ...object,
    status: undefined,
    metadata: { ...metadata, resourceVersion: undefined },
  });
}
