/** Names, labels, ports and paths of all that is made for a Kafka cluster, Strimzi's where it has them: spelled here and nowhere else. */
import { MANAGED_BY } from '../../kernel/field-manager.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Volume } from './cluster.ts';

export const CLUSTER_LABEL = 'strimzi.io/cluster';
export const POOL_LABEL = 'strimzi.io/pool-name';
export const KIND_LABEL = 'strimzi.io/kind';
export const NAME_LABEL = 'strimzi.io/name';
export const POD_LABEL = 'strimzi.io/pod-name';
/** What of a cluster an object is for: itself, or one of its users. */
export const PART_LABEL = 'isthmus.dev/part';
export const USER_PART = 'user';
export const BROKER_ROLE_LABEL = 'strimzi.io/broker-role';
export const CONTROLLER_ROLE_LABEL = 'strimzi.io/controller-role';

/** The Kafka that an object is about, as a key. */
export function kafkaOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[CLUSTER_LABEL];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}

/** On pods and pod sets. */
export const REVISION_ANNOTATION = 'strimzi.io/revision';
export const VERSION_ANNOTATION = 'strimzi.io/kafka-version';
export const STORAGE_ANNOTATION = 'strimzi.io/storage';
export const MANUAL_ROLL_ANNOTATION = 'strimzi.io/manual-rolling-update';
/** On pod sets: the uids of the pods that such a request is about. */
export const MANUAL_PODS_ANNOTATION = 'isthmus.dev/manual-rolling-update-pods';
export const NEW_DISKS_ANNOTATION = 'strimzi.io/delete-pod-and-pvc';
/**
 * The digests of the configuration that a pod is started with. They must not count in its revision, or no change could
 * do without a restart. There are no secrets in the configuration, which is a ConfigMap.
 */
export const CONFIG_DIGESTS_ANNOTATION = 'isthmus.dev/config-digests';

/** On claims: whose data is on them. */
export const CLUSTER_ID_ANNOTATION = 'isthmus.dev/cluster-id';
export const NODE_ID_ANNOTATION = 'isthmus.dev/node-id';
/** Whether a claim's volume has had data, `true` or `false`; one that does not say so counts as if it had. */
export const FORMATTED_ANNOTATION = 'isthmus.dev/formatted';
/** On pods: the volumes that they were made with. */
export const VOLUMES_ANNOTATION = 'isthmus.dev/volumes';

/** What a Kafka says to be ours. */
export const MANAGED_ANNOTATION = 'isthmus.dev/managed';

export const CONTROL_PLANE_PORT = 9090;
export const REPLICATION_PORT = 9091;
export const METRICS_PORT = 9404;
/** As Strimzi's PodMonitors name it. */
export const METRICS_PORT_NAME = 'tcp-prometheus';
/** Ports that no listener of a user may have. */
export const RESERVED_PORTS: readonly number[] = [CONTROL_PLANE_PORT, REPLICATION_PORT, METRICS_PORT, 8443];

/** On every object of a cluster, and nothing without them is ever touched. The most telling one first: it is looked up by. */
export const ownerLabels = (cluster: string): Record<string, string> => ({
  [CLUSTER_LABEL]: cluster,
  // Not what its users have, which is labelled with its name, too.
  [PART_LABEL]: 'cluster',
  ...MANAGED_BY,
});

/** Selects all pods of a cluster. */
export const podSelector = (cluster: string): Record<string, string> => ({
  [CLUSTER_LABEL]: cluster,
  [KIND_LABEL]: 'Kafka',
  [NAME_LABEL]: `${cluster}-kafka`,
});

/** Labels of every object, whatever a user wants on it. */
export const objectLabels = (cluster: string): Record<string, string> => ({
  ...podSelector(cluster),
  'strimzi.io/component-type': 'kafka',
  'app.kubernetes.io/name': 'kafka',
  'app.kubernetes.io/instance': cluster,
  'app.kubernetes.io/part-of': `strimzi-${cluster}`,
  ...MANAGED_BY,
});

