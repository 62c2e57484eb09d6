/** Decides what one Kafka needs in one other Kubernetes cluster. Pure: no clock, no network, no cluster. */
import { canonicalJson } from '../../../kube/json.ts';
import { isBeingDeleted } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Plan, Target } from '../../kernel/plan.ts';
import type { Learned } from '../../kernel/reconcile.ts';
import type { Fault } from '../faults.ts';
import type { Charter } from '../model/charter.ts';
import { claimantOf, fenceOf, hungOff, targetAnchor } from './anchor.ts';
import type { TargetSight } from './sight.ts';

/** What the central cluster wants in another one. */
export type TargetWish =
  | { do: 'have'; kafka: Kafka; charter: Charter; holder: string; target: Target }
  /** Nothing: the Kafka goes, or has no nodes there any more. */
  | { do: 'leave'; kafka: Kafka; charter: Pick<Charter, 'clusterId' | 'epoch'>; holder: string };

/** Lets go of an anchor, and of all that hangs off it. */
export interface ReleaseAction {
  do: 'release';
  anchor: KafkaAnchor;
}

export interface TargetPlan extends Plan<ReleaseAction> {
  faults: readonly Fault[];
}

const NOTHING: TargetPlan = {
  persist: [],
  targets: [],
  actions: [],
  statuses: [],
  lookAgainInMs: undefined,
  faults: [],
};

/** Until an anchor that was just written is seen. */
const WRITTEN_MS = 100;

export function planTarget(
  cluster: string,
  wish: TargetWish | undefined,
  seen: TargetSight | undefined,
  { taken, denied }: Pick<Learned<never>, 'taken' | 'denied'>,
): TargetPlan {
  // What cannot be seen now is looked at when it can.
  if (!wish || !seen?.sight.isSeen) return NOTHING;
  const { anchor, anchorProblem } = seen;
  const refused = (reason: Fault['reason'], message: string): TargetPlan => ({
    ...NOTHING,
    faults: [{ reason, path: [], message: `cluster "${cluster}": ${message}` }],
  });
  if (anchorProblem !== undefined)
    return refused('Invalid', `its KafkaAnchor cannot be read: ${anchorProblem}`);
  const fence = anchor && fenceOf(anchor, claimantOf(wish.kafka, wish.charter, wish.holder));
  if (fence !== undefined) return wish.do === 'leave' ? NOTHING : refused('RunByAnother', fence);
  if (wish.do === 'leave') return anchor ? { ...NOTHING, actions: [{ do: 'release', anchor }] } : NOTHING;
  if (anchor && isBeingDeleted(anchor))
    return refused(
      'AnchorDeleting',
      `KafkaAnchor "${anchor.metadata.name}" was deleted there by somebody; nothing is changed there`,
    );
  if (seen.podSetVersion === undefined)
    return refused(
      'NotSupported',
      'it does not have the kind StrimziPodSet; join it again (isthmus join), which installs it',
    );
  if (seen.exportVersion === undefined && wish.target.objects.some(({ kind }) => kind === 'ServiceExport'))
    return refused(
      'NotSupported',
      'it does not have the kind ServiceExport; install the CRDs of the Multi-Cluster Services API there',
    );
  if (taken.size > 0)
    return refused(
      'NameTaken',
      `somebody else has made ${[...taken].join(', ')}; remove them, or choose another name`,
    );
  const document = targetAnchor(wish.kafka, wish.charter, wish.holder, anchor);
  const isWritten = anchor !== undefined && canonicalJson(anchor.spec) === canonicalJson(document['spec']);
  return {
    ...NOTHING,
    documents: isWritten ? [] : [{ cluster, object: document }],
    // What hangs off it needs its uid.
    targets: anchor
      ? [{ ...wish.target, objects: wish.target.objects.map((one) => fitted(one, anchor, seen)) }]
      : [],
    faults: [...denied].map(([object, why]) => ({
      reason: 'Denied' as const,
      path: [],
      message: `cluster "${cluster}": ${object}: ${why}`,
    })),
    lookAgainInMs: anchor ? undefined : WRITTEN_MS,
  };
}

/** As the cluster has its kinds, and hung off its anchor. */
function fitted(
  object: AnyObject,
  anchor: KafkaAnchor,
  { podSetVersion, exportVersion }: TargetSight,
): AnyObject {
  const version = { StrimziPodSet: podSetVersion, ServiceExport: exportVersion }[object.kind];
  return { ...hungOff(anchor, object), ...(version !== undefined && { apiVersion: version }) };
}
