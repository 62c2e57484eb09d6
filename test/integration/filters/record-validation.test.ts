/** Records that are not what they have to be, in front of a real Kafka, as the example has it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import avsc from 'avsc';
import { Kafka } from 'kafkajs';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { COMPRESSIONS } from '../../../src/kafka/records/compression.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { read, recordsOf, write } from '../encryption/traffic.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

describe('records that are validated', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let proxy: Running;
  let ours: string;
  before(async () => {
    kafka = await startKafka();
    proxy = await startExample('record-validation', kafka.bootstrap.plaintext);
    ours = proxy.bootstrap['demo']!;
    await kafka.createTopic('orders', { partitions: 5 });
    await kafka.createTopic('free');
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const batch = (value: string | Buffer, compression: (typeof COMPRESSIONS)[number] = 'none') =>
    encodeBatch({ compression, baseTimestamp: BigInt(Date.now()) }, [
      {
        offsetDelta: 0,
        timestampDelta: 0,
        key: Buffer.from('k'),
        value: Buffer.from(value),
        headers: [{ key: 'source', value: null }],
      },
    ]);

  it('are written where they are good, and refused partition by partition where not', async () => {
    const batches = COMPRESSIONS.map((each, i) => batch(i % 2 === 0 ? '{"a":1}' : '{"a":1,"a":2}', each));
    const invalid = ERRORS.INVALID_RECORD.code;
    assert.deepEqual(await write(ours, 'orders', batches), [0, invalid, 0, invalid, 0]);
    const [first] = await read(kafka.bootstrap.plaintext, 'orders', 1);
    assert.deepEqual(recordsOf(first!)[0]!.value!.toString(), '{"a":1}');
    await produce('java', { bootstrap: ours, topic: 'free', records: [{ key: 'k', value: 'no JSON' }] });
  });

  it('are held against schemas: JSON Schema, Avro and Protobuf', async () => {
    await kafka.createTopic('customers', { partitions: 2 });
    await kafka.createTopic('payments', { partitions: 2 });
    const invalid = ERRORS.INVALID_RECORD.code;
    const people = [batch('{"id":1,"email":"a@b"}'), batch('{"id":0,"email":"a@b"}', 'zstd')];
    assert.deepEqual(await write(ours, 'customers', people), [0, invalid]);
    const payment = avsc.Type.forSchema({
      type: 'record',
      name: 'Payment',
      fields: [
        { name: 'id', type: 'string' },
        { name: 'cents', type: 'long' },
        { name: 'note', type: ['null', 'string'] },
      ],
    });
    const paid = payment.toBuffer({ id: 'p-1', cents: 4200, note: null });
    const payments = [batch(paid, 'lz4'), batch(paid.subarray(0, -1))];
    assert.deepEqual(await write(ours, 'payments', payments), [0, invalid]);
    const [first] = await read(kafka.bootstrap.plaintext, 'payments', 1);
    assert.deepEqual(recordsOf(first!)[0]!.value, paid);
    await kafka.createTopic('shipments', { partitions: 3 });
    // The id "s-1" and 2 parcels; a field that the message does not have; an id without its end.
    const shipments = ['0a03732d311002', '0a03732d311802', '0a03732d'].map((hex) =>
      batch(Buffer.from(hex, 'hex')),
    );
    assert.deepEqual(await write(ours, 'shipments', shipments), [0, invalid, invalid]);
  });

  it('are refused with an error that producers show', async () => {
    const producer = new Kafka({ ...PATIENT_KAFKAJS, brokers: [ours] }).producer();
    await producer.connect();
    const send = (headers: Record<string, string>) =>
      producer.send({ topic: 'orders', messages: [{ key: 'k', value: '{}', headers }] });
    await send({ source: 'test' });
    await assert.rejects(send({}), /INVALID_RECORD|did not pass|invalid|validat/i);
    await producer.disconnect();
    const java = produce('java', { bootstrap: ours, topic: 'orders', records: [{ key: 'k', value: '{}' }] });
    await assert.rejects(java, /the header source is missing|InvalidRecordException/);
  });
});
