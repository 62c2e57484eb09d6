/** Tells a pod that no set has made about its node: brokers of a StatefulSet are told the same as those of pod sets. */
import { isBeingDeleted } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { annotationChanges, nodeWishesIn, placedAnnotations } from '../shared/node-annotations.ts';
import type { NodeFacts } from '../shared/node-annotations.ts';
import { factsOf } from './observe.ts';
import type { PodSetPlan } from './plan.ts';
import type { Pod } from './pod.ts';
import type { PodSetViews, TrimmedNode } from './watches.ts';

export interface ObservedPod {
  pod: (AnyObject & Pod) | undefined;
  /** Undefined if it has none yet, or nobody may read it. */
  node: NodeFacts | undefined;
}

export function observeToldPod({ toldPods, nodes }: PodSetViews, key: string): ObservedPod {
  const pod: ObservedPod['pod'] = toldPods.get(key);
  const node = nodes?.get(pod?.spec?.nodeName ?? '') as TrimmedNode | undefined;
  return { pod, node: factsOf(node)[0]?.[1] };
}

export function planToldPod({ pod, node }: ObservedPod): PodSetPlan {
  const nothing = { persist: [], targets: [], actions: [], statuses: [], lookAgainInMs: undefined, set: pod };
  if (!pod || !node || isBeingDeleted(pod)) return nothing;
  const { name, uid = '', annotations } = pod.metadata;
  // It may choose among its node's addresses, all of which it is told; labels of nodes are not for everybody to ask for.
  const wishes = { ...nodeWishesIn(annotations), labels: [] };
  const changes = annotationChanges(annotations, placedAnnotations(annotations, node, wishes));
  return changes ? { ...nothing, actions: [{ do: 'annotate', name, uid, annotations: changes }] } : nothing;
}
