/**
 * What a pod is told about the node that it runs on: annotations, which a container reads from a downward API volume, so that it
 * needs no right to ask the API server. Pure.
 */
import { hashOf } from '../../kube/json.ts';

const PREFIX = 'isthmus.dev/node-';

/** On a pod of a set. */
export const NODE_ANNOTATIONS = {
  name: `${PREFIX}name`,
  zone: `${PREFIX}zone`,
  region: `${PREFIX}region`,
  /** One address, of the type that the set prefers. */
  address: `${PREFIX}address`,
  /** All of them, as JSON: `[{type,address}]`. */
  addresses: `${PREFIX}addresses`,
} as const;

/**
 * On a pod of a set: the address of its node when it was placed. It stays when the node is given another one, because a process tells others
 * what it read when it began; whether that is still so shows beside `NODE_ANNOTATIONS.address`.
 */
export const TOLD_ADDRESS_ANNOTATION = 'isthmus.dev/told-address';

/** On a pod that no pod set has made, and that is to be told all the same. It can ask for an address of another type by the annotation below, and for nothing more. */
export const NODE_FACTS_LABEL = 'isthmus.dev/node-facts';

/** On a set: labels of nodes that its pods are told as well, separated by commas. */
export const NODE_LABELS_ANNOTATION = 'isthmus.dev/node-labels';
/** On a set, or on such a pod: the type of the address that its pods are told, such as `InternalIP`. */
export const PREFERRED_ADDRESS_ANNOTATION = 'isthmus.dev/preferred-address-type';

const LABEL_PREFIX = `${PREFIX}label.`;
/** What may stand after the slash of an annotation. */
const MAX_NAME = 63;

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const REGION_LABEL = 'topology.kubernetes.io/region';

/** The annotation that has the value of a node's label: `a.b/c` is in `isthmus.dev/node-label.a.b_c`. */
export function nodeLabelAnnotation(label: string): string {
  if (label === ZONE_LABEL) return NODE_ANNOTATIONS.zone;
  if (label === REGION_LABEL) return NODE_ANNOTATIONS.region;
  const annotation = `${LABEL_PREFIX}${label.replace('/', '_')}`;
  const isLong = annotation.length - annotation.indexOf('/') - 1 > MAX_NAME;
  // Two labels must not share an annotation.
  return isLong || label.includes('_') ? `${LABEL_PREFIX}h-${hashOf(label)}x` : annotation;
}

/** A node, as much of it as matters here. */
export interface NodeFacts {
  name: string;
  labels: Readonly<Record<string, string>>;
  addresses: readonly NodeAddress[];
}

export interface NodeAddress {
  type: string;
  address: string;
}

/** What a set asks to be told, by its annotations. */
export interface NodeWishes {
  labels: readonly string[];
  preferredType: string | undefined;
}

const MAX_LABELS = 32;
const MAX_ADDRESSES = 16;
/** From the farthest reach to the nearest; a name needs somebody to resolve it. */
export const ADDRESS_TYPES = ['ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS', 'Hostname'];

export function nodeWishesIn(annotations: Readonly<Record<string, string>> = {}): NodeWishes {
  const labels = (annotations[NODE_LABELS_ANNOTATION] ?? '').split(',').map((label) => label.trim());
  return {
    labels: labels.filter((label) => /^[A-Za-z0-9][-A-Za-z0-9._/]*$/.test(label)).slice(0, MAX_LABELS),
    preferredType: annotations[PREFERRED_ADDRESS_ANNOTATION],
  };
}

/** The annotations of a pod on this node. What the node does not have is not among them. */
export function nodeAnnotations(
  { name, labels, addresses }: NodeFacts,
  wishes: NodeWishes,
): Record<string, string> {
  const told = addresses.slice(0, MAX_ADDRESSES).map(({ type, address }) => ({ type, address }));
  const [best] = [wishes.preferredType, ...ADDRESS_TYPES].flatMap(
    (type) => told.find((one) => one.type === type) ?? [],
  );
  const all: Record<string, string | undefined> = {
    [NODE_ANNOTATIONS.name]: name,
    [NODE_ANNOTATIONS.zone]: labels[ZONE_LABEL],
    [NODE_ANNOTATIONS.region]: labels[REGION_LABEL],
    [NODE_ANNOTATIONS.address]: best?.address,
    [NODE_ANNOTATIONS.addresses]: told.length > 0 ? JSON.stringify(told) : undefined,
    ...Object.fromEntries(wishes.labels.map((label) => [nodeLabelAnnotation(label), labels[label]])),
  };
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value ? [[key, value]] : [])));
}

/** The annotations of a pod of a set: those of its node, and the address that it was told first. */
export function placedAnnotations(
  existing: Readonly<Record<string, string>> = {},
  node: NodeFacts,
  wishes: NodeWishes,
): Record<string, string> {
  const annotations = nodeAnnotations(node, wishes);
  const told = existing[TOLD_ADDRESS_ANNOTATION] ?? annotations[NODE_ANNOTATIONS.address];
  return told === undefined ? annotations : { ...annotations, [TOLD_ADDRESS_ANNOTATION]: told };
}

/** What has to change so that a pod has just these annotations about its node; null takes one off. Undefined if nothing has. */
export function annotationChanges(
  existing: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>>,
): Record<string, string | null> | undefined {
  const stale = Object.keys(existing).filter((key) => key.startsWith(PREFIX) && !(key in wanted));
  const news = Object.entries(wanted).filter(([key, value]) => existing[key] !== value);
  if (stale.length + news.length === 0) return undefined;
  return { ...Object.fromEntries(stale.map((key) => [key, null])), ...Object.fromEntries(news) };
}
