/** What can be wrong with a resource, and the conditions that it amounts to. Pure. */
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import type { ReasonCode } from '../../ops/codes/reasons.ts';

/** Why something cannot be served, or not fully. `path` is the field of the resource that leads there. */
export interface Fault<Reason extends ReasonCode = ReasonCode> {
  reason: Reason;
  path: readonly (string | number)[];
  message: string;
  /** Whether what was last good goes on in place of what is at fault, so that it takes nothing away. */
  held?: boolean;
}

/** What a road knows of its reasons. */
export interface FaultTable<Reason extends ReasonCode, Type extends string> {
  /** Each reason belongs to the condition that it makes False. */
  conditionOf: Readonly<Record<Reason, Type>>;
  /** Reasons of faults to come: the condition stays True, and says so. */
  warnings: ReadonlySet<Reason>;
}

export interface FaultRules<Reason extends ReasonCode, Type extends string> {
  /** The condition that a fault makes False. */
  conditionTypeOf: (fault: Pick<Fault<Reason>, 'reason'>) => Type;
  /** Whether a fault keeps something from being served at all: a fault about readiness does not. */
  preventsService: (fault: Pick<Fault<Reason>, 'reason' | 'held'>) => boolean;
  /** Whether a fault stands against the very name or place of something, so that not even its Services may be made. */
  isRefusal: (fault: Fault<Reason>) => boolean;
  /** The conditions that faults amount to: each says what is wrong, or that nothing is. */
  conditionsOf: (
    faults: readonly Fault<Reason>[],
    types: readonly Type[],
    generation: number | undefined,
  ) => PlannedCondition[];
}

/** As much as CRDs allow: with more the API server would refuse the whole status. */
export const MAX_MESSAGE = 8192;

export function faultRules<Reason extends ReasonCode, Type extends string>({
  conditionOf,
  warnings,
}: FaultTable<Reason, Type>): FaultRules<Reason, Type> {
  const conditionTypeOf = ({ reason }: Pick<Fault<Reason>, 'reason'>) => conditionOf[reason];
  const isWarning = ({ reason }: Fault<Reason>) => warnings.has(reason);
  const isUnready = (fault: Pick<Fault<Reason>, 'reason'>) => conditionTypeOf(fault) === 'Ready';
  const preventsService: FaultRules<Reason, Type>['preventsService'] = (fault) =>
    !isUnready(fault) && !fault.held;
  const severity = (fault: Fault<Reason>) => (!isUnready(fault) ? 2 : isWarning(fault) ? 0 : 1);

  function conditionOfType(
    type: Type,
    faults: readonly Fault<Reason>[],
    generation: number | undefined,
  ): PlannedCondition {
    // What is not accepted or not resolved is not ready either, and for that reason.
    const own =
      type === 'Ready'
        ? faults.toSorted((a, b) => severity(b) - severity(a))
        : faults.filter((fault) => conditionTypeOf(fault) === type);
    const [first] = own;
    return {
      type,
      status: first && !isWarning(first) ? 'False' : 'True',
      reason: first?.reason ?? type,
      message: [...new Set(own.map(({ message }) => message))].join('; ').slice(0, MAX_MESSAGE),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  }

  return {
    conditionTypeOf,
    preventsService,
    isRefusal: (fault) => conditionTypeOf(fault) === 'Accepted' && !fault.held,
    conditionsOf: (faults, types, generation) =>
      types.map((type) => conditionOfType(type, faults, generation)),
  };
}
