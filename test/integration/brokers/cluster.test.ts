import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const bootstrap = (name: string) => `${name}-kafka-bootstrap.default.svc:9092`;
const records = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));

describe('a Kafka cluster that the operator runs', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b', 'c'].map((name) => ({ name, zone: `zone-${name}` })) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  test('comes from a Kafka and a KafkaNodePool, and takes what clients send', async () => {
    await bed.apply(kafka('one'), nodePool('one', 'dual'));
    const { status } = (await bed.untilReady('one')) as unknown as {
      status: { listeners: { bootstrapServers: string }[]; clusterId: string; kafkaVersion: string };
    };
    assert.equal(status.listeners[0]?.bootstrapServers, bootstrap('one'));
    assert.equal(status.kafkaVersion, '4.3.1');
    const target = {
      bootstrap: bootstrap('one'),
      topic: 't',
      hostsFile: bed.runner.hostsFile,
      timeoutMs: 300_000,
    };
    await produce('java', { ...target, records });
    assert.deepEqual(await consume('java', { ...target, count: 100 }), records);
  });

  test('starts although its anchor was lost before its disks were first formatted', async () => {
    for (const { name } of bed.runner.nodes) await bed.runner.cordon(name);
    await bed.apply(kafka('late'), nodePool('late', 'dual'));
    const isWaiting = async () => (await bed.podUid('late-dual-0')) !== undefined;
    await waitFor('a pod that finds no place', isWaiting, PATIENCE);
    const anchorUid = async () => (await bed.get('KafkaAnchor', 'late'))?.metadata.uid;
    const first = await anchorUid();
    assert.ok(first);
    await bed.plane.kubectl(['delete', 'kafkaanchor', 'late']);
    const isWritten = async () => ![undefined, first].includes(await anchorUid());
    await waitFor('another anchor', isWritten, PATIENCE);
    for (const { name } of bed.runner.nodes) await bed.runner.cordon(name, false);
    await bed.untilReady('late');
  });
});
