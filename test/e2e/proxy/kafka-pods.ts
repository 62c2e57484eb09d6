/** A Kafka that the operator runs beside the proxy: three brokers, spread over the nodes of the cluster, and a controller. */
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster } from '../../support/clusters/cluster.ts';

export const KAFKA_NAMESPACE = 'kafka';
export const BROKERS = [0, 1, 2] as const;
/** Where the brokers are found, as a KafkaClusterRef names it. */
export const KAFKA_BOOTSTRAP = 'events-kafka-bootstrap.kafka.svc:9092';
export const brokerPod = (id: (typeof BROKERS)[number]) => `events-brokers-${id}`;

const strimzi = (kind: string, name: string, more: object, spec: object) => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind,
  metadata: { name, namespace: KAFKA_NAMESPACE, ...more },
  spec,
});

/** Brokers have no disks of their own: what moves to another node fetches its data from the others. */
const pool = (name: string, role: 'broker' | 'controller', replicas: number, storage: object) =>
  strimzi(
    'KafkaNodePool',
    name,
    { labels: { 'strimzi.io/cluster': 'events' } },
    {
      replicas,
      roles: [role],
      storage,
      jvmOptions: { '-Xmx': '384m' },
      resources: { requests: { cpu: '200m', memory: '768Mi' }, limits: { memory: '768Mi' } },
    },
  );

/** Topics come into being when they are first written to: three partitions, on all brokers. */
const KAFKA = strimzi(
  'Kafka',
  'events',
  { annotations: { 'isthmus.dev/managed': 'true' } },
  {
    kafka: {
      listeners: [{ name: 'plain', port: 9092, type: 'internal', tls: false }],
      config: {
        'num.partitions': 3,
        'default.replication.factor': 3,
        'min.insync.replicas': 2,
        'offsets.topic.num.partitions': 3,
        'offsets.topic.replication.factor': 3,
        'transaction.state.log.num.partitions': 3,
        'group.initial.rebalance.delay.ms': 0,
      },
    },
  },
);

/** Asks for it; `kafkaIsReady` says when it serves. */
export const addKafka = (cluster: Cluster): Promise<unknown> =>
  cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: KAFKA_NAMESPACE } },
    KAFKA,
    pool('brokers', 'broker', BROKERS.length, { type: 'ephemeral' }),
    pool('control', 'controller', 1, { type: 'persistent-claim', size: '1Gi' }),
  ]);

export const kafkaIsReady = (cluster: Cluster): Promise<unknown> =>
  cluster.waitFor('kafka/events', hasCondition('Ready'), {
    namespace: KAFKA_NAMESPACE,
    timeoutMs: 1_200_000,
  });
