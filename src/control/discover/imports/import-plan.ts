/**
 * Plans the objects of one imported service in the local cluster: a ServiceImport, EndpointSlices with the exporters' endpoints, and
 * the derived Service: one without selector, whose cluster IP is the clusterset IP here. That of a headless service has none, and is
 * made only where the exporter gave it a name, for it to be found by.
 */
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { MANAGED_BY } from '../../kernel/field-manager.ts';
import type { ObservedExport, ObservedService } from '../observe.ts';
import { fqdnOf, resolveExports } from './export-conflicts.ts';
import type { ResolvedExports } from './export-conflicts.ts';
import {
  FQDN_ANNOTATION,
  IMPORTED_LABEL,
  IMPORTED_NAMESPACE_LABEL,
  IMPORTED_SERVICE_LABEL,
  SERVICE_NAME_LABEL,
  SOURCE_CLUSTER_LABEL,
  derivedName,
  headlessName,
  shortHash,
} from '../names.ts';
import { nodePortSlices } from './node-ports.ts';
import type { SliceContents } from './node-ports.ts';
import { familyOf, familySpec, hasPublishedEndpoints, publishedEndpoints } from '../objects.ts';
import type { Endpoint, Service, ServiceImport, ServiceName } from '../objects.ts';
import { placeOf } from '../placement.ts';
import type { ImportNamespace } from '../placement.ts';
import { importCondition, pending } from './status.ts';

export interface ImportSettings {
  /** The id of the local cluster. */
  local: string;
  /** The API version of ServiceImport here. */
  apiVersion: string;
  importNamespace?: ImportNamespace;
  /** Whether clients here are led to this cluster alone where it has ready endpoints. */
  preferLocal?: boolean;
}

/** The objects in the local cluster; none if no cluster exports the service. */
export interface ImportPlan {
  objects: KubeObject[];
  /** For the status of the ServiceImport: the exporting clusters, and whether it can be used. */
  clusters: string[];
  ready: PlannedCondition;
}

/** The labels of all objects of one import. */
export function ownerLabels(
  { namespace, name }: ServiceName,
  importNamespace?: ImportNamespace,
): Record<string, string> {
  const from = importNamespace === undefined ? {} : { [IMPORTED_NAMESPACE_LABEL]: namespace };
  return { [IMPORTED_LABEL]: name, ...from, ...MANAGED_BY };
}

/** Plans the objects of one service. `derived` is the derived Service as it is in the cluster. */
export function planImport(
  service: ServiceName,
  observed: ObservedService,
  derived: Service | undefined,
  settings: ImportSettings,
): ImportPlan {
  const resolved = resolveExports(observed.exported);
  if (!resolved) return { objects: [], clusters: [], ready: pending('no cluster exports the service') };
  const { namespace } = placeOf(service, settings.importNamespace);
  const standIn = derivedService(service, observed, resolved, { ...settings, namespace });
  const participating = observed.exported.filter(({ cluster }) => resolved.clusters.includes(cluster));
  const found = participating.map((one) => ({ one, contents: contentsOf(one) }));
  const problems = found.flatMap(({ contents }) => (typeof contents === 'string' ? contents : []));
  const here = participating.find(({ cluster }) => cluster === settings.local);
  const isNear = settings.preferLocal && here !== undefined && hasPublishedEndpoints(here);
  const used = isNear ? found.filter(({ one }) => one === here) : found;
  const slices = used.flatMap(({ one, contents }) =>
    Object.entries(typeof contents === 'string' ? {} : contents).map(([suffix, content]) => {
      const isLocal = one.cluster === settings.local;
      const endpoints = (content.endpoints ?? []).map((each) => importedEndpoint(each, resolved, isLocal));
      const copy = { ...content, endpoints, cluster: one.cluster, suffix, namespace };
      return importedSlice(service, copy, standIn, observed.imported);
    }),
  );
  return {
    objects: [...(standIn ? [standIn] : []), importOf(service, resolved, derived, settings), ...slices],
    clusters: resolved.clusters.toSorted(),
    ready: importCondition(resolved, derived, problems),
  };
}

