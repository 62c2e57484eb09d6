/** The pods of a pool, each described in full. They are made and kept by the pod-set controller, and never changed. */
import { hashOf, isJsonObject } from '../../../kube/json.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { NODE_LABELS_ANNOTATION, PREFERRED_ADDRESS_ANNOTATION } from '../../shared/node-annotations.ts';
import { CONFINED, CONFINED_POD } from '../../shared/pod-template.ts';
import { hasRole } from '../model/cluster.ts';
import type { BrokerCluster, Node, Pool, Templates } from '../model/cluster.ts';
import {
  BROKER_ROLE_LABEL,
  CLUSTER_ID_ANNOTATION,
  CONFIG_DIGESTS_ANNOTATION,
  CONFIG_DIRECTORY,
  CONTROLLER_ROLE_LABEL,
  CONTROL_PLANE_PORT,
  KIND_LABEL,
  NODE_DIRECTORY,
  POD_DIRECTORY,
  POD_LABEL,
  POOL_LABEL,
  REPLICATION_PORT,
  REVISION_ANNOTATION,
  STORAGE_ANNOTATION,
  TRUST_DIRECTORY,
  VERSION_ANNOTATION,
  VOLUMES_ANNOTATION,
  headlessServiceName,
  listenerPortName,
  podName,
  podSelector,
  podSetName,
  serviceAccountName,
  trustBundleName,
  volumeName,
} from '../model/names.ts';
import { BOOTSTRAP_SERVERS, propertiesOf } from '../config/properties.ts';
import { controllersAnnotation } from '../quorum/chosen.ts';
import { peersAnnotation } from '../stretch/peers.ts';
import { configDigests } from '../roll/config-change.ts';
import { START_SCRIPT } from '../start-script.ts';
import { environmentOf } from './environment.ts';
import { FORMER_NODE_ANNOTATION, preferring } from './former-node.ts';
import { metadataOf, ownedByKafka, wishesOf } from './metadata.ts';
import { metricsParts } from './metrics.ts';
import { podVolume, volumeMount } from './volumes.ts';

/** In the official image. */
const KAFKA_USER = 1000;
const GRACE_SECONDS = 60;
const READINESS = { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 };

/** By pod: what it is told about the certificates that it loads. */
export type CertificateAnnotations = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** By pod: the node that it ran on last. */
type FormerNodes = ReadonlyMap<string, string>;

export function podSet(
  cluster: BrokerCluster,
  pool: Pool,
  epoch: number,
  certificates: CertificateAnnotations,
  formerly: FormerNodes = new Map(),
): AnyObject {
  const name = podSetName(cluster.name, pool.name);
  const metadata = metadataOf(cluster, name, wishesOf(templateOf(cluster, pool), 'podSet'), pool);
  const labels = Object.entries(metadata.labels ?? {});
  const { rack } = cluster;
  return {
    apiVersion: cluster.apiVersions.podSet,
    kind: 'StrimziPodSet',
    metadata: {
      ...metadata,
      // Without its kind a Strimzi operator beside us takes no notice of the set.
      labels: Object.fromEntries(labels.filter(([label]) => label !== KIND_LABEL)),
      annotations: {
        ...metadata.annotations,
        ...(rack?.by === 'topology-label' && { [NODE_LABELS_ANNOTATION]: rack.label }),
        ...preferredAddress(cluster),
        ...peersAnnotation(cluster, pool),
        [CLUSTER_ID_ANNOTATION]: cluster.clusterId,
        [STORAGE_ANNOTATION]: JSON.stringify(pool.volumes),
        [VERSION_ANNOTATION]: cluster.version,
        'isthmus.dev/epoch': String(epoch),
      },
      ownerReferences: ownedByKafka(cluster),
    },
    spec: {
      selector: { matchLabels: { ...podSelector(cluster.name), [POOL_LABEL]: pool.name } },
      pods: pool.nodes.map((node) => podOf(cluster, pool, node, certificates, formerly)),
    },
  };
}

/** The pods that a set lists; what is none is passed over. */
export function podsIn({ spec }: AnyObject): AnyObject[] {
  const pods = isJsonObject(spec) ? spec['pods'] : undefined;
  return Array.isArray(pods) ? pods.filter(isPod) : [];
}

