/** One cluster of the set: its ServiceExports, and the Services and EndpointSlices that belong to them. */
import type { Cache } from '../../../kube/cache/cache.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { openWatches, wakeOnChange } from '../../kernel/watches.ts';
import type { Wake, Watched } from '../../kernel/watches.ts';
import { CLUSTER_ID } from '../../targets/names.ts';
import { CLUSTER_ID_PROPERTY } from '../names.ts';
import type { ClusterProperty, EndpointSlice, Service, ServiceExport } from '../objects.ts';
import type { ObservedExport } from '../observe.ts';
import { MEMBER_WATCHES, NODE_WATCHES } from '../watches.ts';
import type { MemberViews, NodeViews } from '../watches.ts';
import { nodeAddresses } from './nodes.ts';
import type { ReachMode } from './nodes.ts';

/** The objects of one kind, typed. */
type Lookup<T extends KubeObject> = Pick<Cache<T>, 'get' | 'list' | 'find'>;

export interface Member {
  readonly cluster: Cluster;
  /** Its id in the set: the value of its ClusterProperty (KEP-2149), or the name under which it was joined. */
  readonly id: string;
  readonly services: Lookup<Service>;
  readonly slices: Lookup<EndpointSlice>;
  /** Undefined as long as the cluster does not have the kind. */
  readonly exports: Lookup<ServiceExport> | undefined;
  /** Whether everything has been read once; from then on it is kept, even while the cluster does not answer. */
  readonly isSettled: boolean;
  readonly settled: Promise<void>;
  /** Why the caches are not up to date. */
  problem(): string | undefined;
  /** Why the ClusterProperty cannot be read, if that is forbidden. */
  idProblem(): string | undefined;
  /** When the last watch event arrived, on the clock of the caches. */
  lastEventAt(): number | undefined;
  /** Changes how its pods are reached from here. */
  setReachMode(reach: ReachMode): void;
  /** The export of a service by this cluster, under this cluster id; empty if there is none. */
  exportedAs(key: string, id: string): ObservedExport[];
  /** The NodePort Services that were made for an exported Service. */
  nodePortServicesOf(key: string): Service[];
  /** The slices of a Service. */
  slicesOf(key: string): EndpointSlice[];
  /** Whether the cluster has this namespace; undefined if that is not known. */
  hasNamespace(name: string): boolean | undefined;
  close(): void;
}

/** What a change in a cluster may affect; see `watches.ts`. */
export interface MemberWakes {
  exported: Wake;
  all: () => void;
  /** Gets the names of namespaces that come and go. */
  namespaces: Wake;
  /** For the local cluster only. */
  named?: Wake | undefined;
}

export interface MemberOptions {
  cluster: Cluster;
  log: Log;
  /** How its pods are reached from here. */
  reach: ReachMode;
  wakes: MemberWakes;
}

/** Starts to watch a cluster. */
export function openMember({ cluster, log: parent, reach: first, wakes }: MemberOptions): Member {
  const log = parent.child({ cluster: cluster.name });
  const watched = openWatches(MEMBER_WATCHES, { cluster, log });
  const { exported, all, namespaces, named } = wakes;
  wakeOnChange(MEMBER_WATCHES, watched, { exported, all, namespaces, ...(named && { named }) });
  const views = () => typed(watched);
  const { services, slices } = views();
  let reach: ReachMode = 'pods';
  let nodes: Watched<NodeViews> | undefined;
  let isDiscovered = false;
  setReachMode(first);
  const settled = Promise.all([watched.discovered, nodes?.discovered]).then(() => {
    isDiscovered = true;
  });

  function setReachMode(next: ReachMode): void {
    if (next === reach) return;
    reach = next;
    if (!nodes) {
      nodes = openWatches(NODE_WATCHES, { cluster, log });
      wakeOnChange(NODE_WATCHES, nodes, { all });
      void nodes.discovered.then(all);
    }
    all();
  }

  const nodeCaches = () => [...(nodes?.caches().values() ?? [])];
  const properties = () => watched.caches().get('properties');
  /** A kind that may not be read is no problem if it is dispensable. */
  const followed = () => {
    const isMissed = ([name, { isForbidden }]: [keyof MemberViews, Cache]) =>
      !isForbidden || !MEMBER_WATCHES[name].dispensable;
    const caches = [...watched.caches()].filter(isMissed);
    return [...caches.map(([, one]) => one), ...nodeCaches()];
  };
  return {
    cluster,
    get id() {
      const id = views().properties?.get(CLUSTER_ID_PROPERTY)?.spec?.value;
      return id !== undefined && CLUSTER_ID.test(id) ? id : cluster.name;
    },
    services,
    slices,
    get exports() {
      return views().exports;
    },
    get isSettled() {
      return isDiscovered && nodeCaches().every(({ isSynced }) => isSynced);
    },
    settled,
    problem: () => followed().find(({ problem }) => problem !== undefined)?.problem,
    idProblem: () => (properties()?.isForbidden ? properties()?.problem : undefined),
    lastEventAt() {
      const times = followed().map(({ lastEventAt }) => lastEventAt ?? 0);
      return times.includes(0) ? undefined : Math.min(...times);
    },
    setReachMode,
    exportedAs(key, id) {
      const object = views().exports?.get(key);
      if (!object) return [];
      const service = services.get(key);
      const observed = { cluster: id, export: object, service, slices: slices.find('service', key) };
      if (reach === 'pods' || !nodes) return [observed];
      const [nodePortService] = services.find('nodePortsOf', key);
      const addresses = nodeAddresses(nodes.views.nodes.list(), reach);
      return [{ ...observed, nodePorts: { addresses, nodePortService } }];
    },
    nodePortServicesOf: (key) => services.find('nodePortsOf', key),
    slicesOf: (key) => slices.find('service', key),
    hasNamespace(name) {
      const cache = watched.caches().get('namespaces');
      return cache?.isSynced ? cache.get(name) !== undefined : undefined;
    },
    close() {
      watched.stop();
      nodes?.stop();
    },
  };
}

/** The views with the types of their objects. */
function typed({ views }: Watched<MemberViews>) {
  return views as unknown as {
    services: Lookup<Service>;
    slices: Lookup<EndpointSlice>;
    exports?: Lookup<ServiceExport>;
    properties?: Lookup<ClusterProperty>;
  };
}
