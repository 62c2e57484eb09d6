/** What an API server and controllers make of objects that are written, for clusters in memory. */
import { nodeWishesIn, placedAnnotations } from '../../../src/control/shared/node-annotations.ts';
import { canonicalJson } from '../../../src/kube/json.ts';
import type { AnyObject } from '../../../src/kube/object.ts';

export interface Place {
  node: string;
  addresses: readonly { type: string; address: string }[];
}

/** A pod, and what its controller writes down of the node that it runs on. */
export function withPlace(pod: AnyObject, place: Place | undefined): AnyObject {
  if (!place) return pod;
  const node = { ...place, name: place.node, labels: {} };
  const annotations = placedAnnotations(pod.metadata.annotations, node, nodeWishesIn({}));
  return {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
    spec: { ...(pod['spec'] as object), nodeName: place.node },
  };
}

/** As the writer puts them on everything. */
export const labelled = (object: AnyObject, labels: Readonly<Record<string, string>>): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
});

/** What others have annotated stays when something is applied. */
export function withAnnotationsOf(live: AnyObject | undefined, object: AnyObject): AnyObject {
  const annotations = { ...live?.metadata.annotations, ...object.metadata.annotations };
  return Object.keys(annotations).length === 0
    ? object
    : { ...object, metadata: { ...object.metadata, annotations } };
}

/** A merge patch of annotations, or of finalizers. */
export function annotated(object: AnyObject, patch: object): AnyObject {
  const { metadata } = patch as {
    metadata: { annotations?: Record<string, string | null>; finalizers?: string[] };
  };
  if (metadata.finalizers)
    return { ...object, metadata: { ...object.metadata, finalizers: metadata.finalizers } };
  const annotations = Object.entries({ ...object.metadata.annotations, ...metadata.annotations });
  const left = annotations.filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(left) } };
}

/** Without what a store and others write. */
export const contentOf = ({ metadata, status: _, ...object }: AnyObject): string =>
  canonicalJson({
    ...object,
    metadata: { ...metadata, resourceVersion: undefined, uid: undefined },
  });
