/** The pods that a set lists, and the pods that are made of them. Pure. */
import { hasLabels } from '../../kube/object.ts';
import type { AnyObject, KubeObject, OwnerReference } from '../../kube/object.ts';
import { isJsonObject } from '../../kube/json.ts';
import type { StrimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { FAILURES_ANNOTATION, REVISION_ANNOTATION, podLabels } from './names.ts';
import { POD_SET_KIND } from './pod.ts';

/** A pod as it is to be. */
export interface ListedPod {
  name: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  spec: object;
  revision: string | undefined;
}

export type Listed = { pods: ListedPod[]; problem?: never } | { pods?: never; problem: string };

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const MAX_NAME = 253;

/** All pods, or what is wrong with the first that cannot be. */
export function listedPods({ metadata, spec }: StrimziPodSet): Listed {
  const pods: ListedPod[] = [];
  const names = new Set<string>();
  const { matchLabels = {} } = spec.selector;
  for (const [index, entry] of spec.pods.entries()) {
    const at = `spec.pods[${index}]`;
    const pod = readPod(entry);
    if (!pod)
      return { problem: `${at}: give the pod a name, and labels and annotations that are texts, and a spec` };
    const { name } = pod;
    if (names.has(name)) return { problem: `${at}: another pod has the name "${name}"` };
    const namespace = isJsonObject(entry['metadata']) ? entry['metadata']['namespace'] : undefined;
    if (namespace !== undefined && namespace !== metadata.namespace)
      return { problem: `${at}: pod "${name}" has to be in the namespace of its set` };
    if (!hasLabels(asObject(pod, metadata.name), matchLabels))
      return { problem: `${at}: pod "${name}" does not have the labels of spec.selector.matchLabels` };
    names.add(name);
    pods.push(pod);
  }
  return { pods };
}

const asObject = ({ name, labels }: ListedPod, set: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { ...labels, ...podLabels(set) } },
});

function readPod(entry: Record<string, unknown>): ListedPod | undefined {
  const { metadata, spec } = entry;
  if (!isJsonObject(metadata) || !isJsonObject(spec)) return undefined;
  const { name, labels = {}, annotations = {} } = metadata;
  if (typeof name !== 'string' || name.length > MAX_NAME || !NAME.test(name)) return undefined;
  if (!isTexts(labels) || !isTexts(annotations)) return undefined;
  return { name, labels, annotations, spec, revision: annotations[REVISION_ANNOTATION] };
}

const isTexts = (value: unknown): value is Record<string, string> =>
  isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string');

/** How a pod says which set controls it. The set may go before its pods: whoever waits for it may not look after its pods. */
export const ownerReference = ({ apiVersion, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind: POD_SET_KIND,
  name: metadata.name,
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: false,
});

/** The pod to make. Of the metadata only labels and annotations are taken over: the rest is not for a list to say. */
export function podOf(
  set: KubeObject,
  { name, labels, annotations, spec }: ListedPod,
  failures: number,
): AnyObject {
  const own = Object.entries(annotations).filter(([key]) => key !== FAILURES_ANNOTATION);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(set.metadata.namespace !== undefined && { namespace: set.metadata.namespace }),
      labels: { ...labels, ...podLabels(set.metadata.name) },
      annotations: {
        ...Object.fromEntries(own),
        ...(failures > 0 && { [FAILURES_ANNOTATION]: String(failures) }),
      },
      ownerReferences: [ownerReference(set)],
    },
    spec,
  };
}
