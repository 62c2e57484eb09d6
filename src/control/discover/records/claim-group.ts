/** What the groups of claims are called that objects of this cluster make. A grant names its group, so the names outlive a version. */
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** That of an object alone. */
export const groupOf = ({ kind, metadata }: KubeObject): string => `${kind} ${keyOf(metadata)}`;

/** That of all EndpointSlices of a name in a namespace. */
export const sliceGroupOf = (name: string | undefined, namespace: string | undefined): string =>
  `EndpointSlices of ${name} in ${namespace}`;

/** The namespace that a group is of. */
export function namespaceOfGroup(group: string): string | undefined {
  const [, ofSlices, ofObject] =
    /^(?:EndpointSlices of \S+ in (\S+)|[A-Z]\w* ([^\s/]+)\/\S+)$/.exec(group) ?? [];
  return ofSlices ?? ofObject;
}
