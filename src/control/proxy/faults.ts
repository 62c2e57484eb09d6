/** What can be wrong with a virtual cluster or an ingress, and which condition says so. */
import type { EventRules } from '../kernel/events.ts';
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import { MAX_MESSAGE, faultRules } from '../kernel/faults.ts';
import type { Fault as AnyFault } from '../kernel/faults.ts';

export { MAX_MESSAGE };

/** The reasons of the original where it has one; each belongs to the condition that it makes False. */
const CONDITION_OF = {
  ReferencedResourcesNotFound: 'ResolvedRefs',
  TransitivelyReferencedResourcesNotFound: 'ResolvedRefs',
  InterpolatedReferencedResourcesNotFound: 'ResolvedRefs',
  InvalidReferencedResource: 'ResolvedRefs',
  /** There, but its own operator has not said yet what we need to know. */
  ReferencedResourceNotReconciled: 'ResolvedRefs',
  /** In another namespace, and no ReferenceGrant there allows it. */
  RefNotPermitted: 'ResolvedRefs',
  RequestedResourceKindNotSupported: 'Accepted',
  NotSupported: 'Accepted',
  /** Of a package that the KafkaProxy does not name. */
  FilterNotAllowed: 'Accepted',
  /** In a field that the filter does not declare secret. */
  PlaceholderNotAllowed: 'Accepted',
  Invalid: 'Accepted',
  HostNameTaken: 'Accepted',
  /** By no NamePolicy, in a zone that has any. */
  HostNameNotAllowed: 'Accepted',
  /** The namespace has as many as its NamePolicy lets it have. */
  HostNameLimitReached: 'Accepted',
  NameTaken: 'Accepted',
  NoFreePorts: 'Accepted',
  ConfigTooLarge: 'Accepted',
  AddressPending: 'Ready',
  /** It has ports, but has grown by more nodes than there are. */
  BrokersWithoutPort: 'Ready',
  CertificateExpired: 'Ready',
  CertificateExpiring: 'Ready',
  CertificateNotYetValid: 'Ready',
  CertificateHostMismatch: 'Ready',
  /** The router or the Gateway says no. */
  RouteNotAccepted: 'Ready',
  /** The API server refuses an object of it. */
  Denied: 'Ready',
  /** Wishes for annotations and labels: served all the same, without them. */
  InfrastructureNotAllowed: 'Ready',
  InfrastructureWithoutEffect: 'Ready',
  /** Of the KafkaProxy alone: developers may change a filter that is mandatory; who may have which names is not known. */
  FilterNotProtected: 'Ready',
  /** Of the KafkaProxy: it asks for one, and the cluster does not have the kind. */
  PodMonitorNotServed: 'Ready',
  NamePolicyUnreadable: 'Ready',
  /** Somebody else's DNSEndpoint is in the way. */
  RecordsNotPublished: 'Ready',
  /** As the pods find out. */
  ConfigRefused: 'Ready',
  OutOfService: 'Ready',
  TargetUnreachable: 'Ready',
  PodProblem: 'Ready',
  /** A filter lacks something and works on: with keys that it remembers, for example. */
  KeyServiceUnavailable: 'Ready',
  FilterProblem: 'Ready',
  /** A broker has an id that nobody declared, and so neither a port nor a record or route. */
  NodeIdNotDeclared: 'Ready',
  ConfigPending: 'Ready',
  /** The operator cannot ask them what they serve. */
  PodsUnreachable: 'Ready',
  PodsNotReady: 'Ready',
} as const satisfies Record<string, ConditionType>;

export type ConditionType = 'Accepted' | 'ResolvedRefs' | 'Ready';
export type Reason = keyof typeof CONDITION_OF;
export type Fault = AnyFault<Reason>;

export const { conditionTypeOf, preventsService, isRefusal, conditionsOf } = faultRules<
  Reason,
  ConditionType
>({
  conditionOf: CONDITION_OF,
  // Nothing is wrong yet: the condition stays True, and says so.
  warnings: new Set([
    'CertificateExpiring',
    'InfrastructureNotAllowed',
    'InfrastructureWithoutEffect',
    'FilterNotProtected',
    'PodMonitorNotServed',
    'NamePolicyUnreadable',
    'KeyServiceUnavailable',
    'FilterProblem',
  ]),
});

/** Says that something goes on as it was last good, and why. Since when is the time of the condition. */
export function degraded(
  isServed: boolean,
  faults: readonly Fault[],
  generation: number | undefined,
): PlannedCondition[] {
  const why = new Set(faults.flatMap(({ held, message }) => (held ? [message] : [])));
  if (!isServed || why.size === 0) return [];
  const message = `clients are served what was last good, until this is put right: ${[...why].join('; ')}`;
  return [
    {
      type: 'Degraded',
      status: 'True',
      reason: 'ServedAsLastGood',
      message: message.slice(0, MAX_MESSAGE),
      ...(generation !== undefined && { observedGeneration: generation }),
    },
  ];
}

/** Which changes of conditions a person should hear of. */
export const PROXY_EVENTS: EventRules = {
  types: ['Accepted', 'ResolvedRefs'],
  routine: new Set(['ConfigPending']),
  waiting: new Set(['AddressPending', 'ScaledToZero']),
  // That pods are not ready is said once, of the proxy, and not of each of its virtual clusters.
  announced: {
    CertificateExpiring: 'CertificateExpired',
    InfrastructureNotAllowed: '',
    InfrastructureWithoutEffect: '',
    FilterNotProtected: '',
    PodMonitorNotServed: '',
    NamePolicyUnreadable: '',
    KeyServiceUnavailable: '',
    FilterProblem: '',
  },
  onlyOf: { PodsNotReady: 'KafkaProxy', PodsUnreachable: 'KafkaProxy' },
};
