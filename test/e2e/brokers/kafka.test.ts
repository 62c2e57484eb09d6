/**
 * A Kafka cluster in a real one, as docs/kafka.md says: three nodes with disks of their own, and a client by TLS that writes all the time
 * while every node is restarted and somebody drains a machine in the middle of that.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { flowing, startWriterPod } from '../java-writer.ts';
import type { TimedWriter } from '../java-writer.ts';
import { followPage, readPage } from './page.ts';

const where = { namespace: 'kafka' };
const PODS = [0, 1, 2].map((id) => `events-dual-${id}`);
const PATIENCE = { timeoutMs: 900_000, everyMs: 500 };

type Pod = KubeObject & {
  metadata: { deletionTimestamp?: string };
  spec: { nodeName?: string };
};

const isReady = hasCondition('Ready');

describe('a Kafka cluster that the operator runs in a real one', () => {
  let clusters: Clusters;
  let cluster: Cluster;
  let bootstrap = '';
  let writer: TimedWriter;
  before(async () => {
    clusters = await startClusters(1, { nodes: 3, images: ['isthmus', 'kafka'] });
    [cluster] = clusters.list as [Cluster];
  });
  after(() => clusters?.stopAll());

  const pods = async (): Promise<(Pod | undefined)[]> =>
    Promise.all(PODS.map((name) => cluster.get<Pod>(`pod/${name}`, where)));
  const uids = async () => (await pods()).map((pod) => pod?.metadata.uid);
  const settled = () =>
    cluster.waitFor(
      'kafka/events',
      (kafka) => {
        const { observedGeneration } = (kafka.status ?? {}) as { observedGeneration?: number };
        return isReady(kafka) && observedGeneration === kafka.metadata.generation;
      },
      { ...where, timeoutMs: PATIENCE.timeoutMs },
    );

  it('comes from nothing, with a topic and a user, by the five commands of the page', async (t) => {
    const page = await readPage('kafka.md');
    assert.equal(page.commands.length, 5);
    const began = performance.now();
    bootstrap = (await followPage(cluster, page)).at(-1) ?? '';
    t.diagnostic(`after ${((performance.now() - began) / 1000).toFixed(0)} s`);
    assert.equal(bootstrap, 'events-kafka-bootstrap.kafka.svc:9093');
    const places = (await pods()).map((pod) => pod?.spec.nodeName);
    assert.equal(new Set(places).size, 3, 'one pod a node');
  });

  it('takes records by TLS from a client with the certificate of its user', async () => {
    const [first] = await pods();
    writer = await startWriterPod(cluster, {
      ...where,
      bootstrap,
      topic: 'orders',
      partitions: 6,
      rate: 60,
      secrets: ['shop', 'events-cluster-ca-cert'],
      config: [
        'security.protocol=SSL',
        'ssl.truststore.type=PEM',
        'ssl.truststore.location=/mounted/events-cluster-ca-cert/ca.crt',
        'ssl.keystore.type=PKCS12',
        'ssl.keystore.location=/mounted/shop/user.p12',
        'ssl.keystore.password=$(cat /mounted/shop/user.password)',
      ],
      node: first?.spec.nodeName ?? '',
    });
    await flowing([writer]);
  });

  it('restarts every node for a new configuration, also while somebody drains a machine', async (t) => {
    const before = await uids();
    const config = { spec: { kafka: { config: { 'queued.max.requests': 400 } } } };
    await cluster.kubectl('patch', 'kafka/events', '--namespace=kafka', '--type=merge', `--patch=${JSON.stringify(config)}`); // prettier-ignore
    const isNew = (uid: string | undefined, n: number) => uid !== undefined && uid !== before[n];
    await waitFor('the first node to be restarted', async () => (await uids()).some(isNew), PATIENCE);
    await drained(t, await machineToDrain(before));
    await waitFor('all nodes to be restarted', async () => (await uids()).every(isNew), PATIENCE);
    await settled();
    await flowing([writer]);
  });

  /** One whose node of Kafka has not been restarted, and that does not run the client. */
  const machineToDrain = async (before: readonly (string | undefined)[]) => {
    const seen = await pods();
    const index = seen.findLastIndex((pod, n) => n > 0 && (pod?.metadata.uid ?? before[n]) === before[n]);
    return { name: PODS[index] ?? assert.fail('all are restarted already'), seen: seen[index] };
  };

  /** Drains, and sees that the others go on and none is restarted before the machine is back. */
  const drained = async (t: TestContext, { name, seen }: { name: string; seen: Pod | undefined }) => {
    const node = seen?.spec.nodeName ?? assert.fail(`${name} is nowhere`);
    const former = seen?.metadata.uid;
    const began = performance.now();
    const seconds = () => ((performance.now() - began) / 1000).toFixed(0);
    const drain = ['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=600s'];
    const { code, stderr } = await cluster.tryKubectl(drain, { timeoutMs: 700_000 });
    assert.equal(code, 0, stderr);
    t.diagnostic(`${node} was drained within ${seconds()} s`);
    // Its disk is on that machine, so it waits.
    const isWaiting = (pod: Pod) => pod.metadata.uid !== former && hasCondition('PodScheduled', 'False')(pod); // prettier-ignore
    await cluster.waitFor<Pod>(`pod/${name}`, isWaiting, { ...where, ...PATIENCE });
    const others = async () =>
      (await pods()).filter((pod) => pod?.metadata.name !== name).map((pod) => pod && [pod.metadata.uid, isReady(pod)]); // prettier-ignore
    await waitFor('both others to be ready', async () => (await others()).every((one) => one?.[1]), PATIENCE);
    const alone = await others();
    await flowing([writer], 600);
    assert.deepEqual(await others(), alone, 'another node went down meanwhile');
    await cluster.kubectl('uncordon', node);
    t.diagnostic(`and came back after ${seconds()} s`);
  };

  it('has lost no acknowledged record of all that, and keeps each once and in order', async (t) => {
    const { acked, failed, failures, problems, stallMs } = await writer.finish();
    t.diagnostic(`${acked} acknowledged, longest stall of a partition ${stallMs} ms`);
    assert.deepEqual(problems, []);
    assert.deepEqual([failed, failures], [0, []]);
  });
});
