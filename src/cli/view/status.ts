/** How everything is, in a few lines; and whether that is what somebody waits for. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import { healthOf, isObserved } from './health.ts';
import type { HealthState } from './health.ts';

export interface ObjectStatus {
  kind: string;
  namespace: string;
  name: string;
  state: HealthState;
  reason: string;
  message: string;
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
