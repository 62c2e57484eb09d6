/**
 * Names that lead somewhere already, by DNSEndpoints of this program, whichever road they are of: brokers and virtual clusters share DNS, which
 * has room for one. Whoever was granted a name keeps it, whatever is published later; so these count only for those that ask anew. Pure.
 */
import type { AnyObject } from '../../kube/object.ts';
import { MANAGED_BY } from '../kernel/field-manager.ts';
import type { HostIndex } from './host-index.ts';
import type { PolicySight } from './host-policy.ts';
import { mayClaim, namespaceOf } from './name-policy.ts';

/** Selects the DNSEndpoints of all roads. Anybody may label theirs so, and publishes their names by that. */
export const PUBLISHED_SELECTOR = Object.entries(MANAGED_BY)
  .map(([label, value]) => `${label}=${value}`)
  .join();

/** After all that were granted, and before all that were not: see `hostRank`. */
const RANK = '0 ~';

/** Of one object, more are not looked at. */
const MOST_NAMES = 1000;

type Policies = Pick<PolicySight, 'namePolicies' | 'unreadablePolicies'>;
type LabelsOf = (namespace: string) => Readonly<Record<string, string>>;

/** Adds what others publish, as far as policies let their namespaces have it: nobody keeps a name from its owner by writing it down. */
export function addPublished(
  index: HostIndex,
  dnsEndpoints: readonly AnyObject[],
  { namePolicies, unreadablePolicies }: Policies,
  labelsOf: LabelsOf,
): HostIndex {
  for (const object of dnsEndpoints) {
    const { namespace = '', name } = object.metadata;
    const claimant = { namespace: namespaceOf(namespace, labelsOf(namespace)) };
    const holder = `DNSEndpoint "${name}" in namespace "${namespace}"`;
    for (const host of namesIn(object))
      if (mayClaim(namePolicies, { name: host, claimant }, unreadablePolicies).allowed)
        index.add(host, { holder, rank: RANK });
  }
  return index;
}

/** The names that a DNSEndpoint has records of, each once. */
export function namesIn({ spec }: AnyObject): string[] {
  const { endpoints } = (spec ?? {}) as { endpoints?: { dnsName?: unknown }[] };
  const names = Array.isArray(endpoints) ? endpoints.slice(0, MOST_NAMES).map((one) => one?.dnsName) : [];
  return [...new Set(names.flatMap((name) => (typeof name === 'string' ? name.toLowerCase() : [])))];
}
