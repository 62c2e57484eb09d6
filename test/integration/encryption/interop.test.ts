/** What the real Kroxylicious 0.12.0 wrote we read, and the other way round, with both in front of one real broker. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { aesGcm } from '../../../src/crypto/aes-gcm.ts';
import { createIvCounter } from '../../../src/crypto/iv-counter.ts';
import { inMemoryKms, inMemorySchema } from '../../../src/crypto/kms/in-memory.ts';
import { readWrapper, wrapperPrefix } from '../../../src/crypto/wrapper.ts';
import { readBatches } from '../../../src/kafka/records/batch.ts';
import type { KafkaRecord } from '../../../src/kafka/records/batch.ts';
import { COMPRESSIONS } from '../../../src/kafka/records/compression.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { sealRecords } from '../../../src/proxy/filters/record-encryption/seal.ts';
import { consume, produce } from '../../support/clients.ts';
import { KMS_CONFIG, startSite } from './site.ts';
import type { Site } from './site.ts';
import { read, recordsOf, write } from './traffic.ts';

const PARTITIONS = 3;
const SECRET = 'a value that nobody else may read';

/** A bit of everything: tombstone, empty value, no key, headers with and without values, a value of some size. */
function records(partition: number): KafkaRecord[] {
  const values = [SECRET, null, '', 'ümläut', 'x'.repeat(20_000), `${SECRET} in ${partition}`];
  return values.map((value, offsetDelta) => ({
    offsetDelta,
    timestampDelta: offsetDelta * 7,
    key: offsetDelta === 3 ? null : Buffer.from(`key-${partition}-${offsetDelta}`),
    value: value === null ? null : Buffer.from(value),
    headers: [
      { key: 'first', value: Buffer.from([0, 1, 2]) },
      { key: '', value: null },
    ].slice(0, offsetDelta % 3),
  }));
}

/** A batch without what brokers set themselves. */
function meaning(batch: ReturnType<typeof readBatches>['batches'][number]) {
  const { compression, timestampType, baseTimestamp, maxTimestamp, lastOffsetDelta, count } = batch;
  return { compression, timestampType, baseTimestamp, maxTimestamp, lastOffsetDelta, count };
}

describe('records sealed by one proxy and opened by the other', { timeout: 600_000 }, () => {
  let site: Site;
  before(async () => {
    site = await startSite();
  });
  after(() => site?.[Symbol.asyncDispose]());

  for (const compression of COMPRESSIONS) {
    for (const writer of ['peer', 'ours'] as const) {
      it(`${compression}, written through ${writer}`, async () => {
        const topic = `${compression}-${writer}`;
        await site.kafka.createTopic(topic, { partitions: PARTITIONS });
        const baseTimestamp = BigInt(Date.now());
        const batches = Array.from({ length: PARTITIONS }, (_, partition) =>
          encodeBatch({ compression, baseTimestamp }, records(partition)),
        );
        assert.deepEqual(await write(site[writer].bootstrap, topic, batches), [0, 0, 0]);

        const sealed = await read(site.kafka.bootstrap.plaintext, topic, PARTITIONS);
        const viaPeer = await read(site.peer.bootstrap, topic, PARTITIONS);
        const viaOurs = await read(site.ours.bootstrap, topic, PARTITIONS);
        sealed.forEach((fetched, partition) => {
          assertSealed(recordsOf(fetched), records(partition));
          assert.deepEqual(
            fetched.batches.map(meaning),
            readBatches(batches[partition]!).batches.map(meaning),
          );
        });
        for (const opened of [viaPeer, viaOurs]) {
          assert.deepEqual(opened.map(recordsOf), [records(0), records(1), records(2)]);
          assert.deepEqual(
            opened.map((fetched) => fetched.batches.map(meaning)),
            sealed.map((fetched) => fetched.batches.map(meaning)),
          );
        }
      });
    }
  }

  it('with the same data key and IV, we write the same bytes', async () => {
    const topic = 'to-the-byte';
    await site.kafka.createTopic(topic);
    const batch = encodeBatch({ baseTimestamp: BigInt(Date.now()) }, records(0));
    assert.deepEqual(await write(site.peer.bootstrap, topic, [batch]), [0]);
    const [fetched] = await read(site.kafka.bootstrap.plaintext, topic, 1);
    const theirs = fetched!.batches[0]!.bytes.subarray(61);

    const [first] = recordsOf(fetched!);
    const { edek, start } = readWrapper(first!.value!, 0, first!.value!.length);
    const dek = await inMemoryKms(inMemorySchema.parse(KMS_CONFIG)).decryptEdek(edek);
    const key = { cipher: aesGcm.createCipher(dek, 'seal'), prefix: wrapperPrefix(edek) };
    const ivs = createIvCounter(Buffer.from(first!.value!.subarray(start - 12, start)));
    const ours = await sealRecords(batch.subarray(61), records(0).length, key, 0, undefined, ivs);
    assert.equal(ours.toString('hex'), theirs.toString('hex'));
  });

  for (const [writer, reader] of [
    ['peer', 'ours'],
    ['ours', 'peer'],
  ] as const) {
    it(`the Java client: written through ${writer}, read through ${reader}`, async () => {
      const topic = `java-${writer}`;
      await site.kafka.createTopic(topic, { partitions: PARTITIONS });
      const list = Array.from({ length: 50 }, (_, i) => ({ key: `k${i}`, value: `${SECRET} ${i}` }));
      await produce('java', { bootstrap: site[writer].bootstrap, topic, records: list });
      const byKey = (all: { key: string | null }[]) => all.toSorted((a, b) => a.key!.localeCompare(b.key!));
      const got = await consume('java', { bootstrap: site[reader].bootstrap, topic, count: list.length });
      assert.deepEqual(byKey(got), byKey(list));
      for (const fetched of await read(site.kafka.bootstrap.plaintext, topic, PARTITIONS)) {
        for (const { value } of recordsOf(fetched)) assert.equal(value!.includes(SECRET), false);
      }
    });
  }
});

function assertSealed(sealed: readonly KafkaRecord[], original: readonly KafkaRecord[]): void {
  assert.equal(sealed.length, original.length);
  sealed.forEach(({ key, value, headers }, i) => {
    const plain = original[i]!;
    assert.deepEqual(key, plain.key);
    if (plain.value === null) {
      assert.equal(value, null);
      assert.deepEqual(headers, plain.headers);
      return;
    }
    assert.equal(value!.includes(SECRET), false);
    assert.deepEqual(headers[0], { key: 'kroxylicious.io/encryption', value: Buffer.from([2]) });
    assert.deepEqual(headers.slice(1), plain.headers);
    assert.ok(readWrapper(value!, 0, value!.length).edek.length > 0);
  });
}
