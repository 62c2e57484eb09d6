/**
 * A Kubernetes cluster made of nothing but objects in memory, for the planner of Kafka clusters: what is applied can be observed again.
 * Pods are made as their sets list them and are ready at once; Kafka itself is not there, so nothing is asked of it.
 */
import { mint } from '../../../src/control/brokers/certificates/mint.ts';
import type { Acted } from '../../../src/control/brokers/act.ts';
import { observeKafka } from '../../../src/control/brokers/observe.ts';
import { planKafka } from '../../../src/control/brokers/plan.ts';
import type { KafkaPlan, KafkaSettings } from '../../../src/control/brokers/plan.ts';
import { KAFKA_WATCHES } from '../../../src/control/brokers/watches.ts';
import type { KafkaViews } from '../../../src/control/brokers/watches.ts';
import { NOTHING_LEARNED } from '../../../src/control/kernel/reconcile.ts';
import type { Learned } from '../../../src/control/kernel/reconcile.ts';
import { nextStatus } from '../../../src/control/kernel/status.ts';
import { hasLabelSet } from '../../../src/control/kernel/targets.ts';
import { rowsOf } from '../../../src/control/kernel/watches.ts';
import { nodeWishesIn, placedAnnotations } from '../../../src/control/shared/node-annotations.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { Store } from '../../../src/kube/cache/store.ts';
import { canonicalJson } from '../../../src/kube/json.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { AnyObject } from '../../../src/kube/object.ts';

export const KAFKA_SETTINGS: KafkaSettings = {
  images: {},
  ownImage: 'isthmus:test',
  clusterDomain: 'cluster.local',
  holder: 'isthmus',
  operator: { namespace: 'isthmus', labels: { app: 'isthmus' } },
};

/** What is made and deleted again. */
const PRUNED = rowsOf(KAFKA_WATCHES).flatMap(([, row]) => (row.owned && !row.kept ? [row.kind] : []));

const NAME = { namespace: 'kafka', name: 'events' };

export interface Place {
  node: string;
  addresses: readonly { type: string; address: string }[];
}

export interface MemoryKafka {
  now: number;
  /** Brokers that are empty, as Kafka said so long ago. */
  drained: readonly number[];
  drainedForMs: number;
  /** The node that a pod runs on, as its controller writes it down; nowhere if left out. */
  placeOf: (pod: string) => Place | undefined;
  /** Whether the controller of pod sets works. */
  keepsPods: boolean;
  /** What is in the ConfigMap that the Kafka has its logging from. */
  externalLogging: string | undefined;
  put(object: AnyObject): void;
  get(kind: string, name: string): AnyObject | undefined;
  list(kind: string): AnyObject[];
  delete(kind: string, name: string): void;
  plan(learned?: Partial<Learned<never>>): KafkaPlan;
  /** One reconcile; returns how many objects it wrote. */
  step(): Promise<number>;
  /** Reconciles until nothing is written any more; returns how often. */
  settle(): Promise<number>;
}

