/** The caches of the proxy road. Kinds of others are watched as soon as the cluster has them. */
import { setTimeout as delay } from 'node:timers/promises';
import { trimManagedFields } from '../../kube/cache/cache.ts';
import type { Cache, CacheOptions } from '../../kube/cache/cache.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { ApiError } from '../../kube/http/errors.ts';
import type { AnyObject, ResourceType } from '../../kube/object.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { dnsEndpoint } from '../../resources/external-dns/dns-endpoint.ts';
import { gateway } from '../../resources/gateway/gateway.ts';
import { referenceGrant } from '../../resources/gateway/reference-grant.ts';
import { tlsRoute } from '../../resources/gateway/tls-route.ts';
import type { Kind } from '../../resources/kind.ts';
import { KROXYLICIOUS, KROXYLICIOUS_FILTER } from '../../resources/kroxylicious/group.ts';
import { ingressController } from '../../resources/openshift/ingress-controller.ts';
import { route } from '../../resources/openshift/route.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { watchedCache } from '../watched.ts';
import { PROXY_LABEL, SIGNATURE } from './names.ts';
import type { ServedKinds } from './observed.ts';
import { FOREIGN_KINDS, KINDS, addIndexes } from './sources.ts';
import type { ForeignName, SourceName, Sources } from './sources.ts';

export type CacheName = SourceName | ForeignName | OtherOwned;
/** Made, but never read back by a plan. */
type OtherOwned = 'serviceAccounts' | 'disruptionBudgets' | 'networkPolicies';

type Wanted = Omit<CacheOptions<AnyObject>, 'namespace'>;

const core = (kind: string): ResourceType => ({ group: '', version: 'v1', kind });
const ours = (kind: string, group = KROXYLICIOUS): ResourceType => ({ group, version: 'v1alpha1', kind });

/** What the operator made itself: only that, and with its own entry of the managed fields. */
const owned = (type: ResourceType): Wanted => ({
  type,
  labelSelector: PROXY_LABEL,
  trim: trimManagedFields(SIGNATURE.fieldManager),
});

