/** Resolves conflicts between exports of one service by several clusters (KEP-1645). */
import { canonicalJson } from '../../../kube/json.ts';
import { FQDN_ANNOTATION, readHostName } from '../names.ts';
import { familiesOf, isHeadless } from '../objects.ts';
import type { Service, ServiceExport, ServicePort } from '../objects.ts';

/** The export of a service by one cluster; the Service may be missing. */
export interface Exported {
  cluster: string;
  export: ServiceExport;
  service: Service | undefined;
}

export type ImportType = 'ClusterSetIP' | 'Headless';
export type ConflictReason =
  | 'TypeConflict'
  | 'PortConflict'
  | 'SessionAffinityConflict'
  | 'SessionAffinityConfigConflict'
  | 'InternalTrafficPolicyConflict'
  | 'TrafficDistributionConflict'
  | 'IPFamilyConflict'
  | 'LabelsConflict'
  | 'AnnotationsConflict'
  | 'FQDNConflict';

export interface Conflict {
  reason: ConflictReason;
  /** The clusters whose value is not used. */
  clusters: string[];
  message: string;
}

/** An exported service as all clusters see it. */
export interface ResolvedExports {
  type: ImportType;
  ports: ServicePort[];
  sessionAffinity: string;
  sessionAffinityConfig: object | undefined;
  internalTrafficPolicy: string | undefined;
  trafficDistribution: string | undefined;
  ipFamilies: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** The name that the oldest export with one asks for, as it is written there. */
  fqdn: string | undefined;
  /** The clusters whose endpoints are used, the oldest export first. */
  clusters: string[];
  conflicts: Conflict[];
}

/** Why an export is invalid, or undefined. */
export function invalidExport({ service }: Exported): { reason: string; message: string } | undefined {
  if (!service) return { reason: 'NoService', message: 'the Service does not exist' };
  if (service.spec?.type === 'ExternalName')
    return { reason: 'InvalidServiceType', message: 'a Service of type ExternalName cannot be exported' };
  return undefined;
}

/** The global properties of a service: the oldest export decides, and a difference is reported on all exports. */
const PROPERTIES: { reason: ConflictReason; name: string; of: (one: Exported) => unknown }[] = [
  { reason: 'SessionAffinityConflict', name: 'session affinity', of: affinityOf },
  {
    reason: 'SessionAffinityConfigConflict',
    name: 'configuration of session affinity',
    of: ({ service }) => service?.spec?.sessionAffinityConfig ?? null,
  },
  {
    reason: 'InternalTrafficPolicyConflict',
    name: 'internal traffic policy',
    of: ({ service }) => service?.spec?.internalTrafficPolicy ?? 'Cluster',
  },
  {
    reason: 'TrafficDistributionConflict',
    name: 'traffic distribution',
    of: ({ service }) => service?.spec?.trafficDistribution ?? null,
  },
  { reason: 'LabelsConflict', name: 'exported labels', of: labelsOf },
  { reason: 'AnnotationsConflict', name: 'exported annotations', of: annotationsOf },
];

/**
 * The oldest export decides (KEP-1645, conflict resolution). A cluster whose Service has another type does not participate. The ports
 * are the union of all; where two exports define one port differently, the older one decides. Undefined: no valid export.
 */
export function resolveExports(all: readonly Exported[]): ResolvedExports | undefined {
  const valid = all.filter((one) => !invalidExport(one)).toSorted(byAge);
  const [oldest] = valid;
  if (!oldest) return undefined;
  const type = typeOf(oldest);
  const participating = valid.filter((one) => typeOf(one) === type);
  const ports = mergePorts(participating);
  const families = commonFamilies(participating);
  const differing = ({ of }: (typeof PROPERTIES)[number]) =>
    participating.filter((one) => canonicalJson(of(one)) !== canonicalJson(of(oldest)));
  const names = differingNames(participating);
  const conflict = (
    reason: ConflictReason,
    name: string,
    others: readonly Exported[],
    used = oldest,
  ): Conflict[] => {
    const clusters = others.map(({ cluster }) => cluster);
    const message = `${name}: the oldest export, of cluster ${used.cluster}, is used; different in ${clusters.join(', ')}`;
    return clusters.length === 0 ? [] : [{ reason, clusters, message }];
  };
  const others = valid.filter((one) => !participating.includes(one));
  return {
    type,
    ports: ports.merged,
    sessionAffinity: affinityOf(oldest),
    sessionAffinityConfig: oldest.service?.spec?.sessionAffinityConfig,
    internalTrafficPolicy: oldest.service?.spec?.internalTrafficPolicy,
    trafficDistribution: oldest.service?.spec?.trafficDistribution,
    ipFamilies: families.common,
    labels: labelsOf(oldest),
    annotations: annotationsOf(oldest),
    fqdn: names.used && fqdnOf(names.used),
    clusters: participating.map(({ cluster }) => cluster),
    conflicts: [
      ...conflict('TypeConflict', `type ${type}`, others),
      ...conflict('PortConflict', 'ports', ports.differing),
      ...conflict('IPFamilyConflict', 'address families', families.conflicting),
      ...PROPERTIES.flatMap((property) => conflict(property.reason, property.name, differing(property))),
      ...conflict('FQDNConflict', 'DNS name', names.differing, names.used),
    ],
  };
}

