/** The filter in share groups, whose requests have topic ids alone: as frames, with what a process remembers of ids. The broker is what a test says. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { apiOf } from '../../../kafka/apis.ts';
import { responseCodec } from '../../../kafka/codec.ts';
import { errorOf } from '../../../kafka/errors.ts';
import { encodeRequest } from '../../../kafka/frame.ts';
import { readBatches } from '../../../kafka/records/batch.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import type { Requests } from '../../../kafka/schemas/types.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import { connectionContext } from '../../session/connection-context.ts';
import { createFilterChain } from '../../session/filter-chain.ts';
import type { MessageContext } from '../../filter.ts';
import { recordEncryptionSchema } from './config.ts';
import { recordEncryption } from './record-encryption.ts';
import { ALONE } from '../../../../test/support/alone.ts';

const { key: apiKey, min, max } = apiOf('ShareFetch');
const VERSIONS = Array.from({ length: max - min + 1 }, (_, n) => min + n);
const idOf = (topic: string) => Buffer.from(topic.padEnd(16, '.')).toString('base64url');
const HONEST = (id: string) => Buffer.from(id, 'base64url').toString().replaceAll('.', '');

const config = recordEncryptionSchema.parse({
  kms: 'UnitTestingKmsService',
  kmsConfig: {
    existingKeks: ['secret', 'other'].map((topic, n) => ({
      uuid: `1111111${n}-2222-3333-4444-555555555555`,
      key: Buffer.alloc(32, n).toString('base64'),
      algorithm: 'AES',
      alias: `KEK-${topic}`,
    })),
  },
  selector: 'TemplateKekSelector',
  selectorConfig: { template: 'KEK-$(topicName)' },
});

const batchOf = (value: string) =>
  encodeBatch({}, [{ offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from(value), headers: [] }]);

/** A connection of one process, to a broker that says of ids what `nameOf` does. */
async function openProcess(nameOf: (id: string) => string | null = HONEST) {
  const broker = { nameOf, asked: [] as string[] };
  const log = createLog('silent');
  const session = {
    inResponse: false,
    openBroker: {
      ask: async (_api: string, _version: number, { topics }: Requests['Metadata']) => {
        const ids = topics!.map(({ topicId }) => topicId);
        broker.asked.push(...ids);
        return { topics: ids.map((topicId) => ({ topicId, name: broker.nameOf(topicId) })) };
      },
    },
    info: { cluster: { config: { name: 'c' }, log, topicNames: new BoundedMap(10) } },
    drain: () => {},
  };
  const setting = {
    virtualCluster: 'c',
    name: 'f',
    log,
    metrics: createMetrics(),
    outbound: LOOPBACK,
    peers: ALONE,
  };
  const filter = await recordEncryption.create(config, setting);
  const context = connectionContext(session as unknown as Parameters<typeof connectionContext>[0]);
  const connection = filter.connect(context);
  const chain = createFilterChain([connection]);

  async function seal(topic: string, value: string): Promise<Buffer> {
    const topicData = [{ name: topic, partitionData: [{ index: 0, records: batchOf(value) }] }];
    const request = { acks: -1, topicData } as unknown as Requests['Produce'];
    const verdict = await connection.onRequest!.Produce!(request, {} as MessageContext);
    assert.ok(verdict && 'forward' in verdict);
    return verdict.forward.topicData[0]!.partitionData[0]!.records!;
  }

  /** What a member of a group gets of a partition of a topic that has so many records for it. */
  async function fetchPartition(version: number, topicId: string, records: Buffer, count: number) {
    const header = { apiKey, apiVersion: version, correlationId: 1, clientId: 'c' };
    const topics = [{ topicId, partitions: [{ partitionIndex: 0 }] }];
    assert.equal(await chain.request(encodeRequest(header, { groupId: 'g', topics })), 'pass');
    const codec = responseCodec('ShareFetch', version);
    const acquiredRecords = [{ firstOffset: 0n, lastOffset: BigInt(count - 1), deliveryCount: 2 }];
    const answer = { responses: [{ topicId, partitions: [{ records, acquiredRecords }] }] };
    session.inResponse = true;
    const passed = await chain.response(codec.decode(codec.encode(answer)), {
      api: 'ShareFetch',
      bytes: 0,
      ...header,
    });
    session.inResponse = false;
    assert.ok('body' in passed);
    const { responses } = codec.decode(codec.encode(passed.body));
    assert.equal(responses[0]!.topicId, topicId);
    return responses[0]!.partitions[0]!;
  }

  /** Its value, or the error; and how often Kafka says that it was delivered. */
  async function fetch(version: number, topicId: string, records: Buffer) {
    const { errorCode, records: opened, ...rest } = await fetchPartition(version, topicId, records, 1);
    assert.equal(rest.acquiredRecords[0]?.deliveryCount, 2);
    if (errorCode === 0) return [...readBatches(opened!).batches[0]!.records()][0]!.value!.toString();
    assert.equal(opened!.length, 0);
    return errorOf(errorCode).name;
  }

  return { broker, seal, fetch, fetchPartition, [Symbol.asyncDispose]: async () => filter.close!() };
}

