/** What can be wrong with a set, and which changes of it a person should hear of. */
import type { EventRules } from '../kernel/events.ts';
import { faultRules } from '../kernel/faults.ts';
import type { Fault as AnyFault } from '../kernel/faults.ts';

/** The worst first: the reason of `Ready` is that of the first. */
const CONDITION_OF = {
  /** It cannot be read, or lists what cannot be. Nothing is done until it can. */
  Invalid: 'Ready',
  /** Its Kafka was taken over since it was written. */
  Fenced: 'Ready',
  /** Nobody can say whether it was. */
  AnchorUnknown: 'Ready',
  /** A pod of that name is somebody else's. */
  NameTaken: 'Ready',
  /** The API server refuses a pod. */
  Denied: 'Ready',
  /** A pod does not go although it was told to long ago. */
  PodStuck: 'Ready',
  /** A pod ends again and again soon after it began. */
  PodFailing: 'Ready',
  PodsNotReady: 'Ready',
} as const;

export type Reason = keyof typeof CONDITION_OF;
export type Fault = AnyFault<Reason>;

export const { conditionsOf } = faultRules<Reason, 'Ready'>({
  conditionOf: CONDITION_OF,
  warnings: new Set(),
});

/** Whether pods can be told about their nodes: no reason not to run. */
export const NODE_FACTS = 'NodeFacts';

const ORDER = Object.keys(CONDITION_OF) as Reason[];

/** The worst first. */
export const bySeverity = (faults: readonly Fault[]): Fault[] =>
  faults.toSorted((a, b) => ORDER.indexOf(a.reason) - ORDER.indexOf(b.reason));

export const POD_SET_EVENTS: EventRules = {
  types: [NODE_FACTS],
  routine: new Set(['PodsNotReady']),
  waiting: new Set(),
  onlyOf: {},
  announced: {},
};
