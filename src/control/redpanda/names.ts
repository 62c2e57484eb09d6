/** Names, labels, ports and paths of all that is made for a Redpanda cluster, those of Redpanda's own operator where it has them. */
import { keyOf } from '../../kube/object.ts';
import type { KubeObject } from '../../kube/object.ts';
import { MANAGED_BY } from '../kernel/field-manager.ts';

const NAME_LABEL = 'app.kubernetes.io/name';
const INSTANCE_LABEL = 'app.kubernetes.io/instance';
const REDPANDA = 'redpanda';

const [[MANAGER_LABEL, MANAGER] = ['', '']] = Object.entries(MANAGED_BY);

/** Selects all objects that the road makes: those of Redpanda's own operator name another manager. */
export const OBJECT_SELECTOR = `${NAME_LABEL}=${REDPANDA},${MANAGER_LABEL}=${MANAGER}`;

/** Selects the pods of a cluster. */
export const podSelector = (cluster: string): Record<string, string> => ({
  [NAME_LABEL]: REDPANDA,
  [INSTANCE_LABEL]: cluster,
  'app.kubernetes.io/component': REDPANDA,
});

/** On every object of a cluster, and nothing without them is ever touched. The most telling one first: it is looked up by. */
export const objectLabels = (cluster: string): Record<string, string> => ({
  [INSTANCE_LABEL]: cluster,
  ...podSelector(cluster),
  ...MANAGED_BY,
});

/** The Cluster that an object is about, as a key. */
export function clusterOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[INSTANCE_LABEL];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}

/** Whether an object is of a Redpanda cluster: others are labelled with what they belong to, too. */
export const isOfRedpanda = ({ metadata }: KubeObject): boolean => metadata.labels?.[NAME_LABEL] === REDPANDA;

/** What a Cluster says to be ours. */
export const MANAGED_ANNOTATION = 'isthmus.dev/managed';
/** On a Cluster whose CRD has no `portStrategy`. */
export const STRATEGY_ANNOTATION = 'isthmus.dev/port-strategy';
/** On pods: equal if they are as they would be made now. */
export const REVISION_ANNOTATION = 'isthmus.dev/revision';
/** On the StatefulSet: what must not be forgotten of a roll. */
export const ROLL_ANNOTATION = 'isthmus.dev/roll';
/** On the StatefulSet: the settings of the cluster that it was founded with, as a hash. */
export const BOOTSTRAP_ANNOTATION = 'isthmus.dev/bootstrap';

/** On the StatefulSet: the node port that is the cluster's, as its anchor says, too. */
export const HOST_PORT_ANNOTATION = 'isthmus.dev/host-port';

/** On the StatefulSet: what its brokers are called outside, as its anchor says, too. */
export const NAMES_ANNOTATION = 'isthmus.dev/host-names';

export const anchorName = (cluster: string) => cluster;
export const statefulSetName = (cluster: string) => cluster;
export const headlessServiceName = (cluster: string) => cluster;
export const bootstrapServiceName = (cluster: string) => `${cluster}-cluster`;
export const configMapName = (cluster: string) => `${cluster}-base`;
export const serviceAccountName = (cluster: string) => cluster;
export const networkPolicyName = (cluster: string) => cluster;
export const disruptionBudgetName = (cluster: string) => cluster;
/** Of the Service that keeps the port of the nodes, and of the DNSEndpoint. */
export const externalName = (cluster: string) => `${cluster}-external`;
/** The listener for clients outside, if its owner has no other name for it. */
export const EXTERNAL_LISTENER = 'kafka-external';
export const podName = (cluster: string, ordinal: number) => `${cluster}-${ordinal}`;

/** Of the claims: each is named after it and its pod. */
export const DATA_VOLUME = 'datadir';
export const CONTAINER = REDPANDA;

export const DATA_DIRECTORY = '/var/lib/redpanda/data';
export const CONFIG_DIRECTORY = '/etc/redpanda';
/** Where the files of all brokers are, of which each takes its own. */
export const SOURCE_DIRECTORY = '/etc/redpanda-source';
/** Where a pod finds what it is told about its node. */
export const POD_DIRECTORY = '/etc/redpanda-pod';
/** Of the certificate of a listener, and of the authority of its clients. */
export const tlsDirectory = (listener: string) => `/etc/tls/certs/${listener}`;
export const clientCaDirectory = (listener: string) => `/etc/tls/certs/${listener}-ca`;

/** Redpanda's own. */
export const DEFAULT_PORTS = {
  kafka: 9092,
  admin: 9644,
  rpc: 33_145,
  pandaproxy: 8082,
  schemaRegistry: 8081,
};
