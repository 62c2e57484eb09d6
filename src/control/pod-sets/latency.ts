/**
 * How far away the other Kubernetes clusters of a Kafka are, as this one sees it: by the time that a connection to a node there takes to be
 * made, which is one round trip. It is written into the status of the KafkaAnchor here, and only when it has changed; and with it the
 * version of this program, so that the operator knows what it has to do with. Pure.
 */
import { keyOf } from '../../kube/object.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { Plan } from '../kernel/plan.ts';
import { read } from '../kernel/read.ts';
import { PEERS_ANNOTATION, readPeers } from '../shared/peers.ts';
import type { Peers } from '../shared/peers.ts';
import type { PodSetViews } from './watches.ts';

/** By cluster: the round trips that were measured last, in milliseconds, the newest last. */
export type Measured = ReadonlyMap<string, readonly number[]>;

export interface ObservedLatency {
  anchor: KafkaAnchor | undefined;
  peers: Peers;
  measured: LatencyActed | undefined;
  /** Of this program. */
  version: string;
  now: number;
}

export interface LatencyActed {
  at: number;
  /** When it was first measured by this process. */
  since: number;
  measured: Measured;
}

export type LatencyPlan = Plan<{ peers: Peers }>;

const EVERY_MS = 10_000;
/** Ten minutes of them. */
const KEPT = 60;
/** Fewer say nothing of the slowest. */
const ENOUGH = 3;

const NOTHING: LatencyPlan = {
  persist: [],
  targets: [],
  actions: [],
  statuses: [],
  lookAgainInMs: undefined,
};

export function observeLatency(
  { anchors, podSets }: PodSetViews,
  key: string,
  measured: LatencyActed | undefined,
  version: string,
  now: number,
): ObservedLatency {
  const [anchor] = anchors?.find('kafka', key) ?? [];
  const sets = podSets?.find('kafka', key) ?? [];
  const all = sets.map(({ metadata }) => readPeers(metadata.annotations?.[PEERS_ANNOTATION]));
  return {
    anchor: anchor && read(kafkaAnchor, anchor).resource,
    peers: Object.assign({}, ...all),
    measured,
    version,
    now,
  };
}

export function planLatency({ anchor, peers, measured, version, now }: ObservedLatency): LatencyPlan {
  if (!anchor) return NOTHING;
  const { namespace, name } = anchor.metadata;
  const before = anchor.status?.latencies ?? [];
  const said = Object.keys(peers).flatMap((cluster) => {
    const latest = summaryOf(cluster, measured?.measured.get(cluster) ?? []);
    const known = before.find((one) => one.name === cluster);
    return (latest && known && isMuchTheSame(latest, known) ? known : (latest ?? known)) ?? [];
  });
  const isAlone = Object.keys(peers).length === 0;
  // A CRD of before drops it: said once, and with what is said anyway, it is not written for ever.
  const isFirst = measured === undefined || measured.at === measured.since;
  const isTold = isAlone || !isFirst || anchor.status?.controllerVersion === version;
  const isSaid = isTold && JSON.stringify(said) === JSON.stringify(before);
  const statuses = isSaid
    ? []
    : [
        {
          kind: 'KafkaAnchor',
          namespace: namespace ?? '',
          name,
          status: { latencies: said, ...(!isAlone && { controllerVersion: version }) },
          keepsRest: true,
        },
      ];
  if (isAlone) return { ...NOTHING, statuses };
  const dueInMs = measured === undefined ? 0 : Math.max(0, measured.at + EVERY_MS - now);
  return {
    ...NOTHING,
    statuses,
    actions: dueInMs === 0 ? [{ peers }] : [],
    lookAgainInMs: dueInMs === 0 ? EVERY_MS : dueInMs,
  };
}

type Summary = NonNullable<NonNullable<KafkaAnchor['status']>['latencies']>[number];

/** Half of them were quicker than the one, and all but the slowest of a hundred quicker than the other. */
function summaryOf(cluster: string, samples: readonly number[]): Summary | undefined {
  if (samples.length < ENOUGH) return undefined;
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100;
  return { name: cluster, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** A status is not for the noise. */
function isMuchTheSame(now: Summary, before: Summary): boolean {
  const isNear = (a: number, b: number) => Math.abs(a - b) <= Math.max(1, b / 4);
  return isNear(now.p50Ms, before.p50Ms) && isNear(now.p99Ms, before.p99Ms);
}

/** With what was measured now; of clusters that are no longer asked about nothing is kept. */
export function withSamples(before: Measured, peers: Peers, now: ReadonlyMap<string, number>): Measured {
  return new Map(
    Object.keys(peers).map((cluster) => {
      const sample = now.get(cluster);
      const all = [...(before.get(cluster) ?? []), ...(sample === undefined ? [] : [sample])];
      return [cluster, all.slice(-KEPT)] as const;
    }),
  );
}

/** The keys of Kafkas that there are anchors of. */
export const everyAnchored = ({ anchors }: PodSetViews): string[] =>
  (anchors?.list() ?? []).flatMap(({ metadata, spec }) => {
    const { kafka } = (spec ?? {}) as { kafka?: { name?: string } };
    return kafka?.name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name: kafka.name })];
  });
