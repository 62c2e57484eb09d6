/** How the pods of a cluster are reached from another cluster, and at which addresses of its nodes. */
import type { KubeObject } from '../../../kube/object.ts';
import { familyOf } from '../objects.ts';

/**
 * By pod addresses, where pod networks route to each other; or by node ports, at the nodes' internal or external addresses.
 */
export const REACH_MODES = ['pods', 'nodes', 'external-nodes'] as const;
export type ReachMode = (typeof REACH_MODES)[number];

export function isReachMode(word: string | undefined): word is ReachMode {
  return (REACH_MODES as readonly (string | undefined)[]).includes(word);
}

export interface Node extends KubeObject {
  status?: {
    addresses?: { type: string; address: string }[];
    conditions?: { type: string; status: string }[];
  };
}

/** Kubernetes' own label for nodes that take no traffic from outside. */
const EXCLUDED_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
/** Every node forwards to every pod, so more addresses would only make longer lists. */
const MAX_ADDRESSES = 100;

/** Keeps the addresses of a node that can be used, and drops the times of its heartbeats. */
export function trimNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, uid, resourceVersion, deletionTimestamp, labels } = metadata;
  const isExcluded = labels?.[EXCLUDED_LABEL] !== undefined || deletionTimestamp !== undefined;
  const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True');
  const addresses = isReady && !isExcluded ? (status?.addresses ?? []) : [];
  return {
    apiVersion,
    kind,
    metadata: { name, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    status: { addresses: addresses.filter(({ address }) => familyOf(address) !== undefined) },
  };
}

/** Whether a change of a trimmed node leaves its addresses as they were. */
export function hasSameAddresses(before: object | undefined, after: object | undefined): boolean {
  const statusOf = (node: Partial<Node> | undefined) => JSON.stringify(node?.status);
  return statusOf(before) === statusOf(after);
}

/** The addresses at which node ports answer, sorted by IP family. Takes trimmed nodes. */
export function nodeAddresses(nodes: readonly Node[], reach: ReachMode): string[] {
  const wanted = reach === 'external-nodes' ? 'ExternalIP' : 'InternalIP';
  const all = nodes.flatMap(({ status }) => status?.addresses ?? []);
  const addresses = new Set(all.filter(({ type }) => type === wanted).map(({ address }) => address));
  const sorted = [...addresses].toSorted();
  return (['IPv4', 'IPv6'] as const).flatMap((family) =>
    sorted.filter((address) => familyOf(address) === family).slice(0, MAX_ADDRESSES),
  );
}
