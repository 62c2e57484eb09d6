/** What is followed in one cluster of the set: exports, and the Services and endpoints they are of. */
import type { Cache } from '../../kube/cache.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { keyOf } from '../../kube/object.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import { serviceExport } from '../../resources/multicluster/service-export.ts';
import type { SeenService } from './exported.ts';
import { IMPORTED_SERVICE_LABEL, SERVICE_NAME_LABEL } from './names.ts';
import { ENDPOINT_SLICE, SERVICE } from './objects.ts';
import type { EndpointSlice, Service, ServiceExport } from './objects.ts';
import { openOptional } from './optional-cache.ts';
import type { OptionalCache } from './optional-cache.ts';
import { trimOther, trimService, trimSlice } from './trim.ts';

export interface Member {
  readonly cluster: Cluster;
  readonly services: Cache<Service>;
  readonly slices: Cache<EndpointSlice>;
  readonly exports: OptionalCache<ServiceExport>;
  /** Whether all of it has been read once; from then on it is kept, whether the cluster answers or not. */
  readonly isSettled: boolean;
  readonly settled: Promise<void>;
  /** Why it is not up to date at the moment. */
  problem(): string | undefined;
  /** When the cluster last said anything, on the clock of its caches. */
  lastHeardAt(): number | undefined;
  /** The export of a service by this cluster, with all that belongs to it; empty if there is none. */
  exportedAs(key: string): SeenService['exported'];
  /** The slices of a Service. */
  slicesOf(key: string): EndpointSlice[];
  /** The slices that were imported for a service, from wherever. */
  importedSlicesOf(key: string): EndpointSlice[];
  close(): void;
}

/** Begins to follow a cluster; `wake` gets the key of each exported service of which something changed. */
export function openMember(cluster: Cluster, log: Log, wake: (key: string) => void): Member {
  const services = cluster.cache<Service>({ type: SERVICE, trim: trimService });
  const slices = cluster.cache<EndpointSlice>({ type: ENDPOINT_SLICE, trim: trimSlice });
  slices.addIndex('service', labelled(SERVICE_NAME_LABEL));
  slices.addIndex('imported', labelled(IMPORTED_SERVICE_LABEL));
  const ends: (() => void)[] = [];
  const exports = openOptional<ServiceExport>({
    cluster,
    kind: serviceExport,
    trim: trimOther,
    log,
    onOpen: (cache) => void ends.push(cache.subscribe(wake)),
  });
  const ifExported = (keys: readonly string[]) => keys.filter((key) => exports.current?.get(key));
  ends.push(
    services.subscribe(wake, {
      keysOf: (service) => [
        ...ifExported([keyOf(service.metadata)]),
        ...labelled(IMPORTED_SERVICE_LABEL)(service),
      ],
    }),
    slices.subscribe(wake, {
      keysOf: (slice) => [
        ...ifExported(labelled(SERVICE_NAME_LABEL)(slice)),
        ...labelled(IMPORTED_SERVICE_LABEL)(slice),
      ],
    }),
  );
  const opened = () => [services, slices, ...(exports.current ? [exports.current] : [])];
  return {
    cluster,
    services,
    slices,
    exports,
    get isSettled() {
      return services.isSynced && slices.isSynced && exports.isSettled;
    },
    settled: Promise.all([services.synced, slices.synced, exports.settled]).then(() => undefined),
    problem: () => opened().find(({ problem }) => problem !== undefined)?.problem,
    lastHeardAt() {
      const times = opened().map(({ lastEventAt }) => lastEventAt ?? 0);
      return times.includes(0) ? undefined : Math.min(...times);
    },
    exportedAs(key) {
      const exported = exports.current?.get(key);
      if (!exported) return [];
      const [service, own] = [services.get(key), slices.find('service', key)];
      return [{ cluster: cluster.name, export: exported, service, slices: own }];
    },
    slicesOf: (key) => slices.find('service', key),
    importedSlicesOf: (key) => slices.find('imported', key),
    close() {
      exports.stop();
      for (const end of ends) end();
    },
  };
}

/** The keys that a label names in the namespace of an object. */
function labelled(label: string): (object: KubeObject) => string[] {
  return ({ metadata: { namespace = '', labels } }) => {
    const name = labels?.[label];
    return name === undefined ? [] : [keyOf({ namespace, name })];
  };
}
