/** The conditions of ServiceExports and ServiceImports, and when each holds. */
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import { canonicalJson } from '../../../kube/json.ts';
import type { EventRules } from '../../kernel/events.ts';
import type { PlannedStatus } from '../../kernel/plan.ts';
import type { Service, ServiceImport } from '../objects.ts';
import { invalidExport, resolveExports } from './export-conflicts.ts';
import type { Exported, ResolvedExports } from './export-conflicts.ts';
import type { NodePortPlan } from './node-ports.ts';

const NAMESPACE_EXISTS = 'NamespaceExists';
const EXPORT_CONDITIONS = ['Valid', 'Ready', 'Conflict', NAMESPACE_EXISTS];

/** Which changes of these conditions are worth an event. */
export const IMPORT_EVENTS: EventRules = {
  types: [NAMESPACE_EXISTS],
  routine: new Set(['Pending']),
  waiting: new Set(),
  onlyOf: {},
  announced: {},
};

/** A conflict is reported on every export of the service (KEP-1645), all its reasons in one condition. */
export function exportConditions(
  one: Exported,
  all: readonly Exported[],
  nodePorts: NodePortPlan = { nodePortService: undefined },
  lacking: readonly string[] = [],
): PlannedCondition[] {
  const invalid = invalidExport(one);
  if (invalid) return [{ type: 'Valid', status: 'False', ...invalid }];
  const conflicts = resolveExports(all)?.conflicts ?? [];
  const reason = conflicts.map((each) => each.reason).join(',');
  const message = conflicts.map((each) => each.message).join('; ');
  return [
    { type: 'Valid', status: 'True', reason: 'Valid', message: 'the Service can be exported' },
    'problem' in nodePorts
      ? { type: 'Ready', status: 'False', reason: 'Failed', message: nodePorts.problem }
      : { type: 'Ready', status: 'True', reason: 'Exported', message: 'the Service is exported' },
    conflicts.length > 0
      ? { type: 'Conflict', status: 'True', reason, message }
      : { type: 'Conflict', status: 'False', reason: 'NoConflicts', message: 'the exports do not conflict' },
    namespaceCondition(one.export.metadata.namespace ?? '', lacking),
  ];
}

/** Whether other clusters have the namespace of an export. One that imports into a namespace of its own does not need it. */
function namespaceCondition(namespace: string, lacking: readonly string[]): PlannedCondition {
  const type = NAMESPACE_EXISTS;
  if (lacking.length === 0) {
    const message = 'no joined cluster is known to lack the namespace';
    return { type, status: 'True', reason: 'NamespaceFound', message };
  }
  const message = `namespace "${namespace}" does not exist in ${lacking.toSorted().join(', ')}: the service is imported there when it does, or where importNamespace is set`;
  return { type, status: 'False', reason: 'NamespaceMissing', message };
}

/** The status of an export, and which of its conditions are ours: those of other controllers stay. */
export function exportStatus(
  one: Exported,
  all: readonly Exported[],
  nodePorts: NodePortPlan,
  lacking: readonly string[],
): Pick<PlannedStatus, 'status' | 'ownConditions'> {
  const conditions = exportConditions(one, all, nodePorts, lacking);
  return { status: { conditions }, ownConditions: EXPORT_CONDITIONS };
}

/** The condition Ready of an import. `problems` says why slices of some clusters are missing. */
export function importCondition(
  { type, clusters, internalTrafficPolicy }: ResolvedExports,
  derived: Service | undefined,
  problems: readonly string[],
): PlannedCondition {
  const hasAddress = (derived?.spec?.clusterIPs ?? []).length > 0;
  if (type === 'ClusterSetIP' && !hasAddress) return pending('the derived Service has no cluster IP yet');
  if (problems.length === clusters.length) return pending(problems.join('; '));
  const isLocal = type === 'ClusterSetIP' && internalTrafficPolicy === 'Local';
  const usable = isLocal
    ? 'the service can be used on nodes that run its pods, because its internalTrafficPolicy is Local'
    : 'the service can be used';
  const message = problems.length === 0 ? usable : problems.join('; ');
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}

/** The condition Ready where the API server refuses an object, e.g. an IP family that the cluster lacks, or a quota. */
export function refusedCondition(message: string): PlannedCondition {
  const reason = /ipFamil|IPv[46]/.test(message) ? 'IPFamilyNotSupported' : 'Pending';
  return { type: 'Ready', status: 'False', reason, message };
}

export function pending(message: string): PlannedCondition {
  return { type: 'Ready', status: 'False', reason: 'Pending', message };
}

/**
 * The status of an import. `endpointSliceObjects` is written only together with another change: an older CRD drops the field, and it
 * would be written again and again.
 */
export function importStatus(
  old: ServiceImport['status'],
  clusterIds: readonly string[],
  ready: PlannedCondition,
): object {
  const clusters = clusterIds.map((cluster) => ({ cluster }));
  const before = old?.conditions?.find(({ type }) => type === ready.type);
  const { status, reason, message } = ready;
  const isSame =
    canonicalJson([old?.clusters, before?.status, before?.reason, before?.message]) ===
    canonicalJson([clusters, status, reason, message]);
  return { clusters, conditions: [ready], ...(!isSame && { endpointSliceObjects: 'Present' }) };
}