suite('share groups', () => {
  test('members get what the key of their topic has sealed, in every version of the protocol, and nothing else', async () => {
    assert.ok(VERSIONS.length > 1);
    for (const version of VERSIONS) {
      await using one = await openProcess();
      const sealed = await one.seal('secret', 'hello');
      assert.equal(await one.fetch(version, idOf('secret'), sealed), 'hello');
      assert.equal(await one.fetch(version, idOf('other'), sealed), 'CORRUPT_MESSAGE', 'moved');
      assert.equal(await one.fetch(version, idOf('keyless'), sealed), 'RESOURCE_NOT_FOUND');
      assert.equal(await one.fetch(version, idOf('secret'), batchOf('clear')), 'CORRUPT_MESSAGE', 'clear');
      const [record] = readBatches(sealed).batches[0]!.records();
      const value = Buffer.from(record!.value!);
      value[value.length - 1]! ^= 1;
      const tampered = encodeBatch({}, [{ ...record!, value }]);
      assert.equal(await one.fetch(version, idOf('secret'), tampered), 'CORRUPT_MESSAGE', 'tampered');
    }
  });

  test('members are given nothing from the batch on that cannot be opened: they would tell the broker that there is none', async () => {
    await using one = await openProcess();
    const [sealed, foreign] = [await one.seal('secret', 'hello'), await one.seal('other', 'bye')];
    foreign.writeBigInt64BE(1n, 0);
    const given = await one.fetchPartition(max, idOf('secret'), Buffer.concat([sealed, foreign]), 2);
    assert.deepEqual([given.errorCode, readBatches(given.records!).batches.length], [0, 1]);
    assert.deepEqual(
      given.acquiredRecords.map(({ firstOffset, lastOffset }) => [firstOffset, lastOffset]),
      [[0n, 0n]],
    );
  });

  test('records of an id that the broker does not name are not opened', async () => {
    await using one = await openProcess(() => null);
    const sealed = await one.seal('secret', 'hello');
    assert.equal(await one.fetch(max, idOf('secret'), sealed), 'UNKNOWN_TOPIC_ID');
  });

  test('an id keeps the name that a process was first given, and its broker is not asked again', async () => {
    await using one = await openProcess();
    const [secret, other] = [await one.seal('secret', 'hello'), await one.seal('other', 'bye')];
    assert.equal(await one.fetch(max, idOf('other'), other), 'bye');
    one.broker.nameOf = () => 'secret';
    assert.equal(await one.fetch(max, idOf('other'), secret), 'CORRUPT_MESSAGE');
    assert.equal(await one.fetch(max, idOf('other'), other), 'bye');
    assert.deepEqual(one.broker.asked, [idOf('other')]);
  });

  test('a process that has never seen an id believes the broker once, and opens with the key of the topic that it named alone', async () => {
    await using liar = await openProcess(() => 'secret');
    const [secret, other] = [await liar.seal('secret', 'hello'), await liar.seal('other', 'bye')];
    assert.equal(await liar.fetch(max, idOf('other'), secret), 'hello', 'which is the lie');
    assert.equal(await liar.fetch(max, idOf('other'), other), 'CORRUPT_MESSAGE');
  });
});
