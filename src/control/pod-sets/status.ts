/** What to say about a set: how many of its pods are there, ready and as listed, and what is wrong. Pure. */
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import type { PlannedStatus } from '../kernel/plan.ts';
import { NODE_FACTS, bySeverity, conditionsOf } from './faults.ts';
import type { Fault } from './faults.ts';
import { REVISION_ANNOTATION } from './names.ts';
import type { Observed } from './observe.ts';
import { POD_SET_KIND, isReady, relationOf } from './pod.ts';
import type { Pod, SetIdentity } from './pod.ts';

/** `identity` is left out where the set cannot be read: then the counts stay as they were. */
export function statusOf(
  observed: Observed,
  identity: SetIdentity | undefined,
  faults: readonly Fault[],
): PlannedStatus {
  const { namespace = '', name, generation } = observed.live!.metadata;
  const counts = identity && countPods(observed, identity);
  const all = counts && counts.readyPods < counts.pods ? [...faults, notReady(counts)] : faults;
  const status = {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...counts,
    // Without their generation: Strimzi's CRD does not know it, and what it drops would be written for ever.
    conditions: [...conditionsOf(bySeverity(all), ['Ready'], undefined), nodeFacts(observed)],
  };
  return { kind: POD_SET_KIND, namespace, name, status, keepsRest: identity === undefined };
}

interface Counts {
  pods: number;
  readyPods: number;
  currentPods: number;
}

function countPods({ listed, pods }: Observed, identity: SetIdentity): Counts {
  if (listed.problem !== undefined) return { pods: 0, readyPods: 0, currentPods: 0 };
  const own = new Map<string, Pod>(
    pods.flatMap((pod) => (relationOf(pod, identity) === 'own' ? [[pod.metadata.name, pod]] : [])),
  );
  const count = (holds: (pod: Pod, revision: string | undefined) => boolean) =>
    listed.pods.filter(({ name, revision }) => {
      const pod = own.get(name);
      return pod !== undefined && holds(pod, revision);
    }).length;
  return {
    pods: listed.pods.length,
    readyPods: count(isReady),
    currentPods: count(({ metadata }, revision) => metadata.annotations?.[REVISION_ANNOTATION] === revision),
  };
}

const notReady = ({ readyPods, pods }: Counts): Fault => ({
  reason: 'PodsNotReady',
  path: [],
  message: `${readyPods} of ${pods} pods are ready`,
});

function nodeFacts({ mayReadNodes }: Observed): PlannedCondition {
  if (mayReadNodes) return { type: NODE_FACTS, status: 'True', reason: NODE_FACTS, message: '' };
  const message =
    'the operator may not read nodes, so pods are not told the name, zone and address of theirs; ' +
    'grant its account list and watch of nodes';
  return { type: NODE_FACTS, status: 'False', reason: 'Forbidden', message };
}
