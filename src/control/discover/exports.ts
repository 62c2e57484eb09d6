/** Several clusters export a service of the same name: what of it is one service, and what contradicts. */
import { isHeadless } from './objects.ts';
import type { Service, ServiceExport, ServicePort } from './objects.ts';

/** The export of a service by one cluster; the Service may be missing. */
export interface Exported {
  cluster: string;
  export: ServiceExport;
  service: Service | undefined;
}

export type ImportType = 'ClusterSetIP' | 'Headless';
export type ConflictReason = 'TypeConflict' | 'PortConflict' | 'SessionAffinityConflict';

export interface Conflict {
  cluster: string;
  reason: ConflictReason;
  message: string;
}

/** What all clusters see of an exported service. */
export interface Resolved {
  type: ImportType;
  ports: ServicePort[];
  sessionAffinity: string;
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

/**
 * The oldest export decides what kind of service it is (KEP-1645, conflict resolution); ports are those of all, and where two
 * clusters mean different things by one port, the oldest counts. Undefined: nobody exports anything.
 */
export function resolveExports(all: readonly Exported[]): Resolved | undefined {
  const valid = all.filter((one) => !invalidExport(one)).toSorted(byAge);
  const [oldest] = valid;
  if (!oldest) return undefined;
  const resolved: Resolved = {
    type: typeOf(oldest),
    ports: [],
    sessionAffinity: affinityOf(oldest),
    clusters: [],
    conflicts: [],
  };
  for (const one of valid) add(resolved, one, oldest);
  return resolved;
}

function add(resolved: Resolved, one: Exported, oldest: Exported): void {
  const { cluster } = one;
  const conflict = (reason: ConflictReason, message: string) =>
    resolved.conflicts.push({
      cluster,
      reason,
      message: `${message}, by the older export of ${oldest.cluster}`,
    });
  if (typeOf(one) !== resolved.type) {
    conflict('TypeConflict', `the service is ${resolved.type}, not ${typeOf(one)}`);
    return;
  }
  resolved.clusters.push(cluster);
  if (affinityOf(one) !== resolved.sessionAffinity)
    conflict('SessionAffinityConflict', `session affinity is ${resolved.sessionAffinity}`);
  for (const port of one.service?.spec?.ports ?? []) {
    const clash = resolved.ports.find((other) => contradicts(other, port));
    if (clash) conflict('PortConflict', `port ${describe(port)} is ${describe(clash)}`);
    else if (!resolved.ports.some((other) => isSame(other, port))) resolved.ports.push(importedPort(port));
  }
}

/** Two ports contradict if they share name or number (and protocol), and yet are not the same. */
function contradicts(a: ServicePort, b: ServicePort): boolean {
  if (isSame(a, b)) return false;
  const sameNumber = a.port === b.port && protocolOf(a) === protocolOf(b);
  return (a.name ?? '') === (b.name ?? '') || sameNumber;
}

function isSame(a: ServicePort, b: ServicePort): boolean {
  return (
    (a.name ?? '') === (b.name ?? '') &&
    a.port === b.port &&
    protocolOf(a) === protocolOf(b) &&
    a.appProtocol === b.appProtocol
  );
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

function describe(port: ServicePort): string {
  return `${port.name ?? '(unnamed)'} ${port.port}/${protocolOf(port)}`;
}

const protocolOf = ({ protocol }: ServicePort) => protocol ?? 'TCP';
const typeOf = ({ service }: Exported): ImportType =>
  service && isHeadless(service) ? 'Headless' : 'ClusterSetIP';
const affinityOf = ({ service }: Exported) => service?.spec?.sessionAffinity ?? 'None';

/** By age, then by the name of the cluster, so that everybody decides the same. */
function byAge(a: Exported, b: Exported): number {
  const [first = '', second = ''] = [a, b].map((one) => one.export.metadata.creationTimestamp);
  if (first !== second) return first < second ? -1 : 1;
  return a.cluster < b.cluster ? -1 : 1;
}
