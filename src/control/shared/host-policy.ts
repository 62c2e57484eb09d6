/** Whether NamePolicies let a namespace have the host names of its clusters, and how many of them. Pure. */
import type { NamePolicy } from '../../resources/isthmus/name-policy.ts';
import { NODE_ID } from './host-patterns.ts';
import { mayClaim, namespaceOf } from './name-policy.ts';

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
  { namePolicies, namespaceLabels, grantsBeside }: PolicySight,
): HostPolicy {
  const claimant = { namespace: namespaceOf(namespace, namespaceLabels) };
  const used = new Map<string, number>();

  /** How many names it takes by which policy. The names of brokers differ in a number only, so that one of them stands for all. */
  const usesOf = ({ bootstrap, brokers, count = 1 }: ClaimedHosts) =>
    [
      { host: bootstrap, names: 1 },
      { host: brokers.replace(NODE_ID, '0'), names: count - 1 },
    ].map(({ host, names }) => ({
      verdict: mayClaim(namePolicies, { name: host.toLowerCase(), claimant }),
      names,
    }));

  function take(claimed: ClaimedHosts): void {
    if (namePolicies.length === 0) return;
    for (const { verdict, names } of usesOf(claimed)) {
      if (!verdict.allowed || !verdict.by) continue;
      const { name } = verdict.by.metadata;
      used.set(name, (used.get(name) ?? 0) + names);
    }
  }

  function faultOf(claimed: ClaimedHosts, isGranted: boolean): PolicyFault | undefined {
    if (namePolicies.length === 0) return undefined;
    const wanted = new Map<string, number>();
    for (const { verdict, names } of usesOf(claimed)) {
      if (!verdict.allowed)
        return { reason: 'HostNameNotAllowed', message: `the host name ${verdict.problem}` };
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
