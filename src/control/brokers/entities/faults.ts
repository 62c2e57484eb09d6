/** What can be wrong with a KafkaTopic or a KafkaUser, and what its status says then. */
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { PlannedStatus } from '../../kernel/plan.ts';
import { faultRules } from '../../kernel/faults.ts';
import type { Fault } from '../../kernel/faults.ts';

const CONDITION_OF = {
  Invalid: 'Ready',
  /** An older resource has what this one names. */
  ResourceConflict: 'Ready',
  /** Cannot be done to what is there. */
  NotSupported: 'Ready',
  NotEnoughBrokers: 'Ready',
  /** Kafka said no. */
  KafkaRefused: 'Ready',
  KafkaUnavailable: 'Ready',
  /** Somebody else has an object by the name that is needed. */
  NameTaken: 'Ready',
  Denied: 'Ready',
  SecretMissing: 'Ready',
  CertificateAuthority: 'Ready',
  /** Replicas are on their way. */
  Reassigning: 'Ready',
  /** Works, but not as its owner may think. */
  ConfigIgnored: 'Ready',
} as const satisfies Record<string, 'Ready'>;

export type EntityReason = keyof typeof CONDITION_OF;
export type EntityFault = Fault<EntityReason>;

const { conditionsOf } = faultRules<EntityReason, 'Ready'>({
  conditionOf: CONDITION_OF,
  warnings: new Set(['Reassigning', 'ConfigIgnored']),
});

/** What is known of a resource after a look; what is being worked on has no state yet, and keeps the status that it has. */
export type EntityState =
  | { is: 'judged'; faults: readonly EntityFault[]; fields: Readonly<Record<string, unknown>> }
  /** Kafka could not be asked: no news of what has a status already. */
  | { is: 'unknown'; fault: EntityFault }
  | { is: 'Unmanaged' | 'ReconciliationPaused' };

export function statusOf(resource: KubeObject, state: EntityState): PlannedStatus[] {
  const { kind, metadata } = resource;
  const { namespace = '', name, generation } = metadata;
  if (state.is === 'unknown' && observedGeneration(resource) === generation) return [];
  const status = {
    ...(state.is === 'judged' && state.fields),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: conditionsFor(state),
  };
  return [{ kind, namespace, name, status, keepsRest: true }];
}

function conditionsFor(state: EntityState): PlannedCondition[] {
  // Without a generation: Strimzi's CRDs would drop it, and the status would be written for ever.
  if (state.is === 'judged') return conditionsOf(state.faults, ['Ready'], undefined);
  if (state.is === 'unknown') return conditionsOf([state.fault], ['Ready'], undefined);
  return [{ type: state.is, status: 'True', reason: state.is, message: '' }];
}

const observedGeneration = (resource: KubeObject & { status?: { observedGeneration?: number } }) =>
  resource.status?.observedGeneration;

export const UNAVAILABLE: EntityFault = {
  reason: 'KafkaUnavailable',
  path: [],
  message: 'no broker of the Kafka cluster can be reached; see the conditions of the Kafka',
};

/** The API server does not let the resource be written on. */
export const deniedBy = ({ message }: { message: string }): EntityFault => ({
  reason: 'Denied',
  path: [],
  message: `what is done in Kafka has to be written down on the resource first, and that was refused: ${message}`,
});

export const refusedBy = ({ message }: { message: string }): EntityFault => ({
  reason: 'KafkaRefused',
  path: [],
  message: `Kafka refused: ${message}`,
});
