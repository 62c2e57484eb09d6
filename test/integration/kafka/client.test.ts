/** Our own small client against a real broker, and against servers that misbehave as no real one does on demand. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { connectKafka } from '../../../src/kafka/client.ts';
import type { ClientOptions } from '../../../src/kafka/client.ts';
import { readBatches } from '../../../src/kafka/records/batch.ts';
import { COMPRESSIONS } from '../../../src/kafka/records/compression.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { IsthmusError } from '../../../src/ops/errors.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { ALICE, BOB } from '../../support/kafka/security.ts';

const isCode = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof IsthmusError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
  return true;
};

/** Where to connect, with the patience that a busy machine needs. */
function addressOf(bootstrap: string): ClientOptions {
  const [host = '', port = ''] = bootstrap.split(':');
  return { host, port: Number(port), connectTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
}

suite('client', () => {
  let kafka: KafkaCluster;
  before(async () => {
    kafka = await startKafka();
  });
  after(() => kafka?.stop());

  const plaintext = () => addressOf(kafka.bootstrap.plaintext);
  const ca = () => readFileSync(kafka.tls.caFile);

  async function clusterId(options: ClientOptions): Promise<string | null> {
    const client = await connectKafka(options);
    try {
      const { clusterId: found, errorCode, brokers } = await client.describeCluster();
      assert.equal(errorCode, 0);
      assert.equal(brokers.length, 1);
      return found;
    } finally {
      client.close();
    }
  }

  test('every kind of listener, every mechanism', async () => {
    const [cert, key] = [readFileSync(kafka.tls.clientFiles.cert), readFileSync(kafka.tls.clientFiles.key)];
    const answers = await Promise.all([
      clusterId(plaintext()),
      clusterId({ ...addressOf(kafka.bootstrap.ssl), tls: { ca: ca() } }),
      clusterId({ ...addressOf(kafka.bootstrap.mtls), tls: { ca: ca(), cert, key } }),
      clusterId({ ...addressOf(kafka.bootstrap.saslPlaintext), sasl: BOB }),
      clusterId({
        ...addressOf(kafka.bootstrap.saslPlaintext),
        sasl: { ...ALICE, mechanism: 'SCRAM-SHA-256' },
      }),
      clusterId({ ...addressOf(kafka.bootstrap.saslSsl), tls: { ca: ca() }, sasl: ALICE }),
    ]);
    const [id] = answers;
    assert.match(id ?? '', /^[\w-]{22}$/);
    assert.deepEqual(
      answers,
      answers.map(() => id),
    );
  });

  test('requests may overlap, and each gets its own answer', async () => {
    const client = await connectKafka(plaintext());
    await kafka.createTopic('overlap');
    const [all, one, none, groups] = await Promise.all([
      client.metadata(),
      client.metadata(['overlap']),
      client.metadata([]),
      client.request('ListGroups', {}),
    ]);
    assert.ok(all.topics.some(({ name }) => name === 'overlap'));
    assert.deepEqual(
      one.topics.map(({ name }) => name),
      ['overlap'],
    );
    assert.deepEqual([none.topics.length, none.brokers.length], [0, 1]);
    assert.equal(groups.errorCode, 0);
    assert.equal(client.versionOf('Metadata'), 13);
    client.close();
    await assert.rejects(client.metadata(), isCode('KAFKA_UNREACHABLE', /closed/));
  });

  test('a broker takes our batches in every compression, and gives them back', async () => {
    const client = await connectKafka(plaintext());
    for (const compression of COMPRESSIONS) {
      await kafka.createTopic(compression);
      const { topics } = await client.metadata([compression]);
      const topicId = topics[0]!.topicId;
      const values = Array.from({ length: 50 }, (_, i) => `value ${i} with ${compression}`);
      const records = encodeBatch(
        { compression, baseTimestamp: 1_700_000_000_000n },
        values.map((value, i) => ({
          offsetDelta: i,
          timestampDelta: i,
          key: null,
          value: Buffer.from(value),
          headers: [{ key: 'h', value: Buffer.from([i]) }],
        })),
      );
      const produced = await client.request('Produce', {
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ topicId, partitionData: [{ index: 0, records }] }],
      });
      assert.equal(produced.responses[0]?.partitionResponses[0]?.errorCode, 0, compression);
      const fetched = await client.request('Fetch', {
        maxWaitMs: 5000,
        minBytes: 1,
        topics: [{ topicId, partitions: [{ partition: 0, partitionMaxBytes: 1_000_000 }] }],
      });
      const { batches } = readBatches(fetched.responses[0]!.partitions[0]!.records!);
      assert.deepEqual(
        batches.map((batch) => batch.compression),
        [compression],
      );
      assert.deepEqual(
        [...batches[0]!.records()].map(({ value, headers }) => [String(value), headers[0]?.value?.[0]]),
        values.map((value, i) => [value, i]),
      );
    }
    client.close();
  });

  test('says what is wrong', async () => {
    const sasl = addressOf(kafka.bootstrap.saslPlaintext);
    const wrong = { ...ALICE, password: 'guess' };
    await assert.rejects(
      connectKafka({ ...sasl, sasl: wrong }),
      isCode('KAFKA_REFUSED', /invalid credentials/),
    );
    await assert.rejects(
      connectKafka({ ...sasl, sasl: { ...BOB, password: 'guess' } }),
      isCode('KAFKA_REFUSED', /Invalid username or password/),
    );
    await assert.rejects(connectKafka({ ...sasl, port: 1 }), isCode('KAFKA_UNREACHABLE', /ECONNREFUSED/));
    await assert.rejects(
      connectKafka({ ...addressOf(kafka.bootstrap.ssl), tls: {} }),
      isCode('KAFKA_UNREACHABLE', /certificate/),
    );
    await assert.rejects(
      connectKafka({ ...plaintext(), tls: {} }),
      isCode('KAFKA_UNREACHABLE', /disconnected before secure TLS connection|ECONNRESET/),
    );
    await assert.rejects(
      connectKafka(addressOf(kafka.bootstrap.ssl)),
      isCode('KAFKA_UNREACHABLE', /is this a Kafka listener|the connection was closed|ECONNRESET/),
    );
  });
});

