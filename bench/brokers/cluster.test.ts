/** What the benchmark applies, as the operator's own planner takes it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { wantedUser } from '../../src/control/brokers/users/wanted.ts';
import { read } from '../../src/control/kernel/read.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { kafkaTopic } from '../../src/resources/strimzi/kafka-topic.ts';
import { kafkaUser } from '../../src/resources/strimzi/kafka-user.ts';
import { createMemoryKafka } from '../../test/support/brokers/memory-kafka.ts';
import { NAME, NODES, WISH } from './cluster.ts';
import { topics, users } from './entities.ts';
import { manifestsOf } from './manifests.ts';

const KINDS =
  'ServiceAccount NetworkPolicy PodDisruptionBudget Secret ConfigMap Service PersistentVolumeClaim StrimziPodSet';

interface Volume {
  configMap?: { name: string };
  secret?: { secretName: string };
  persistentVolumeClaim?: { claimName: string };
}

/** The cluster in memory has one name only. */
const inMemory = (object: AnyObject): AnyObject =>
  JSON.parse(
    JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: 'kafka' } }).replaceAll(
      `"${NAME}"`,
      '"events"',
    ),
  ) as AnyObject;

suite('the cluster of the benchmark', () => {
  test('can be had by hand: its manifests have all that its pods need, and disks may be formatted', async () => {
    const memory = createMemoryKafka();
    memory.keepsPods = false;
    for (const object of WISH) memory.put(inMemory(object));
    await memory.settle();
    const manifests = manifestsOf(KINDS.split(' ').flatMap((kind) => memory.list(kind)));
    const has = (kind: string, name: string) =>
      manifests.some((one) => one.kind === kind && one.metadata.name === name);
    const pods = manifests.filter(({ kind }) => kind === 'Pod');
    assert.equal(pods.length, NODES.length);
    const needs = new Set<string>();
    for (const pod of pods) {
      const { volumes, serviceAccountName } = pod['spec'] as {
        volumes: Volume[];
        serviceAccountName: string;
      };
      assert.ok(has('ServiceAccount', serviceAccountName));
      for (const { configMap, secret, persistentVolumeClaim: claim } of volumes) {
        const [kind, name] = configMap
          ? ['ConfigMap', configMap.name]
          : secret
            ? ['Secret', secret.secretName]
            : ['PersistentVolumeClaim', claim?.claimName];
        if (name === undefined) continue;
        assert.ok(has(kind, name), `${kind} ${name}`);
        needs.add(kind);
      }
      const files = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === pod.metadata.name); // prettier-ignore
      const { format = '' } = (files?.['data'] ?? {}) as Record<string, string>;
      assert.match(format, /\/var\/lib\/kafka/);
    }
    assert.deepEqual(needs, new Set(['ConfigMap', 'Secret', 'PersistentVolumeClaim']));
  });

  test('has topics and users that can be', () => {
    assert.deepEqual([topics(2).length, users(2).length], [2, 2]);
    for (const topic of topics(2)) assert.equal(read(kafkaTopic, topic).problem, undefined);
    for (const user of users(2)) assert.deepEqual(wantedUser(read(kafkaUser, user).resource!).faults, []);
  });
});
