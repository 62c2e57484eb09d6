import type { ObjectMeta } from '../../kube/object.ts';

/** Sorts objects by age, the older first; of two made in the same second, by name. */
export function ageOf({
  creationTimestamp = '9',
  namespace = '',
  name,
}: Pick<ObjectMeta, 'creationTimestamp' | 'namespace' | 'name'>): string {
  return `${creationTimestamp} ${namespace}/${name}`;
}
