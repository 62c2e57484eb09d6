/**
 * NodeLocal DNSCache: a cache on every node, which asks the cluster's DNS for the cluster's own names only, and others for the rest. So our
 * zones have to be delegated there, too.
 */
import { corefileChange } from './coredns.ts';
import { kubeDnsChange } from './kube-dns.ts';
import type { Change, ClusterDns, WantedDelegation } from './platform.ts';

const ADDON_MODE = 'addonmanager.kubernetes.io/mode';

/**
 * The block in its Corefile; or stub domains of kube-dns, which it reads as well, where an add-on manager would put its Corefile back as it
 * was.
 */
export function nodeCacheChange(clusterDns: ClusterDns, wanted: WantedDelegation): Change {
  const { nodeCache } = clusterDns;
  return nodeCache?.metadata.labels?.[ADDON_MODE] === 'Reconcile'
    ? { platform: 'kube-dns', ...kubeDnsChange(clusterDns, wanted) }
    : { platform: 'node-local-dns', ...corefileChange(nodeCache, wanted) };
}
