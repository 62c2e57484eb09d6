/** How the pods of a cluster are reached from another, and the nodes' part in it. */
import type { KubeObject, ResourceType } from '../../../kube/object.ts';
import { familyOf } from '../objects.ts';

/**
 * By their own addresses, where pod networks route to each other; or by node ports, at addresses that nodes have inside or
 * outside of their network.
 */
export const REACHES = ['pods', 'nodes', 'external-nodes'] as const;
export type Reach = (typeof REACHES)[number];

export function isReach(word: string | undefined): word is Reach {
  return (REACHES as readonly (string | undefined)[]).includes(word);
}

export const NODE: ResourceType = { group: '', version: 'v1', kind: 'Node' };

export interface Node extends KubeObject {
  status?: {
    addresses?: { type: string; address: string }[];
    conditions?: { type: string; status: string }[];
  };
}

/** Kubernetes' own way to say that a node takes no traffic from outside. */
const EXCLUDED_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
/** Every node leads to every pod, so that more of them would only make long lists. */
const MAX_ADDRESSES = 100;

/** Little of a node matters here, and the times of its heartbeats do not. */
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

/** The addresses, each family in an order of its own, at which node ports answer. Of trimmed nodes. */
export function nodeAddresses(nodes: readonly Node[], reach: Reach): string[] {
  const wanted = reach === 'external-nodes' ? 'ExternalIP' : 'InternalIP';
  const all = nodes.flatMap(({ status }) => status?.addresses ?? []);
  const addresses = new Set(all.filter(({ type }) => type === wanted).map(({ address }) => address));
  const sorted = [...addresses].toSorted();
  return (['IPv4', 'IPv6'] as const).flatMap((family) =>
    sorted.filter((address) => familyOf(address) === family).slice(0, MAX_ADDRESSES),
  );
}
