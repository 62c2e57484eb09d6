/** Brokers that pods have seen behind a virtual cluster, and that its target's declaration does not name. */
import { rangesText, rangesWithout } from '../../../resources/common/node-ids.ts';
import type { NodeIdRange } from '../../../resources/common/node-ids.ts';
import type { Fault } from '../faults.ts';
import type { EvaluatedCluster } from './cluster.ts';

/** Such a broker has no port, or no record and no route, so that clients do not reach it. */
export function undeclaredFault(
  { cluster, target }: Pick<EvaluatedCluster, 'cluster' | 'target'>,
  /** As each pod has seen them. */
  seen: readonly (readonly NodeIdRange[])[],
): Fault[] {
  const declared = target?.nodeIdRanges ?? [];
  if (declared.length === 0) return [];
  const missing: NodeIdRange[] = [];
  for (const ranges of seen) missing.push(...rangesWithout(ranges, [...declared, ...missing]));
  const [first] = missing;
  if (!first) return [];
  const { name, kind } = cluster.spec.targetCluster.clusterRef;
  const ranges = missing.map(({ start, end }) => `{ start: ${start}, end: ${end} }`).join(', ');
  const cure =
    kind === 'Kafka'
      ? `the node pools of Kafka "${name}" do not name them in their status`
      : `add ${ranges} to nodeIdRanges of KafkaClusterRef "${name}"`;
  const message = `the target has brokers with the ids ${rangesText(missing)}, which clients do not reach, since only ${rangesText(declared)} are declared; ${cure}`;
  return [{ reason: 'NodeIdNotDeclared', path: ['spec', 'targetCluster'], message }];
}
