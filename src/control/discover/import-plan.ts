/**
 * What a cluster holds of services that others export: an import, the addresses behind it, and, unless it is headless, a Service
 * without selector that gives it one address here.
 */
import { createHash } from 'node:crypto';
import type { PlannedCondition } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ServiceName } from './clusterset.ts';
import type { SeenService } from './exported.ts';
import { invalidExport, resolveExports } from './exports.ts';
import type { Exported, Resolved } from './exports.ts';
import {
  FQDN_ANNOTATION,
  IMPORTED_LABEL,
  IMPORTED_SERVICE_LABEL,
  SERVICE_NAME_LABEL,
  SOURCE_CLUSTER_LABEL,
} from './names.ts';
import { publishedEndpoints } from './objects.ts';
import type { EndpointSlice, Service } from './objects.ts';

export interface ImportSettings {
  /** The id of the cluster that imports. */
  local: string;
  /** The API version of ServiceImport here. */
  apiVersion: string;
}

/** What should be in the importing cluster; no objects if nobody exports the service. */
export interface ImportPlan {
  objects: KubeObject[];
  /** The status of the import: where it comes from. */
  clusters: string[];
}

/** The Service that stands for an imported one: recognisable, and never the name of one that somebody made here. */
export function derivedName({ namespace, name }: ServiceName): string {
  return `${name.slice(0, 50)}-${shortHash(`${namespace}/${name}`)}`;
}

export function ownerLabels({ name }: ServiceName): Record<string, string> {
  return { [IMPORTED_LABEL]: name, 'app.kubernetes.io/managed-by': 'isthmus' };
}

/** Plans the objects of one service. `derived` is the Service that was made for it before, once it has addresses. */
export function planImport(
  service: ServiceName,
  seen: SeenService,
  derived: Service | undefined,
  settings: ImportSettings,
): ImportPlan {
  const resolved = resolveExports(seen.exported);
  if (!resolved) return { objects: [], clusters: [] };
  const taking = seen.exported.filter(({ cluster }) => resolved.clusters.includes(cluster));
  const slices = taking.flatMap((one) =>
    one.slices.flatMap((slice) => importedSlice(service, one, slice, resolved)),
  );
  const objects = [importOf(service, resolved, derived, settings), ...slices];
  if (resolved.type === 'ClusterSetIP')
    objects.unshift(derivedService(service, seen, resolved, settings.local));
  return { objects, clusters: resolved.clusters.toSorted() };
}

function derivedService(
  service: ServiceName,
  seen: SeenService,
  resolved: Resolved,
  local: string,
): KubeObject {
  const fqdn = fqdnOf(seen, resolved, local);
  const { ports, sessionAffinity } = resolved;
  const { namespace } = service;
  const labels = { [IMPORTED_SERVICE_LABEL]: service.name };
  const annotations = fqdn === undefined ? {} : { [FQDN_ANNOTATION]: fqdn };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: derivedName(service), namespace, labels, annotations },
    spec: { type: 'ClusterIP', ports, sessionAffinity },
  } as KubeObject;
}

/** The name that the oldest exporter gave it; where that Service itself is, it answers to the name already. */
function fqdnOf({ exported }: SeenService, { clusters }: Resolved, local: string): string | undefined {
  const annotationOf = (cluster: string) =>
    exported.find((one) => one.cluster === cluster)?.service?.metadata.annotations?.[FQDN_ANNOTATION];
  if (annotationOf(local) !== undefined) return undefined;
  return clusters.map(annotationOf).find((fqdn) => fqdn !== undefined);
}

function importOf(
  { namespace, name }: ServiceName,
  { type, ports, sessionAffinity }: Resolved,
  derived: Service | undefined,
  { apiVersion }: ImportSettings,
): KubeObject {
  const ips = derived?.spec?.clusterIPs ?? [];
  const spec = { type, ports, sessionAffinity, ...(type === 'ClusterSetIP' && ips.length > 0 && { ips }) };
  return { apiVersion, kind: 'ServiceImport', metadata: { name, namespace }, spec } as KubeObject;
}

/** Only what may be told to clients is carried over. Slices of a headless service belong to no Service here. */
function importedSlice(
  service: ServiceName,
  { cluster, service: exported }: Exported,
  slice: EndpointSlice,
  { type }: Resolved,
): KubeObject[] {
  if (slice.addressType === 'FQDN') return [];
  const derived = derivedName(service);
  const endpoints = publishedEndpoints(slice, exported).map(({ addresses, hostname }) => ({
    addresses,
    ...(hostname !== undefined && { hostname }),
    conditions: { ready: true },
  }));
  const labels = {
    [IMPORTED_SERVICE_LABEL]: service.name,
    [SOURCE_CLUSTER_LABEL]: cluster,
    'endpointslice.kubernetes.io/managed-by': 'isthmus',
    ...(type === 'ClusterSetIP' && { [SERVICE_NAME_LABEL]: derived }),
  };
  const name = `${derived}-${cluster}-${shortHash(slice.metadata.name)}`;
  return [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace: service.namespace, labels },
      addressType: slice.addressType,
      endpoints,
      ports: slice.ports ?? [],
    } as KubeObject,
  ];
}

/** What is said about the export of a service in the cluster it is in. */
export function exportConditions(one: Exported, all: readonly Exported[]): PlannedCondition[] {
  const invalid = invalidExport(one);
  if (invalid) return [{ type: 'Valid', status: 'False', ...invalid }];
  const conflicts = resolveExports(all)?.conflicts.filter(({ cluster }) => cluster === one.cluster) ?? [];
  const [conflict] = conflicts;
  const message = conflicts.map((each) => each.message).join('; ');
  return [
    { type: 'Valid', status: 'True', reason: 'Valid', message: 'the Service can be exported' },
    { type: 'Ready', status: 'True', reason: 'Exported', message: 'the other clusters can see it' },
    conflict
      ? { type: 'Conflict', status: 'True', reason: conflict.reason, message }
      : { type: 'Conflict', status: 'False', reason: 'NoConflicts', message: 'all clusters agree' },
  ];
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