const isPod = (pod: unknown): pod is AnyObject =>
  isJsonObject(pod) && isJsonObject(pod['metadata']) && typeof pod['metadata']['name'] === 'string';

/**
 * What a node reads only when it starts, beside its pod: a change of it needs a restart like a change of the pod. What users set of a
 * broker is not among it: the broker itself says what of that it can take while it runs.
 */
function fixedConfig(cluster: BrokerCluster, pool: Pool, node: Node): unknown {
  const properties = propertiesOf(cluster, pool, node).filter(([key]) => key !== BOOTSTRAP_SERVERS);
  const fixed = hasRole(node, 'broker') ? properties.filter(([key]) => !(key in cluster.config)) : properties;
  return { fixed, start: START_SCRIPT, logging: cluster.logging.isReread ? undefined : cluster.logging.text };
}

const templateOf = (cluster: BrokerCluster, pool: Pool): Templates => ({
  ...cluster.template,
  ...pool.template,
});

interface PodWishes {
  affinity: object;
  tolerations: object[];
  topologySpreadConstraints: object[];
  priorityClassName: string;
  schedulerName: string;
  hostAliases: object[];
  securityContext: object;
  terminationGracePeriodSeconds: number;
  tmpDirSizeLimit: string;
  volumes: object[];
  imagePullSecrets: object[];
}

function podOf(
  cluster: BrokerCluster,
  pool: Pool,
  node: Node,
  certificates: CertificateAnnotations,
  formerly: FormerNodes,
): AnyObject {
  const name = podName(cluster.name, pool.name, node.id);
  const wishes = wishesOf<PodWishes>(templateOf(cluster, pool), 'pod');
  const { labels, annotations } = metadataOf(cluster, name, wishes, pool);
  const roles = {
    [BROKER_ROLE_LABEL]: String(hasRole(node, 'broker')),
    [CONTROLLER_ROLE_LABEL]: String(hasRole(node, 'controller')),
  };
  const former = formerly.get(name);
  const affinity = preferring(wishes.affinity, former);
  const spec = podSpec(cluster, pool, node, affinity ? { ...wishes, affinity } : wishes);
  const form = podSpec(withoutOwnImage(cluster), pool, node, wishes);
  const revision = hashOf({ spec: form, labels, annotations, fixed: fixedConfig(cluster, pool, node) });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: cluster.namespace,
      labels: {
        ...labels,
        ...roles,
        [POD_LABEL]: name,
        'strimzi.io/controller': 'strimzipodset',
        'strimzi.io/controller-name': podSetName(cluster.name, pool.name),
      },
      annotations: {
        ...annotations,
        [REVISION_ANNOTATION]: revision,
        [VERSION_ANNOTATION]: cluster.version,
        [VOLUMES_ANNOTATION]: pool.volumes.map(volumeName).join(','),
        [CONFIG_DIGESTS_ANNOTATION]: JSON.stringify(
          configDigests(Object.fromEntries(propertiesOf(cluster, pool, node))),
        ),
        ...controllersAnnotation(cluster.quorum),
        ...(former !== undefined && { [FORMER_NODE_ANNOTATION]: former }),
        ...certificates.get(name),
      },
    },
    spec,
  };
}

/** A new operator brings the same reporter, and is no reason to restart a node. */
const withoutOwnImage = (cluster: BrokerCluster): BrokerCluster =>
  cluster.metrics ? { ...cluster, metrics: { ...cluster.metrics, image: '' } } : cluster;

/** Wishes that are fields of a pod by the same name. */
const POD_FIELDS = [
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'priorityClassName',
  'schedulerName',
  'hostAliases',
] as const;

