/**
 * Who may claim a DNS name or a host name. As with NetworkPolicies, a zone without a NamePolicy is open, and in one with any only what
 * one of them allows may be claimed. Wildcards and NS records reach beyond their own name, so that they always need a policy. Pure.
 */
import type { AnyObject } from '../../kube/object.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import type { NamePolicy } from '../../resources/isthmus/name-policy.ts';
import { read } from '../kernel/read.ts';
import { selects } from './selector.ts';

/** A name, and who claims it. */
export interface NameClaim {
  /** In lower case, without the final dot; it may begin with `*.`. */
  name: string;
  /** Whether it is delegated, by NS records. */
  isDelegation?: boolean;
  claimant: Claimant;
}

/** Whoever is given has to be allowed: an imported Service is of a namespace here, and of the clusters that export it. */
export interface Claimant {
  namespace?: { name: string; labels: Readonly<Record<string, string>> };
  /** One of these clusters has to be. */
  clusters?: readonly string[];
}

/** The policy by which a name may be claimed, if it needs one; or what is missing. */
export type ClaimVerdict =
  | { allowed: true; by: NamePolicy | undefined }
  /** Unclear where a policy cannot be read that may well allow it: what has been granted stays then. */
  | { allowed: false; problem: string; isUnclear?: true };

/** A policy of which it is not known what it allows. Its zone is closed all the same, and nothing is allowed by it. */
export interface UnreadablePolicy {
  /** Every zone if it is empty. */
  zone: string;
  problem: string;
}

/** Those that can be read, and zones that are closed by others. */
export interface NamePolicies {
  policies: readonly NamePolicy[];
  unreadable: readonly (UnreadablePolicy & { object: AnyObject })[];
}

export function readNamePolicies(objects: readonly AnyObject[]): NamePolicies {
  const all = objects.map((object) => ({ object, ...read(namePolicy, object) }));
  return {
    policies: all.flatMap(({ resource }) => resource ?? []),
    unreadable: all.flatMap(({ object, problem }) => {
      if (problem === undefined) return [];
      const { zone } = (object['spec'] ?? {}) as { zone?: unknown };
      const name = `NamePolicy "${object.metadata.name}"`;
      // Whoever wrote one meant to close something: if nobody can tell what, it is everything.
      return [
        {
          object,
          zone: typeof zone === 'string' ? zone.toLowerCase().replace(/[.]$/, '') : '',
          problem: `${name} cannot be read: ${problem}`,
        },
      ];
    }),
  };
}

/** What an operator sees of policies. Those that it has not read yet, or may not read, could forbid any name. */
export function policiesSeen(
  objects: readonly AnyObject[],
  isUnread: boolean,
): { namePolicies: readonly NamePolicy[]; unreadablePolicies: readonly UnreadablePolicy[] } {
  const { policies, unreadable } = readNamePolicies(objects);
  const unread = isUnread ? [{ zone: '', problem: UNREAD_POLICIES }] : [];
  return { namePolicies: policies, unreadablePolicies: [...unreadable, ...unread] };
}

const UNREAD_POLICIES =
  'the operator cannot read NamePolicies; it needs the right to list and watch them, which `isthmus install` grants';

export function mayClaim(
  policies: readonly NamePolicy[],
  claim: NameClaim,
  unreadable: readonly UnreadablePolicy[] = [],
): ClaimVerdict {
  const closing = policies.filter(({ spec }) => isWithin(claim.name, spec.zone));
  const unclear = unreadable.find(({ zone }) => zone === '' || isWithin(claim.name, zone));
  if (unclear && !closing.some((policy) => allows(policy, claim))) {
    const problem = `${claim.name} is granted to nobody new for as long as ${unclear.problem}`;
    return { allowed: false, problem, isUnclear: true };
  }
  if (closing.length === 0) return inOpenZone(claim);
  const fitting = closing.filter((policy) => covers(policy, claim) && takes(policy, claim.claimant));
  const by = fitting.find(({ spec }) => isOptedIn(spec, claim));
  if (by) return { allowed: true, by };
  return { allowed: false, problem: problemOf(claim, closing[0]!, fitting[0]) };
}

const allows = (policy: NamePolicy, claim: NameClaim) =>
  covers(policy, claim) && takes(policy, claim.claimant) && isOptedIn(policy.spec, claim);

function inOpenZone({ name, isDelegation, claimant }: NameClaim): ClaimVerdict {
  if (!isDelegation && !name.startsWith('*.')) return { allowed: true, by: undefined };
  const [what, field] = isDelegation ? ['delegated', 'delegations'] : ['a wildcard', 'wildcards'];
  const problem = `${name} is ${what}, for which ${claimantText(claimant)} needs a NamePolicy with ${field}: true`;
  return { allowed: false, problem };
}

function problemOf(
  { name, isDelegation, claimant }: NameClaim,
  closing: NamePolicy,
  fitting: NamePolicy | undefined,
) {
  if (fitting) {
    const field = isDelegation && !fitting.spec.delegations ? 'delegations' : 'wildcards';
    return `${name} needs ${field}: true in NamePolicy "${fitting.metadata.name}"`;
  }
  const { zone } = closing.spec;
  return `${name} is in the zone ${zone}, and no NamePolicy for it lets ${claimantText(claimant)} have this name; one with it in domains is needed`;
}

function claimantText({ namespace, clusters }: Claimant): string {
  const parts = [
    ...(namespace ? [`namespace "${namespace.name}"`] : []),
    ...(clusters ? [`cluster ${clusters.map((one) => `"${one}"`).join(' or ')}`] : []),
  ];
  return parts.join(' with ');
}

const isWithin = (name: string, domain: string) => name === domain || name.endsWith(`.${domain}`);

function covers({ spec }: NamePolicy, { name }: NameClaim): boolean {
  return spec.domains.some((domain) => isWithin(name, domain));
}

function takes({ spec }: NamePolicy, { namespace, clusters }: Claimant): boolean {
  const isOurs = !namespace || (spec.namespaces !== undefined && selects(spec.namespaces, namespace.labels));
  const isTheirs =
    !clusters || clusters.some((one) => spec.clusters.some((other) => other === '*' || other === one));
  return isOurs && isTheirs;
}

function isOptedIn(spec: NamePolicy['spec'], { name, isDelegation }: NameClaim): boolean {
  return (spec.wildcards || !name.startsWith('*.')) && (spec.delegations || !isDelegation);
}

/** The labels of a namespace; its name is one of them, as Kubernetes has it. */
export function namespaceOf(
  name: string,
  labels: Readonly<Record<string, string>> | undefined,
): NonNullable<Claimant['namespace']> {
  return { name, labels: { ...labels, 'kubernetes.io/metadata.name': name } };
}
