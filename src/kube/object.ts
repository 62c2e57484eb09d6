/** The few things every Kubernetes object has in common; the rest of an object is the business of whoever reads it. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Who owns which fields: one entry for each field manager, operation and subresource. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object about which nothing more is known. */
export type AnyObject = KubeObject & Record<string, unknown>;

/** A kind as users spell it; the core group is the empty string. */
export interface ResourceType {
  group: string;
  version: string;
  kind: string;
}

/** Where an object is, within its kind. */
export interface ObjectName {
  namespace?: string | undefined;
  name: string;
}

/** `group/version`, or only `version` in the core group. */
export function apiVersionOf({ group, version }: Pick<ResourceType, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The kind of an object. */
export function typeOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): ResourceType {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1), kind };
}

/** The key of an object in caches and queues: `namespace/name`, or only `name` where there are no namespaces. */
export function keyOf({ namespace, name }: ObjectName): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** The namespace and name a key was made of. */
export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether an object carries all of these labels. */
export function hasLabels(object: KubeObject, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => object.metadata.labels?.[name] === value);
}

/** Whether an object is on its way out, and waits only for finalizers. */
export function isBeingDeleted({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Sorts objects by age, the older first; of two made in the same second, by name. */
export function ageOf({ creationTimestamp = '9', namespace = '', name }: ObjectMeta): string {
  return `${creationTimestamp} ${namespace}/${name}`;
}

/** Labels as a selector for list and watch. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}
