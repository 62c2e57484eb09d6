/** Whether NamePolicies let a namespace have the host names of its virtual clusters, and how many of them. */
import { mayClaim, namespaceOf } from '../../shared/name-policy.ts';
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
    namespaceLabels,
    grantsBeside,
  }: Pick<Live, 'namePolicies' | 'namespaceLabels' | 'grantsBeside'>,
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

  function faultOf(claimed: ClaimedHosts, isGranted: boolean): PlacelessFault | undefined {
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
