/** What is written down of clusters, and whether those are still there. Pure. */
import type { AnyObject } from '../../kube/object.ts';

/** By kind of anchors: the kind of what they are about, and the field that names it. */
export const ANCHORS = [
  ['KafkaAnchor', 'Kafka', 'kafka'],
  ['RedpandaAnchor', 'Cluster', 'cluster'],
] as const;

type Field = (typeof ANCHORS)[number][2];

export function hasOwner(
  { metadata: { namespace, name }, spec }: AnyObject,
  field: Field,
  owners: readonly AnyObject[],
): boolean {
  const { [field]: owner } = (spec ?? {}) as Partial<Record<Field, { name?: string }>>;
  const wanted = owner?.name ?? name;
  return owners.some(({ metadata }) => metadata.namespace === namespace && metadata.name === wanted);
}
