/** A pod as far as its set is concerned. */
import { trimManagedFields } from '../../kube/cache/cache.ts';
import { hasLabels, isBeingDeleted } from '../../kube/object.ts';
import type { AnyObject, KubeObject, OwnerReference } from '../../kube/object.ts';

/** What is kept of a pod in memory. */
export interface Pod extends KubeObject {
  spec?: { nodeName?: string };
  status?: {
    phase?: string;
    /** Why it is in this phase, in one word. */
    reason?: string;
    conditions?: { type: string; status: string; lastTransitionTime?: string }[];
    containerStatuses?: { state?: { terminated?: { finishedAt?: string } } }[];
  };
}

const withoutManagedFields = trimManagedFields<AnyObject>();

/** Drops what a set does not need to know. */
export function trimPod(object: AnyObject): AnyObject {
  const { apiVersion, kind, metadata, spec, status } = object as AnyObject & Pod;
  const containers = (status?.containerStatuses ?? []).map(({ state }) => ({
    state: { terminated: { finishedAt: state?.terminated?.finishedAt } },
  }));
  return withoutManagedFields({
    apiVersion,
    kind,
    metadata,
    spec: { nodeName: spec?.nodeName },
    status: {
      phase: status?.phase,
      reason: status?.reason,
      conditions: status?.conditions?.map(({ type, status, lastTransitionTime }) => ({
        type,
        status,
        lastTransitionTime,
      })),
      containerStatuses: containers,
    },
  });
}

/** The set that pods are seen from. */
export interface SetIdentity {
  name: string;
  uid: string;
  selector: Readonly<Record<string, string>>;
}

/** Who controls an object. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

/**
 * Whose a pod is. One that nobody controls, or a former set of the same name, which can no longer be there, is `adoptable` if
 * it has the labels of the set.
 */
export function relationOf(pod: Pod, set: SetIdentity): 'own' | 'adoptable' | 'foreign' {
  const controller = controllerOf(pod);
  if (controller?.uid === set.uid) return 'own';
  const isFormer = controller?.kind === POD_SET_KIND && controller.name === set.name;
  const isFree = controller === undefined || isFormer;
  return isFree && hasLabels(pod, set.selector) ? 'adoptable' : 'foreign';
}

export const POD_SET_KIND = 'StrimziPodSet';

/** Whether a pod will never run again. */
export const hasEnded = ({ status }: Pod): boolean =>
  status?.phase === 'Failed' || status?.phase === 'Succeeded';

/** Whether a pod takes traffic. */
export const isReady = (pod: Pod): boolean =>
  !isBeingDeleted(pod) &&
  !hasEnded(pod) &&
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** When a pod was made, and when it ended, as far as anybody says. */
export function lifeOf({ metadata, status }: Pod): { createdAt: number; endedAt: number } {
  const createdAt = Date.parse(metadata.creationTimestamp ?? '') || 0;
  const times = [
    ...(status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt),
    ...(status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime),
  ].flatMap((time) => Date.parse(time ?? '') || []);
  return { createdAt, endedAt: Math.max(createdAt, ...times) };
}
