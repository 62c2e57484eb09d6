/** What is kept of objects in memory: a cluster has many Secrets, Services and pods, and little of them matters here. */
import { trimManagedFields } from '../../kube/cache/cache.ts';
import type { AnyObject } from '../../kube/object.ts';
import { keepOwned } from '../kernel/watches.ts';

/** kubectl keeps a second copy of everything in an annotation. */
export function keepData(object: AnyObject): AnyObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels } = object.metadata;
  const gone = deletionTimestamp === undefined ? {} : { deletionTimestamp };
  const metadata = { name, namespace, uid, resourceVersion, labels, ...gone } as AnyObject['metadata'];
  const { apiVersion, kind, data } = object;
  return { apiVersion, kind, metadata, ...(data !== undefined && { data }) };
}

const trimAll = trimManagedFields<AnyObject>();

/** Of others' Services only that they are there. One that has lost our label is still ours, as its managed fields tell. */
export function trimService(service: AnyObject): AnyObject {
  const trimmed = keepOwned(service);
  return trimmed.metadata.managedFields ? trimmed : keepData(service);
}

export function trimPod({ apiVersion, kind, metadata, status }: AnyObject): AnyObject {
  const { phase, podIP, conditions } = (status ?? {}) as Record<string, unknown>;
  return trimAll({ apiVersion, kind, metadata, status: { phase, podIP, conditions } });
}
