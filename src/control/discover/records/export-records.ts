/** Which objects give which names to one exported service. */
import { clusterSetIpRecords, headlessRecords } from './mcs-records.ts';
import type { ServiceName } from './mcs-records.ts';
import { conflictsAgainst, invalidExport, resolveExports } from '../imports/export-conflicts.ts';
import type { Exported } from '../imports/export-conflicts.ts';
import type { NodeWay } from '../imports/node-ports.ts';
import { SOURCE_CLUSTER_LABEL } from '../names.ts';
import type { EndpointSlice, ServiceImport } from '../objects.ts';
import type { Claimant } from './publisher.ts';
import type { Told } from './dns-record.ts';

/** The export of a service by one cluster, with the endpoints there. */
export interface SeenExport extends Exported {
  slices: readonly EndpointSlice[];
  /** The way to it, where it is not by the addresses of pods. */
  nodes?: NodeWay;
}

/** All that is known of a service that some cluster exports. */
export interface SeenService {
  /** The exports of the clusters that have been read. */
  exported: readonly SeenExport[];
  /** The import in this cluster. */
  imported: ServiceImport | undefined;
  /**
   * Slices that were imported into this cluster from clusters that have not been read: what was last known of one that cannot be
   * reached since we started, or the work of another implementation.
   */
  importedSlices: readonly EndpointSlice[];
}

/** The objects that give names to a service. `local` is the cluster whose objects may be told what is wrong. */
export function claimantsOf(service: ServiceName, seen: SeenService, local: string): Claimant[] {
  const { exported, imported, importedSlices } = seen;
  const resolved = resolveExports(exported);
  const type = resolved?.type ?? imported?.spec?.type;
  const where = `${service.namespace}/${service.name}`;
  const claimant = (source: string, object: Claimant['object'], told: Told): Claimant => {
    const since = object?.metadata.creationTimestamp ?? '';
    return { source, party: `exported ${where}`, object, since, told, reason: 'ExportConflict' };
  };
  const claimants = exported.map((one) => {
    const { cluster, slices } = one;
    const problems = problemsOf(one, resolved);
    // Names of pods that cannot be reached would do harm.
    const headless = type === 'Headless' && resolved?.clusters.includes(cluster) && !one.nodes;
    const told = headless
      ? headlessRecords(service, cluster, slices, one.service)
      : { records: [], problems: [] };
    const object = cluster === local ? one.export : undefined;
    return claimant(`ServiceExport ${cluster}/${where}`, object, {
      ...told,
      problems: [...told.problems, ...problems],
    });
  });
  if (type === 'Headless')
    for (const [cluster, slices] of bySourceCluster(importedSlices))
      claimants.push(
        claimant(`ServiceImport ${cluster}/${where}`, undefined, headlessRecords(service, cluster, slices)),
      );
  else if (imported)
    claimants.push(claimant(`ServiceImport ${where}`, imported, clusterSetIpRecords(service, imported)));
  return claimants;
}

function problemsOf(one: Exported, resolved: ReturnType<typeof resolveExports>): string[] {
  const invalid = invalidExport(one);
  if (invalid) return [invalid.message];
  return conflictsAgainst(one.cluster, resolved).map(({ message }) => message);
}

function bySourceCluster(slices: readonly EndpointSlice[]): Map<string, EndpointSlice[]> {
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    const cluster = slice.metadata.labels?.[SOURCE_CLUSTER_LABEL];
    if (cluster !== undefined) groups.set(cluster, [...(groups.get(cluster) ?? []), slice]);
  }
  return groups;
}
