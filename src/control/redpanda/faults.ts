/** What can be wrong with a Redpanda cluster that we run, and which condition says so. */
import type { AnyObject } from '../../kube/object.ts';
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import type { EventRules } from '../kernel/events.ts';
import { faultRules } from '../kernel/faults.ts';
import type { Fault as AnyFault } from '../kernel/faults.ts';

const CONDITION_OF = {
  /** A field has a value that cannot be. */
  Invalid: 'Accepted',
  NotSupported: 'Accepted',
  /** What runs cannot become what is asked for. */
  ChangeNotPossible: 'Accepted',
  NameTaken: 'Accepted',
  /** The API server refuses an object of it. */
  Denied: 'Ready',
  PodsNotReady: 'Ready',
  RollBlocked: 'Ready',
  /** The API server has not given a port to the Service that is to keep it. */
  HostPortPending: 'Ready',
  /** Another cluster uses it, too. */
  HostPortShared: 'Ready',
  /** Of exposed brokers, by the operator's probe. */
  NamesNotPublished: 'Ready',
  BrokersUnreachable: 'Ready',
  /** A broker is where nobody outside has a way to. */
  NoNodeAddress: 'Ready',
  /** Clients are told the address of nodes within. */
  NoPublicAddress: 'Ready',
  /** Somebody else has it. */
  HostNameTaken: 'Ready',
  /** No NamePolicy lets the namespace have it, or another one. */
  HostNameNotAllowed: 'Ready',
  HostNameLimitReached: 'Ready',
  /** Nobody takes records. */
  NoDNSEndpoints: 'Ready',
  Rolling: 'Ready',
  /** Works, but not as its owner may think. */
  FieldIgnored: 'Ready',
  Layout: 'Ready',
} as const satisfies Record<string, 'Accepted' | 'Ready'>;

export type Reason = keyof typeof CONDITION_OF;
export type Fault = AnyFault<Reason>;

/** Reasons that take nothing away. */
const WARNINGS: ReadonlySet<Reason> = new Set([
  'FieldIgnored',
  'Layout',
  'Rolling',
  'NoDNSEndpoints',
  'NoPublicAddress',
  'HostPortShared',
  'NamesNotPublished',
  'BrokersUnreachable',
]);

export const isWarning = ({ reason }: Pick<Fault, 'reason'>): boolean => WARNINGS.has(reason);

/** Redpanda's own CRD knows just two types of conditions, and refuses a status with any other. */
const TYPES = { Accepted: 'ClusterConfigured', Ready: 'OperatorQuiescent' } as const;

const { conditionsOf: conditionsIn } = faultRules<Reason, keyof typeof TYPES>({
  conditionOf: CONDITION_OF,
  warnings: WARNINGS,
});

/** Without `observedGeneration`, which that CRD would drop, so that the status would be written for ever. */
export function conditionsOf(faults: readonly Fault[]): PlannedCondition[] {
  return conditionsIn(faults, ['Accepted', 'Ready'], undefined).map(({ type, reason, ...rest }) => {
    const name = TYPES[type as keyof typeof TYPES];
    return { ...rest, type: name, reason: reason === type ? name : reason };
  });
}

/** What its anchor says of clients outside: conditions of types that the Cluster cannot have. */
export function reachFaults(anchor: AnyObject | undefined): Fault[] {
  const { conditions = [] } = (anchor?.['status'] ?? {}) as { conditions?: ReachCondition[] };
  return conditions.flatMap(({ status, reason, message }): Fault[] =>
    status === 'False' && (reason === 'NamesNotPublished' || reason === 'BrokersUnreachable')
      ? [{ reason, path: [], message }]
      : [],
  );
}

interface ReachCondition {
  status: string;
  reason: string;
  message: string;
}

/** Which changes of conditions a person should hear of; the steps of a roll tell of themselves. */
export const REDPANDA_EVENTS: EventRules = {
  types: [TYPES.Accepted],
  routine: new Set(),
  waiting: new Set(),
  onlyOf: {},
  announced: {},
};
