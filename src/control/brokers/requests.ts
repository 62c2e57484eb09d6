/** What people ask for by annotations, as Strimzi has them: restarts by hand, and new disks; and what goes because they asked for it. Pure. */
import { isBeingDeleted } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { hasLabelSet } from '../kernel/targets.ts';
import type { Charter } from './model/charter.ts';
import {
  CLUSTER_ID_ANNOTATION,
  MANUAL_PODS_ANNOTATION,
  MANUAL_ROLL_ANNOTATION,
  NEW_DISKS_ANNOTATION,
  NODE_ID_ANNOTATION,
  POOL_LABEL,
  anchorName,
  ownerLabels,
} from './model/names.ts';
import type { Observed } from './observe.ts';

const isOn = ({ metadata }: AnyObject, annotation: string) => metadata.annotations?.[annotation] === 'true';

/** Whether somebody wants the data of a node gone, and its volumes made anew. */
export const asksForNewDisks = (pod: AnyObject): boolean => isOn(pod, NEW_DISKS_ANNOTATION);

/** The pods that a set had when somebody asked for a restart of all of them; undefined if that is not written down. */
function podsAsked({ metadata }: AnyObject): string[] | undefined {
  const text = metadata.annotations?.[MANUAL_PODS_ANNOTATION];
  return text === undefined ? undefined : text.split(',');
}

/** The uids of pods that are to be restarted because somebody asked for it on their set. */
export const manualUids = (podSets: readonly AnyObject[]): Set<string> =>
  new Set(podSets.flatMap((set) => (isOn(set, MANUAL_ROLL_ANNOTATION) ? (podsAsked(set) ?? []) : [])));

/** An object, and what is to become other in it. */
export interface ObjectPatch {
  object: AnyObject;
  patch: object;
}

/**
 * What has to be written on sets: which pods a request is about, as soon as it is seen, since the annotation cannot tell which were
 * restarted since; and once none of them is left, that it was carried out. One that is taken back is forgotten.
 */
export function manualPatches(podSets: readonly AnyObject[], pods: readonly AnyObject[]): ObjectPatch[] {
  return podSets.flatMap((set): ObjectPatch[] => {
    const asked = podsAsked(set);
    const uids = pods
      .filter(({ metadata }) => metadata.labels?.[POOL_LABEL] === set.metadata.labels?.[POOL_LABEL])
      .flatMap(({ metadata }) => metadata.uid ?? []);
    const annotate = (annotations: Record<string, string | null>) => {
      const { uid, resourceVersion } = set.metadata;
      return [{ object: set, patch: { metadata: { uid, resourceVersion, annotations } } }];
    };
    if (!isOn(set, MANUAL_ROLL_ANNOTATION)) return asked ? annotate({ [MANUAL_PODS_ANNOTATION]: null }) : [];
    if (!asked) return annotate({ [MANUAL_PODS_ANNOTATION]: uids.join(',') });
    const isDone = !uids.some((uid) => asked.includes(uid));
    return isDone ? annotate({ [MANUAL_PODS_ANNOTATION]: null, [MANUAL_ROLL_ANNOTATION]: null }) : [];
  });
}

/** How long a kubelet is given to grow a file system under a running process, which most can. */
const GROWS_ONLINE_MS = 120_000;

interface ClaimStatus {
  conditions?: { type?: string; status?: string; lastTransitionTime?: string }[];
}

const nodeOf = ({ metadata }: AnyObject) => metadata.annotations?.[NODE_ID_ANNOTATION];

/** The claims of a node. */
export const claimsOfNode = (claims: readonly AnyObject[], node: number): AnyObject[] =>
  claims.filter((claim) => nodeOf(claim) === String(node));

/** Whether a volume has grown, and its file system waits for a restart to follow. */
export function isResizePending(claims: readonly AnyObject[], node: number, now: number): boolean {
  return claimsOfNode(claims, node).some((claim) => {
    const { conditions = [] } = (claim['status'] ?? {}) as ClaimStatus;
    const pending = conditions.find(({ type }) => type === 'FileSystemResizePending');
    const since = Date.parse(pending?.lastTransitionTime ?? '') || 0;
    return pending?.status === 'True' && now - since >= GROWS_ONLINE_MS;
  });
}

/**
 * The claims of nodes that are gone, and whose owner said that data goes with them (`deleteClaim`): those are owned by the Kafka, and no
 * others are. A claim that some pod still has stays until that is gone, and that of a broker until Kafka has forgotten it: as long as it is
 * to have a replica of anything, this may be the last one.
 */
export function abandonedClaims(
  { claims, pods, kafka, name, acted }: Pick<Observed, 'claims' | 'pods' | 'kafka' | 'name' | 'acted'>,
  { nodes, clusterId }: Charter,
): AnyObject[] {
  const { registered } = acted?.facts?.brokers ?? {};
  if (!registered) return [];
  const known = new Set([...nodes.map(({ id }) => id), ...registered.keys()].map(String));
  return claims.filter((claim) => {
    const { metadata } = claim;
    const node = nodeOf(claim);
    const isOurs =
      hasLabelSet(claim, ownerLabels(name)) && metadata.annotations?.[CLUSTER_ID_ANNOTATION] === clusterId;
    const mayGo = (metadata.ownerReferences ?? []).some(
      ({ kind, uid, name: owner }) =>
        (kind === 'Kafka' && uid === kafka?.metadata.uid) ||
        // In other clusters.
        (kind === 'KafkaAnchor' && owner === anchorName(name)),
    );
    const isUsed = pods.some((pod) => metadata.name.endsWith(`-${pod.metadata.name}`));
    return isOurs && mayGo && node !== undefined && !known.has(node) && !isUsed && !isBeingDeleted(claim);
  });
}
