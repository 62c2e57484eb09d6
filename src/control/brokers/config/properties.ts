/** The configuration of each node, as Kafka reads it. Pure. */
import { isIPv6 } from 'node:net';
import { hasRole, nodesOf } from '../model/cluster.ts';
import { bootstrapServers } from '../quorum/chosen.ts';
import { exposedHost } from '../expose/names.ts';
import type { BrokerCluster, Exposure, Listener, Node, Pool } from '../model/cluster.ts';
import {
  CLIENTS_CA_BUNDLE,
  CLUSTER_CA_BUNDLE,
  CONTROL_PLANE_PORT,
  METRICS_PORT,
  NODE_DIRECTORY,
  NODE_PEM,
  OPERATOR_COMMON_NAME,
  ORGANISATION,
  REPLICATION_PORT,
  TRUST_DIRECTORY,
  listenerId,
  logDir,
  nodeCommonName,
  podName,
} from '../model/names.ts';

import { hostOfNode } from '../stretch/network.ts';

export type Properties = readonly (readonly [key: string, value: string])[];

const CONTROL_PLANE = listenerId('controlplane', CONTROL_PLANE_PORT);
const REPLICATION = listenerId('replication', REPLICATION_PORT);

interface Bound {
  id: string;
  port: number;
  protocol: 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';
  exposure?: Exposure | undefined;
}

/** Its value changes as controllers come and go, which takes a restart only where too few of those a node knows are left. */
export const BOOTSTRAP_SERVERS = 'controller.quorum.bootstrap.servers';

/** Those of all nodes, by the names of their pods. */
export function propertiesByPod(cluster: BrokerCluster): Map<string, Record<string, string>> {
  return new Map(
    nodesOf(cluster).map(({ pool, node }) => [
      podName(cluster.name, pool.name, node.id),
      Object.fromEntries(propertiesOf(cluster, pool, node)),
    ]),
  );
}

/** Everything but what only the place of a pod tells. The order is for readers. */
export function propertiesOf(cluster: BrokerCluster, pool: Pool, node: Node): Properties {
  const isBroker = hasRole(node, 'broker');
  const isController = hasRole(node, 'controller');
  const open = cluster.listeners.filter(
    ({ exposure }) => !exposure || outsideHost(exposure, node.id) !== undefined,
  );
  const bound = listenersBy(open, isBroker, isController);
  // A node also connects by listeners that it does not have: brokers to controllers, and all must agree on how.
  const known = listenersBy(open, isBroker, true);
  const host = hostOfNode(cluster, pool, node.id);
  const list = (each: (one: Bound) => string, among = bound) => among.map(each).join(',');
  return [
    ['node.id', String(node.id)],
    ['process.roles', node.roles.toSorted().join(',')],
    ['controller.listener.names', CONTROL_PLANE],
    cluster.quorum
      ? [BOOTSTRAP_SERVERS, bootstrapServers(cluster.quorum)]
      : ['controller.quorum.voters', votersOf(cluster)],
    ['listeners', list(({ id, port }) => `${id}://0.0.0.0:${port}`)],
    [
      'advertised.listeners',
      list(
        ({ id, port, exposure }) => `${id}://${exposure ? advertised(exposure, node.id) : `${host}:${port}`}`,
      ),
    ],
    ['listener.security.protocol.map', list(({ id, protocol }) => `${id}:${protocol}`, known)],
    ...(isBroker ? ([['inter.broker.listener.name', REPLICATION]] as const) : []),
    ['log.dirs', pool.volumes.map((volume) => logDir(volume, node.id)).join(',')],
    ...pool.volumes.flatMap((volume) =>
      volume.metadata ? ([['metadata.log.dir', logDir(volume, node.id)]] as const) : [],
    ),
    ...tlsBetweenNodes(CONTROL_PLANE),
    ...(isBroker ? tlsBetweenNodes(REPLICATION) : []),
    ...(isBroker ? open.flatMap(listenerProperties) : []),
    // Certificates of nodes are renewed while they run, with other names in them where listeners came or went.
    ['ssl.allow.san.changes', 'true'],
    ['ssl.allow.dn.changes', 'true'],
    ...authorizationProperties(cluster),
    ...rackProperties(cluster, pool, node),
    ...metricsProperties(cluster),
    ...Object.entries(cluster.config).filter(([key]) => !(cluster.metrics && key in REPORTERS)),
  ];
}

/** The reporters that Kafka is to load, for each of its two sorts of metrics. */
const REPORTERS = {
  'metric.reporters': 'io.strimzi.kafka.metrics.KafkaPrometheusMetricsReporter',
  'kafka.metrics.reporters': 'io.strimzi.kafka.metrics.YammerPrometheusMetricsReporter',
};

/** A user's own reporters stay beside it. */
function metricsProperties({ metrics, config }: BrokerCluster): Properties {
  if (!metrics) return [];
  const prefix = 'prometheus.metrics.reporter.';
  return [
    ...Object.entries(REPORTERS).map(
      ([key, reporter]) => [key, config[key] ? `${config[key]},${reporter}` : reporter] as const,
    ),
    [`${prefix}listener`, `http://0.0.0.0:${METRICS_PORT}`],
    [`${prefix}allowlist`, metrics.allowList.join(',')],
  ];
}

/** As the configuration file has it. */
export const propertiesText = (properties: Properties): string =>
  properties.map(([key, value]) => `${key}=${value.replaceAll('\\', '\\\\')}\n`).join('');

