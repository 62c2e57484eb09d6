/** The DNS records of one exported service: an entry for each export, and one for each import. */
import { conflictsAgainst, invalidExport, resolveExports } from '../imports/export-conflicts.ts';
import type { Exported } from '../imports/export-conflicts.ts';
import { SOURCE_CLUSTER_LABEL } from '../names.ts';
import { hasPublishedEndpoints } from '../objects.ts';
import type { EndpointSlice, ServiceName } from '../objects.ts';
import type { ObservedExport, ObservedService } from '../observe.ts';
import type { RecordOwner } from './admission.ts';
import { NO_RECORDS } from './dns-record.ts';
import type { RecordResult } from './dns-record.ts';
import { clusterSetIpRecords, headlessRecords } from './mcs-records.ts';
import type { ObjectRecords } from './publisher.ts';

export interface ExportRecordOptions {
  /** The id of the local cluster, whose objects get events. */
  local: string;
  /** Whether a headless service leads to this cluster alone where it has ready endpoints. */
  preferLocal?: boolean;
}

/** The records of a service. */
export function exportRecords(
  service: ServiceName,
  { exported, imported, importedSlices }: ObservedService,
  { local: localId, preferLocal = false }: ExportRecordOptions,
): ObjectRecords[] {
  const resolved = resolveExports(exported);
  const isHeadless = (resolved?.type ?? imported?.spec?.type) === 'Headless';
  const key = `${service.namespace}/${service.name}`;
  const exporters = resolved?.clusters ?? (imported?.status?.clusters ?? []).map(({ cluster }) => cluster);
  const entry = (
    source: string,
    object: ObjectRecords['object'],
    clusters: readonly string[],
    result: RecordResult,
  ): ObjectRecords => {
    const since = object?.metadata.creationTimestamp ?? '';
    const owner = ownerOf(service, clusters, localId);
    return { source, claimGroup: `exported ${key}`, object, owner, since, result, reason: 'ExportConflict' };
  };
  const here = exported.find(({ cluster }) => cluster === localId && resolved?.clusters.includes(cluster));
  const isNear = preferLocal && here !== undefined && hasPublishedEndpoints(here);
  const recordsOf = (one: ObservedExport): RecordResult => {
    // Pod addresses that cannot be reached from here must not be served.
    const isServed = isHeadless && resolved?.clusters.includes(one.cluster) && !one.nodePorts;
    const { cluster, slices, service: from } = one;
    const endpoints = { cluster, slices, exported: from, hostsOnly: isNear && one !== here };
    return isServed ? headlessRecords(service, endpoints) : NO_RECORDS;
  };
  const entries = exported.map((one) => {
    const { records, problems } = recordsOf(one);
    const object = one.cluster === localId ? one.export : undefined;
    const result = { records, problems: [...problems, ...problemsOf(one, resolved)] };
    return entry(`ServiceExport ${one.cluster}/${key}`, object, [one.cluster], result);
  });
  if (isHeadless)
    for (const [cluster, slices] of bySourceCluster(importedSlices))
      entries.push(
        entry(
          `ServiceImport ${cluster}/${key}`,
          undefined,
          [cluster],
          headlessRecords(service, { cluster, slices, hostsOnly: isNear }),
        ),
      );
  else if (imported)
    entries.push(entry(`ServiceImport ${key}`, imported, exporters, clusterSetIpRecords(service, imported)));
  return entries;
}

/** An export of this cluster is its namespace's; those of others are their clusters'. */
function ownerOf({ namespace }: ServiceName, clusters: readonly string[], localId: string): RecordOwner {
  return clusters.includes(localId) ? { namespace } : { clusters };
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
