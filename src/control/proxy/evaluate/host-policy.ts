/** Whether NamePolicies let a namespace have the host names of its virtual clusters, and how many of them. */
import { mayClaim, namespaceOf } from '../../shared/name-policy.ts';
import type { ClaimVerdict } from '../../shared/name-policy.ts';
import { NODE_ID } from '../names.ts';
import type { Live } from '../observed.ts';
import type { ClaimedHosts } from './host-grants.ts';
import type { PlacelessFault } from './platform.ts';

export interface HostPolicy {
  /** Why these names may not be had. Those that were granted stay, however many there are by now. */
  faultOf(claimed: ClaimedHosts, isGranted: boolean): PlacelessFault | undefined;
  /** Counts names that are had. */
  take(claimed: ClaimedHosts): void;
}

/** For the virtual clusters of one proxy, all of which are in its namespace. What other proxies there have counts, too. */
export function createHostPolicy(
  namespace: string,
  {
    namePolicies,
    unreadablePolicies,
    namespaceLabels,
    grantsBeside,
  }: Pick<Live, 'namePolicies' | 'unreadablePolicies' | 'namespaceLabels' | 'grantsBeside'>,
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

  function faultOf(claimed: ClaimedHosts, isGranted: boolean): PlacelessFault | undefined {
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
