/** Reasons that several roads give. */
import { NOTHING_TO_DO } from './entry.ts';
import type { CodeEntry } from './entry.ts';

export const SHARED_REASONS = {
  Ready: {
    means: 'Everything that this resource asks for is there and works.',
    why: 'The last look found nothing wrong.',
    cure: NOTHING_TO_DO,
  },
  Accepted: {
    means: 'The resource is valid, and nothing stands against it.',
    why: 'All fields could be read, and its names and places are free.',
    cure: NOTHING_TO_DO,
  },
  Recovered: {
    means: 'What an earlier event reported is over.',
    why: 'The cause that the event quotes is gone.',
    cure: NOTHING_TO_DO,
  },
  Invalid: {
    means: 'The resource cannot be used as it is written.',
    why: 'A field has a value that cannot be, or contradicts another one; the message names it.',
    cure: 'Correct the field. `isthmus analyze -f FILE` finds the same before anything is applied.',
  },
  NotSupported: {
    means: 'The resource asks for something that Isthmus does not do, or that this platform does not have.',
    why: 'A field, a value or a combination is valid in itself, but nothing here serves it.',
    cure: 'Remove or change what the message names; the reference page of the kind says what is served.',
  },
  NameTaken: {
    means: 'A name that this resource needs belongs to somebody else.',
    why: 'An object, a host name or a DNS name of that name was there first and was not made for this resource.',
    cure: 'Choose another name, or remove the other object if nobody needs it; it is never overwritten.',
  },
  NamePolicyUnreadable: {
    means:
      'A NamePolicy cannot be read, so nobody is granted names in its zone that were not granted before.',
    why: 'It has a value that cannot be; or the operator has no right to read NamePolicies, or has not read them yet.',
    cure: 'Correct the policy that the message names, or apply what `isthmus install` prints.',
  },
  HostNameTaken: {
    means: 'Another cluster has this host name.',
    why: 'A host name leads to one place only, and the other one was granted it first.',
    cure: 'Choose another host name or pattern; for brokers, `hostPattern: $(id).$(cluster).$(subdomain)`.',
  },
  HostNameNotAllowed: {
    means: 'No NamePolicy lets this namespace use the host name.',
    why: 'The zone has NamePolicies, so only what they name may be claimed in it.',
    cure: 'Choose a name that a NamePolicy allows, or have one extended.',
  },
  HostNameLimitReached: {
    means: 'The namespace has as many host names as its NamePolicy allows.',
    why: '`namesPerNamespace` counts the name to begin at and that of each broker.',
    cure: 'Give up names that nobody needs, or have the limit raised.',
  },
  Denied: {
    means: 'The API server refuses to store an object that this resource needs.',
    why: 'An admission policy, a quota or a missing right stands against it; the message quotes the server.',
    cure: 'Do as the quoted message says. For a missing right, apply what `isthmus install` prints again.',
  },
  PodsNotReady: {
    means: 'Fewer pods are ready than there should be.',
    why: 'Pods are starting, cannot be scheduled, cannot fetch their image, or fail.',
    cure: 'Wait a minute; then see `kubectl describe pod` and `kubectl logs` of the pods that are not ready.',
  },
  CertificateAuthority: {
    means: 'A certificate authority that is needed cannot be used.',
    why: 'Its Secrets are missing, incomplete, or ended, and Isthmus may not make them itself.',
    cure: 'Put the Secrets that the message names right, or let Isthmus generate the authority.',
  },
} as const satisfies Record<string, CodeEntry>;
