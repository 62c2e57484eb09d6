/** A broker pod written by hand, for the tests of the pod runner alone: everywhere else the operator makes them. */
import { NODE_PATHS, START_SCRIPT } from '../../../src/control/brokers/start-script.ts';
import { kafkaUuid, propertiesText } from '../../../src/store/embedded/kafka-storage.ts';
import { KAFKA_IMAGE } from '../../support/images/kafka.ts';
import { createAuthority } from '../../support/pki.ts';
import { CONSOLE_LOG } from '../brokers/node.ts';

export const NAMESPACE = 'default';
export const POD = 'events-brokers-0';
export const CLAIM = `data-0-${POD}`;
export const RACK = 'isthmus.dev/node-zone';
const SUBDOMAIN = 'events-kafka-brokers';
const DATA = '/var/lib/kafka/data-0';
const LOG_DIR = `${DATA}/kafka-log0`;
const HOST = `${POD}.${SUBDOMAIN}.${NAMESPACE}.svc`;
export const BOOTSTRAP = `events-kafka-bootstrap.${NAMESPACE}.svc:9092`;

const LABELS = { 'strimzi.io/cluster': 'events' };
const metadata = (name: string) => ({ name, namespace: NAMESPACE, labels: LABELS });

function serverConfig(): string {
  const secure = ['controlplane-9090', 'replication-9091'].flatMap((listener) =>
    Object.entries({
      'keystore.type': 'PEM',
      'keystore.location': `${NODE_PATHS.node}/node.pem`,
      'truststore.type': 'PEM',
      'truststore.location': `${NODE_PATHS.trust}/cluster-ca.crt`,
      'client.auth': 'required',
    }).map(([key, value]) => [`listener.name.${listener}.ssl.${key}`, value]),
  );
  const ports = { 'CONTROLPLANE-9090': 9090, 'REPLICATION-9091': 9091, 'PLAIN-9092': 9092 };
  const at = (host: string) =>
    Object.entries(ports)
      .map(([name, port]) => `${name}://${host}:${port}`)
      .join(',');
  return propertiesText({
    'node.id': 0,
    'process.roles': 'broker,controller',
    'controller.listener.names': 'CONTROLPLANE-9090',
    'controller.quorum.voters': `0@${HOST}:9090`,
    'inter.broker.listener.name': 'REPLICATION-9091',
    'listener.security.protocol.map': 'CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL,PLAIN-9092:PLAINTEXT',
    listeners: at('0.0.0.0'),
    'advertised.listeners': at(HOST),
    'log.dirs': LOG_DIR,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    ...Object.fromEntries(secure),
  });
}

const clusterId = kafkaUuid();

/** The node's ConfigMap, with or without leave to format. */
export function configMap(mayFormat: boolean): object {
  const data = {
    'server.config': serverConfig(),
    'cluster.id': clusterId,
    'metadata.version': '4.3-IV0',
    'log4j2.properties': CONSOLE_LOG,
    'start.sh': START_SCRIPT,
    format: mayFormat ? `${LOG_DIR}\n` : '',
  };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(POD), data };
}

function service(name: string, spec: object): object {
  const ports = [9090, 9091, 9092].map((port) => ({ name: `tcp-${port}`, port }));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(name),
    spec: { selector: LABELS, ports, ...spec },
  };
}

/** All that stays when the pod goes. */
export async function surroundings(): Promise<object[]> {
  const authority = await createAuthority('cluster-ca');
  const { certPem, keyPem } = await authority.issue({
    commonName: 'events-kafka',
    organizations: ['io.strimzi'],
    dns: [HOST],
  });
  const secret = (name: string, stringData: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata(name),
    stringData,
  });
  const resources = { requests: { storage: '1Gi' } };
  return [
    configMap(true),
    secret(POD, { 'node.pem': `${keyPem}${certPem}` }),
    secret('events-trustbundle', { 'cluster-ca.crt': authority.certPem }),
    service(SUBDOMAIN, { clusterIP: 'None', publishNotReadyAddresses: true }),
    service('events-kafka-bootstrap', {}),
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: metadata(CLAIM),
      spec: { accessModes: ['ReadWriteOnce'], resources },
    },
  ];
}

/** The pod itself. */
export function brokerPod(): object {
  const annotations = { path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } };
  const probe = { tcpSocket: { port: 9091 }, periodSeconds: 1, timeoutSeconds: 5 };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata(POD),
    spec: {
      hostname: POD,
      subdomain: SUBDOMAIN,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 60,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
      containers: [
        {
          name: 'kafka',
          image: KAFKA_IMAGE,
          command: ['/bin/sh', `${NODE_PATHS.config}/start.sh`],
          env: [{ name: 'ISTHMUS_RACK_ANNOTATION', value: RACK }],
          readinessProbe: probe,
          securityContext: { readOnlyRootFilesystem: true },
          volumeMounts: [
            { name: 'config', mountPath: NODE_PATHS.config, readOnly: true },
            { name: 'node', mountPath: NODE_PATHS.node, readOnly: true },
            { name: 'trust', mountPath: NODE_PATHS.trust, readOnly: true },
            { name: 'pod', mountPath: NODE_PATHS.pod, readOnly: true },
            { name: 'data', mountPath: DATA },
            { name: 'tmp', mountPath: '/tmp' },
          ],
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: POD } },
        { name: 'node', secret: { secretName: POD } },
        { name: 'trust', secret: { secretName: 'events-trustbundle' } },
        { name: 'pod', downwardAPI: { items: [annotations] } },
        { name: 'data', persistentVolumeClaim: { claimName: CLAIM } },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  };
}