const WANTED: Record<SourceName | OtherOwned, Wanted> = {
  proxies: { type: ours('KafkaProxy'), trim: trimManagedFields() },
  ingresses: { type: ours('KafkaProxyIngress'), trim: trimManagedFields() },
  virtualClusters: { type: ours('VirtualKafkaCluster'), trim: trimManagedFields() },
  clusterRefs: { type: ours('KafkaClusterRef'), trim: trimManagedFields() },
  filters: { type: ours('KafkaProtocolFilter', KROXYLICIOUS_FILTER), trim: trimManagedFields() },
  secrets: {
    type: core('Secret'),
    labelSelector: `!${PROXY_LABEL}`,
    // Helm keeps whole charts in these, and nobody refers to them.
    fieldSelector: 'type!=helm.sh/release.v1',
    trim: keepData,
  },
  configMaps: { type: core('ConfigMap'), trim: keepData },
  namespaces: { type: core('Namespace'), trim: keepData },
  // All of them, so that a name that is taken is known before it is wanted.
  services: { type: core('Service'), trim: trimService },
  deployments: owned({ group: 'apps', version: 'v1', kind: 'Deployment' }),
  pods: { ...owned(core('Pod')), trim: trimPod },
  configSecrets: owned(core('Secret')),
  serviceAccounts: owned(core('ServiceAccount')),
  disruptionBudgets: owned({ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' }),
  networkPolicies: owned({ group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy' }),
};

const FOREIGN: Record<ForeignName, { kind: Kind; owned: boolean }> = {
  kafkas: { kind: kafka, owned: false },
  nodePools: { kind: kafkaNodePool, owned: false },
  grants: { kind: referenceGrant, owned: false },
  gateways: { kind: gateway, owned: false },
  ingressControllers: { kind: ingressController, owned: false },
  tlsRoutes: { kind: tlsRoute, owned: true },
  routes: { kind: route, owned: true },
  dnsEndpoints: { kind: dnsEndpoint, owned: true },
};

/** The kinds that a proxy's objects are of, as far as the cluster has them; what is left over is looked for among these. */
const MADE: readonly CacheName[] = [
  'serviceAccounts',
  'configSecrets',
  'deployments',
  'disruptionBudgets',
  'networkPolicies',
  'services',
  'routes',
  'tlsRoutes',
  'dnsEndpoints',
];

/** How often kinds that were not there are asked for again; at the start, where nobody could say whether they are. */
const DISCOVER_MS = 30_000;
const ASK_AGAIN_MS = 1000;
/** How long to wait until that is known. Whoever depends on one of which it is not is left alone until it is. */
const FOREIGN_SYNC_MS = 15_000;

export interface ProxyCaches {
  readonly sources: Sources;
  served(): ServedKinds;
  /** The kinds of objects that may have been made. */
  made(): ResourceType[];
  /** The cache that holds all objects of a kind that were made here. */
  cacheOf(type: ResourceType): Cache | undefined;
  /** Whether a cache holds all objects of its kind, so that one that is not in it does not exist. */
  isComplete(type: ResourceType): boolean;
  /** Calls for each cache that is there, and for each that comes, complete, when the cluster gets a kind. */
  onCache(notify: (name: CacheName, cache: Cache) => void): void;
  synced(): Promise<void>;
  stop(): void;
}

export function createProxyCaches(cluster: Cluster, namespaces: readonly string[], log: Log): ProxyCaches {
  const caches = new Map<CacheName, Cache>();
  const sources: Partial<Record<SourceName | ForeignName, Cache>> = {};
  const listeners: ((name: CacheName, cache: Cache) => void)[] = [];
  const unsettled = new Set<ForeignName>(FOREIGN_KINDS);
  let timer: NodeJS.Timeout | undefined;
  const stopped = new AbortController();

  function register(name: CacheName, cache: Cache): void {
    if (isSource(name)) sources[name] = cache;
    caches.set(name, cache);
    for (const listener of listeners) listener(name, cache);
  }

  function open(name: CacheName, wanted: Wanted): Cache {
    const cache = watchedCache(cluster, wanted, name === 'namespaces' ? [] : namespaces);
    if (isSource(name)) addIndexes(name, cache);
    return cache;
  }

  /** A kind counts from when all of it has been read: before that, what is not found might well be there. */
  async function discoverOne(name: ForeignName): Promise<void> {
    const { kind, owned: isOwned } = FOREIGN[name];
    const type = await newestServed(cluster, kind);
    if (!type) return void unsettled.delete(name);
    unsettled.add(name);
    const cache = open(name, isOwned ? owned(type) : { type, trim: trimManagedFields() });
    await cache.answered;
    unsettled.delete(name);
    // One that may not be read is as good as none.
    if (stopped.signal.aborted || !cache.isSynced || caches.has(name)) return;
    log.info({ kind: type.kind, version: type.version }, 'a kind of others is there and is watched');
    register(name, cache);
  }

  /** Until it is known what there is, but one that cannot be found out about does not keep the others waiting for ever. */
  async function discoverFirst(): Promise<void> {
    const settled = FOREIGN_KINDS.map(async (name) => {
      while (!stopped.signal.aborted) {
        try {
          return await discoverOne(name);
        } catch (error) {
          log.debug({ kind: FOREIGN[name].kind.kind, problem: messageOf(error) }, 'kind cannot be asked for');
          await delay(ASK_AGAIN_MS, undefined, { ref: false });
        }
      }
    });
    await Promise.race([Promise.all(settled), delay(FOREIGN_SYNC_MS, undefined, { ref: false })]);
  }

  function discoverAgain(): void {
    if (stopped.signal.aborted) return;
    timer = setTimeout(() => {
      // Those that are unsettled are being asked for.
      const missing = FOREIGN_KINDS.filter((name) => !caches.has(name) && !unsettled.has(name));
      for (const name of missing) void discoverOne(name).catch(() => undefined);
      discoverAgain();
    }, DISCOVER_MS);
    timer.unref();
  }

  const all = Object.entries(WANTED) as [SourceName | OtherOwned, Wanted][];
  for (const [name, wanted] of all)
    if (name !== 'namespaces' || namespaces.length === 0) register(name, open(name, wanted));
  // Only some namespaces may be read, and namespaces themselves not at all.
  sources.namespaces ??= NOTHING;

  const typeIn = (name: CacheName) => caches.get(name)?.type;
  return {
    sources: sources as Sources,
    served: () => ({
      route: caches.has('routes'),
      gateway: caches.has('gateways'),
      tlsRoute: typeIn('tlsRoutes')?.version,
      dnsEndpoint: caches.has('dnsEndpoints'),
      unsettled,
    }),
    made: () => MADE.flatMap((name) => typeIn(name) ?? []),
    cacheOf: ({ group, kind }) => {
      const found = MADE.flatMap((name) => caches.get(name) ?? []);
      return found.find(({ type }) => type.kind === kind && type.group === group);
    },
    isComplete: ({ group, kind }) => group === '' && kind === 'Service',
    onCache(notify) {
      listeners.push(notify);
      for (const [name, cache] of caches) notify(name, cache);
    },
    async synced() {
      await Promise.all([...caches.values()].map((cache) => cache.synced));
      await discoverFirst();
      discoverAgain();
    },
    stop() {
      stopped.abort();
      clearTimeout(timer);
    },
  };
}

function isSource(name: CacheName): name is SourceName | ForeignName {
  return ([...KINDS, ...FOREIGN_KINDS] as string[]).includes(name);
}

const NOTHING = {
  get: () => undefined,
  list: () => [],
  find: () => [],
  addIndex: () => {},
} as unknown as Cache;

async function newestServed(cluster: Cluster, kind: Kind): Promise<ResourceType | undefined> {
  for (const version of kind.versions.toReversed()) {
    const type = { group: kind.group, version, kind: kind.kind };
    try {
      await cluster.client.resource(type);
      return type;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'KindNotServed')) throw error;
    }
  }
  return undefined;
}

/** kubectl keeps a second copy of everything in an annotation. */
function keepData(object: AnyObject): AnyObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels } = object.metadata;
  const gone = deletionTimestamp === undefined ? {} : { deletionTimestamp };
  const metadata = { name, namespace, uid, resourceVersion, labels, ...gone } as AnyObject['metadata'];
  const { apiVersion, kind, data } = object;
  return { apiVersion, kind, metadata, ...(data !== undefined && { data }) };
}

const trimAll = trimManagedFields<AnyObject>();
const trimOwned = trimManagedFields<AnyObject>(SIGNATURE.fieldManager);

/** Of others' Services only that they are there. One that has lost our label is still ours, as its managed fields tell. */
function trimService(service: AnyObject): AnyObject {
  const trimmed = trimOwned(service);
  return trimmed.metadata.managedFields ? trimmed : keepData(service);
}

function trimPod({ apiVersion, kind, metadata, status }: AnyObject): AnyObject {
  const { phase, podIP, conditions } = (status ?? {}) as Record<string, unknown>;
  return trimAll({ apiVersion, kind, metadata, status: { phase, podIP, conditions } });
}
