/** The caches of one cluster of the set: ServiceExports, and the Services and EndpointSlices that belong to them. */
import type { Cache } from '../../../kube/cache/cache.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { serviceExport } from '../../../resources/multicluster/service-export.ts';
import type { ObservedExport } from '../observe.ts';
import {
  CLUSTER_ID,
  CLUSTER_ID_PROPERTY,
  IMPORTED_SERVICE_LABEL,
  NODE_PORTS_LABEL,
  SERVICE_NAME_LABEL,
} from '../names.ts';
import { NODE, nodeAddresses, trimNode } from './nodes.ts';
import type { Node, ReachMode } from './nodes.ts';
import { ENDPOINT_SLICE, SERVICE } from '../objects.ts';
import type { ClusterProperty, EndpointSlice, Service, ServiceExport } from '../objects.ts';
import { openOptional } from './optional-cache.ts';
import type { OptionalCache, OptionalKind } from './optional-cache.ts';
import { trimOther, trimService, trimSlice } from './trim.ts';

export interface Member {
  readonly cluster: Cluster;
  /** Its id in the set: the value of its ClusterProperty (KEP-2149), or the name under which it was joined. */
  readonly id: string;
  readonly services: Cache<Service>;
  readonly slices: Cache<EndpointSlice>;
  readonly exports: OptionalCache<ServiceExport>;
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
  /** The slices that were imported for a service, from any cluster. */
  importedSlicesOf(key: string): EndpointSlice[];
  close(): void;
}

export interface MemberOptions {
  cluster: Cluster;
  log: Log;
  /** How its pods are reached from here. */
  reach: ReachMode;
  /** Gets the key of each exported service of which something changed. */
  enqueue: (key: string) => void;
  /** Called after a change that may affect every exported service. */
  enqueueAll: () => void;
}

const CLUSTER_PROPERTY: OptionalKind = {
  group: 'about.k8s.io',
  kind: 'ClusterProperty',
  versions: ['v1alpha1', 'v1beta1', 'v1'],
};

/** Starts to watch a cluster. */
export function openMember({ cluster, log, reach: first, enqueue, enqueueAll }: MemberOptions): Member {
  const services = cluster.cache<Service>({ type: SERVICE, trim: trimService });
  const slices = cluster.cache<EndpointSlice>({ type: ENDPOINT_SLICE, trim: trimSlice });
  slices.addIndex('service', labelled(SERVICE_NAME_LABEL));
  slices.addIndex('imported', labelled(IMPORTED_SERVICE_LABEL));
  services.addIndex('nodePortsOf', labelled(NODE_PORTS_LABEL));
  const ends: (() => void)[] = [];
  const exports = openOptional<ServiceExport>({
    cluster,
    kind: serviceExport,
    trim: trimOther,
    log,
    onOpen: (cache) => void ends.push(cache.subscribe(enqueue)),
  });
  const properties = openOptional<ClusterProperty>({
    cluster,
    kind: CLUSTER_PROPERTY,
    trim: trimOther,
    log,
    // Without it, the cluster's id is the name under which it was joined. For the other kinds a 403 must never look like an empty list.
    isDispensable: true,
    onOpen: (cache) => void ends.push(cache.subscribe(() => enqueueAll())),
  });
  const ifExported = (keys: readonly string[]) => keys.filter((key) => exports.current?.get(key));
  ends.push(
    services.subscribe(enqueue, {
      keysOf: (service) => [
        ...ifExported([keyOf(service.metadata)]),
        ...labelled(IMPORTED_SERVICE_LABEL)(service),
        ...labelled(NODE_PORTS_LABEL)(service),
      ],
    }),
    slices.subscribe(enqueue, {
      keysOf: (slice) => [
        ...ifExported(labelled(SERVICE_NAME_LABEL)(slice)),
        ...labelled(IMPORTED_SERVICE_LABEL)(slice),
      ],
    }),
  );
  let reach: ReachMode = 'pods';
  let nodes: Cache<Node> | undefined;
  setReachMode(first);

  function setReachMode(next: ReachMode): void {
    if (next === reach) return;
    reach = next;
    if (!nodes) {
      nodes = cluster.cache<Node>({ type: NODE, trim: trimNode });
      ends.push(
        nodes.subscribe(() => enqueueAll(), {
          when: ({ before, after }) => !hasSameAddresses(before, after),
        }),
      );
      void nodes.synced.then(() => enqueueAll());
    }
    enqueueAll();
  }

  const required = () => [services, slices, exports.current, nodes].filter((cache) => cache !== undefined);
  const watched = () => {
    const { current } = properties;
    return current && !current.isForbidden ? [...required(), current] : required();
  };
  return {
    cluster,
    get id() {
      const id = properties.current?.get(CLUSTER_ID_PROPERTY)?.spec?.value;
      return id !== undefined && CLUSTER_ID.test(id) ? id : cluster.name;
    },
    services,
    slices,
    exports,
    get isSettled() {
      return required().every(({ isSynced }) => isSynced) && exports.isSettled && properties.isSettled;
    },
    settled: Promise.all([
      ...required().map(({ synced }) => synced),
      exports.settled,
      properties.settled,
    ]).then(() => undefined),
    problem: () => watched().find(({ problem }) => problem !== undefined)?.problem,
    idProblem: () => (properties.current?.isForbidden ? properties.current.problem : undefined),
    lastEventAt() {
      const times = watched().map(({ lastEventAt }) => lastEventAt ?? 0);
      return times.includes(0) ? undefined : Math.min(...times);
    },
    setReachMode,
    exportedAs(key, id) {
      const exported = exports.current?.get(key);
      if (!exported) return [];
      const service = services.get(key);
      const observed = { cluster: id, export: exported, service, slices: slices.find('service', key) };
      if (reach === 'pods' || !nodes) return [observed];
      const [nodePortService] = services.find('nodePortsOf', key);
      const addresses = nodeAddresses(nodes.list(), reach);
      return [{ ...observed, nodePorts: { addresses, nodePortService } }];
    },
    nodePortServicesOf: (key) => services.find('nodePortsOf', key),
    slicesOf: (key) => slices.find('service', key),
    importedSlicesOf: (key) => slices.find('imported', key),
    close() {
      exports.stop();
      properties.stop();
      for (const end of ends) end();
    },
  };
}

/** Most updates of nodes are heartbeats. */
function hasSameAddresses(before: Node | undefined, after: Node | undefined): boolean {
  return JSON.stringify(before?.status) === JSON.stringify(after?.status);
}

/** The key that a label's value names in the object's namespace. */
function labelled(label: string): (object: KubeObject) => string[] {
  return ({ metadata: { namespace = '', labels } }) => {
    const name = labels?.[label];
    return name === undefined ? [] : [keyOf({ namespace, name })];
  };
}
