/**
 * What a cluster holds of services that others export: an import, the addresses behind it, and, unless it is headless, a Service
 * without selector that gives it one address here.
 */
import { createHash } from 'node:crypto';
import { mergeConditions } from '../../../kube/write/conditions.ts';
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import { hashOf } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ServiceName } from '../records/mcs-records.ts';
import type { SeenExport, SeenService } from '../records/export-records.ts';
import { resolveExports } from './export-conflicts.ts';
import type { Resolved } from './export-conflicts.ts';
import {
  FQDN_ANNOTATION,
  IMPORTED_LABEL,
  IMPORTED_SERVICE_LABEL,
  SERVICE_NAME_LABEL,
  SOURCE_CLUSTER_LABEL,
} from '../names.ts';
import { nodeSlices } from './node-ports.ts';
import type { SliceContents } from './node-ports.ts';
import { familyOf, familySpec, publishedEndpoints } from '../objects.ts';
import type { Endpoint, Service, ServiceImport } from '../objects.ts';

export interface ImportSettings {
  /** The id of the cluster that imports. */
  local: string;
  /** The API version of ServiceImport here. */
  apiVersion: string;
}

/** What should be in the importing cluster; no objects if nobody exports the service. */
export interface ImportPlan {
  objects: KubeObject[];
  /** The status of the import: where it comes from, and whether it can be used. */
  clusters: string[];
  ready: PlannedCondition;
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
  if (!resolved) return { objects: [], clusters: [], ready: pending('nobody exports it') };
  const taking = seen.exported.filter(({ cluster }) => resolved.clusters.includes(cluster));
  const found = taking.map((one) => ({ one, contents: contentsOf(one) }));
  const problems = found.flatMap(({ contents }) => (typeof contents === 'string' ? contents : []));
  const slices = found.flatMap(({ one, contents }) =>
    typeof contents === 'string'
      ? []
      : Object.entries(contents).map(([suffix, content]) => {
          const isLocal = one.cluster === settings.local;
          const endpoints = (content.endpoints ?? []).map((each) =>
            importedEndpoint(each, resolved, isLocal),
          );
          const copy = { ...content, endpoints };
          return importedSlice(service, one.cluster, suffix, copy, resolved, seen.imported);
        }),
  );
  const objects = [importOf(service, resolved, derived, settings), ...slices];
  if (resolved.type === 'ClusterSetIP')
    objects.unshift(derivedService(service, seen, resolved, settings.local));
  return {
    objects,
    clusters: resolved.clusters.toSorted(),
    ready: readiness(resolved, derived, problems),
  };
}

function derivedService(
  service: ServiceName,
  seen: SeenService,
  resolved: Resolved,
  local: string,
): KubeObject {
  const fqdn = fqdnOf(seen, resolved, local);
  const { namespace } = service;
  const labels = { [IMPORTED_SERVICE_LABEL]: service.name };
  const annotations = fqdn === undefined ? {} : { [FQDN_ANNOTATION]: fqdn };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: derivedName(service), namespace, labels, annotations },
    spec: {
      type: 'ClusterIP',
      ...commonSpec(resolved),
      ...familySpec(resolved.ipFamilies),
    },
  } as KubeObject;
}

/** What the import and the Service that stands for it have from the exported Service alike (KEP-1645, global properties). */
function commonSpec(resolved: Resolved): object {
  const { ports, sessionAffinity, sessionAffinityConfig } = resolved;
  const { internalTrafficPolicy, trafficDistribution } = resolved;
  return {
    ports,
    sessionAffinity,
    ...(sessionAffinityConfig && { sessionAffinityConfig }),
    ...(internalTrafficPolicy && { internalTrafficPolicy }),
    ...(trafficDistribution && { trafficDistribution }),
  };
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
  resolved: Resolved,
  derived: Service | undefined,
  { apiVersion }: ImportSettings,
): KubeObject {
  const { type, labels, annotations } = resolved;
  const ips = type === 'ClusterSetIP' ? addressesOf(derived) : [];
  const spec = {
    type,
    ...commonSpec(resolved),
    ...(ips.length > 0 && { ips, ipFamilies: ips.map(familyOf) }),
  };
  const metadata = { name, namespace, labels, annotations };
  return { apiVersion, kind: 'ServiceImport', metadata, spec } as KubeObject;
}

