/** What is said of the Kubernetes clusters that a Kafka is in: in the status of its anchor, because Strimzi's CRDs would drop it from the Kafka's. Pure. */
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import { LOCAL } from '../../kernel/plan.ts';
import type { PlannedStatus } from '../../kernel/plan.ts';
import type { Charter } from '../model/charter.ts';
import { anchorName, podName } from '../model/names.ts';
import type { Observed } from '../observe.ts';
import { podFacts } from '../roll/pod-facts.ts';

/** One Kubernetes cluster, and what of the Kafka is there. */
export interface TargetStatus {
  name: string;
  reachable: boolean;
  /** Since when it is not. */
  since?: string;
  problem?: string;
  pools: { name: string; nodes: number[]; ready: number[] }[];
  latencies?: readonly Latency[];
  /** Of the pod-set controller there, if it has said. */
  controllerVersion?: string;
}

/** How far away another cluster is. */
export type Latency = NonNullable<NonNullable<KafkaAnchor['status']>['latencies']>[number];

const MAX_PROBLEM = 1024;

/** As the network calls them; none where the Kafka is in one cluster alone. */
export function targetsOf({ name, pods, targets, anchor }: Observed, charter: Charter): TargetStatus[] {
  const ready = new Set(pods.filter((pod) => podFacts(pod).ready).map(({ metadata }) => metadata.name));
  return Object.entries(charter.targets)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([target, { networkId }]): TargetStatus => {
      const sight = targets?.get(target)?.sight;
      const isSeen = target === LOCAL || sight?.isSeen === true;
      const own = charter.nodes.filter((node) => node.target === target);
      const pools = [...Map.groupBy(own, ({ pool }) => pool)].map(([pool, nodes]) => ({
        name: pool,
        nodes: nodes.map(({ id }) => id),
        ready: nodes.map(({ id }) => id).filter((id) => ready.has(podName(name, pool, id))),
      }));
      const said = (target === LOCAL ? anchor : targets?.get(target)?.anchor)?.status;
      const { latencies = [], controllerVersion } = said ?? {};
      return {
        name: networkId ?? target,
        reachable: isSeen,
        ...(!isSeen && sight?.since !== undefined && { since: new Date(sight.since).toISOString() }),
        ...(!isSeen && { problem: (sight?.problem ?? 'it is not joined any more').slice(0, MAX_PROBLEM) }),
        pools: isSeen ? pools : pools.map((pool) => ({ ...pool, ready: [] })),
        ...(latencies.length > 0 && { latencies }),
        ...(controllerVersion !== undefined && { controllerVersion }),
      };
    });
}

/** Written once the anchor is there. */
export function targetStatuses(observed: Observed, charter: Charter): PlannedStatus[] {
  const { anchor, namespace, name } = observed;
  const targets = targetsOf(observed, charter);
  if (!anchor || targets.length + (anchor.status?.targets ?? []).length === 0) return [];
  return [{ kind: 'KafkaAnchor', namespace, name: anchorName(name), status: { targets }, keepsRest: true }];
}
