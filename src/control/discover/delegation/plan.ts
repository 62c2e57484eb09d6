/** Chooses where a cluster's DNS has to be told of the zones, and plans what to write there. A delegation without zones is a removal. */
import { problemOf } from './corefile/block.ts';
import { corefileChange, customChange, isCustomised } from './coredns.ts';
import { kubeDnsChange } from './kube-dns.ts';
import { nodeCacheChange } from './node-cache.ts';
import { openShiftChange } from './openshift.ts';
import { PLATFORMS } from './platform.ts';
import type { Change, ClusterDns, Part, Platform, PlatformChange, WantedDelegation } from './platform.ts';

/**
 * Chooses the platform. OpenShift's operator and platforms with `coredns-custom` overwrite changes of the Corefile, so they come
 * first; kube-dns is used only where there is no CoreDNS.
 */
export function choosePlatform({ operator, coredns, kubeDns }: ClusterDns): Platform | undefined {
  if (operator) return 'openshift';
  if (isCustomised(coredns)) return 'coredns-custom';
  if (coredns?.data?.['Corefile'] !== undefined) return 'corefile';
  return kubeDns ? 'kube-dns' : undefined;
}

/**
 * Plans the parts of the delegation in the order in which they are written: the cluster's DNS, then the cache on its nodes if there is one.
 * Stub domains of kube-dns are read by both.
 */
export function planParts(clusterDns: ClusterDns, wanted: WantedDelegation, choice?: Platform): Part[] {
  const change = planDelegation(clusterDns, wanted, choice);
  const hasCache = clusterDns.nodeCache !== undefined && wanted.zones.length > 0;
  if (!hasCache || change.platform === undefined) return [{ change, asks: ['cluster'] }];
  if (change.platform === 'kube-dns') return [{ change, asks: ['cluster', 'pods'] }];
  return [
    { change, asks: ['cluster'] },
    { change: nodeCacheChange(clusterDns, wanted), asks: ['pods'] },
  ];
}

/** Plans the write that delegates the zones in the cluster's DNS; no write if they are delegated already. */
export function planDelegation(clusterDns: ClusterDns, wanted: WantedDelegation, choice?: Platform): Change {
  const platform = choice ?? choosePlatform(clusterDns);
  if (!platform) return { platform, problem: noPlatform(wanted) };
  const problem = problemOf(wanted);
  if (problem !== undefined) return { platform, problem };
  return { platform, ...changeOf(platform, clusterDns, wanted) };
}

/** What to do where nothing is found that we could write to, as with Cloud DNS for GKE. */
function noPlatform({ zones, server = 'the address of our Service' }: WantedDelegation): string {
  return (
    `no CoreDNS, OpenShift DNS or kube-dns was found in this cluster, so its pods ask a DNS that only its owner can configure: ` +
    `there, forward ${zones.join(', ')} to ${server} (at an address that it can reach); ` +
    `or name the ConfigMap with the Corefile as delegation.corefile`
  );
}

/** Plans the removal of our zones from all platforms except those in use, e.g. after the cluster has changed to another. */
export function planRemoval(
  clusterDns: ClusterDns,
  wanted: WantedDelegation,
  inUse: readonly (Platform | undefined)[] = [],
): Change[] {
  return PLATFORMS.filter((platform) => !inUse.includes(platform))
    .map((platform): Change => ({ platform, ...changeOf(platform, clusterDns, { ...wanted, zones: [] }) }))
    .filter((change) => 'problem' in change || change.write !== undefined);
}

function changeOf(platform: Platform, clusterDns: ClusterDns, wanted: WantedDelegation): PlatformChange {
  switch (platform) {
    case 'openshift':
      return openShiftChange(clusterDns.operator, wanted);
    case 'coredns-custom':
      return customChange(clusterDns, wanted);
    case 'corefile':
      return corefileChange(clusterDns.coredns, wanted);
    case 'kube-dns':
      return kubeDnsChange(clusterDns, wanted);
    case 'node-local-dns':
      return corefileChange(clusterDns.nodeCache, wanted);
  }
  return platform satisfies never;
}
