/** How everything is, in a few lines; and whether that is what somebody waits for. Pure. */
import type { AnyObject } from '../kube/object.ts';
import { read } from '../control/kernel/read.ts';
import { kafkaAnchor } from '../resources/isthmus/kafka-anchor.ts';
import { healthOf, isObserved } from './health.ts';
import type { HealthState } from './health.ts';

export interface ObjectStatus {
  kind: string;
  namespace: string;
  name: string;
  state: HealthState;
  reason: string;
  message: string;
  /** Of a Kafka over several Kubernetes clusters: how each of those is. */
  clusters?: readonly ClusterStatus[];
}

/** A Kubernetes cluster that a Kafka is in. */
export interface ClusterStatus {
  name: string;
  reachable: boolean;
  since?: string;
  problem?: string;
  nodes: number;
  ready: number;
  /** How far away the others are from it. */
  latencies?: readonly { name: string; p50Ms: number; p99Ms: number }[];
}

/** What the anchor of a Kafka says of its clusters; nothing where it is in one alone. */
export function clustersOf(anchor: AnyObject | undefined): ClusterStatus[] {
  const targets = (anchor && read(kafkaAnchor, anchor).resource?.status?.targets) ?? [];
  return targets.map(({ pools, ...target }) => ({
    ...target,
    nodes: pools.reduce((sum, { nodes }) => sum + nodes.length, 0),
    ready: pools.reduce((sum, { ready }) => sum + ready.length, 0),
  }));
}

/** The status of an object; one whose newest version nobody has looked at is not ready, whatever its conditions say. */
export function statusOf(object: AnyObject): ObjectStatus {
  const { kind, metadata } = object;
  const health = healthOf(object);
  const outdated = {
    state: 'notReady',
    reason: 'StatusOutdated',
    message: 'its newest version was not looked at yet',
  } as const;
  const isStale = health.state !== 'unknown' && !isObserved(object);
  return {
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...(isStale ? outdated : health),
  };
}

/** The worst first; within a state in the order given. */
const ORDER: readonly HealthState[] = ['notReady', 'warning', 'unknown', 'ready'];

export const worstFirst = (all: readonly ObjectStatus[]): ObjectStatus[] =>
  all.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));

/** Whether nothing has to be waited for. What says nothing about itself is never ready, and nobody waits for it. */
export const isSettled = (all: readonly ObjectStatus[]): boolean =>
  all.every(({ state }) => state !== 'notReady');

export interface KindCount {
  kind: string;
  all: number;
  ready: number;
  warning: number;
  notReady: number;
}

/** How many of each kind are in which state. */
export function countByKind(all: readonly ObjectStatus[]): KindCount[] {
  return [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, of]) => {
    const inState = (state: HealthState) => of.filter((one) => one.state === state).length;
    return {
      kind,
      all: of.length,
      ready: inState('ready'),
      warning: inState('warning'),
      notReady: inState('notReady'),
    };
  });
}
