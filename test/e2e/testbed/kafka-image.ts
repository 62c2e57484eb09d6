/** Plain Apache Kafka in a pod. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Cluster } from '../../support/clusters/cluster.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { IMAGES } from '../../support/images/images.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Finished } from '../../../src/store/embedded/process.ts';

const BIN = '/opt/kafka/bin';
const BOOTSTRAP = 'kafka-0.kafka.default.svc.cluster.local:9092';

const CONFIG = `process.roles=broker,controller
node.id=0
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://${BOOTSTRAP}
controller.listener.names=CONTROLLER
controller.quorum.voters=0@localhost:9093
log.dirs=/data/kafka
offsets.topic.replication.factor=1
`;
const START = `${BIN}/kafka-storage.sh format -t 4L6g3nShT-eMCtK--X86sw -c /config/server.properties --ignore-formatted &&
exec ${BIN}/kafka-server-start.sh /config/server.properties`;

function kafka(): object[] {
  const metadata = { name: 'kafka', namespace: 'default' };
  const labels = { app: 'kafka' };
  const container = {
    name: 'kafka',
    image: IMAGES.kafka,
    command: ['sh', '-c', START],
    resources: { limits: { memory: '768Mi' } },
    readinessProbe: { tcpSocket: { port: 9092 }, periodSeconds: 1, timeoutSeconds: 5 },
    securityContext: { allowPrivilegeEscalation: false, runAsNonRoot: true },
    volumeMounts: [
      { name: 'config', mountPath: '/config' },
      { name: 'data', mountPath: '/data' },
    ],
  };
  const pod = {
    securityContext: { fsGroup: 1000 },
    containers: [container],
    volumes: [{ name: 'config', configMap: { name: 'kafka' } }],
  };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'server.properties': CONFIG } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { clusterIP: 'None', selector: labels, ports: [{ port: 9092 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {
        serviceName: 'kafka',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: pod },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      },
    },
  ];
}

/** The tests, on the first of the clusters, which has the image. */
export function testKafkaImage(site: () => Clusters): void {
  describe('the image of Kafka', () => {
    let cluster: Cluster;
    before(async () => {
      [cluster] = site().list as [Cluster];
      await cluster.apply(kafka());
      await cluster.rolledOut('statefulset/kafka');
    });
    after(() => cluster?.remove(kafka())); // a broker costs, also when nobody asks it

    const tool = (name: string, ...args: string[]) => [
      'sh',
      '-c',
      `${BIN}/${name}.sh --bootstrap-server ${BOOTSTRAP} ${args.join(' ')}`,
    ];
    /** Waits until the records are read, all of them and in order: a tool that had no time may give some, or none. */
    const areRead = async (expected: string) => {
      const consume = tool(
        'kafka-console-consumer',
        '--topic words --from-beginning --max-messages 2 --timeout-ms 60000',
      );
      let last: unknown;
      const isRead = async () => {
        last = await cluster.exec('kafka-0', consume);
        return (last as Finished).stdout === expected;
      };
      await waitFor('records', isRead, { timeoutMs: 300_000, everyMs: 1000 }).catch((cause: unknown) => {
        throw new Error(`not what was written: ${JSON.stringify(last)}`, { cause });
      });
    };

    it('takes and gives records, and keeps them when its pod is replaced', async () => {
      // By itself the tool gives up after three times one and a half seconds.
      const patient = ['retries=1000', 'request.timeout.ms=30000'].map(
        (each) => `--command-property ${each}`,
      );
      const produce = tool('kafka-console-producer', '--topic words', ...patient);
      const { code, stderr } = await cluster.exec('kafka-0', produce, { stdin: 'one\ntwo\n' });
      assert.equal(code, 0, stderr);
      await areRead('one\ntwo\n');
      await cluster.kubectl('delete', 'pod/kafka-0', '--grace-period=5');
      await cluster.rolledOut('statefulset/kafka');
      await areRead('one\ntwo\n');
    });
  });
}
