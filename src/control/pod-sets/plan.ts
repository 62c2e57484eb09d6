/** Decides what one set needs. Pure: no clock, no network, no cluster. */
import type { AnyObject, OwnerReference } from '../../kube/object.ts';
import type { Plan } from '../kernel/plan.ts';
import { annotationChanges, nodeWishesIn, placedAnnotations } from '../shared/node-annotations.ts';
import { decidePods } from './decide.ts';
import type { Decided, PodDecision } from './decide.ts';
import { fenceOf } from './fence.ts';
import type { Fault } from './faults.ts';
import { ownerReference, podOf } from './listed.ts';
import type { ListedPod } from './listed.ts';
import type { Observed } from './observe.ts';
import { POD_SET_KIND, relationOf } from './pod.ts';
import type { Pod, SetIdentity } from './pod.ts';
import { statusOf } from './status.ts';

/** One write; each is refused by the API server if the pod is another one by then. */
export type PodAction =
  | { do: 'create'; pod: AnyObject }
  | { do: 'replace'; uid: string; pod: AnyObject }
  | { do: 'delete'; name: string; uid: string }
  | { do: 'adopt'; name: string; uid: string; resourceVersion: string; ownerReferences: OwnerReference[] }
  | { do: 'annotate'; name: string; uid: string; annotations: Record<string, string | null> };

export interface PodSetPlan extends Plan<PodAction> {
  /** What events are about, and in whose namespace pods are. */
  set: AnyObject | undefined;
}

/** A name that somebody else has may be free by then: such a pod is not followed. */
const TAKEN_MS = 30_000;

export function planPodSet(observed: Observed): PodSetPlan {
  const { live, listed, pods, now } = observed;
  const nothing = { persist: [], targets: [], actions: [], lookAgainInMs: undefined, set: live };
  if (!live) return { ...nothing, statuses: [] };
  if (listed.problem !== undefined) {
    const fault: Fault = { reason: 'Invalid', path: ['spec'], message: listed.problem };
    return { ...nothing, statuses: [statusOf(observed, undefined, [fault])] };
  }
  const identity = identityOf(live, listed.set.spec.selector.matchLabels);
  const fence = fenceOf(live.metadata.annotations ?? {}, observed.anchors);
  if (fence) return { ...nothing, statuses: [statusOf(observed, identity, [fence])] };
  const decided = decidePods({ ...identity, pods: listed.pods.map(({ name }) => name) }, pods, now);
  const refused = refusedPods(decided, observed);
  const waits = [decided.lookAgainInMs ?? [], refused.length > 0 ? TAKEN_MS : []].flat();
  return {
    ...nothing,
    actions: [
      ...decided.decisions.map((decision) => actionOf(decision, live, listed.pods, pods)),
      ...annotations(observed, live, identity, decided),
    ],
    statuses: [statusOf(observed, identity, [...decided.faults, ...refused])],
    lookAgainInMs: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

const identityOf = ({ metadata }: AnyObject, selector: Record<string, string> = {}): SetIdentity => ({
  name: metadata.name,
  uid: metadata.uid ?? '',
  selector,
});

/** What stood against making a pod the last time, as long as it is still to be made. */
function refusedPods({ decisions }: Decided, { refusals }: Observed): Fault[] {
  return decisions.flatMap((decision) =>
    decision.do === 'create' ? (refusals.get(decision.name) ?? []) : [],
  );
}

function actionOf(
  decision: PodDecision,
  live: AnyObject,
  listed: readonly ListedPod[],
  pods: readonly Pod[],
): PodAction {
  const { name } = decision;
  if (decision.do === 'delete') return { do: 'delete', name, uid: decision.uid };
  if (decision.do === 'adopt')
    return adoption(
      live,
      pods.find(({ metadata }) => metadata.name === name)!,
    );
  const pod = podOf(
    live,
    listed.find((one) => one.name === name)!,
    decision.failures,
  );
  return decision.do === 'create' ? { do: 'create', pod } : { do: 'replace', uid: decision.uid, pod };
}

/** Other owners stay; a set of before by this name is no more. */
function adoption(live: AnyObject, { metadata }: Pod): PodAction {
  const { name, uid = '', resourceVersion = '', ownerReferences = [] } = metadata;
  const others = ownerReferences.filter(
    (owner) => !(owner.kind === POD_SET_KIND && owner.name === live.metadata.name),
  );
  return { do: 'adopt', name, uid, resourceVersion, ownerReferences: [...others, ownerReference(live)] };
}

/** What the set's own pods do not know yet about their nodes. A pod that goes need not be told. */
function annotations(
  { pods, nodes, listed }: Observed,
  live: AnyObject,
  identity: SetIdentity,
  { decisions }: Decided,
): PodAction[] {
  if (!nodes || listed.problem !== undefined) return [];
  const wishes = nodeWishesIn(live.metadata.annotations);
  const leaving = new Set(decisions.map(({ name }) => name));
  return pods.flatMap((pod) => {
    const { name, uid = '', deletionTimestamp, annotations } = pod.metadata;
    const node = nodes.get(pod.spec?.nodeName ?? '');
    if (!node || deletionTimestamp !== undefined || leaving.has(name)) return [];
    if (relationOf(pod, identity) !== 'own') return [];
    const changes = annotationChanges(annotations, placedAnnotations(annotations, node, wishes));
    return changes ? [{ do: 'annotate', name, uid, annotations: changes }] : [];
  });
}
