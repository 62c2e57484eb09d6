/** What a Kubernetes node has besides Kubernetes: container runtime, network plugins, packet filter. */
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { debianEnvironment, ensureDebianTree } from './debian-tree.ts';

const PACKAGES = [
  'containerd',
  'runc',
  'containernetworking-plugins',
  'nftables',
  'iptables',
  'conntrack',
  'busybox-static',
];

export interface NodeTools {
  env: Record<string, string>;
  /** Folder of the CNI plugins. */
  cni: string;
  nft: string;
  /** Statically linked, so that it runs in any image. */
  busybox: string;
}

/** Debian makes these names when it installs the package, which nobody does here. */
async function linkIptables(tree: string): Promise<void> {
  for (const name of ['iptables', 'iptables-save', 'iptables-restore']) {
    const link = join(tree, 'usr/sbin', name);
    if (existsSync(link)) continue;
    await symlink('xtables-nft-multi', link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error; // another process was quicker
    });
  }
}

/** How to run the tools of a node. */
export async function ensureNodeTools(): Promise<NodeTools> {
  const tree = await ensureDebianTree('node', PACKAGES);
  await linkIptables(tree);
  return {
    env: debianEnvironment(tree),
    cni: join(tree, 'usr/lib/cni'),
    nft: join(tree, 'usr/sbin/nft'),
    busybox: join(tree, 'bin/busybox'),
  };
}
