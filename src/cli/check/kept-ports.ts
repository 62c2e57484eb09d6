/** Ports of nodes that are kept for clusters which are gone. They are until somebody sets them free: nobody else knows when clients have forgotten them. Pure. */
import { STRETCH_FINALIZER } from '../../control/brokers/stretch/anchor.ts';
import { ANCHORS, hasOwner } from './anchors.ts';
import type { CheckResult, Facts } from './facts.ts';
import { known, verdict, warn } from './results.ts';

export function keptPortChecks({ resources }: Pick<Facts, 'resources'>): CheckResult[] {
  return ANCHORS.flatMap(([kind, ownerKind, field]) => {
    const [anchors, owners] = [resources.get(kind), resources.get(ownerKind)];
    if (!anchors || !owners) return [];
    return known(`${kind}s can be read`, anchors, (all) =>
      known(`${ownerKind}s can be read`, owners, (there) => {
        const problems = all.flatMap((anchor) => {
          const { ports } = (anchor['spec'] ?? {}) as { ports?: { port?: number }[] };
          const numbers = Array.isArray(ports) ? ports.flatMap(({ port }) => port ?? []) : [];
          const { namespace, name, finalizers = [] } = anchor.metadata;
          // Its Kafka is in another cluster, whose operator keeps it.
          if (finalizers.includes(STRETCH_FINALIZER)) return [];
          const isGone = !hasOwner(anchor, field, there);
          const words = `${kind} ${namespace}/${name} keeps ${numbers.join(', ')}`;
          return isGone && numbers.length > 0 ? [words] : [];
        });
        return [verdict(`ports that ${kind}s keep are in use`, problems, warn, 'PortsKeptForDeleted')];
      }),
    );
  });
}
