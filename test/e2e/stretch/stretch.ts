/**
 * One Kafka over three real clusters, as docs/stretch.md says: each has a controller and a broker, our own DNS leads from one to the
 * others, and clients in two clusters write all the time while a whole cluster is lost, and two are cut from each other. Not part of the
 * suite yet, which takes files that end with .test.ts: `node --test test/e2e/stretch/stretch.ts` runs it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { flowing, startWriterPod } from '../java-writer.ts';
import type { TimedWriter } from '../java-writer.ts';
import {
  CLIENT_CONFIG,
  CLIENT_SECRETS,
  copySecrets,
  deskOf,
  laggards,
  leftOf,
  makeByPage,
  where,
} from './site.ts';

const PATIENCE = { timeoutMs: 600_000, everyMs: 500 };
const BOOTSTRAP = 'events-kafka-bootstrap.kafka.svc.clusterset.local:9093';

type Listed = KubeObject & {
  status?: { observedGeneration?: number; conditions?: { type: string; status: string; reason: string }[] };
};

describe('a Kafka over three real clusters', () => {
  let clusters: Clusters;
  let central: Cluster;
  let east: Cluster;
  let west: Cluster;
  const writers: TimedWriter[] = [];
  /** What was done, and from when to when. */
  const faults: { what: string; from: number; to: number }[] = [];
  before(async () => {
    clusters = await startClusters(3, {
      names: ['central', 'east', 'west'],
      routed: true,
      images: ['isthmus', 'kafka'],
    });
    [central, east, west] = clusters.list as [Cluster, Cluster, Cluster];
  });
  after(() => clusters?.stopAll());

  const isSettled = ({ status, metadata }: Listed) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return (
      ready?.status === 'True' &&
      ready.reason === 'Ready' &&
      status?.observedGeneration === metadata.generation
    );
  };
  const settled = () => central.waitFor<Listed>('kafka/events', isSettled, { ...where, ...PATIENCE });
  const reasonIs = (reason: string) =>
    central.waitFor<Listed>(
      'kafka/events',
      ({ status }) =>
        status?.conditions?.some((one) => one.type === 'Ready' && one.reason === reason) ?? false,
      { ...where, ...PATIENCE },
    );
  /** What was said before a cluster was lost is still there when it is back; what brokers say is of now. */
  const inSync = () =>
    waitFor('all replicas to be in sync', async () => (await laggards(east, BOOTSTRAP)) === '', PATIENCE);
  const during = async (what: string, fault: () => Promise<void>) => {
    const from = Date.now();
    await fault();
    faults.push({ what, from, to: Date.now() });
  };

  it('comes from nothing by the commands of the page', async (t) => {
    const began = performance.now();
    const count = await makeByPage(await deskOf(clusters));
    t.diagnostic(`${count} commands, ${((performance.now() - began) / 1000).toFixed(0)} s`);
    for (const [cluster, pod] of [
      [central, 'events-hub-1'],
      [east, 'events-east-0'],
      [west, 'events-west-2'],
    ] as const)
      // prettier-ignore
      assert.ok(await cluster.get(`pod/${pod}`, where), `${pod} in ${cluster.name}`);
  });

  it('has topics and users that were made in the central cluster for clients in the others', async () => {
    const labels = { 'strimzi.io/cluster': 'events' };
    const topic = { apiVersion: 'kafka.strimzi.io/v1', kind: 'KafkaTopic', metadata: { name: 'returns', ...where, labels }, spec: { partitions: 3, replicas: 3 } }; // prettier-ignore
    await central.apply(topic);
    const load = [[east, 'orders', 6], [west, 'returns', 3]] as const; // prettier-ignore
    for (const [cluster, name, partitions] of load) {
      await copySecrets(central, cluster, CLIENT_SECRETS);
      await central.waitFor<Listed>(`kafkatopic/${name}`, ({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false, where); // prettier-ignore
      writers.push(await startWriterPod(cluster, { ...where, bootstrap: BOOTSTRAP, topic: name, partitions, secrets: CLIENT_SECRETS, config: CLIENT_CONFIG })); // prettier-ignore
    }
    await flowing(writers);
  });

  it('goes on while the central cluster is lost, and is whole again when that is back', async () => {
    await during('central cluster lost', async () => {
      await clusters.stop(central);
      await flowing(writers);
    });
    await during('central cluster back', async () => {
      await clusters.start(central);
      await inSync();
      await settled();
    });
    await flowing(writers);
  });

  it('goes on for clients that reach both of two clusters that are cut from each other, and says so; the others go on when it is over', async () => {
    const [inEast] = writers as [TimedWriter];
    try {
      await during('two clusters cut', async () => {
        await clusters.cut(central, west);
        await flowing([inEast], 300);
        await reasonIs('ClusterUnreachable');
      });
    } finally {
      await clusters.heal();
    }
    await during('healed', async () => {
      await inSync();
      await flowing(writers);
    });
    await settled();
  });

  it('has lost no acknowledged record of all that, and keeps each once and in order', async (t) => {
    for (const writer of writers) {
      const { acked, failed, failures, problems, stallMs, stallBetween } = await writer.finish();
      const stalls = faults.map(({ what, from, to }) => `${what} ${stallBetween(from, to)} ms`);
      t.diagnostic(
        `${acked} acknowledged, longest stall of a partition ${stallMs} ms (${stalls.join(', ')})`,
      );
      assert.deepEqual(problems, []);
      assert.deepEqual([failed, failures], [0, []]);
    }
  });

  it('is deleted, and every cluster is clean but for data', async () => {
    await central.kubectl('delete', 'kafka/events', '--namespace=kafka', '--timeout=600s');
    for (const cluster of clusters.list) {
      // The user's own, and what a Kafka of this name that is made again needs to find its disks.
      const kept = cluster === central ? ['secret/shop', 'kafkaanchor.isthmus.dev/events'] : [];
      const isClean = async () => (await leftOf(cluster)).every((one) => kept.includes(one));
      await waitFor(`${cluster.name} to be clean`, isClean, PATIENCE).catch(async (error: unknown) =>
        assert.fail(`${String(error)}: ${(await leftOf(cluster)).join()}`),
      );
      const claims = await cluster.kubectl(
        'get',
        'persistentvolumeclaims',
        '--namespace=kafka',
        '--output=name',
      );
      assert.equal(claims.trim().split('\n').length, 1);
    }
  });
});
