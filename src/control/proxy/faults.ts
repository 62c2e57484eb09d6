/** What can be wrong with a virtual cluster or an ingress, and which condition says so. */

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
  Invalid: 'Accepted',
  HostNameTaken: 'Accepted',
  NameTaken: 'Accepted',
  NoFreePorts: 'Accepted',
  ConfigTooLarge: 'Accepted',
  AddressPending: 'Ready',
  CertificateExpired: 'Ready',
  /** Nothing is wrong yet: see `isWarning`. */
  CertificateExpiring: 'Ready',
  CertificateNotYetValid: 'Ready',
  CertificateHostMismatch: 'Ready',
  /** The router or the Gateway says no. */
  RouteNotAccepted: 'Ready',
  /** The API server refuses an object of it. */
  Denied: 'Ready',
  /** Somebody else's DNSEndpoint is in the way. */
  RecordsNotPublished: 'Ready',
  /** As the pods find out. */
  TargetUnreachable: 'Ready',
  PodProblem: 'Ready',
  ConfigPending: 'Ready',
  PodsNotReady: 'Ready',
} as const satisfies Record<string, ConditionType>;

export type ConditionType = 'Accepted' | 'ResolvedRefs' | 'Ready';
export type Reason = keyof typeof CONDITION_OF;

/** Why something cannot be served, or not fully. `path` is the field of the resource that leads there. */
export interface Fault {
  reason: Reason;
  path: readonly (string | number)[];
  message: string;
}

/** The condition that a fault makes False. */
export function conditionTypeOf({ reason }: Pick<Fault, 'reason'>): ConditionType {
  return CONDITION_OF[reason];
}

/** Whether a fault is one to come: the condition stays True, and says so. */
export function isWarning({ reason }: Pick<Fault, 'reason'>): boolean {
  return reason === 'CertificateExpiring';
}

/** Whether a fault keeps something from being served at all: a fault about readiness does not. */
export function preventsService(fault: Fault): boolean {
  return conditionTypeOf(fault) !== 'Ready';
}

/** Whether a fault stands against the very name or place of something, so that not even its Services may be made. */
export function isRefusal(fault: Fault): boolean {
  return conditionTypeOf(fault) === 'Accepted';
}
