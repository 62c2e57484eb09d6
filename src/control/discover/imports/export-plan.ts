/** Plans what the local cluster needs for its own export of a service. */
import { MANAGED_BY } from '../../kernel/field-manager.ts';
import type { ReachMode } from '../members/nodes.ts';
import { NODE_PORTS_LABEL, derivedName } from '../names.ts';
import { invalidExport } from './export-conflicts.ts';
import type { Exported } from './export-conflicts.ts';
import { planNodePorts } from './node-ports.ts';
import type { NodePortPlan } from './node-ports.ts';

/** The labels of the NodePort Service that is made for an exported Service. */
export function nodePortLabels(name: string): Record<string, string> {
  return { [NODE_PORTS_LABEL]: name, ...MANAGED_BY };
}

/** The NodePort Service of an export in a cluster that is reached by node ports; none for other clusters and for invalid exports. */
export function planExport(own: Exported | undefined, reach: ReachMode): NodePortPlan {
  if (reach === 'pods' || !own?.service || invalidExport(own)) return { nodePortService: undefined };
  const { metadata } = own.service;
  const name = `${derivedName({ namespace: metadata.namespace ?? '', name: metadata.name })}-np`;
  return planNodePorts(own.service, own.export, name);
}