/** A server that does what the test says: a real broker would not. */
async function withServer(
  behave: (socket: Socket) => void,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

suite('client and servers that misbehave', () => {
  const cases: [string, (socket: Socket) => void, RegExp][] = [
    ['closes at once', (socket) => socket.destroy(), /closed|ECONNRESET/],
    ['speaks HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /is this a Kafka listener/],
    [
      'announces 2 GB',
      (socket) => socket.write(Buffer.from([0x7f, 0xff, 0xff, 0xff])),
      /a response of 2147483647/,
    ],
    [
      'answers what nobody asked',
      (socket) => socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 99])),
      /no request/,
    ],
    [
      'answers with half a message',
      (socket) => socket.write(Buffer.from([0, 0, 0, 6, 0, 0, 0, 1, 0, 0])),
      /malformed ApiVersions response/,
    ],
  ];
  for (const [what, behave, words] of cases) {
    test(`one that ${what}`, () =>
      withServer(behave, async (port) => {
        await assert.rejects(connectKafka(addressOf(`127.0.0.1:${port}`)), words);
      }));
  }

  test('one that never answers', () =>
    withServer(
      () => {},
      async (port) => {
        const impatient = { host: '127.0.0.1', port, connectTimeoutMs: 60_000, requestTimeoutMs: 500 };
        await assert.rejects(connectKafka(impatient), /no answer to ApiVersions within 500 ms/);
        const hasty = { ...impatient, connectTimeoutMs: 200, requestTimeoutMs: 60_000 };
        await assert.rejects(connectKafka(hasty), /no connection within 200 ms/);
      },
    ));
});