function podSpec(cluster: BrokerCluster, pool: Pool, node: Node, wishes: Partial<PodWishes>): object {
  const name = podName(cluster.name, pool.name, node.id);
  const { imagePullSecrets = cluster.imagePullSecrets } = wishes;
  const metrics = metricsParts(cluster);
  const fields = POD_FIELDS.flatMap((field) =>
    wishes[field] === undefined ? [] : [[field, wishes[field]] as const],
  );
  return {
    hostname: name,
    subdomain: headlessServiceName(cluster.name),
    serviceAccountName: serviceAccountName(cluster.name),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: wishes.terminationGracePeriodSeconds ?? GRACE_SECONDS,
    securityContext: {
      ...CONFINED_POD.securityContext,
      runAsUser: KAFKA_USER,
      fsGroup: KAFKA_USER,
      ...wishes.securityContext,
    },
    ...(imagePullSecrets.length > 0 && { imagePullSecrets }),
    ...Object.fromEntries(fields),
    ...(metrics.initContainers.length > 0 && { initContainers: metrics.initContainers }),
    containers: [container(cluster, pool, node)],
    volumes: [
      ...pool.volumes.map((volume) => podVolume(volume, name)),
      { name: 'config', configMap: { name } },
      { name: 'node', secret: { secretName: name } },
      { name: 'trust', secret: { secretName: trustBundleName(cluster.name) } },
      {
        name: 'pod',
        downwardAPI: { items: [{ path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } }] },
      },
      { name: 'tmp', emptyDir: { sizeLimit: wishes.tmpDirSizeLimit ?? '100Mi' } },
      ...metrics.volumes,
      ...(wishes.volumes ?? []),
    ],
  };
}

interface ContainerWishes {
  env: { name: string; value?: string }[];
  securityContext: object;
  volumeMounts: object[];
}

function container(cluster: BrokerCluster, pool: Pool, node: Node): object {
  const wishes = wishesOf<ContainerWishes>(templateOf(cluster, pool), 'kafkaContainer');
  const metrics = metricsParts(cluster);
  const probed = hasRole(node, 'broker') ? REPLICATION_PORT : CONTROL_PLANE_PORT;
  const mount = (name: string, mountPath: string) => ({ name, mountPath, readOnly: true });
  return {
    name: 'kafka',
    image: cluster.image,
    command: ['/bin/sh', `${CONFIG_DIRECTORY}/start.sh`],
    env: [...environmentOf(cluster, pool, node), ...metrics.env, ...(wishes.env ?? [])],
    ports: [...portsOf(cluster, node), ...metrics.ports],
    // A broker opens its ports once the controllers have let it in, a controller once it has read its log.
    readinessProbe: { tcpSocket: { port: probed }, ...READINESS, ...cluster.readiness },
    ...(pool.resources && { resources: pool.resources }),
    securityContext: { ...CONFINED.securityContext, ...wishes.securityContext },
    volumeMounts: [
      ...pool.volumes.map(volumeMount),
      mount('config', CONFIG_DIRECTORY),
      mount('node', NODE_DIRECTORY),
      mount('trust', TRUST_DIRECTORY),
      mount('pod', POD_DIRECTORY),
      { name: 'tmp', mountPath: '/tmp' },
      ...metrics.mounts,
      ...(wishes.volumeMounts ?? []),
    ],
  };
}

function portsOf({ listeners }: BrokerCluster, node: Node): object[] {
  const named = (name: string, containerPort: number, hostPort?: number) => ({
    name,
    containerPort,
    ...(hostPort !== undefined && { hostPort }),
    protocol: 'TCP',
  });
  return [
    ...(hasRole(node, 'controller') ? [named('tcp-ctrlplane', CONTROL_PLANE_PORT)] : []),
    ...(hasRole(node, 'broker') ? [named('tcp-replication', REPLICATION_PORT)] : []),
    ...(hasRole(node, 'broker')
      ? listeners.map(({ name, port, exposure }) =>
          named(listenerPortName(name), port, exposure?.by === 'hostport' ? exposure.port : undefined),
        )
      : []),
  ];
}

function preferredAddress(cluster: BrokerCluster): Record<string, string> {
  const told = cluster.listeners.flatMap(({ exposure }) =>
    exposure?.by === 'hostport' && exposure.hostPattern === undefined ? [exposure] : [],
  );
  const type = told[0]?.addressType;
  return type === undefined ? {} : { [PREFERRED_ADDRESS_ANNOTATION]: type };
}
