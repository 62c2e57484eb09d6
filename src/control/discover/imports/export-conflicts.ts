/** Several clusters export a service of the same name: what of it is one service, and what contradicts. */
import { canonicalJson } from '../../../kube/json.ts';
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
  | 'AnnotationsConflict';

export interface Conflict {
  reason: ConflictReason;
  /** Who is not followed. */
  clusters: string[];
  message: string;
}

/** What all clusters see of an exported service. */
export interface Resolved {
  type: ImportType;
  ports: ServicePort[];
  sessionAffinity: string;
  sessionAffinityConfig: object | undefined;
  internalTrafficPolicy: string | undefined;
  trafficDistribution: string | undefined;
  ipFamilies: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Whose endpoints count, the oldest export first. */
  clusters: string[];
  conflicts: Conflict[];
}

/** Why an export cannot be honoured, or undefined. */
export function invalidExport({ service }: Exported): { reason: string; message: string } | undefined {
  if (!service) return { reason: 'NoService', message: 'there is no Service of this name' };
  if (service.spec?.type === 'ExternalName')
    return { reason: 'InvalidServiceType', message: 'a Service of type ExternalName cannot be exported' };
  return undefined;
}

/** What a service has as a whole: where clusters differ, the oldest export counts, and all are told. */
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
 * The oldest export decides (KEP-1645, conflict resolution). A cluster that has another type of service under the name takes no
 * part in it; ports are those of all, and where two clusters mean different things by one port, the oldest counts. Undefined:
 * nobody exports anything.
 */
export function resolveExports(all: readonly Exported[]): Resolved | undefined {
  const valid = all.filter((one) => !invalidExport(one)).toSorted(byAge);
  const [oldest] = valid;
  if (!oldest) return undefined;
  const type = typeOf(oldest);
  const taking = valid.filter((one) => typeOf(one) === type);
  const ports = mergePorts(taking);
  const families = commonFamilies(taking);
  const differing = ({ of }: (typeof PROPERTIES)[number]) =>
    taking.filter((one) => canonicalJson(of(one)) !== canonicalJson(of(oldest)));
  const conflict = (reason: ConflictReason, name: string, others: readonly Exported[]): Conflict[] => {
    const clusters = others.map(({ cluster }) => cluster);
    const message = `${name}: that of ${oldest.cluster}, the oldest export, counts; ${clusters.join(', ')} disagree`;
    return clusters.length === 0 ? [] : [{ reason, clusters, message }];
  };
  const others = valid.filter((one) => !taking.includes(one));
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
    clusters: taking.map(({ cluster }) => cluster),
    conflicts: [
      ...conflict('TypeConflict', `type ${type}`, others),
      ...conflict('PortConflict', 'ports', ports.differing),
      ...conflict('IPFamilyConflict', 'address families', families.left),
      ...PROPERTIES.flatMap((property) => conflict(property.reason, property.name, differing(property))),
    ],
  };
}

/** The conflicts in which a cluster is the one that is not followed. */
export function conflictsAgainst(cluster: string, resolved: Resolved | undefined): Conflict[] {
  return resolved?.conflicts.filter(({ clusters }) => clusters.includes(cluster)) ?? [];
}

/** The ports of all, as far as one Service can have them. */
function mergePorts(taking: readonly Exported[]): { merged: ServicePort[]; differing: Exported[] } {
  const merged: ServicePort[] = [];
  for (const port of taking.flatMap(portsOf))
    if (!merged.some((other) => excludes(other, port))) merged.push(importedPort(port));
  const shape = (one: Exported) =>
    canonicalJson(
      portsOf(one)
        .map((port) => canonicalJson(importedPort(port)))
        .toSorted(),
    );
  const [oldest] = taking;
  return { merged, differing: taking.filter((one) => shape(one) !== shape(oldest!)) };
}

/** In a Service, no two ports may have one name, or one number and protocol; and one without a name is the only one. */
function excludes(a: ServicePort, b: ServicePort): boolean {
  const sameNumber = a.port === b.port && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP');
  return !a.name || !b.name || a.name === b.name || sameNumber;
}

/** Without what is only true in the cluster that exports it. */
function importedPort({ name, port, protocol, appProtocol }: ServicePort): ServicePort {
  return {
    ...(name !== undefined && { name }),
    port,
    protocol: protocol ?? 'TCP',
    ...(appProtocol !== undefined && { appProtocol }),
  };
}

/**
 * The families that all have, so that each address leads to every cluster. Who has none of those that the older ones share is
 * left behind it: that is a conflict. Families that are not known agree with all.
 */
function commonFamilies(taking: readonly Exported[]): { common: string[]; left: Exported[] } {
  let common: string[] = [];
  const left: Exported[] = [];
  for (const one of taking) {
    const own = one.service ? familiesOf(one.service) : [];
    if (own.length === 0) continue;
    const shared = common.length === 0 ? own : common.filter((family) => own.includes(family));
    if (shared.length === 0) left.push(one);
    else common = shared;
  }
  return { common, left };
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

/** By age, then by the name of the cluster, so that everybody decides the same. */
function byAge(a: Exported, b: Exported): number {
  const [first = '', second = ''] = [a, b].map((one) => one.export.metadata.creationTimestamp);
  if (first !== second) return first < second ? -1 : 1;
  return a.cluster < b.cluster ? -1 : 1;
}
