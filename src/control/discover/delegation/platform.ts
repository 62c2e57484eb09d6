/** Which way a cluster's own DNS can be told of our zones, and what is to be written for it. Each is undone by no zones at all. */
import type { KubeObject } from '../../../kube/object.ts';
import { problemOf } from './corefile/block.ts';
import type { Delegation } from './corefile/block.ts';
import { corefileChange, customChange, isCustomised } from './coredns.ts';
import { openShiftChange } from './openshift.ts';
import { kubeDnsChange } from './kube-dns.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** OpenShift's description of its DNS. */
export interface DnsOperator extends KubeObject {
  spec?: { servers?: DnsOperatorServer[] };
}

export interface DnsOperatorServer {
  name: string;
  zones: string[];
  forwardPlugin: { upstreams: string[] };
}

/** What a cluster has of each way; undefined where there is none. */
export interface ClusterDns {
  operator?: DnsOperator | undefined;
  coredns?: ConfigMap | undefined;
  custom?: ConfigMap | undefined;
  kubeDns?: ConfigMap | undefined;
}

/** The ways to delegate a zone. */
export const PLATFORMS = ['openshift', 'coredns-custom', 'corefile', 'kube-dns'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** What is wanted, and which addresses of ours may still be written somewhere. */
export interface Wanted extends Delegation {
  formerServers?: readonly string[];
}

/** A write to one object. */
export interface Write {
  /** The object as it was read; without a version if it is yet to be made. */
  object: KubeObject;
  /** A merge patch; undefined takes the whole object away. */
  patch: object | undefined;
  /** The merge patch that puts back what was there; undefined takes the whole object away. */
  undo: object | undefined;
}

/** What is to be done: something, nothing, or nothing because of a problem. */
export type Change =
  | { platform: Platform; object: KubeObject | undefined; write: Write | undefined }
  | { platform: Platform | undefined; problem: string };

/** A change by one of the ways. */
export type PlatformChange =
  | { object: KubeObject | undefined; write: Write | undefined }
  | { problem: string };

/**
 * The way to take. OpenShift's operator and the platforms with a `coredns-custom` put their own Corefile back, so that those
 * come first; kube-dns is there only where CoreDNS is not.
 */
export function choosePlatform({ operator, coredns, kubeDns }: ClusterDns): Platform | undefined {
  if (operator) return 'openshift';
  if (isCustomised(coredns)) return 'coredns-custom';
  if (coredns?.data?.['Corefile'] !== undefined) return 'corefile';
  return kubeDns ? 'kube-dns' : undefined;
}

/** What to write so that the zones are delegated; nothing if they are already. */
export function planDelegation(found: ClusterDns, wanted: Wanted, choice?: Platform): Change {
  const platform = choice ?? choosePlatform(found);
  if (!platform) return { platform, problem: 'the cluster has no DNS that is known here' };
  const problem = problemOf(wanted);
  if (problem !== undefined) return { platform, problem };
  return { platform, ...changeBy(platform, found, wanted) };
}

/** What is left of us in other ways than the one taken, e.g. since the platform has another one now. */
export function planRemoval(found: ClusterDns, wanted: Wanted, except?: Platform): Change[] {
  return PLATFORMS.filter((platform) => platform !== except)
    .map((platform): Change => ({ platform, ...changeBy(platform, found, { ...wanted, zones: [] }) }))
    .filter((change) => 'problem' in change || change.write !== undefined);
}

function changeBy(platform: Platform, found: ClusterDns, wanted: Wanted): PlatformChange {
  switch (platform) {
    case 'openshift':
      return openShiftChange(found.operator, wanted);
    case 'coredns-custom':
      return customChange(found, wanted);
    case 'corefile':
      return corefileChange(found.coredns, wanted);
    case 'kube-dns':
      return kubeDnsChange(found.kubeDns, wanted);
  }
  return platform satisfies never;
}
