/** Batches that are sealed as a whole, with a real broker and real clients; and rules, as the example has them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { ERRORS } from '../../../src/kafka/errors.ts';
import type { KafkaRecord } from '../../../src/kafka/records/batch.ts';
import { COMPRESSIONS } from '../../../src/kafka/records/compression.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { connectTo } from '../encryption/site.ts';
import { read, recordsOf, write } from '../encryption/traffic.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

const SECRET = 'a value that nobody else may read';
const NOW = BigInt(Date.now());

function records(count = 5): KafkaRecord[] {
  return Array.from({ length: count }, (_, offsetDelta) => ({
    offsetDelta,
    timestampDelta: offsetDelta * 1000,
    key: Buffer.from(`secret-key-${offsetDelta}`),
    value: offsetDelta === 2 ? null : Buffer.from(`${SECRET} ${offsetDelta}`),
    headers: [{ key: 'secret-header', value: Buffer.from('secret-header-value') }],
  }));
}

describe('records that are sealed batch by batch', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let direct: string;
  let proxy: Running;
  let ours: string;
  before(async () => {
    kafka = await startKafka();
    direct = kafka.bootstrap.plaintext;
    proxy = await startExample('record-encryption', direct);
    ours = proxy.bootstrap['demo']!;
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  it('come back with every compression, also where the topic has its own, and nothing of them is on the disk', async () => {
    const batches = COMPRESSIONS.map((compression) =>
      encodeBatch({ compression, baseTimestamp: NOW }, records()),
    );
    for (const setting of ['producer', 'uncompressed', 'lz4', 'zstd', 'snappy', 'gzip']) {
      const topic = `orders-${setting}`;
      await kafka.createTopic(topic, {
        partitions: batches.length,
        configs: { 'compression.type': setting },
      });
      assert.deepEqual(await write(ours, topic, batches), [0, 0, 0, 0, 0]);
      const fetched = await read(ours, topic, batches.length);
      for (const [i, partition] of fetched.entries()) {
        assert.deepEqual([partition.errorCode, recordsOf(partition)], [0, records()]);
        assert.deepEqual(
          partition.batches.map(({ compression, baseTimestamp }) => [compression, baseTimestamp]),
          [[COMPRESSIONS[i], NOW]],
        );
      }
    }
    const logs = globSync(join(kafka.directory, '**/data/**/orders-*/*.log'));
    assert.ok(logs.length >= 30);
    for (const file of logs) {
      const bytes = readFileSync(file);
      assert.ok(bytes.length > 0, file);
      for (const trace of [SECRET, 'secret-']) assert.equal(bytes.includes(trace), false, file);
    }
  });

  it('are written and read by clients of all kinds', async () => {
    const list = [
      { key: 'k', value: 'one' },
      { key: null, value: 'two' },
    ];
    for (const client of ['java', 'confluent', 'kafkajs'] as const) {
      const topic = `orders-by-${client}`;
      await kafka.createTopic(topic);
      await produce(client, { bootstrap: ours, topic, records: list });
      assert.deepEqual(await consume(client, { bootstrap: ours, topic, count: 2 }), list);
    }
  });

  it('keep transactions: what was aborted is not read', async () => {
    await kafka.createTopic('orders-transactions');
    const client = new Kafka({ ...PATIENT_KAFKAJS, brokers: [ours] });
    const producer = client.producer({ transactionalId: 'tx', idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    for (const [value, end] of [
      ['kept', 'commit'],
      ['dropped', 'abort'],
      ['kept too', 'commit'],
    ] as const) {
      const transaction = await producer.transaction();
      await transaction.send({ topic: 'orders-transactions', messages: [{ value }] });
      await transaction[end]();
    }
    await producer.disconnect();
    const args = ['--bootstrap-server', ours, '--topic', 'orders-transactions', '--from-beginning'];
    const end = ['--isolation-level', 'read_committed', '--max-messages', '2', '--timeout-ms', '60000'];
    const { code, stdout, stderr } = await kafka.tool('kafka-console-consumer', [...args, ...end]);
    assert.deepEqual([code, stdout.trim().split('\n')], [0, ['kept', 'kept too']], stderr);
  });

  it('keep idempotence: what is sent twice is there once', async () => {
    await kafka.createTopic('orders-idempotent');
    const client = await connectTo(ours);
    const { producerId, producerEpoch } = await client.request('InitProducerId', {
      transactionalId: null,
      transactionTimeoutMs: 60_000,
      producerId: -1n,
      producerEpoch: -1,
    });
    client.close();
    const batch = (baseSequence: number) =>
      encodeBatch({ producerId, producerEpoch, baseSequence, baseTimestamp: NOW }, records(3));
    for (const sequence of [0, 0, 3, 3])
      assert.deepEqual(await write(ours, 'orders-idempotent', [batch(sequence)]), [0]);
    const code = ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER.code;
    assert.deepEqual(await write(ours, 'orders-idempotent', [batch(9)]), [code]);
    const [fetched] = await read(ours, 'orders-idempotent', 1);
    assert.deepEqual(
      fetched!.batches.map(({ baseSequence, count }) => [baseSequence, count]),
      [
        [0, 3],
        [3, 3],
      ],
    );
  });

  it('are found by their time, each record by its own', async () => {
    await kafka.createTopic('orders-by-time');
    const batch = encodeBatch({ compression: 'zstd', baseTimestamp: NOW }, records());
    assert.deepEqual(await write(ours, 'orders-by-time', [batch]), [0]);
    const client = await connectTo(ours);
    const offsetAt = async (timestamp: bigint) => {
      const { topics } = await client.request('ListOffsets', {
        replicaId: -1,
        topics: [{ name: 'orders-by-time', partitions: [{ partitionIndex: 0, timestamp }] }],
      });
      return topics[0]!.partitions[0]!.offset;
    };
    assert.deepEqual(
      await Promise.all([NOW - 1n, NOW, NOW + 1n, NOW + 3000n, NOW + 3001n, NOW + 4001n].map(offsetAt)),
      [0n, 0n, 1n, 3n, 4n, -1n],
    );
    client.close();
  });

  it('have the time of the broker where the topic says so', async () => {
    await kafka.createTopic('orders-append-time', {
      configs: { 'message.timestamp.type': 'LogAppendTime' },
    });
    assert.deepEqual(
      await write(ours, 'orders-append-time', [encodeBatch({ baseTimestamp: 5n }, records())]),
      [0],
    );
    const [fetched] = await read(ours, 'orders-append-time', 1);
    assert.equal(fetched!.batches[0]!.timestampType, 'LogAppendTime');
    assert.ok(fetched!.batches[0]!.maxTimestamp >= NOW);
    assert.deepEqual(recordsOf(fetched!), records());
  });

  it('are refused by the broker in compacted topics, where the other format is at home', async () => {
    const configs = { 'cleanup.policy': 'compact' };
    await kafka.createTopic('orders-compacted', { configs });
    await kafka.createTopic('customers', { configs });
    const batch = () => encodeBatch({ baseTimestamp: NOW }, records());
    const refused = ERRORS.INVALID_RECORD.code;
    assert.deepEqual(await write(ours, 'orders-compacted', [batch()]), [refused]);
    assert.deepEqual(await write(ours, 'customers', [batch()]), [0]);
    const [fetched] = await read(ours, 'customers', 1);
    assert.deepEqual(recordsOf(fetched!), records());
  });

  it('are read by share groups', async () => {
    await kafka.createTopic('orders-shared');
    const group = ['--entity-type', 'groups', '--entity-name', 'sharers', '--alter'];
    const set = ['--bootstrap-server', direct, '--add-config', 'share.auto.offset.reset=earliest'];
    assert.equal((await kafka.tool('kafka-configs', [...set, ...group])).code, 0);
    await produce('kafkajs', {
      bootstrap: ours,
      topic: 'orders-shared',
      records: [{ key: 'k', value: 'shared' }],
    });
    const args = ['--bootstrap-server', ours, '--topic', 'orders-shared', '--group', 'sharers'];
    const end = ['--max-messages', '1', '--timeout-ms', '60000'];
    const { stdout, stderr } = await kafka.tool('kafka-console-share-consumer', [...args, ...end]);
    assert.equal(stdout.trim(), 'shared', stderr);
  });

  it('are not opened where a broker has moved them: in another partition, or in another topic with the same key', async () => {
    await kafka.createTopic('orders-from', { partitions: 2 });
    await kafka.createTopic('orders-to');
    assert.deepEqual(await write(ours, 'orders-from', [encodeBatch({ baseTimestamp: NOW }, records())]), [0]);
    const [sealed] = await read(direct, 'orders-from', 1);
    const { bytes } = sealed!.batches[0]!;
    await write(direct, 'orders-from', [bytes, bytes]);
    await write(direct, 'orders-to', [bytes]);
    const corrupt = ERRORS.CORRUPT_MESSAGE.code;
    const [stayed, moved] = await read(ours, 'orders-from', 2);
    assert.deepEqual([stayed!.errorCode, moved!.errorCode], [0, corrupt]);
    assert.equal((await read(ours, 'orders-to', 1))[0]!.errorCode, corrupt);
  });

  it('are left out where they cannot be opened, if that is wanted, and clients go on behind them', async () => {
    await kafka.createTopic('orders-gap');
    const one = (value: string) =>
      encodeBatch({ baseTimestamp: NOW }, [{ ...records(1)[0]!, key: null, value: Buffer.from(value) }]);
    await write(ours, 'orders-gap', [one('before')]);
    await write(direct, 'orders-gap', [one('in the clear')]);
    await write(ours, 'orders-gap', [one('after')]);
    const [stopped] = await read(ours, 'orders-gap', 1);
    assert.deepEqual([stopped!.errorCode, recordsOf(stopped!).length], [0, 1]);
    await using lenient = await startExample('record-encryption', direct, { config: { unopenable: 'skip' } });
    const bootstrap = lenient.bootstrap['demo']!;
    for (const client of ['java', 'confluent', 'kafkajs'] as const)
      assert.deepEqual(
        (await consume(client, { bootstrap, topic: 'orders-gap', count: 2 })).map(({ value }) => value),
        ['before', 'after'],
        client,
      );
    await waitFor('a count', async () =>
      /unopened_batches_total.*"skipped"/.test(JSON.stringify(await lenient.metrics.snapshot())),
    );
  });

  it('are what rules ask for: others stay in the clear, and what no rule names is refused', async () => {
    await kafka.createTopic('news-today');
    await kafka.createTopic('unnamed');
    const plain = encodeBatch({ baseTimestamp: NOW }, records());
    assert.deepEqual(await write(ours, 'news-today', [plain]), [0]);
    assert.deepEqual(recordsOf((await read(direct, 'news-today', 1))[0]!), records());
    assert.deepEqual(recordsOf((await read(ours, 'news-today', 1))[0]!), records());
    const refused = ERRORS.TOPIC_AUTHORIZATION_FAILED.code;
    assert.deepEqual(await write(ours, 'unnamed', [plain]), [refused]);
    await write(direct, 'unnamed', [plain]);
    assert.equal((await read(ours, 'unnamed', 1))[0]!.errorCode, refused);
  });
});
