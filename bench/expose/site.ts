/**
 * What is measured: a real cluster of two nodes with two brokers on the first, one of them exposed by a host port, a NodePort that is asked at
 * the second, our proxy in a pod there, and a machine outside that has a way to nodes and pods alike: no address is translated but by the path itself.
 */
import { resolve } from 'node:path';
import { run } from '../../src/store/embedded/process.ts';
import { hasCondition } from '../../test/support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../test/support/clusters/cluster.ts';
import type { Clusters } from '../../test/support/clusters/clusters.ts';
import { IMAGES } from '../../test/support/images/images.ts';
import { PARTITIONS } from '../proxy/load.ts';
import { TOPICS } from './round.ts';
import type { Path } from './round.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
const NAMESPACE = 'kafka';
const where = { namespace: NAMESPACE };
const INTERNAL_PORT = 9092;
const EXTERNAL_PORT = 9094;
const PROXY_PORT = 9192;
/** The same for all: whoever asks for nothing gets next to nothing beside others. */
const RESOURCES = { requests: { cpu: '500m', memory: '1536Mi' }, limits: { memory: '1536Mi' } };

/** Old segments go quickly: the rounds write more than anyone should have to keep. */
const CONFIG = {
  'auto.create.topics.enable': false,
  'offsets.topic.replication.factor': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'log.segment.bytes': 67_108_864,
  'log.retention.bytes': 134_217_728,
  'log.retention.check.interval.ms': 5000,
  'log.segment.delete.delay.ms': 1000,
};

/** A Kafka of one node. */
function kafka(name: string, node: string, more: readonly object[]): object[] {
  const internal = { name: 'plain', port: INTERNAL_PORT, type: 'internal', tls: false };
  const isThere = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  const nodeSelectorTerms = [{ matchExpressions: [isThere] }];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
  const labels = { 'strimzi.io/cluster': name };
  return [
    {
      apiVersion: 'kafka.strimzi.io/v1',
      kind: 'Kafka',
      metadata: { name, ...where, annotations: { 'isthmus.dev/managed': 'true' } },
      spec: { kafka: { listeners: [internal, ...more], config: CONFIG } },
    },
    {
      apiVersion: 'kafka.strimzi.io/v1',
      kind: 'KafkaNodePool',
      metadata: { name, ...where, labels }, // the pool has the name of its Kafka
      spec: {
        replicas: 1,
        roles: ['controller', 'broker'],
        storage: { type: 'ephemeral' },
        resources: RESOURCES,
        template: { pod: { affinity } },
      },
    },
  ];
}

const hostport = {
  name: 'ext',
  port: EXTERNAL_PORT,
  type: 'hostport',
  tls: false,
  configuration: { preferredAddressType: 'InternalIP' },
};

/** The usual way in: kube-proxy of any node sends it on to the node that has the pod. */
const nodePort = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'hop', ...where },
  spec: {
    type: 'NodePort',
    selector: { 'strimzi.io/cluster': 'exposed' },
    ports: [{ port: EXTERNAL_PORT }],
  },
};

function proxy(node: string): object[] {
  const gateway = {
    name: 'plain',
    portIdentifiesNode: {
      bootstrapAddress: `proxy.kafka.svc:${PROXY_PORT}`,
      nodeStartPort: PROXY_PORT + 1,
      nodeIdRanges: [{ name: 'only', start: 0, end: 0 }],
    },
  };
  const bootstrapServers = `exposed-kafka-bootstrap.kafka.svc.cluster.local:${INTERNAL_PORT}`;
  const config = { virtualClusters: [{ name: 'bench', targetCluster: { bootstrapServers }, gateways: [gateway] }] }; // prettier-ignore
  const metadata = { name: 'proxy', ...where };
  const container = {
    name: 'proxy',
    image: IMAGES.isthmus,
    args: ['proxy', '--config', '/config/isthmus.yaml'],
    resources: RESOURCES,
    readinessProbe: { tcpSocket: { port: PROXY_PORT }, periodSeconds: 1 },
    volumeMounts: [{ name: 'config', mountPath: '/config' }],
  };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'isthmus.yaml': JSON.stringify(config) } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': node },
        containers: [container],
        volumes: [{ name: 'config', configMap: { name: 'proxy' } }],
      },
    },
  ];
}