export function createMemoryKafka(settings: KafkaSettings = KAFKA_SETTINGS): MemoryKafka {
  const stores = new Map<string, Store<AnyObject>>();
  const views: Record<string, unknown> = {};
  let version = 0;
  let nodePort = 30_000;
  let acted: Acted | undefined;
  for (const [name, { kind, indexes = {} }] of rowsOf(KAFKA_WATCHES)) {
    const store = createStore<AnyObject>();
    for (const [index, valuesOf] of Object.entries(indexes)) store.addIndex(index, valuesOf);
    stores.set(kind.kind, store);
    views[name] = {
      get: (key: string) => store.get(key),
      find: (index: string, value: string) => store.find(index, value),
      list: () => [...store.values()],
    };
  }
  const caches = {
    views: views as unknown as KafkaViews,
    undiscovered: new Set<never>(),
    versionOf: () => 'v1',
  };
  const storeOf = (kind: string) => stores.get(kind)!;
  const put = (object: AnyObject) => {
    version += 1;
    const uid = object.metadata.uid ?? `uid-${version}`;
    const metadata = { ...object.metadata, uid, resourceVersion: String(version) };
    storeOf(object.kind).set({ ...object, metadata });
  };

  /** What is not the same as before. */
  function write(asked: AnyObject): number {
    const live = storeOf(asked.kind).get(keyOf(asked.metadata));
    const merged = withAnnotationsOf(live, asked);
    const object = asked.kind === 'Service' ? withNodePort(merged, live) : merged;
    if (live && contentOf(live) === contentOf(object)) return 0;
    put({
      ...object,
      metadata: { ...object.metadata, ...(live?.metadata.uid && { uid: live.metadata.uid }) },
      ...(live?.['status'] !== undefined && { status: live['status'] }),
    });
    return 1;
  }

  /** The API server gives a number to a port that has none, and leaves it. */
  function withNodePort(service: AnyObject, live: AnyObject | undefined): AnyObject {
    const spec = service['spec'] as ServiceSpec;
    if (spec.type !== 'NodePort') return service;
    const had = (live?.['spec'] as ServiceSpec | undefined)?.ports ?? [];
    const ports = spec.ports.map((port, at) => ({
      ...port,
      nodePort: port.nodePort ?? had[at]?.nodePort ?? (nodePort += 1),
    }));
    return { ...service, spec: { ...spec, ports } };
  }

  function applyTargets({ targets }: KafkaPlan): number {
    let writes = 0;
    for (const { objects, labels, prune, keeps = [] } of targets) {
      for (const object of objects) writes += write(labelled(object, labels));
      const wanted = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      for (const { kind } of prune ? PRUNED : [])
        for (const live of Array.from(storeOf(kind).values()))
          if (
            hasLabelSet(live, labels) &&
            !wanted.has(`${kind} ${live.metadata.name}`) &&
            !keeps.some((set) => hasLabelSet(live, set))
          ) {
            storeOf(kind).delete(keyOf(live.metadata));
            writes += 1;
          }
    }
    return writes;
  }

  /** The pod-set controller and the kubelets. */
  function keepPods(): void {
    const listed = Array.from(storeOf('StrimziPodSet').values()).flatMap(
      ({ spec }) => (spec as { pods: AnyObject[] }).pods,
    );
    const names = new Set(listed.map(({ metadata }) => metadata.name));
    for (const pod of listed)
      if (!storeOf('Pod').get(keyOf(pod.metadata)))
        put({ ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });
    for (const pod of Array.from(storeOf('Pod').values())) {
      const placed = withPlace(pod, memory.placeOf(pod.metadata.name));
      if (contentOf(placed) !== contentOf(pod)) put(placed);
    }
    for (const { metadata } of Array.from(storeOf('Pod').values()))
      if (!names.has(metadata.name)) storeOf('Pod').delete(keyOf(metadata));
  }

  const memory: MemoryKafka = {
    now: Date.UTC(2026, 10, 1),
    drained: [],
    drainedForMs: 0,
    placeOf: () => undefined,
    keepsPods: true,
    externalLogging: undefined,
    put,
    get: (kind, name) => storeOf(kind).get(keyOf({ ...NAME, name })),
    list: (kind) => [...storeOf(kind).values()],
    delete: (kind, name) => void storeOf(kind).delete(keyOf({ ...NAME, name })),
    plan(learned = {}) {
      const moved = {
        drained: memory.drained,
        open: [],
        at: memory.now - memory.drainedForMs,
        toDrain: 0,
        underWay: 0,
        noPlace: undefined,
        waiting: undefined,
        done: true,
      };
      const known = acted ?? {
        minted: [],
        facts: undefined,
        decision: undefined,
        refused: new Map(),
        reloads: new Map(),
      };
      const ids = {
        acted: { ...known, moved },
        externalLogging: memory.externalLogging,
        newClusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
        now: memory.now,
      };
      return planKafka(observeKafka(caches, NAME, ids), settings, { ...NOTHING_LEARNED, ...learned });
    },
    async step() {
      const plan = memory.plan();
      let writes = 0;
      for (const { object } of plan.documents ?? []) writes += write(object);
      writes += applyTargets(plan);
      for (const action of plan.actions)
        if (action.do === 'mint') {
          const secretOf = (name: string) => memory.get('Secret', name);
          const minted = await Promise.all(
            action.requests.map((request) => mint(request, action.cluster, secretOf, new Date(memory.now))),
          );
          acted = {
            minted,
            facts: undefined,
            decision: undefined,
            refused: new Map(),
            reloads: new Map(),
            moved: undefined,
          };
        } else if (action.do === 'patch') {
          put(annotated(action.object, action.patch));
          writes += 1;
        } else if (action.do === 'delete claims')
          for (const { metadata } of action.claims) storeOf('PersistentVolumeClaim').delete(keyOf(metadata));
      for (const planned of memory.plan().statuses) {
        const live = storeOf(planned.kind).get(keyOf(planned))!;
        const status = nextStatus(live['status'] as object | undefined, planned, new Date(memory.now));
        if (canonicalJson(status) === canonicalJson(live['status'])) continue;
        put({ ...live, status });
        writes += 1;
      }
      if (memory.keepsPods) keepPods();
      return writes;
    },
    async settle() {
      for (let steps = 1; steps < 50; steps++) {
        const before = acted;
        if ((await memory.step()) === 0 && acted === before) return steps;
      }
      throw new Error('it does not come to an end');
    },
  };
  return memory;
}

interface ServiceSpec {
  type?: string;
  ports: { nodePort?: number }[];
}

function withPlace(pod: AnyObject, place: Place | undefined): AnyObject {
  if (!place) return pod;
  const node = { ...place, name: place.node, labels: {} };
  const annotations = placedAnnotations(pod.metadata.annotations, node, nodeWishesIn({}));
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
    spec: { ...(pod['spec'] as object), nodeName: place.node },
  };
}

/** As the writer puts them on everything. */
const labelled = (object: AnyObject, labels: Readonly<Record<string, string>>): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
});

/** What others have annotated stays when something is applied. */
function withAnnotationsOf(live: AnyObject | undefined, object: AnyObject): AnyObject {
  const annotations = { ...live?.metadata.annotations, ...object.metadata.annotations };
  return Object.keys(annotations).length === 0
    ? object
    : { ...object, metadata: { ...object.metadata, annotations } };
}

/** A merge patch of annotations. */
function annotated(object: AnyObject, patch: object): AnyObject {
  const { metadata } = patch as { metadata: { annotations: Record<string, string | null> } };
  const annotations = Object.entries({ ...object.metadata.annotations, ...metadata.annotations });
  const left = annotations.filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(left) } };
}

const contentOf = ({ metadata, status: _, ...object }: AnyObject): string =>
  canonicalJson({
    ...object,
    metadata: { ...metadata, resourceVersion: undefined, uid: undefined },
  });