/** The derived Service. It has the name that the exporters gave it, unless the local Service has one, and so the name already. */
function derivedService(
  service: ServiceName,
  { exported }: ObservedService,
  resolved: ResolvedExports,
  { local, namespace }: { local: string; namespace: string },
): KubeObject | undefined {
  const own = exported.find(({ cluster }) => cluster === local);
  const fqdn = own && fqdnOf(own) !== undefined ? undefined : resolved.fqdn;
  const isHeadless = resolved.type === 'Headless';
  if (isHeadless && fqdn === undefined) return undefined;
  const name = isHeadless ? headlessName(service) : derivedName(service);
  const labels = { [IMPORTED_SERVICE_LABEL]: service.name };
  const annotations = fqdn === undefined ? {} : { [FQDN_ANNOTATION]: fqdn };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels, annotations },
    spec: {
      type: 'ClusterIP',
      ...(isHeadless
        ? { clusterIP: 'None', ports: resolved.ports }
        : { ...commonSpec(resolved), ...familySpec(resolved.ipFamilies) }),
    },
  } as KubeObject;
}

/** The fields that ServiceImport and derived Service both have from the exported Service (KEP-1645, global properties). */
function commonSpec(resolved: ResolvedExports): object {
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

function importOf(
  service: ServiceName,
  resolved: ResolvedExports,
  derived: Service | undefined,
  { apiVersion, importNamespace }: ImportSettings,
): KubeObject {
  const { type, annotations } = resolved;
  // By its name nobody could tell which service it is, where that is not its own.
  const named = importNamespace === undefined ? {} : { [IMPORTED_SERVICE_LABEL]: service.name };
  const ips = type === 'ClusterSetIP' ? addressesOf(derived) : [];
  const spec = {
    type,
    ...commonSpec(resolved),
    ...(ips.length > 0 && { ips, ipFamilies: ips.map(familyOf) }),
  };
  const labels = { ...resolved.labels, ...named };
  const metadata = { ...placeOf(service, importNamespace), labels, annotations };
  return { apiVersion, kind: 'ServiceImport', metadata, spec } as KubeObject;
}

function addressesOf(derived: Service | undefined): string[] {
  return derived?.spec?.clusterIPs ?? [];
}

/** The contents of the slices of one cluster, by a stable suffix for their names; or why there are none. */
function contentsOf(one: ObservedExport): Record<string, SliceContents> | string {
  if (one.nodePorts) {
    const slices = nodePortSlices(one, one.nodePorts);
    if (typeof slices === 'string') return slices;
    return Object.fromEntries(slices.map((slice) => [`nodes ${slice.addressType}`, slice]));
  }
  // Only endpoints that clients may use are imported.
  const copies = one.slices
    .filter(({ addressType }) => addressType !== 'FQDN')
    .map((slice): [string, SliceContents] => {
      const endpoints = publishedEndpoints(slice, one.service);
      return [slice.metadata.name, { ...slice, endpoints }];
    });
  return Object.fromEntries(copies);
}

/** Where a slice came from, and where its copy goes. */
interface SlicePlace {
  cluster: string;
  suffix: string;
  namespace: string;
}

function importedSlice(
  service: ServiceName,
  { addressType, endpoints, ports, cluster, suffix, namespace }: SliceContents & SlicePlace,
  standIn: KubeObject | undefined,
  imported: ServiceImport | undefined,
): KubeObject {
  const labels = {
    [IMPORTED_SERVICE_LABEL]: service.name,
    [SOURCE_CLUSTER_LABEL]: cluster,
    'endpointslice.kubernetes.io/managed-by': 'isthmus',
    ...(standIn && { [SERVICE_NAME_LABEL]: standIn.metadata.name }),
  };
  const name = `${derivedName(service)}-${cluster}-${shortHash(suffix)}`;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels, ...ownedBy(imported) },
    addressType,
    endpoints,
    ports: ports ?? [],
  } as KubeObject;
}

/**
 * kube-proxy keeps traffic on a node or in a zone by these fields. A node of the same name in another cluster is another node, so only
 * endpoints of the local cluster keep theirs; hints are kept only where the service has a trafficDistribution.
 */
function importedEndpoint(
  endpoint: Endpoint,
  { trafficDistribution }: ResolvedExports,
  isLocal: boolean,
): Endpoint {
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

/** KEP-1645 asks for slices owned by the ServiceImport; its uid is known only once it has been created. */
function ownedBy(imported: ServiceImport | undefined): object {
  if (!imported?.metadata.uid) return {};
  const { apiVersion, kind, metadata } = imported;
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] };
}