/** The conflicts in which the value of a cluster is not used. */
export function conflictsAgainst(cluster: string, resolved: ResolvedExports | undefined): Conflict[] {
  return resolved?.conflicts.filter(({ clusters }) => clusters.includes(cluster)) ?? [];
}

/** The union of all ports, as far as one Service can have them. */
function mergePorts(participating: readonly Exported[]): { merged: ServicePort[]; differing: Exported[] } {
  const merged: ServicePort[] = [];
  for (const port of participating.flatMap(portsOf))
    if (!merged.some((other) => excludes(other, port))) merged.push(importedPort(port));
  const shape = (one: Exported) =>
    canonicalJson(
      portsOf(one)
        .map((port) => canonicalJson(importedPort(port)))
        .toSorted(),
    );
  const [oldest] = participating;
  return { merged, differing: participating.filter((one) => shape(one) !== shape(oldest!)) };
}

/** In a Service, no two ports may have one name, or one number and protocol; and one without a name is the only one. */
function excludes(a: ServicePort, b: ServicePort): boolean {
  const sameNumber = a.port === b.port && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP');
  return !a.name || !b.name || a.name === b.name || sameNumber;
}

/** Without the fields that are specific to the exporting cluster. */
function importedPort({ name, port, protocol, appProtocol }: ServicePort): ServicePort {
  return {
    ...(name !== undefined && { name }),
    port,
    protocol: protocol ?? 'TCP',
    ...(appProtocol !== undefined && { appProtocol }),
  };
}

/**
 * The IP families that all exports have, so that each address leads to every cluster. An export that has none of the families that
 * the older ones share is in conflict. Unknown families are in no conflict.
 */
function commonFamilies(participating: readonly Exported[]): { common: string[]; conflicting: Exported[] } {
  let common: string[] = [];
  const conflicting: Exported[] = [];
  for (const one of participating) {
    const own = one.service ? familiesOf(one.service) : [];
    if (own.length === 0) continue;
    const shared = common.length === 0 ? own : common.filter((family) => own.includes(family));
    if (shared.length === 0) conflicting.push(one);
    else common = shared;
  }
  return { common, conflicting };
}

function portsOf({ service }: Exported): ServicePort[] {
  return service?.spec?.ports ?? [];
}

function typeOf({ service }: Exported): ImportType {
  return service && isHeadless(service) ? 'Headless' : 'ClusterSetIP';
}

function affinityOf({ service }: Exported): string {
  return service?.spec?.sessionAffinity ?? 'None';
}

function labelsOf({ export: { spec } }: Exported): Record<string, string> {
  return spec?.exportedLabels ?? {};
}

function annotationsOf({ export: { spec } }: Exported): Record<string, string> {
  return spec?.exportedAnnotations ?? {};
}

/** The name that an exported Service asks for, as it is written there. */
export function fqdnOf({ service }: Exported): string | undefined {
  return service?.metadata.annotations?.[FQDN_ANNOTATION];
}

/** The export whose DNS name is used, and those that ask for another. One without a name contradicts nobody. */
function differingNames(participating: readonly Exported[]): {
  used: Exported | undefined;
  differing: Exported[];
} {
  const named = participating.filter((one) => fqdnOf(one) !== undefined);
  /** The same name may be written in several ways. */
  const hostNameOf = (one: Exported | undefined) => {
    const fqdn = (one && fqdnOf(one)) ?? '';
    const name = readHostName(fqdn);
    return 'value' in name ? name.value : fqdn;
  };
  const [used] = named;
  return { used, differing: named.filter((one) => hostNameOf(one) !== hostNameOf(used)) };
}

/** By age, then by cluster id, so that all clusters decide alike. */
function byAge(a: Exported, b: Exported): number {
  const [first = '', second = ''] = [a, b].map((one) => one.export.metadata.creationTimestamp);
  if (first !== second) return first < second ? -1 : 1;
  return a.cluster < b.cluster ? -1 : 1;
}
