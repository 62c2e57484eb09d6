import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const [OLD, NEW] = ['4.2.1', '4.3.1'];

describe('another version of Kafka', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: [{ name: 'a' }], kafkaVersions: [OLD, NEW] });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const versions = async () => {
    const { kafkaVersion, kafkaMetadataVersion } = ((await bed.get('Kafka', 'one'))?.['status'] ??
      {}) as Record<string, string>;
    return { kafkaVersion, kafkaMetadataVersion };
  };
  const until = (wanted: { kafkaVersion: string; kafkaMetadataVersion: string }) =>
    waitFor(
      `Kafka ${JSON.stringify(wanted)}`,
      async () => JSON.stringify(await versions()) === JSON.stringify(wanted),
      PATIENCE,
    );

  test('is run by all nodes before the metadata goes up with it, and a way back that is none is refused', async () => {
    const target = {
      bootstrap: 'one-kafka-bootstrap.default.svc:9092',
      topic: 't',
      hostsFile: bed.runner.hostsFile,
      timeoutMs: 300_000,
    };
    const records = [{ key: 'a', value: 'b' }];
    await bed.apply(kafka('one', { version: OLD }), nodePool('one', 'dual'));
    await bed.untilReady('one');
    await until({ kafkaVersion: OLD, kafkaMetadataVersion: '4.2-IV1' });
    await produce('java', { ...target, records });
    await bed.apply(kafka('one', { version: NEW }));
    await bed.untilReady('one');
    await until({ kafkaVersion: NEW, kafkaMetadataVersion: '4.3-IV0' });
    assert.deepEqual(await consume('java', { ...target, count: 1 }), records);
    const uid = await bed.podUid('one-dual-0');
    await bed.apply(kafka('one', { version: OLD }));
    const refused = async () => (await bed.condition('one', 'Accepted'))?.reason === 'VersionNotPossible';
    await waitFor('it is refused', refused, PATIENCE);
    assert.equal(await bed.podUid('one-dual-0'), uid);
  });
});
