/** Annotations, labels and names of the discover road, spelled here and nowhere else. */
import { createHash } from 'node:crypto';
import type { ServiceName } from './objects.ts';

const TANZU = 'connectivity.tanzu.vmware.com';
/** On a Service: its DNS name. */
export const FQDN_ANNOTATION = `${TANZU}/fqdn`;
/** On an EndpointSlice: its DNS name, which may be a wildcard. */
export const HOSTNAME_ANNOTATION = `${TANZU}/dns-hostname`;
/** On the Secret with the kubeconfig of a joined cluster: how that cluster is reached, `pods`, `nodes` or `external-nodes`. */
export const REACH_ANNOTATION = `${TANZU}/reach`;
/** On a NodePort Service that was made for an exported Service: the name of the exported one. */
export const NODE_PORTS_LABEL = `${TANZU}/node-ports-of`;

/** On the ConfigMaps with the grants of names. */
export const GRANTS_LABEL = `${TANZU}/grants`;

/** The name of one of these ConfigMaps. */
export function grantMapName(map: number): string {
  return `isthmus-dns-grants-${map}`;
}

/** On OpenShift's DNS object: which installation wrote the server `isthmus`. */
export const DELEGATED_BY_ANNOTATION = `${TANZU}/delegated-by`;

/** Which Service an EndpointSlice belongs to. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** On imported EndpointSlices (KEP-1645): which service, and which cluster they came from. */
export const IMPORTED_SERVICE_LABEL = 'multicluster.kubernetes.io/service-name';
export const SOURCE_CLUSTER_LABEL = 'multicluster.kubernetes.io/source-cluster';
/** The ClusterProperty (KEP-2149) with the id of a cluster. */
export const CLUSTER_ID_PROPERTY = 'cluster.clusterset.k8s.io';

/** On all objects that were made for an imported service: its name. Objects without it are never changed or deleted. */
export const IMPORTED_LABEL = `${TANZU}/imported`;

/** On the same, where all services are imported into one namespace: the namespace that it has in its own cluster. */
export const IMPORTED_NAMESPACE_LABEL = `${TANZU}/imported-namespace`;

/** On all objects that are made for imports and exports: the namespace of the installation that made them. */
export const INSTALLATION_LABEL = `${TANZU}/installation`;

/** The name of the derived Service of an imported one: recognisable, and never that of a Service that somebody else made. */
export function derivedName({ namespace, name }: ServiceName): string {
  return `${name.slice(0, 50)}-${shortHash(`${namespace}/${name}`)}`;
}

/** The name of the derived Service of a headless one: another, since no Service can become headless, nor cease to be. */
export function headlessName(service: ServiceName): string {
  return `${derivedName(service)}-hl`;
}

/** Eight hexadecimal digits for names that must be unique and stable. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** The zone of exported services; the specification allows no other. */
export const CLUSTERSET_ZONE = 'clusterset.local';

const MAX_NAME = 253;
/** Letters, digits, inner hyphens; and underscores, which SRV names have. */
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A value, or why there is none. */
export type NameResult<T> = { value: T } | { problem: string };

/** Reads a host name from an annotation: `a.b.c`, `a.b.c.` or `*.b.c`. */
export function readHostName(text: string): NameResult<string> {
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

/** The name under which a cluster was joined, and the id given by its ClusterProperty. */
export interface ClusterNames {
  name: string;
  id: string;
}

/** The id of a cluster among others: its own, unless another cluster has the same or was joined under that name. */
export function idAmong(own: ClusterNames, others: readonly ClusterNames[]): string {
  const isTaken = others.some(({ name, id }) => id === own.id || name === own.id);
  return isTaken ? own.name : own.id;
}