export const anchorName = (cluster: string) => cluster;
export const podSetName = (cluster: string, pool: string) => `${cluster}-${pool}`;
export const podName = (cluster: string, pool: string, node: number) => `${cluster}-${pool}-${node}`;
export const serviceAccountName = (cluster: string) => `${cluster}-kafka`;
export const disruptionBudgetName = (cluster: string) => `${cluster}-kafka`;
export const headlessServiceName = (cluster: string) => `${cluster}-kafka-brokers`;
export const bootstrapServiceName = (cluster: string) => `${cluster}-kafka-bootstrap`;
export const networkPolicyName = (cluster: string) => `${cluster}-network-policy-kafka`;
export const trustBundleName = (cluster: string) => `${cluster}-trustbundle`;
export const clusterCaName = (cluster: string) => `${cluster}-cluster-ca`;
export const clusterCaCertName = (cluster: string) => `${cluster}-cluster-ca-cert`;
export const clientsCaName = (cluster: string) => `${cluster}-clients-ca`;
export const clientsCaCertName = (cluster: string) => `${cluster}-clients-ca-cert`;
export const operatorCertsName = (cluster: string) => `${cluster}-cluster-operator-certs`;

const SECRETS = [
  trustBundleName,
  clusterCaName,
  clusterCaCertName,
  clientsCaName,
  clientsCaCertName,
  operatorCertsName,
];

/** Whether a cluster has what is in a Secret of this name: of an authority, of the operator, or of a node. */
export const isSecretOf = (cluster: string, secret: string): boolean =>
  SECRETS.some((nameOf) => nameOf(cluster) === secret) ||
  (secret.startsWith(`${cluster}-`) && /-\d{1,10}$/.test(secret));

/** Of a volume within its pod: `data`, or `data-<id>` in a jbod. */
export const volumeName = ({ id }: Pick<Volume, 'id'>) => (id === undefined ? 'data' : `data-${id}`);
export const claimName = (volume: Pick<Volume, 'id'>, pod: string) => `${volumeName(volume)}-${pod}`;

const DATA_DIRECTORY = '/var/lib/kafka';
export const mountPath = (volume: Pick<Volume, 'id'>) => `${DATA_DIRECTORY}/${volumeName(volume)}`;
export const logDir = (volume: Pick<Volume, 'id'>, node: number) => `${mountPath(volume)}/kafka-log${node}`;

export const CONFIG_DIRECTORY = '/opt/isthmus/config';
export const NODE_DIRECTORY = '/opt/isthmus/node';
export const TRUST_DIRECTORY = '/opt/isthmus/trust';
export const METRICS_DIRECTORY = '/opt/isthmus/metrics';
export const POD_DIRECTORY = '/opt/isthmus/pod';
/** Key and chain in one file, as Kafka reads it. */
export const NODE_PEM = 'node.pem';
export const CLUSTER_CA_BUNDLE = 'cluster-ca.crt';
export const CLIENTS_CA_BUNDLE = 'clients-ca.crt';

/** The organisation in all certificates that are made for a cluster, as Strimzi has it. */
export const ORGANISATION = 'io.strimzi';
export const nodeCommonName = (cluster: string) => `${cluster}-kafka`;
export const OPERATOR_COMMON_NAME = 'cluster-operator';

/** A node within its Kubernetes cluster. */
export const nodeHost = (cluster: string, namespace: string, pod: string) =>
  `${pod}.${headlessServiceName(cluster)}.${namespace}.svc`;

/** How Kafka knows a listener, and how its port is called in Services (the prefix tells service meshes the protocol). */
export const listenerId = (name: string, port: number) => `${name.toUpperCase()}-${port}`;
export const listenerPortName = (name: string) => LISTENER_PORTS.get(name) ?? `tcp-${name}`;
const LISTENER_PORTS = new Map([
  ['plain', 'tcp-clients'],
  ['tls', 'tcp-clientstls'],
  ['external', 'tcp-external'],
]);

/** All names by which a node may be reached: each is in its certificate. */
export function certificateNames(
  { namespace, name }: { namespace: string; name: string },
  pod: string,
  clusterDomain: string,
): string[] {
  const services = [bootstrapServiceName(name), headlessServiceName(name)];
  const ofService = services.flatMap((service) => [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.${clusterDomain}`,
  ]);
  const host = nodeHost(name, namespace, pod);
  return [...ofService, host, `${host}.${clusterDomain}`];
}

/** Labels and annotations that mean something to Strimzi or to us are never a user's. */
export const isReservedKey = (key: string): boolean =>
  /^(strimzi\.io|app\.kubernetes\.io|isthmus\.dev)\//.test(key);
