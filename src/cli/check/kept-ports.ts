/** Ports of nodes that are kept for clusters which are gone. They are until somebody sets them free: nobody else knows when clients have forgotten them. Pure. */
import { STRETCH_FINALIZER } from '../../control/brokers/stretch/anchor.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { CheckResult, Facts } from './facts.ts';
import { known, verdict, warn } from './results.ts';

/** By kind of anchors: the kind of what they are about, and the field that names it. */
const OWNERS = [
  ['KafkaAnchor', 'Kafka', 'kafka'],
  ['RedpandaAnchor', 'Cluster', 'cluster'],
] as const;

interface Spec {
  ports?: { port?: number }[];
  kafka?: { name?: string };
  cluster?: { name?: string };
}

export function keptPortChecks({ resources }: Pick<Facts, 'resources'>): CheckResult[] {
  return OWNERS.flatMap(([kind, ownerKind, field]) => {
    const [anchors, owners] = [resources.get(kind), resources.get(ownerKind)];
    if (!anchors || !owners) return [];
    return known(`${kind}s can be read`, anchors, (all) =>
      known(`${ownerKind}s can be read`, owners, (there) => {
        const problems = all.flatMap((anchor) => {
          const { ports, [field]: owner } = (anchor['spec'] ?? {}) as Spec;
          const numbers = Array.isArray(ports) ? ports.flatMap(({ port }) => port ?? []) : [];
          const { namespace, name, finalizers = [] } = anchor.metadata;
          // Its Kafka is in another cluster, whose operator keeps it.
          if (finalizers.includes(STRETCH_FINALIZER)) return [];
          const isGone = !there.some((one) => isNamed(one, namespace, owner?.name ?? name));
          const words = `${kind} ${namespace}/${name} keeps ${numbers.join(', ')}`;
          return isGone && numbers.length > 0 ? [words] : [];
        });
        return [verdict(`ports that ${kind}s keep are in use`, problems, warn, 'PortsKeptForDeleted')];
      }),
    );
  });
}

const isNamed = ({ metadata }: AnyObject, namespace: string | undefined, name: string) =>
  metadata.namespace === namespace && metadata.name === name;
