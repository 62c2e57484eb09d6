/** The DNS implementations of clusters to which a delegation can be written, and the objects and writes of each. */
import type { KubeObject } from '../../../kube/object.ts';
import type { Delegation } from './corefile/block.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** OpenShift's `DNS` object, the configuration of its DNS operator. */
export interface DnsOperator extends KubeObject {
  spec?: { servers?: DnsOperatorServer[] };
}

export interface DnsOperatorServer {
  name: string;
  zones: string[];
  forwardPlugin: { upstreams: string[] };
}

/** The configuration objects of a cluster's DNS; undefined if they do not exist. */
export interface ClusterDns {
  operator?: DnsOperator | undefined;
  coredns?: ConfigMap | undefined;
  custom?: ConfigMap | undefined;
  kubeDns?: ConfigMap | undefined;
  /** The Corefile of NodeLocal DNSCache. */
  nodeCache?: ConfigMap | undefined;
}

/** The platforms of the DNS that a cluster has for all its nodes. */
export const CLUSTER_PLATFORMS = ['openshift', 'coredns-custom', 'corefile', 'kube-dns'] as const;
/** All of them: NodeLocal DNSCache, a cache on every node, stands before one of the others. */
export const PLATFORMS = [...CLUSTER_PLATFORMS, 'node-local-dns'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** The delegation that should be written; without zones, none. */
export interface WantedDelegation extends Delegation {
  /** Earlier addresses of our server, which may still be written somewhere. */
  formerServers?: readonly string[];
}

/** A write to one object. */
export interface Write {
  /** The object as it was read; without a resourceVersion if it is to be created. */
  object: KubeObject;
  /** A merge patch; undefined deletes the object. */
  patch: object | undefined;
  /** The merge patch that restores what was there before; undefined deletes the object. */
  undo: object | undefined;
}

/** The change to one platform: a write, nothing, or nothing because of a problem. */
export type PlatformChange =
  | { object: KubeObject | undefined; write: Write | undefined }
  | { problem: string };

/** The change to a platform that is used; without a platform there is a problem. */
export type Change =
  | { platform: Platform; object: KubeObject | undefined; write: Write | undefined }
  | { platform: Platform | undefined; problem: string };

/** Whom to ask: the DNS of the cluster itself, or whoever answers a pod, which may be a cache on its node. */
export type Asked = 'cluster' | 'pods';

/** One of the places where the zones have to be delegated, and who is asked whether they are. */
export interface Part {
  change: Change;
  asks: readonly Asked[];
}
