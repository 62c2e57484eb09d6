/**
 * The node that each exposed broker ran on last, so that its next pod is rather put there: then its name leads to the right place already,
 * and no resolver has to learn anything. It is written down in the set that lists the pod. Pure.
 */
import type { AnyObject } from '../../../kube/object.ts';
import type { BrokerCluster } from '../model/cluster.ts';

/** On pods that a set lists. */
export const FORMER_NODE_ANNOTATION = 'isthmus.dev/former-node';

/** By pod: where it runs, or where it ran, as its set still says. None of a cluster whose brokers may be anywhere. */
export function formerNodes(
  pods: readonly AnyObject[],
  listed: readonly AnyObject[],
  { listeners }: Pick<BrokerCluster, 'listeners'>,
): ReadonlyMap<string, string> {
  if (!listeners.some(({ exposure }) => exposure?.by === 'hostport')) return new Map();
  const known = listed.map(({ metadata }) => [metadata.name, metadata.annotations?.[FORMER_NODE_ANNOTATION]]); // prettier-ignore
  const seen = pods.map(({ metadata, spec }) => [metadata.name, (spec as { nodeName?: string }).nodeName]);
  return new Map([...known, ...seen].filter((entry): entry is [string, string] => entry[1] !== undefined));
}

interface Affinity {
  nodeAffinity?: { preferredDuringSchedulingIgnoredDuringExecution?: object[] };
}

/** More than any wish of a user's that is not meant as a must. */
const WEIGHT = 100;

/** What a user wants of the place of a pod, and that node before others. */
export function preferring(affinity: object | undefined, node: string | undefined): object | undefined {
  if (node === undefined) return affinity;
  const { nodeAffinity = {}, ...rest } = (affinity ?? {}) as Affinity;
  const { preferredDuringSchedulingIgnoredDuringExecution: wishes = [] } = nodeAffinity;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const former = { weight: WEIGHT, preference: { matchFields } };
  return {
    ...rest,
    nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: [...wishes, former] },
  };
}