function addressesOf(derived: Service | undefined): string[] {
  return derived?.spec?.clusterIPs ?? [];
}

/** What the slices from one cluster hold, each under a word that stays the same; or why there are none. */
function contentsOf(one: SeenExport): Record<string, SliceContents> | string {
  if (one.nodes) {
    const slices = nodeSlices(one, one.nodes);
    if (typeof slices === 'string') return slices;
    return Object.fromEntries(slices.map((slice) => [`nodes ${slice.addressType}`, slice]));
  }
  // Only what may be told to clients is carried over.
  const copies = one.slices
    .filter(({ addressType }) => addressType !== 'FQDN')
    .map((slice): [string, SliceContents] => {
      const endpoints = publishedEndpoints(slice, one.service);
      return [slice.metadata.name, { ...slice, endpoints }];
    });
  return Object.fromEntries(copies);
}

/** Slices of a headless service belong to no Service here. */
function importedSlice(
  service: ServiceName,
  cluster: string,
  suffix: string,
  { addressType, endpoints, ports }: SliceContents,
  { type }: Resolved,
  imported: ServiceImport | undefined,
): KubeObject {
  const derived = derivedName(service);
  const labels = {
    [IMPORTED_SERVICE_LABEL]: service.name,
    [SOURCE_CLUSTER_LABEL]: cluster,
    'endpointslice.kubernetes.io/managed-by': 'isthmus',
    ...(type === 'ClusterSetIP' && { [SERVICE_NAME_LABEL]: derived }),
  };
  const name = `${derived}-${cluster}-${shortHash(suffix)}`;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: service.namespace, labels, ...ownedBy(imported) },
    addressType,
    endpoints,
    ports: ports ?? [],
  } as KubeObject;
}

/**
 * Whoever keeps traffic on a node, or near it, goes by what slices say of where endpoints are. A node of the same name in another
 * cluster is another node, so that only endpoints of this cluster have one; hints count only where the service asks for them.
 */
function importedEndpoint(endpoint: Endpoint, { trafficDistribution }: Resolved, isLocal: boolean): Endpoint {
  const { addresses, hostname, nodeName, zone, hints } = endpoint;
  const { forZones, forNodes } = hints ?? {};
  const kept = { ...(forZones && { forZones }), ...(forNodes && isLocal && { forNodes }) };
  const isHinted = trafficDistribution !== undefined && Object.keys(kept).length > 0;
  return {
    addresses,
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && isLocal && { nodeName }),
    ...(zone !== undefined && { zone }),
    ...(isHinted && { hints: kept }),
    conditions: { ready: true },
  };
}

/** The specification wants slices to belong to the import; its id is known only when it is there. */
function ownedBy(imported: ServiceImport | undefined): object {
  if (!imported?.metadata.uid) return {};
  const { apiVersion, kind, metadata } = imported;
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] };
}

/**
 * The status of an import. That there are EndpointSlices is said with whatever else is new: a CRD of before the specification asked for
 * it drops the field, and would be sent it again and again.
 */
export function importStatus(
  old: ServiceImport['status'],
  clusters: readonly string[],
  ready: PlannedCondition,
  now: Date,
): NonNullable<ServiceImport['status']> {
  const next = {
    ...old,
    clusters: clusters.map((cluster) => ({ cluster })),
    conditions: mergeConditions(old?.conditions, [ready], now, (type) => type === ready.type),
  };
  return hashOf(next) === hashOf(old ?? {}) ? next : { ...next, endpointSliceObjects: 'Present' };
}

function readiness(
  { type, clusters, internalTrafficPolicy }: Resolved,
  derived: Service | undefined,
  problems: readonly string[],
): PlannedCondition {
  if (type === 'ClusterSetIP' && addressesOf(derived).length === 0) return pending('it has no address yet');
  if (problems.length === clusters.length) return pending(problems.join('; '));
  const isLocal = type === 'ClusterSetIP' && internalTrafficPolicy === 'Local';
  const usable = isLocal
    ? 'it can be used on nodes that have pods of it: its internal traffic policy is Local'
    : 'it can be used';
  const message = problems.length === 0 ? usable : problems.join('; ');
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}

function pending(message: string): PlannedCondition {
  return { type: 'Ready', status: 'False', reason: 'Pending', message };
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
