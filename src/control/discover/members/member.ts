/** What is followed in one cluster of the set: exports, and the Services and endpoints they are of. */
import type { Cache } from '../../../kube/cache/cache.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { serviceExport } from '../../../resources/multicluster/service-export.ts';
import type { SeenExport } from '../records/export-records.ts';
import {
  CLUSTER_ID,
  CLUSTER_ID_PROPERTY,
  IMPORTED_SERVICE_LABEL,
  NODE_PORTS_LABEL,
  SERVICE_NAME_LABEL,
} from '../names.ts';
import { NODE, nodeAddresses, trimNode } from './nodes.ts';
import type { Node, Reach } from './nodes.ts';
import { ENDPOINT_SLICE, SERVICE } from '../objects.ts';
import type { ClusterProperty, EndpointSlice, Service, ServiceExport } from '../objects.ts';
import { openOptional } from './optional-cache.ts';
import type { OptionalCache, OptionalKind } from './optional-cache.ts';
import { trimOther, trimService, trimSlice } from './trim.ts';

export interface Member {
  readonly cluster: Cluster;
  /** Its id in the set: what it says itself (KEP-2149), or else the name it was joined under. */
  readonly id: string;
  readonly services: Cache<Service>;
  readonly slices: Cache<EndpointSlice>;
  readonly exports: OptionalCache<ServiceExport>;
  /** Whether all of it has been read once; from then on it is kept, whether the cluster answers or not. */
  readonly isSettled: boolean;
  readonly settled: Promise<void>;
  /** Why it is not up to date at the moment. */
  problem(): string | undefined;
  /** Why it is not known what the cluster calls itself, if that may not be read. */
  idProblem(): string | undefined;
  /** When the cluster last said anything, on the clock of its caches. */
  lastHeardAt(): number | undefined;
  /** How it is reached from now on. */
  reachBy(reach: Reach): void;
  /** The export of a service by this cluster, under this id, with all that belongs to it; empty if there is none. */
  exportedAs(key: string, id: string): SeenExport[];
  /** The Services that are there to give an exported one node ports. */
  companionsOf(key: string): Service[];
  /** The slices of a Service. */
  slicesOf(key: string): EndpointSlice[];
  /** The slices that were imported for a service, from wherever. */
  importedSlicesOf(key: string): EndpointSlice[];
  close(): void;
}

export interface MemberOptions {
  cluster: Cluster;
  log: Log;
  /** How its pods are reached from here. */
  reach: Reach;
  /** Gets the key of each exported service of which something changed. */
  wake: (key: string) => void;
  /** Called when something changed that concerns every service. */
  wakeAll: () => void;
}

const CLUSTER_PROPERTY: OptionalKind = {
  group: 'about.k8s.io',
  kind: 'ClusterProperty',
  versions: ['v1alpha1', 'v1beta1', 'v1'],
};

/** Begins to follow a cluster. */
export function openMember({ cluster, log, reach: first, wake, wakeAll }: MemberOptions): Member {
  const services = cluster.cache<Service>({ type: SERVICE, trim: trimService });
  const slices = cluster.cache<EndpointSlice>({ type: ENDPOINT_SLICE, trim: trimSlice });
  slices.addIndex('service', labelled(SERVICE_NAME_LABEL));
  slices.addIndex('imported', labelled(IMPORTED_SERVICE_LABEL));
  services.addIndex('companion', labelled(NODE_PORTS_LABEL));
  const ends: (() => void)[] = [];
  const exports = openOptional<ServiceExport>({
    cluster,
    kind: serviceExport,
    trim: trimOther,
    log,
    onOpen: (cache) => void ends.push(cache.subscribe(wake)),
  });
  const properties = openOptional<ClusterProperty>({
    cluster,
    kind: CLUSTER_PROPERTY,
    trim: trimOther,
    log,
    // Without, it is called by the name it was joined under. Of the other kinds no right must never look like none of them.
    isDispensable: true,
    onOpen: (cache) => void ends.push(cache.subscribe(wakeAll)),
  });
  const ifExported = (keys: readonly string[]) => keys.filter((key) => exports.current?.get(key));
  ends.push(
    services.subscribe(wake, {
      keysOf: (service) => [
        ...ifExported([keyOf(service.metadata)]),
        ...labelled(IMPORTED_SERVICE_LABEL)(service),
        ...labelled(NODE_PORTS_LABEL)(service),
      ],
    }),
    slices.subscribe(wake, {
      keysOf: (slice) => [
        ...ifExported(labelled(SERVICE_NAME_LABEL)(slice)),
        ...labelled(IMPORTED_SERVICE_LABEL)(slice),
      ],
    }),
  );
  let reach: Reach = 'pods';
  let nodes: Cache<Node> | undefined;
  reachBy(first);

  function reachBy(next: Reach): void {
    if (next === reach) return;
    reach = next;
    if (!nodes) {
      nodes = cluster.cache<Node>({ type: NODE, trim: trimNode });
      ends.push(nodes.subscribe(wakeAll, { when: ({ before, after }) => !hasSameAddresses(before, after) }));
      void nodes.synced.then(wakeAll);
    }
    wakeAll();
  }

  const required = () => [services, slices, exports.current, nodes].filter((cache) => cache !== undefined);
  const followed = () => {
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
    problem: () => followed().find(({ problem }) => problem !== undefined)?.problem,
    idProblem: () => (properties.current?.isForbidden ? properties.current.problem : undefined),
    lastHeardAt() {
      const times = followed().map(({ lastEventAt }) => lastEventAt ?? 0);
      return times.includes(0) ? undefined : Math.min(...times);
    },
    reachBy,
    exportedAs(key, id) {
      const exported = exports.current?.get(key);
      if (!exported) return [];
      const [service, own] = [services.get(key), slices.find('service', key)];
      const seen = { cluster: id, export: exported, service, slices: own };
      if (reach === 'pods' || !nodes) return [seen];
      const [companion] = services.find('companion', key);
      return [{ ...seen, nodes: { addresses: nodeAddresses(nodes.list(), reach), companion } }];
    },
    companionsOf: (key) => services.find('companion', key),
    slicesOf: (key) => slices.find('service', key),
    importedSlicesOf: (key) => slices.find('imported', key),
    close() {
      exports.stop();
      properties.stop();
      for (const end of ends) end();
    },
  };
}

/** Nodes tell of their health again and again. */
function hasSameAddresses(before: Node | undefined, after: Node | undefined): boolean {
  return JSON.stringify(before?.status) === JSON.stringify(after?.status);
}

/** The keys that a label names in the namespace of an object. */
function labelled(label: string): (object: KubeObject) => string[] {
  return ({ metadata: { namespace = '', labels } }) => {
    const name = labels?.[label];
    return name === undefined ? [] : [keyOf({ namespace, name })];
  };
}
