/** The encrypting filter in our proxy, with a real broker and real clients: what passes, what is refused, and how. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { apiOf } from '../../../src/kafka/apis.ts';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { encodeRequest } from '../../../src/kafka/frame.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { connectTo, ENCRYPTION, KEK, startOurs } from './site.ts';
import type { Ours } from './site.ts';
import { read, readShared, recordsOf, write } from './traffic.ts';

const plain = (value: string) =>
  encodeBatch({ baseTimestamp: BigInt(Date.now()) }, [
    { offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from(value), headers: [] },
  ]);

const PASSTHROUGH = { unresolvedKeyPolicy: 'PASSTHROUGH_UNENCRYPTED' };
const withConfig = (change: object) => ({ ...ENCRYPTION, config: { ...ENCRYPTION.config, ...change } });

const TWO_TOPICS = ['from', 'to'];
/** A key for each of the two topics. */
function withKeys(prefix: string) {
  const existingKeks = TWO_TOPICS.map((topic, i) => ({
    ...KEK,
    uuid: KEK.uuid.replace('1111', `000${i}`),
    alias: `KEK-${prefix}${topic}`,
  }));
  return withConfig({ selectorConfig: { template: 'KEK-$(topicName)' }, kmsConfig: { existingKeks } });
}

describe('the record encryption filter in our proxy', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let ours: Ours;
  before(async () => {
    kafka = await startKafka();
    ours = await startOurs(kafka.bootstrap.plaintext);
  });
  after(async () => {
    await ours?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  it('refuses what was written in the clear past it, unless it is told to let that pass', async () => {
    await kafka.createTopic('older');
    assert.deepEqual(await write(kafka.bootstrap.plaintext, 'older', [plain('clear')]), [0]);
    assert.deepEqual(await write(ours.bootstrap, 'older', [plain('sealed')]), [0]);
    const [refused] = await read(ours.bootstrap, 'older', 1);
    assert.equal(refused!.errorCode, ERRORS.CORRUPT_MESSAGE.code);
    await using lenient = await startOurs(kafka.bootstrap.plaintext, withConfig(PASSTHROUGH));
    const [fetched] = await read(lenient.bootstrap, 'older', 1);
    assert.deepEqual(
      recordsOf(fetched!).map(({ value }) => value!.toString()),
      ['clear', 'sealed'],
    );
  });

  it('leaves the ends of transactions alone', async () => {
    await kafka.createTopic('transactions');
    const client = new Kafka({ ...PATIENT_KAFKAJS, brokers: [ours.bootstrap] });
    const producer = client.producer({ transactionalId: 'tx', idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    for (const [value, end] of [
      ['kept', 'commit'],
      ['dropped', 'abort'],
      ['kept too', 'commit'],
    ] as const) {
      const transaction = await producer.transaction();
      await transaction.send({ topic: 'transactions', messages: [{ value }] });
      await transaction[end]();
    }
    await producer.disconnect();
    // The end of a transaction is written after its producer has been told.
    await waitFor('three ends', async () => {
      const [fetched] = await read(ours.bootstrap, 'transactions', 1);
      return fetched!.batches.filter(({ control }) => control).length === 3;
    });
    const got = await consume('java', { bootstrap: ours.bootstrap, topic: 'transactions', count: 3 });
    assert.deepEqual(
      got.map(({ value }) => value),
      ['kept', 'dropped', 'kept too'],
    );
    const args = ['--bootstrap-server', ours.bootstrap, '--topic', 'transactions', '--from-beginning'];
    // Two are all that it may see, so that it ends by its time limit if it sees one more or one less.
    const end = ['--isolation-level', 'read_committed', '--max-messages', '2', '--timeout-ms', '60000'];
    const { code, stdout, stderr } = await kafka.tool('kafka-console-consumer', [...args, ...end]);
    assert.deepEqual([code, stdout.trim().split('\n')], [0, ['kept', 'kept too']], stderr);
  });

  it('opens records for share groups', async () => {
    await kafka.createTopic('shared');
    const group = ['--entity-type', 'groups', '--entity-name', 'sharers', '--alter'];
    const set = [
      '--bootstrap-server',
      kafka.bootstrap.plaintext,
      '--add-config',
      'share.auto.offset.reset=earliest',
    ];
    assert.equal((await kafka.tool('kafka-configs', [...set, ...group])).code, 0);
    await produce('kafkajs', {
      bootstrap: ours.bootstrap,
      topic: 'shared',
      records: [{ key: 'k', value: 'shared value' }],
    });
    const args = ['--bootstrap-server', ours.bootstrap, '--topic', 'shared', '--group', 'sharers'];
    const end = ['--max-messages', '1', '--timeout-ms', '60000'];
    const { stdout, stderr } = await kafka.tool('kafka-console-share-consumer', [...args, ...end]);
    assert.equal(stdout.trim(), 'shared value', stderr);
  });

  it('says which partition it has no key for, and gives the others', async () => {
    await kafka.createTopic('foreign', { partitions: 2 });
    assert.deepEqual(await write(ours.bootstrap, 'foreign', [plain('sealed')]), [0]);
    const [direct] = await read(kafka.bootstrap.plaintext, 'foreign', 1);
    await write(kafka.bootstrap.plaintext, 'foreign', [direct!.batches[0]!.bytes, plain('clear')]);
    const keyless = withConfig({ ...PASSTHROUGH, kmsConfig: {} });
    await using stranger = await startOurs(kafka.bootstrap.plaintext, keyless);
    const [one, two] = await read(stranger.bootstrap, 'foreign', 2);
    assert.equal(one!.errorCode, ERRORS.RESOURCE_NOT_FOUND.code);
    assert.equal(recordsOf(two!)[0]?.value?.toString(), 'clear');
  });

  it('refuses a tampered record instead of handing it out', async () => {
    await kafka.createTopic('tampered', { partitions: 2 });
    assert.deepEqual(await write(ours.bootstrap, 'tampered', [plain('sealed')]), [0]);
    const [direct] = await read(kafka.bootstrap.plaintext, 'tampered', 1);
    const [record] = recordsOf(direct!);
    const value = Buffer.from(record!.value!);
    value[value.length - 20]! ^= 1;
    const { batches } = direct!;
    await write(kafka.bootstrap.plaintext, 'tampered', [
      batches[0]!.bytes,
      encodeBatch({ baseTimestamp: 1n }, [{ ...record!, value }]),
    ]);
    const [good, bad] = await read(ours.bootstrap, 'tampered', 2);
    assert.equal(good!.errorCode, 0);
    assert.equal(bad!.errorCode, ERRORS.CORRUPT_MESSAGE.code);
  });

  it('opens nothing that the broker has moved to a topic with another key', async () => {
    for (const topic of TWO_TOPICS) await kafka.createTopic(topic);
    await using proxy = await startOurs(kafka.bootstrap.plaintext, withKeys(''));
    assert.deepEqual(await write(proxy.bootstrap, 'from', [plain('for one topic')]), [0]);
    const [direct] = await read(kafka.bootstrap.plaintext, 'from', 1);
    await write(kafka.bootstrap.plaintext, 'to', [direct!.batches[0]!.bytes]);
    const [[stayed], [moved]] = [
      await read(proxy.bootstrap, 'from', 1),
      await read(proxy.bootstrap, 'to', 1),
    ];
    assert.equal(recordsOf(stayed!)[0]?.value?.toString(), 'for one topic');
    assert.equal(moved!.errorCode, ERRORS.CORRUPT_MESSAGE.code);
  });

  it('gives share groups nothing that the broker has moved to a topic with another key, which Kafka counts as delivered', async () => {
    for (const topic of TWO_TOPICS) await kafka.createTopic(`shared-${topic}`);
    await using proxy = await startOurs(kafka.bootstrap.plaintext, withKeys('shared-'));
    assert.deepEqual(await write(proxy.bootstrap, 'shared-from', [plain('for one topic')]), [0]);
    const [direct] = await read(kafka.bootstrap.plaintext, 'shared-from', 1);
    await write(kafka.bootstrap.plaintext, 'shared-to', [direct!.batches[0]!.bytes]);
    const stayed = await readShared(proxy.bootstrap, 'shared-from', 'group-from');
    assert.deepEqual([recordsOf(stayed)[0]?.value?.toString(), stayed.deliveries], ['for one topic', 1]);
    const moved = await readShared(proxy.bootstrap, 'shared-to', 'group-to');
    assert.deepEqual([moved.errorCode, moved.batches.length, moved.deliveries], [ERRORS.CORRUPT_MESSAGE.code, 0, 1]); // prettier-ignore
  });

  it('lets clients use no version in which a broker would have to say what topic an id means', async () => {
    const client = await connectTo(ours.bootstrap);
    assert.deepEqual([client.versionOf('Produce'), client.versionOf('Fetch')], [12, 12]);
    client.close();
  });

  it('refuses topics without a key, and closes where no answer is wanted', async () => {
    await kafka.createTopic('keyless');
    const strict = withConfig({ selectorConfig: { template: 'KEK-$(topicName)' } });
    await using proxy = await startOurs(kafka.bootstrap.plaintext, strict);
    const code = ERRORS.RESOURCE_NOT_FOUND.code;
    assert.deepEqual(await write(proxy.bootstrap, 'keyless', [plain('never written')]), [code]);

    const probe = await connectTo(proxy.bootstrap);
    const { brokers } = await probe.metadata(['keyless']);
    probe.close();
    const socket = connect({ host: brokers[0]!.host, port: brokers[0]!.port });
    const partitionData = [{ index: 0, records: plain('never written') }];
    const body = { acks: 0, timeoutMs: 1000, topicData: [{ name: 'keyless', partitionData }] };
    const header = { apiKey: apiOf('Produce').key, apiVersion: 9, correlationId: 1, clientId: 'test' };
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume();
    socket.write(encodeRequest(header, body));
    await closed;

    await write(kafka.bootstrap.plaintext, 'keyless', [plain('the only one')]);
    const [fetched] = await read(kafka.bootstrap.plaintext, 'keyless', 1);
    assert.deepEqual(
      recordsOf(fetched!).map(({ value }) => value!.toString()),
      ['the only one'],
    );
  });
});