type Exposed = KubeObject & { status?: { listeners?: { name: string; bootstrapServers?: string }[] } };
type Pod = KubeObject & { status?: { podIP?: string } };
type Service = KubeObject & { spec: { ports: { nodePort: number }[] } };

const topicsOf = [
  [TOPICS.sink, PARTITIONS],
  [TOPICS.source, PARTITIONS],
  [TOPICS.latency, 1],
] as const;

async function makeTopics(cluster: Cluster, pod: string): Promise<void> {
  for (const [topic, partitions] of topicsOf) {
    const create = ['--create', '--topic', topic, '--partitions', String(partitions)];
    const tool = ['/opt/kafka/bin/kafka-topics.sh', '--bootstrap-server', `localhost:${INTERNAL_PORT}`];
    const { code, stdout, stderr } = await cluster.exec(pod, [...tool, ...create], {
      ...where,
      container: 'kafka',
    });
    if (code !== 0) throw new Error(`${pod} makes no topic: ${stderr || stdout}`);
  }
}

async function installOperator(cluster: Cluster): Promise<void> {
  const args = ['install', '--roads', 'kafka,pod-sets', '--crds', 'strimzi', '--image', IMAGES.isthmus];
  const { code, stdout, stderr } = await run(process.execPath, [MAIN, ...args]);
  if (code !== 0) throw new Error(stderr);
  await cluster.apply(stdout, { clientSide: true });
}

/** Builds it all, and returns where each path begins. */
export async function buildSite(clusters: Clusters): Promise<Path[]> {
  const [cluster] = clusters.list as [Cluster];
  const [near, far] = cluster.nodes.map(({ name }) => name) as [string, string];
  await clusters.router('insert rule ip router guard iifname "outside" accept');
  await installOperator(cluster);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  const kafkas = [...kafka('exposed', near, [hostport]), ...kafka('hidden', near, [])];
  await cluster.apply([namespace, ...kafkas, nodePort, ...proxy(far)]);
  const patience = { ...where, timeoutMs: 600_000 };
  const { status } = await cluster.waitFor<Exposed>('kafka/exposed', hasCondition('Ready'), patience);
  await cluster.waitFor('kafka/hidden', hasCondition('Ready'), patience);
  await cluster.waitFor('pod/proxy', hasCondition('Ready'), patience);
  for (const pod of ['exposed-exposed-0', 'hidden-hidden-0']) await makeTopics(cluster, pod);
  const told = status?.listeners?.find(({ name }) => name === 'ext')?.bootstrapServers ?? '';
  const { spec } = (await cluster.get<Service>('service/hop', where))!;
  const address = async (pod: string) => (await cluster.get<Pod>(`pod/${pod}`, where))?.status?.podIP ?? '';
  const [exposed, hidden] = [await address('exposed-exposed-0'), await address('hidden-hidden-0')];
  const [first, second] = cluster.addresses.nodes.map(({ internal }) => internal) as [string, string];
  return [
    { name: 'pod', host: exposed, port: EXTERNAL_PORT },
    { name: 'hostport', host: first, port: Number(told.split(':').at(-1)) },
    { name: 'nodeport', host: second, port: spec.ports[0]!.nodePort },
    { name: 'proxy', host: await address('proxy'), port: PROXY_PORT + 1, bootstrapPort: PROXY_PORT },
    { name: 'internal_exposed', host: exposed, port: INTERNAL_PORT },
    { name: 'internal_hidden', host: hidden, port: INTERNAL_PORT },
  ];
}
