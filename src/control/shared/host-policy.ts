/** Whether NamePolicies let a namespace have the host names of its clusters, and how many of them. Pure. */
import type { NamePolicy } from '../../resources/isthmus/name-policy.ts';
import { NODE_ID } from './host-patterns.ts';
import { mayClaim, namespaceOf } from './name-policy.ts';
import type { ClaimVerdict, UnreadablePolicy } from './name-policy.ts';

/** The host names of one cluster at one place. */
export interface ClaimedHosts {
  /** Where clients begin. */
  bootstrap: string;
  /** Those of its brokers, as a pattern. */
  brokers: string;
  /** How many names they are in all; 1 if that is not known. */
  count?: number;
}

export interface PolicyFault {
  reason: 'HostNameNotAllowed' | 'HostNameLimitReached';
  message: string;
}

/** What policies and the namespace say, and which names it has elsewhere. */
export interface PolicySight {
  namePolicies: readonly NamePolicy[];
  unreadablePolicies: readonly UnreadablePolicy[];
  namespaceLabels: Readonly<Record<string, string>>;
  grantsBeside: readonly ClaimedHosts[];
}

export interface HostPolicy {
  /** Why these names may not be had. Those that were granted stay, however many there are by now. */
  faultOf(claimed: ClaimedHosts, isGranted: boolean): PolicyFault | undefined;
  /** Counts names that are had. */
  take(claimed: ClaimedHosts): void;
}

/** For clusters of one namespace. What others there have counts, too. */
export function createHostPolicy(
  namespace: string,
  { namePolicies, unreadablePolicies, namespaceLabels, grantsBeside }: PolicySight,
): HostPolicy {
  const claimant = { namespace: namespaceOf(namespace, namespaceLabels) };
  const isOpen = namePolicies.length + unreadablePolicies.length === 0;
  const used = new Map<string, number>();
  const domains = [
    ...namePolicies.flatMap(({ spec }) => [spec.zone, ...spec.domains]),
    ...unreadablePolicies.map(({ zone }) => zone),
  ];
  const verdictOn = (name: string) => mayClaim(namePolicies, { name, claimant }, unreadablePolicies);

  /** All the names of a pattern are to be allowed, since it claims them all; that of most ids counts. */
  function verdictOnAll(pattern: string): ClaimVerdict {
    const verdicts = [pattern, ...namesApart(pattern, domains)].map(verdictOn);
    const denied = verdicts.filter((verdict) => !verdict.allowed);
    return denied.find(({ isUnclear }) => !isUnclear) ?? denied[0] ?? verdicts[0]!;
  }

  /** How many names it takes by which policy. */
  const usesOf = ({ bootstrap, brokers, count = 1 }: ClaimedHosts) => [
    { verdict: verdictOn(bootstrap.toLowerCase()), names: 1 },
    { verdict: verdictOnAll(inLowerCase(brokers)), names: count - 1 },
  ];

  function take(claimed: ClaimedHosts): void {
    if (isOpen) return;
    for (const { verdict, names } of usesOf(claimed)) {
      if (!verdict.allowed || !verdict.by) continue;
      const { name } = verdict.by.metadata;
      used.set(name, (used.get(name) ?? 0) + names);
    }
  }

  function faultOf(claimed: ClaimedHosts, isGranted: boolean): PolicyFault | undefined {
    if (isOpen) return undefined;
    const wanted = new Map<string, number>();
    for (const { verdict, names } of usesOf(claimed)) {
      if (!verdict.allowed) {
        if (verdict.isUnclear && isGranted) continue;
        return { reason: 'HostNameNotAllowed', message: `the host name ${verdict.problem}` };
      }
      const { metadata, spec } = verdict.by ?? {};
      const limit = spec?.limits?.namesPerNamespace;
      if (!metadata || limit === undefined || isGranted) continue;
      const own = (wanted.get(metadata.name) ?? 0) + names;
      wanted.set(metadata.name, own);
      const before = used.get(metadata.name) ?? 0;
      if (before + own <= limit) continue;
      const message = `NamePolicy "${metadata.name}" allows ${limit} names a namespace, of which ${before} are in use; remove some, or have its admin allow more`;
      return { reason: 'HostNameLimitReached', message };
    }
    return undefined;
  }

  for (const grant of grantsBeside) take(grant);
  return { faultOf, take };
}

/** The placeholder stays as it is: no domain of a policy has such a label, so it stands for an id that none of them names. */
const inLowerCase = (pattern: string) =>
  pattern
    .split(NODE_ID)
    .map((part) => part.toLowerCase())
    .join(NODE_ID);

/** Node ids are 32-bit numbers. */
const MAX_NODE_ID = 2 ** 31 - 1;

/** The names of a pattern about which policies may say something else than about most: their domains have a node id in them. */
function namesApart(pattern: string, domains: readonly string[]): string[] {
  const at = pattern.indexOf(NODE_ID);
  if (at === -1) return [];
  const after = pattern.slice(at + NODE_ID.length);
  const ids = domains.flatMap((domain) => {
    if (!domain.endsWith(after)) return [];
    const digits = /\d*$/.exec(domain.slice(0, domain.length - after.length))![0];
    return Array.from(digits, (_, first) => digits.slice(first));
  });
  const isId = (text: string) => String(Number(text)) === text && Number(text) <= MAX_NODE_ID;
  return [...new Set(ids)].filter(isId).map((id) => pattern.replace(NODE_ID, id));
}
