/** Annotations, labels and names of the discover road, spelled here and nowhere else. */

const TANZU = 'connectivity.tanzu.vmware.com';
/** On a Service: the name under which it is to be found. */
export const FQDN_ANNOTATION = `${TANZU}/fqdn`;
/** On an EndpointSlice: the same, of later days; may be a wildcard. */
export const HOSTNAME_ANNOTATION = `${TANZU}/dns-hostname`;
/** On the Secret with the kubeconfig of a joined cluster: the id of that cluster. */
export const CLUSTER_LABEL = `${TANZU}/cluster-name`;
/** And how that cluster is reached: `pods`, `nodes` or `external-nodes`. */
export const REACH_ANNOTATION = `${TANZU}/reach`;
/** On a Service that is there only to give an exported one node ports: the name of the exported one. */
export const NODE_PORTS_LABEL = `${TANZU}/node-ports-of`;

/** On OpenShift's description of its DNS: which of us wrote our server there. */
export const DELEGATED_BY_ANNOTATION = `${TANZU}/delegated-by`;

/** Which Service an EndpointSlice belongs to. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** On imported EndpointSlices (KEP-1645): which service, and which cluster they came from. */
export const IMPORTED_SERVICE_LABEL = 'multicluster.kubernetes.io/service-name';
export const SOURCE_CLUSTER_LABEL = 'multicluster.kubernetes.io/source-cluster';
/** The ClusterProperty (KEP-2149) by which a cluster says its own id in the set. */
export const CLUSTER_ID_PROPERTY = 'cluster.clusterset.k8s.io';

/** On everything that is made for an imported service, with its name; and nothing without it is ever touched. */
export const IMPORTED_LABEL = `${TANZU}/imported`;

/** The zone of exported services; the specification allows no other. */
export const CLUSTERSET_ZONE = 'clusterset.local';

const MAX_NAME = 253;
/** Letters, digits, hyphens inside; underscores too, since names of services and keys have them. */
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Either a value, or a sentence that says what is wrong. */
export type Read<T> = { value: T } | { problem: string };

/** Reads a host name as someone wrote it in an annotation: `a.b.c`, perhaps with a final dot, perhaps `*.b.c`. */
export function readHostName(text: string): Read<string> {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name === '') return { problem: 'the name is empty' };
  if (name.length > MAX_NAME) return { problem: `${shown} is longer than ${MAX_NAME} characters` };
  const labels = name.split('.');
  if (labels[0] === '*') labels.shift();
  if (labels.length === 0) return { problem: 'a wildcard needs a domain: *.example.test' };
  const wrong = labels.find((label) => !LABEL.test(label));
  if (wrong !== undefined) return { problem: `${shown} is not a host name` };
  return { value: name };
}

/** Whether a name (without final dot, lower case) is a zone or lies in it. */
export function isInZone(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/** What a cluster may be called: it is a label of names. */
export const CLUSTER_ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The name a cluster was joined under, and what it calls itself. */
export interface ClusterNames {
  name: string;
  id: string;
}

/** What a cluster is called among others: what it calls itself, unless another one does too, or was joined under that name. */
export function idAmong(own: ClusterNames, others: readonly ClusterNames[]): string {
  const isTaken = others.some(({ name, id }) => id === own.id || name === own.id);
  return isTaken ? own.name : own.id;
}
