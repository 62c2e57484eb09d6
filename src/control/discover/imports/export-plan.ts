/** What is done, and said, about the export of a service in the cluster it is in. */
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import { invalidExport, resolveExports } from './export-conflicts.ts';
import type { Exported } from './export-conflicts.ts';
import { derivedName } from './import-plan.ts';
import { NODE_PORTS_LABEL } from '../names.ts';
import { offerNodePorts } from './node-ports.ts';
import type { NodePortOffer } from './node-ports.ts';
import type { Reach } from '../members/nodes.ts';

export function companionLabels(name: string): Record<string, string> {
  return { [NODE_PORTS_LABEL]: name, 'app.kubernetes.io/managed-by': 'isthmus' };
}

/** What a cluster that is reached in this way has to offer for its own export; nothing if there is none to speak of. */
export function planOffer(own: Exported | undefined, reach: Reach): NodePortOffer {
  if (reach === 'pods' || !own?.service || invalidExport(own)) return { companion: undefined };
  const { metadata } = own.service;
  const name = `${derivedName({ namespace: metadata.namespace ?? '', name: metadata.name })}-np`;
  return offerNodePorts(own.service, own.export, name);
}

/** Whether a condition of an export is one that is said here; others may say more. */
export function isExportCondition(type: string): boolean {
  return ['Valid', 'Ready', 'Conflict'].includes(type);
}

/** Where exports contradict, all of them are told (KEP-1645); several reasons stand in one condition. */
export function exportConditions(
  one: Exported,
  all: readonly Exported[],
  offer: NodePortOffer = { companion: undefined },
): PlannedCondition[] {
  const invalid = invalidExport(one);
  if (invalid) return [{ type: 'Valid', status: 'False', ...invalid }];
  const conflicts = resolveExports(all)?.conflicts ?? [];
  const reason = conflicts.map((each) => each.reason).join(',');
  const message = conflicts.map((each) => each.message).join('; ');
  return [
    { type: 'Valid', status: 'True', reason: 'Valid', message: 'the Service can be exported' },
    'problem' in offer
      ? { type: 'Ready', status: 'False', reason: 'Failed', message: offer.problem }
      : { type: 'Ready', status: 'True', reason: 'Exported', message: 'the other clusters can see it' },
    conflicts.length > 0
      ? { type: 'Conflict', status: 'True', reason, message }
      : { type: 'Conflict', status: 'False', reason: 'NoConflicts', message: 'all clusters agree' },
  ];
}
