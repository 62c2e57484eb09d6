/** The kinds that the pod-sets road reads and makes, one row each, and which sets to look at again when an object changes. */
import { isSameJson } from '../../kube/json.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { core, ownKey } from '../kernel/watches.ts';
import type { View, WatchTable } from '../kernel/watches.ts';
import { NODE_FACTS_LABEL } from '../shared/node-annotations.ts';
import { CLUSTER_LABEL, POD_SELECTOR, SET_SELECTOR, setNameIn } from './names.ts';
import { POD_SET_KIND, controllerOf, trimPod } from './pod.ts';
import type { Pod } from './pod.ts';

/** What can be looked up. */
export interface PodSetViews {
  pods: View;
  /** Those of no set that are to be told about their nodes. */
  toldPods: View;
  podSets?: View;
  anchors?: View;
  nodes?: View;
}

export const POD_SET_WATCHES: WatchTable<PodSetViews> = {
  // Strimzi's kind, which a cluster may get later.
  podSets: {
    kind: strimziPodSet,
    optional: true,
    labelSelector: SET_SELECTOR,
    writesStatus: true,
    indexes: { kafka: kafkaOfSet },
    wakes: { 'pod-set': ownKey, latency: kafkaOfSet },
  },
  pods: {
    kind: core('Pod', 'pods'),
    labelSelector: POD_SELECTOR,
    trim: trimPod,
    indexes: { set: setsOf, node: nodeOf },
    wakes: { 'pod-set': setsOf },
    // Pods are made and deleted, and told about their node; read where a name is taken by one that is not followed.
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  toldPods: {
    kind: core('Pod', 'pods'),
    labelSelector: `${SET_SELECTOR},${NODE_FACTS_LABEL}=true`,
    trim: trimPod,
    indexes: { node: nodeOf },
    wakes: { 'told-pod': ownKey },
    verbs: ['patch'],
  },
  anchors: {
    kind: kafkaAnchor,
    optional: true,
    writesStatus: true,
    indexes: { kafka: kafkaOfAnchor },
    wakes: {
      latency: kafkaOfAnchor,
      'pod-set': (anchor, { podSets }) =>
        kafkaOfAnchor(anchor).flatMap((kafka) => keysOf(podSets?.find('kafka', kafka))),
    },
  },
  // Without the right to them pods run all the same, and are told nothing.
  nodes: {
    kind: { ...core('Node', 'nodes'), scope: 'Cluster' },
    optional: true,
    dispensable: true,
    trim: trimNode,
    // A kubelet reports every few minutes that it is there.
    when: ({ before, after }) => !isSameJson(factsOf(before), factsOf(after)),
    wakes: {
      'pod-set': ({ metadata }, { pods }) => pods.find('node', metadata.name).flatMap(setsOf),
      'told-pod': ({ metadata }, { toldPods }) => keysOf(toldPods.find('node', metadata.name)),
    },
  },
};

/** Every pod of no set that is to be told. */
export const everyToldPod = ({ toldPods }: PodSetViews): string[] => keysOf(toldPods.list());

/** Every set there is. */
export const everySet = ({ podSets }: PodSetViews): string[] => keysOf(podSets?.list());

const keysOf = (objects: readonly AnyObject[] = []) => objects.map(({ metadata }) => keyOf(metadata));

/** The sets that a pod belongs to, by its controller or by what its labels say. */
function setsOf(pod: KubeObject): string[] {
  const { namespace, labels } = pod.metadata;
  const controller = controllerOf(pod);
  const names = [controller?.kind === POD_SET_KIND ? controller.name : undefined, setNameIn(labels)];
  return [...new Set(names.flatMap((name) => name ?? []))].map((name) => keyOf({ namespace, name }));
}

function nodeOf(pod: AnyObject): string[] {
  const { nodeName } = (pod as AnyObject & Pod).spec ?? {};
  return nodeName === undefined ? [] : [nodeName];
}

function kafkaOfSet({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[CLUSTER_LABEL];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}

function kafkaOfAnchor({ metadata, spec }: AnyObject): string[] {
  const { kafka } = (spec ?? {}) as { kafka?: { name?: string } };
  return kafka?.name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name: kafka.name })];
}

/** A node as the cache has it. */
export interface TrimmedNode extends KubeObject {
  status?: { addresses?: { type: string; address: string }[] };
}

function trimNode({ apiVersion, kind, metadata, status }: AnyObject): AnyObject {
  const { name, uid, resourceVersion, labels } = metadata;
  const { addresses } = (status ?? {}) as NonNullable<TrimmedNode['status']>;
  const kept = { name, uid, resourceVersion, labels } as AnyObject['metadata'];
  return { apiVersion, kind, metadata: kept, status: { addresses } };
}

const factsOf = (node: AnyObject | undefined) => node && [node.metadata.labels, node['status']];
