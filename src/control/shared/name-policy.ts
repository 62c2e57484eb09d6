/**
 * Who may claim a DNS name or a host name. As with NetworkPolicies, a zone without a NamePolicy is open, and in one with any only what
 * one of them allows may be claimed. Pure.
 */
import type { NamePolicy } from '../../resources/isthmus/name-policy.ts';
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
  | { allowed: false; problem: string };

export function mayClaim(policies: readonly NamePolicy[], claim: NameClaim): ClaimVerdict {
  const closing = policies.filter(({ spec }) => isWithin(claim.name, spec.zone));
  if (closing.length === 0) return { allowed: true, by: undefined };
  const fitting = closing.filter((policy) => covers(policy, claim) && takes(policy, claim.claimant));
  const by = fitting.find(({ spec }) => isOptedIn(spec, claim));
  if (by) return { allowed: true, by };
  return { allowed: false, problem: problemOf(claim, closing[0]!, fitting[0]) };
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