/** All controllers, the same in every node's configuration. */
function votersOf(cluster: BrokerCluster): string {
  return nodesOf(cluster)
    .filter(({ node }) => hasRole(node, 'controller'))
    .toSorted((a, b) => a.node.id - b.node.id)
    .map(({ pool, node }) => `${node.id}@${hostOfNode(cluster, pool, node.id)}:${CONTROL_PLANE_PORT}`)
    .join(',');
}

function listenersBy(listeners: readonly Listener[], isBroker: boolean, isController: boolean): Bound[] {
  return [
    ...(isController ? [{ id: CONTROL_PLANE, port: CONTROL_PLANE_PORT, protocol: 'SSL' } as const] : []),
    ...(isBroker ? [{ id: REPLICATION, port: REPLICATION_PORT, protocol: 'SSL' } as const] : []),
    ...(isBroker ? listeners.map(boundBy) : []),
  ];
}

function boundBy(listener: Listener): Bound {
  const { name, port, tls, authentication, exposure } = listener;
  const sasl = authentication === 'scram-sha-512' ? 'SASL_' : '';
  return { id: listenerId(name, port), port, protocol: `${sasl}${tls ? 'SSL' : 'PLAINTEXT'}`, exposure };
}

const advertised = (exposure: Exposure, id: number) => {
  const host = outsideHost(exposure, id) ?? '';
  return `${isIPv6(host) ? `[${host}]` : host}:${exposure.port}`;
};

/**
 * What clients from outside are told: a name, the address of the node, which only the pod's place tells, or that of a load balancer.
 * Undefined as long as that has none: the broker does without the listener then.
 */
function outsideHost(exposure: Exposure, id: number): string | undefined {
  if (exposure.hostPattern !== undefined) return exposedHost(exposure.hostPattern, id);
  return exposure.by === 'hostport' ? '@node-address@' : exposure.addresses[id]?.[0];
}

/** The key and the certificate of the node itself. */
const keyStore = (prefix: string): Properties => [
  [`${prefix}ssl.keystore.type`, 'PEM'],
  [`${prefix}ssl.keystore.location`, `${NODE_DIRECTORY}/${NODE_PEM}`],
];

const trustStore = (prefix: string, bundle: string): Properties => [
  [`${prefix}ssl.truststore.type`, 'PEM'],
  [`${prefix}ssl.truststore.location`, `${TRUST_DIRECTORY}/${bundle}`],
];

const prefixOf = (id: string) => `listener.name.${id.toLowerCase()}.`;

/** The setting by which a broker is told to look at the files of its certificates: one that every broker has. */
export const KEY_STORE_SETTING = `${prefixOf(REPLICATION)}ssl.keystore.location`;

function tlsBetweenNodes(id: string): Properties {
  const prefix = prefixOf(id);
  return [
    ...keyStore(prefix),
    ...trustStore(prefix, CLUSTER_CA_BUNDLE),
    [`${prefix}ssl.client.auth`, 'required'],
  ];
}

function listenerProperties({ name, port, tls, authentication }: Listener): Properties {
  const prefix = prefixOf(listenerId(name, port));
  return [
    ...(tls ? keyStore(prefix) : []),
    ...(authentication === 'tls'
      ? ([...trustStore(prefix, CLIENTS_CA_BUNDLE), [`${prefix}ssl.client.auth`, 'required']] as const)
      : []),
    ...(authentication === 'scram-sha-512'
      ? ([
          [`${prefix}sasl.enabled.mechanisms`, 'SCRAM-SHA-512'],
          [
            `${prefix}scram-sha-512.sasl.jaas.config`,
            'org.apache.kafka.common.security.scram.ScramLoginModule required;',
          ],
        ] as const)
      : []),
  ];
}

const principal = (commonName: string) => `User:CN=${commonName},O=${ORGANISATION}`;

function authorizationProperties({ name, authorization }: BrokerCluster): Properties {
  if (!authorization) return [];
  const own = [nodeCommonName(name), OPERATOR_COMMON_NAME].map(principal);
  const others = authorization.superUsers.map((user) => `User:${user}`);
  return [
    ['authorizer.class.name', 'org.apache.kafka.metadata.authorizer.StandardAuthorizer'],
    ['super.users', [...own, ...others].join(';')],
  ];
}

/** Consumers read from a replica of their own rack, where there are racks and nobody chose otherwise. */
function rackProperties({ rack, config, network }: BrokerCluster, pool: Pool, node: Node): Properties {
  if (!hasRole(node, 'broker') || (!rack && !network)) return [];
  const key = 'replica.selector.class';
  // Of a stretched cluster each Kubernetes cluster is a rack, unless its owner wants others: replicas are spread over them.
  const ownCluster = pool.networkId === undefined ? [] : [['broker.rack', pool.networkId] as const];
  return [
    ...(key in config ? [] : ([[key, 'org.apache.kafka.common.replica.RackAwareReplicaSelector']] as const)),
    ...(rack ? [] : ownCluster),
    ...(rack?.by === 'environment-variable' ? fromEnvironment('broker.rack', rack.variable) : []),
  ];
}

/** Kafka itself reads the one variable, and no other. */
const fromEnvironment = (key: string, variable: string): Properties => [
  ['config.providers', 'env'],
  ['config.providers.env.class', 'org.apache.kafka.common.config.provider.EnvVarConfigProvider'],
  ['config.providers.env.param.allowlist.pattern', `^${variable}$`],
  [key, `\${env:${variable}}`],
];
