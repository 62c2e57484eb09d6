/** Chooses the platform of a cluster's DNS, and plans what to write to it. A delegation without zones is a removal. */
import { problemOf } from './corefile/block.ts';
import { corefileChange, customChange, isCustomised } from './coredns.ts';
import { kubeDnsChange } from './kube-dns.ts';
import { openShiftChange } from './openshift.ts';
import { PLATFORMS } from './platform.ts';
import type { Change, ClusterDns, Platform, PlatformChange, WantedDelegation } from './platform.ts';

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

/** Plans the write that delegates the zones; no write if they are delegated already. */
export function planDelegation(clusterDns: ClusterDns, wanted: WantedDelegation, choice?: Platform): Change {
  const platform = choice ?? choosePlatform(clusterDns);
  if (!platform)
    return { platform, problem: "the cluster's DNS is neither CoreDNS, OpenShift DNS nor kube-dns" };
  const problem = problemOf(wanted);
  if (problem !== undefined) return { platform, problem };
  return { platform, ...changeOf(platform, clusterDns, wanted) };
}

/** Plans the removal of our zones from all platforms except the one in use, e.g. after the cluster has changed to another. */
export function planRemoval(clusterDns: ClusterDns, wanted: WantedDelegation, except?: Platform): Change[] {
  return PLATFORMS.filter((platform) => platform !== except)
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
      return kubeDnsChange(clusterDns.kubeDns, wanted);
  }
  return platform satisfies never;
}
