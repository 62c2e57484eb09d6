/** Reads from the caches all that a plan for one set depends on. */
import { isBeingDeleted, keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import type { StrimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { read } from '../kernel/read.ts';
import type { Watched } from '../kernel/watches.ts';
import type { NodeFacts } from '../shared/node-annotations.ts';
import type { Anchors } from './fence.ts';
import type { Fault } from './faults.ts';
import { listedPods } from './listed.ts';
import type { ListedPod } from './listed.ts';
import { CLUSTER_LABEL } from './names.ts';
import type { Pod } from './pod.ts';
import type { PodSetViews, TrimmedNode } from './watches.ts';

export type PodSetCaches = Pick<Watched<PodSetViews>, 'views' | 'undiscovered'>;

/** Pods that could not be made, by name, and why. */
export type Refusals = ReadonlyMap<string, Fault>;

export interface Observed {
  /** The set as it is; undefined if there is none, or it is being deleted: then its pods are the garbage collector's. */
  live: AnyObject | undefined;
  /** What it lists, or why that cannot be read. */
  listed: { set: StrimziPodSet; pods: ListedPod[]; problem?: never } | { problem: string };
  /** Those that belong to it, or have a name that it lists. */
  pods: readonly Pod[];
  anchors: Anchors;
  /** The nodes of these pods; undefined if nobody may read them, or has yet. */
  nodes: ReadonlyMap<string, NodeFacts> | undefined;
  mayReadNodes: boolean;
  refusals: Refusals;
  now: number;
}

export function observePodSet(
  { views, undiscovered }: PodSetCaches,
  key: string,
  refusals: Refusals,
  now: number,
): Observed {
  const found = views.podSets?.get(key);
  const live = found && !isBeingDeleted(found) ? found : undefined;
  const listed = live ? readSet(live) : { problem: '' };
  const pods = podsOf(views, key, 'set' in listed ? listed.pods : []);
  return {
    live,
    listed,
    pods,
    anchors: live ? anchorsOf(views, undiscovered, live) : { found: [] },
    nodes: nodesOf(views, pods),
    mayReadNodes: views.nodes !== undefined || undiscovered.has('nodes'),
    refusals,
    now,
  };
}

function readSet(live: AnyObject): Observed['listed'] {
  const { resource, problem } = read(strimziPodSet, live);
  if (!resource) return { problem };
  const { pods, problem: unlistable } = listedPods(resource);
  return pods ? { set: resource, pods } : { problem: unlistable };
}

function podsOf({ pods }: PodSetViews, key: string, listed: readonly ListedPod[]): Pod[] {
  const { namespace } = nameOfKey(key);
  const named = listed.flatMap(({ name }) => pods.get(keyOf({ namespace, name })) ?? []);
  const all = new Map([...pods.find('set', key), ...named].map((pod) => [pod.metadata.name, pod as Pod]));
  // In the order of their names: a cache gives them in the order in which they came, which no restart repeats.
  return [...all.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** A kind of which nobody can say whether it is there may have an anchor that forbids everything. */
function anchorsOf(
  { anchors }: PodSetViews,
  undiscovered: PodSetCaches['undiscovered'],
  { metadata }: KubeObject,
): Anchors {
  if (undiscovered.has('anchors'))
    return { problem: 'KafkaAnchors cannot be read, so nobody can say who has this Kafka' };
  const name = metadata.labels?.[CLUSTER_LABEL];
  if (!anchors || name === undefined) return { found: [] };
  const reads = anchors
    .find('kafka', keyOf({ namespace: metadata.namespace, name }))
    .map((anchor) => ({ name: anchor.metadata.name, ...read(kafkaAnchor, anchor) }));
  const unread = reads.find(({ problem }) => problem !== undefined);
  if (unread) return { problem: `KafkaAnchor "${unread.name}" cannot be read: ${unread.problem}` };
  return { found: reads.flatMap(({ resource }) => resource ?? []) };
}

function nodesOf({ nodes }: PodSetViews, pods: readonly Pod[]): Observed['nodes'] {
  if (!nodes) return undefined;
  const names = new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []));
  return new Map([...names].flatMap((name) => factsOf(nodes.get(name) as TrimmedNode | undefined)));
}

export function factsOf(node: TrimmedNode | undefined): [string, NodeFacts][] {
  if (!node) return [];
  const { name, labels = {} } = node.metadata;
  return [[name, { name, labels, addresses: node.status?.addresses ?? [] }]];
}
