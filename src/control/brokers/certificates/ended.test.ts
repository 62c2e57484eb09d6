/** Certificates that ended while no operator was there, with a Kafka in memory that talks to nobody on their ground. Real Kafka: test/integration/brokers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { KAFKA_SETTINGS, createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../../test/support/brokers/memory-nodes.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { readNodeAnnotations } from '../../../pki/bundle.ts';
import { END_SETTLES_MS } from '../roll/past-end.ts';

const HOUR_MS = 3_600_000;

/** A cluster that is up, whose certificates end in an hour, and whose operator then is away for a day. */
async function abandoned(storage: object) {
  const certificateTimes = { validityMs: HOUR_MS, renewalMs: 1000 };
  const memory = createMemoryKafka({ ...KAFKA_SETTINGS, certificateTimes });
  memory.keepsPods = false;
  const nodes = createMemoryNodes(memory);
  const connect = memory.connect!;
  const isGood = (pod: AnyObject) =>
    readNodeAnnotations(pod.metadata.annotations ?? {}).until!.getTime() > memory.now;
  memory.connect = (...args) => (memory.list('Pod').filter(isGood).length > 1 ? connect(...args) : undefined);
  memory.put(kafkaObject());
  memory.put(poolObject({ storage }));
  /** Since when its process runs, as kubelets say it. */
  const tellStart = (pod: AnyObject) => {
    const status = pod['status'] as { phase: string; containerStatuses?: object[] };
    const state = { running: { startedAt: new Date(memory.now).toISOString() } };
    if (status.phase === 'Running' && !status.containerStatuses)
      memory.put({ ...pod, status: { ...status, containerStatuses: [{ name: 'kafka', state }] } });
  };
  const pass = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      await memory.step();
      memory.now += 5000;
      nodes.tick();
      for (const pod of memory.list('Pod')) tellStart(pod);
    }
  };
  await pass(30);
  assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
  let restarts = 0;
  memory.beforeWrite = (verb, object) => {
    if (verb !== 'delete' || object.kind !== 'Pod') return;
    restarts += 1;
    nodes.taken(object);
  };
  memory.now += 24 * HOUR_MS;
  memory.restart();
  return { memory, pass, isGood, restarts: () => restarts };
}

suite('certificates that have ended', () => {
  test('nodes are restarted, each once, and the cluster is ready again', async () => {
    const { memory, pass, isGood, restarts } = await abandoned({ type: 'persistent-claim', size: '1Gi' });
    await pass(60);
    assert.equal(restarts(), 3);
    assert.ok(memory.list('Pod').every(isGood));
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
  });

  test('those whose data goes with their pods are not, and the status says what to do', async () => {
    const { memory, pass, restarts } = await abandoned({ type: 'ephemeral' });
    await pass(10 + END_SETTLES_MS / 5000);
    assert.equal(restarts(), 0);
    assert.match(
      JSON.stringify(conditionOf(memory, 'Ready')),
      /"RollBlocked".*ended at .*delete the pod events-dual-0 by hand/,
    );
  });
});
