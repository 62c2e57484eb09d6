import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { conditionOf } from '../../../../test/support/brokers/kafka-objects.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { CLUSTERS, changeKafka, otherCentral, stretchedKafka } from '../../../../test/support/brokers/stretched-kafka.ts'; // prettier-ignore
import type { AnyObject } from '../../../kube/object.ts';
import { markOf } from '../../../pki/bundle.ts';
import { podsIn } from '../objects/pod-sets.ts';
import { ADOPT_ANNOTATION } from './adoption.ts';

const ID = 'MkU3OEVBNTcwNTJENDM2Qg';
const ADOPT = { [ADOPT_ANNOTATION]: ID };

const specIn = (memory: MemoryKafka, cluster: string) =>
  memory.elsewhere.list(cluster, 'KafkaAnchor')[0]?.['spec'] as { clusterId: string; epoch: number; holder: string; nodes: object[] }; // prettier-ignore
const secretIn = (memory: MemoryKafka, cluster: string, name: string) =>
  memory.elsewhere.list(cluster, 'Secret').find(({ metadata }) => metadata.name === name)?.['data'] as Record<string, string>; // prettier-ignore
const textIn = (secret: AnyObject | undefined, key: string) =>
  Buffer.from(((secret?.['data'] ?? {}) as Record<string, string>)[key] ?? '', 'base64').toString();
const trusted = (secret: AnyObject | undefined, key: string) =>
  (textIn(secret, key).match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? []).map(
    (pem) => new X509Certificate(pem).subject,
  );

/** As brokers do that were told to load what their sets say. */
function reloadAll(memory: MemoryKafka): void {
  for (const cluster of CLUSTERS)
    for (const wanted of memory.elsewhere.list(cluster, 'StrimziPodSet').flatMap(podsIn)) {
      const live = memory.elsewhere.list(cluster, 'Pod').find(({ metadata }) => metadata.name === wanted.metadata.name)!; // prettier-ignore
      const mark = markOf(wanted.metadata.annotations ?? {});
      const annotations = { ...live.metadata.annotations, 'isthmus.dev/reloaded-certificates': mark };
      memory.elsewhere.put(cluster, { ...live, metadata: { ...live.metadata, annotations } });
    }
}

suite('a new central cluster', () => {
  test('takes nothing over that nobody asked for, and says how to', async () => {
    const former = await stretchedKafka();
    const memory = otherCentral(former);
    await memory.settle();
    const accepted = conditionOf(memory, 'Accepted');
    assert.equal(accepted?.reason, 'ChangeNotPossible');
    assert.match(accepted.message, /annotate kafka events -n kafka isthmus\.dev\/adopt=MkU3/);
    assert.deepEqual(memory.list('KafkaAnchor'), []);
    assert.equal(specIn(memory, 'east').epoch, 1);
    changeKafka(memory, { [ADOPT_ANNOTATION]: 'another' });
    await memory.settle();
    assert.deepEqual(memory.list('KafkaAnchor'), [], 'of another cluster');
  });

  test('takes over ids, certificates and trust from the others, and fences the former one', async () => {
    const former = await stretchedKafka();
    const before = CLUSTERS.map((cluster) => ({
      nodes: specIn(former, cluster).nodes,
      own: former.elsewhere.list(cluster, 'Pod').map(({ metadata }) => metadata.uid),
      secret: secretIn(former, cluster, `events-${cluster}-${cluster === 'east' ? 0 : 2}`),
    }));
    const memory = otherCentral(former, ADOPT);
    await memory.settle();
    CLUSTERS.forEach((cluster, n) => {
      const { clusterId, epoch, holder, nodes } = specIn(memory, cluster);
      assert.deepEqual([clusterId, epoch, holder, nodes], [ID, 2, 'other', before[n]!.nodes]);
      assert.deepEqual(memory.elsewhere.list(cluster, 'Pod').map(({ metadata }) => metadata.uid), before[n]!.own); // prettier-ignore
      assert.deepEqual(secretIn(memory, cluster, `events-${cluster}-${cluster === 'east' ? 0 : 2}`), before[n]!.secret); // prettier-ignore
      for (const bundle of ['cluster-ca', 'clients-ca'])
        assert.deepEqual(
          trusted(memory.elsewhere.list(cluster, 'Secret').find(({ metadata }) => metadata.name === 'events-trustbundle'), `${bundle}.crt`).map((subject) => / v(\d)/.exec(subject)?.[1] ?? '').toSorted(), // prettier-ignore
          ['0', '1'],
        );
    });
    assert.equal(memory.get('Pod', 'events-hub-1'), undefined, 'nobody would trust it yet');
    await former.settle();
    assert.equal(conditionOf(former, 'Accepted')?.reason, 'RunByAnother');
  });

  test('gives its own nodes certificates of the new key once all listeners take those', async () => {
    const memory = otherCentral(await stretchedKafka(), ADOPT);
    await memory.settle();
    reloadAll(memory);
    await memory.settle();
    assert.ok(memory.get('Pod', 'events-hub-1'));
    const chain = textIn(memory.get('Secret', 'events-hub-1'), 'events-hub-1.crt');
    assert.match(new X509Certificate(chain).issuer, /cluster-ca v1/);
    assert.ok(memory.get('Secret', 'events-cluster-operator-certs'));
    assert.equal(conditionOf(memory, 'Ready')?.reason === 'CertificatesPending', false);
  });

  test('waits until all clusters of the Kafka are seen', async () => {
    const memory = otherCentral(await stretchedKafka(), ADOPT);
    memory.elsewhere.unseen.add('west');
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'ClustersPending');
    assert.equal(specIn(memory, 'east').epoch, 1);
    memory.elsewhere.unseen.clear();
    await memory.settle();
    assert.equal(specIn(memory, 'east').epoch, 2);
  });
});
