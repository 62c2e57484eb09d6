/**
 * A Kubernetes cluster made of nothing but objects in memory, for the planner of Kafka clusters: what is applied can be observed again.
 * Pods are made as their sets list them and are ready at once. Kafka itself is not there, so nothing is asked of it; unless `connect` gives
 * one that is in memory, too.
 */
import { act } from '../../../src/control/brokers/act.ts';
import type { Acted, ActContext } from '../../../src/control/brokers/act.ts';
import { namesOfReady } from '../../../src/control/brokers/departures.ts';
import { NO_FACTS } from '../../../src/control/brokers/look/facts.ts';
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
import { createStore } from '../../../src/kube/cache/store.ts';
import type { Store } from '../../../src/kube/cache/store.ts';
import { canonicalJson } from '../../../src/kube/json.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { createLog } from '../../../src/ops/log.ts';
import { annotated, contentOf, labelled, withAnnotationsOf, withPlace } from './memory-objects.ts';
import type { Place } from './memory-objects.ts';
import { createMemoryTargets } from './memory-targets.ts';
import type { MemoryTargetHooks, MemoryTargets } from './memory-targets.ts';
import { sightsOf } from '../../../src/control/brokers/stretch/sight.ts';

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

export interface MemoryKafka {
  now: number;
  /** Brokers that are empty, as Kafka said so long ago. */
  drained: readonly number[];
  drainedForMs: number;
  /** Those of them that Kafka does not count among its live brokers. */
  down: readonly number[];
  /** Pods that were ready before Kafka was asked; undefined for those that are. */
  readyThen: readonly string[] | undefined;
  /** Controllers that are to go and do not vote, as Kafka said at the same time. */
  outside: readonly number[];
  /** The node that a pod runs on, as its controller writes it down; nowhere if left out. */
  placeOf: (pod: string) => Place | undefined;
  /** Whether the controller of pod sets works. */
  keepsPods: boolean;
  /** What is in the ConfigMap that the Kafka has its logging from. */
  externalLogging: string | undefined;
  /** How the operator gets through to Kafka; not at all if left out. */
  connect: ActContext['connect'];
  /** An id for a cluster that has none. */
  newClusterId: () => string;
  /** Called before the operator writes; what it throws is the operator's end. */
  beforeWrite: (verb: 'write' | 'delete', object: AnyObject) => void;
  put(object: AnyObject): void;
  get(kind: string, name: string): AnyObject | undefined;
  list(kind: string): AnyObject[];
  delete(kind: string, name: string): void;
  plan(learned?: Partial<Learned<never>>): KafkaPlan;
  /** One reconcile; returns how many objects it wrote. */
  step(): Promise<number>;
  /** Reconciles until nothing is written any more; returns how often. */
  settle(): Promise<number>;
  /** The operator has ended, and with it all that it has not written. */
  restart(): void;
  /** The other clusters. */
  elsewhere: MemoryTargets;
  /** Remembers all objects; what is returned brings them back, with a new operator. */
  remember(): () => void;
}

