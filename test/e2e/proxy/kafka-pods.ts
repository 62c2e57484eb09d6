/** Apache Kafka in pods: three brokers that are their own controllers, spread over the nodes of the cluster. */
import { chmod } from 'node:fs/promises';
import type { Cluster } from '../../support/clusters/cluster.ts';
import { IMAGES } from '../../support/images/images.ts';
import { workspace } from '../../support/workspace.ts';

export const KAFKA_NAMESPACE = 'kafka';
export const BROKERS = [0, 1, 2] as const;
/** Where the brokers are found, as a KafkaClusterRef names it. */
export const KAFKA_BOOTSTRAP = 'kafka-bootstrap.kafka.svc:9092';

const BIN = '/opt/kafka/bin';
const HOSTS = 'kafka.kafka.svc.cluster.local';
const VOTERS = BROKERS.map((id) => `${id}@kafka-${id}.${HOSTS}:9093`).join(',');

/** Topics come into being when they are first written to: three partitions, on all brokers. */
const START = `cat > /tmp/server.properties <<END
process.roles=broker,controller
node.id=\${HOSTNAME##*-}
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://$HOSTNAME.${HOSTS}:9092
controller.listener.names=CONTROLLER
controller.quorum.voters=${VOTERS}
log.dirs=/disks/$HOSTNAME
num.partitions=3
default.replication.factor=3
min.insync.replicas=2
offsets.topic.num.partitions=3
offsets.topic.replication.factor=3
transaction.state.log.num.partitions=3
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=6000
broker.heartbeat.interval.ms=1000
END
${BIN}/kafka-storage.sh format -t 4L6g3nShT-eMCtK--X86sw -c /tmp/server.properties --ignore-formatted &&
exec ${BIN}/kafka-server-start.sh /tmp/server.properties`;

const metadata = (name: string) => ({ name, namespace: KAFKA_NAMESPACE });
const labels = { app: 'kafka' };

function broker(disks: string): object {
  const container = {
    name: 'kafka',
    image: IMAGES.kafka,
    command: ['sh', '-c', START],
    // Names outlive the addresses behind them: whoever asked for one must not remember it for long.
    env: [{ name: 'KAFKA_OPTS', value: '-Dsun.net.inetaddr.ttl=2 -Dsun.net.inetaddr.negative.ttl=1' }],
    resources: { limits: { memory: '768Mi' } },
    readinessProbe: { tcpSocket: { port: 9092 }, periodSeconds: 1, timeoutSeconds: 5 },
    volumeMounts: [{ name: 'disks', mountPath: '/disks' }],
  };
  const spread = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
  return {
    containers: [container],
    topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }],
    // Stands in for a network volume, which no registry has: a folder that all nodes see, so that data follows its pod.
    volumes: [{ name: 'disks', hostPath: { path: disks, type: 'Directory' } }],
  };
}

/** Sets the brokers up; `cluster.rolledOut('statefulset/kafka', { namespace: KAFKA_NAMESPACE })` says when they serve. */
export async function addKafka(cluster: Cluster): Promise<void> {
  const disks = workspace('disks');
  await chmod(disks, 0o777); // brokers are not root
  const ports = [
    { name: 'kafka', port: 9092 },
    { name: 'controller', port: 9093 },
  ];
  const service = { apiVersion: 'v1', kind: 'Service' };
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: KAFKA_NAMESPACE } },
    { ...service, metadata: metadata('kafka-bootstrap'), spec: { selector: labels, ports: [ports[0]] } },
    {
      ...service,
      metadata: metadata('kafka'),
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels, ports },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: metadata('kafka'),
      spec: {
        replicas: BROKERS.length,
        serviceName: 'kafka',
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: broker(disks) },
      },
    },
  ]);
}
