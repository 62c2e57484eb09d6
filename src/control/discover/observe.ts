/** What is known of one exported service in all clusters of the set: the input of its records and of its import. */
import type { Exported } from './imports/export-conflicts.ts';
import type { NodePortAccess } from './imports/node-ports.ts';
import type { ClusterSet } from './members/cluster-set.ts';
import { SOURCE_CLUSTER_LABEL } from './names.ts';
import type { EndpointSlice, ServiceImport } from './objects.ts';

/** The export of a service by one cluster, with its endpoints. */
export interface ObservedExport extends Exported {
  slices: readonly EndpointSlice[];
  /** Set where the cluster is reached by node ports instead of pod addresses. */
  nodePorts?: NodePortAccess;
}

export interface ObservedService {
  /** The exports of all clusters that have been read. */
  exported: readonly ObservedExport[];
  /** The ServiceImport in the local cluster. */
  imported: ServiceImport | undefined;
  /**
   * Slices in the local cluster that were imported from clusters that have not been read: the last known endpoints of a cluster that
   * has been unreachable since this process started, or those of another MCS implementation.
   */
  importedSlices: readonly EndpointSlice[];
}

/** Reads the caches of all clusters of the set for the service with this key. */
export function observeService(set: ClusterSet, key: string): ObservedService {
  const members = set.syncedMembers();
  const forgotten = set.forgotten();
  return {
    exported: [...members].flatMap(([id, member]) => member.exportedAs(key, id)),
    imported: set.importOf(key),
    importedSlices: set.importedSlicesOf(key).filter(({ metadata }) => {
      const source = metadata.labels?.[SOURCE_CLUSTER_LABEL] ?? '';
      return !members.has(source) && !forgotten.has(source);
    }),
  };
}