/** `clusters` are other ones, by name, that were joined. */
export function createMemoryKafka(
  settings: KafkaSettings = KAFKA_SETTINGS,
  clusters: readonly string[] = [],
  /** Another central cluster that is joined with the same ones. */
  other?: MemoryKafka,
): MemoryKafka {
  const stores = new Map<string, Store<AnyObject>>();
  const views: Record<string, unknown> = {};
  // What two centrals write has versions of one row.
  let version = other ? 1_000_000 : 0;
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
    sightsOf: () => (clusters.length > 0 ? sightsOf(elsewhere.remotes, NAME) : undefined),
  };
  const hooks: MemoryTargetHooks = {
    ...NAME,
    nextVersion: () => (version += 1),
    beforeWrite: (verb, object) => memory.beforeWrite(verb, object),
  };
  const elsewhere = createMemoryTargets(clusters, hooks, other?.elsewhere);
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
    memory.beforeWrite('write', object);
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
            remove(live);
            writes += 1;
          }
    }
    return writes;
  }

  function remove(live: AnyObject): void {
    memory.beforeWrite('delete', live);
    storeOf(live.kind).delete(keyOf(live.metadata));
  }

  /** As much of a client as actions need. */
  const client = {
    create: async () => {},
    async delete({ kind }: { kind: string }, name: AnyObject['metadata'], { uid }: { uid: string }) {
      const live = storeOf(kind).get(keyOf(name));
      if (live?.metadata.uid === uid) remove(live);
    },
    async mergePatch({ kind }: { kind: string }, name: AnyObject['metadata'], patch: object) {
      const live = storeOf(kind).get(keyOf(name))!;
      memory.beforeWrite('write', live);
      put(annotated(live, patch));
    },
  } as unknown as Client;

  /** What is read in another cluster. */
  const clientOf = (cluster: string): Client =>
    ({
      async get({ kind }: { kind: string }, { name }: { name: string }) {
        if (elsewhere.unseen.has(cluster)) throw new Error('no answer in time');
        return elsewhere.list(cluster, kind).find(({ metadata }) => metadata.name === name);
      },
    }) as unknown as Client;

  const contextOf = (): ActContext => ({
    ...NAME,
    client: (cluster) => (cluster !== undefined && clusters.includes(cluster) ? clientOf(cluster) : client),
    targets: {
      persist: async (documents: readonly { object: AnyObject }[]) =>
        documents.forEach(({ object }) => write(object)),
    } as unknown as ActContext['targets'],
    podsOf: () => [...memory.list('Pod'), ...clusters.flatMap((name) => elsewhere.list(name, 'Pod'))],
    secretOf: (name) => memory.get('Secret', name),
    tell: () => {},
    onRequest: () => {},
    log: createLog('silent'),
    clock: () => memory.now,
    connect: memory.connect,
  });

  /** Of looks at Kafka only those that get through to it. Returns how many changes there were. */
  async function actOn(plan: KafkaPlan): Promise<number> {
    const actions = plan.actions.filter((action) => action.do !== 'look' || memory.connect);
    if (actions.length === 0) return 0;
    const result = await act(actions, acted, contextOf(), new AbortController().signal);
    if (result.failure !== undefined) throw result.failure;
    acted = result.acted;
    return actions.filter(({ do: what }) => ['patch', 'hold', 'let go'].includes(what)).length;
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
    down: [],
    readyThen: undefined,
    outside: [],
    placeOf: () => undefined,
    keepsPods: true,
    externalLogging: undefined,
    connect: undefined,
    newClusterId: () => 'MkU3OEVBNTcwNTJENDM2Qg',
    beforeWrite: () => {},
    put,
    get: (kind, name) => storeOf(kind).get(keyOf({ ...NAME, name })),
    list: (kind) => [...storeOf(kind).values()],
    delete: (kind, name) => void storeOf(kind).delete(keyOf({ ...NAME, name })),
    plan(learned = {}) {
      const moved = {
        drained: memory.drained,
        down: memory.down,
        open: [],
        ready: new Set(memory.readyThen ?? namesOfReady(memory.list('Pod'))),
        at: memory.now - memory.drainedForMs,
        toDrain: 0,
        underWay: 0,
        noPlace: undefined,
        waiting: undefined,
        done: true,
      };
      const voters = { under: undefined, outside: memory.outside, at: moved.at };
      // Brokers that are gone are forgotten.
      const facts = { ...NO_FACTS, at: moved.at, brokers: { at: moved.at, registered: new Map() } };
      const known = acted ?? {
        minted: [],
        facts: undefined,
        decision: undefined,
        refused: new Map(),
        reloads: new Map(),
      };
      const ids = {
        acted: memory.connect ? acted : { ...known, facts, moved, voters },
        externalLogging: memory.externalLogging,
        targetFaults: elsewhere.faults,
        newClusterId: memory.newClusterId(),
        now: memory.now,
      };
      return planKafka(observeKafka(caches, NAME, ids), settings, { ...NOTHING_LEARNED, ...learned });
    },
    async step() {
      const plan = memory.plan();
      let writes = 0;
      for (const { object } of plan.documents ?? []) writes += write(object);
      writes += applyTargets(plan);
      writes += elsewhere.carryOut(plan);
      writes += await actOn(plan);
      for (const planned of memory.plan().statuses) {
        const live = storeOf(planned.kind).get(keyOf(planned))!;
        const status = nextStatus(live['status'] as object | undefined, planned, new Date(memory.now));
        if (canonicalJson(status) === canonicalJson(live['status'])) continue;
        memory.beforeWrite('write', live);
        put({ ...live, status });
        writes += 1;
      }
      if (memory.keepsPods) keepPods();
      elsewhere.tick();
      return writes;
    },
    async settle() {
      for (let steps = 1; steps < 50; steps++) {
        const before = acted;
        if ((await memory.step()) === 0 && acted === before) return steps;
      }
      throw new Error('it does not come to an end');
    },
    restart() {
      acted = undefined;
      elsewhere.restart();
    },
    elsewhere,
    remember() {
      const kept = [...stores.values()].map((store) => [store, [...store.values()]] as const);
      const { now } = memory;
      const bringBack = elsewhere.remember();
      return () => {
        bringBack();
        acted = undefined;
        memory.now = now;
        for (const [store, objects] of kept) {
          for (const key of Array.from(store.keys())) store.delete(key);
          for (const object of objects) store.set(object);
        }
      };
    },
  };
  return memory;
}

interface ServiceSpec {
  type?: string;
  ports: { nodePort?: number }[];
}
