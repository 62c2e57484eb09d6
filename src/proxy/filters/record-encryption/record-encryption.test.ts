import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kms } from '../../../crypto/kms.ts';
import { inMemoryKms, inMemorySchema } from '../../../crypto/kms/in-memory.ts';
import { DEFAULT_LIMITS } from '../../../crypto/key-ring.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import { readBatches } from '../../../kafka/records/batch.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, MessageContext } from '../../filter.ts';
import type { RecordEncryptionConfig } from './config.ts';
import { recordEncryption } from './record-encryption.ts';

const kek = '11111111-2222-3333-4444-555555555555';
const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';
const message = {} as MessageContext;

/** The filter on one connection, with a key for the topic `secret` alone. */
async function setUp(
  change: { kms?: Partial<Kms>; policy?: RecordEncryptionConfig['unresolvedKeyPolicy'] } = {},
) {
  const key = {
    uuid: kek,
    key: Buffer.alloc(32, 1).toString('base64'),
    algorithm: 'AES',
    alias: 'KEK-secret',
  };
  const kms = { ...inMemoryKms(inMemorySchema.parse({ existingKeks: [key] })), ...change.kms };
  const config: RecordEncryptionConfig = {
    provider: { types: [], schema: inMemorySchema, create: () => kms },
    kmsConfig: {},
    aliasOf: (topic) => `KEK-${topic}`,
    unresolvedKeyPolicy: change.policy ?? 'PASSTHROUGH_UNENCRYPTED',
    limits: DEFAULT_LIMITS,
  };
  const metrics = createMetrics();
  const log = createLog('silent');
  const filter = await recordEncryption.create(config, { virtualCluster: 'vc', name: 'f', log, metrics });
  const context = {
    log,
    topicNames: async (ids: Iterable<string>) =>
      new Map([...ids].includes(topicId) ? [[topicId, 'secret']] : []),
  } as unknown as ConnectionContext;
  const connection = filter.connect(context);
  return {
    metrics,
    produce: async (request: Requests['Produce']) => connection.onRequest!.Produce!(request, message),
    fetch: async (response: Responses['Fetch']) => connection.onResponse!.Fetch!(response, message),
    shareFetch: async (response: Responses['ShareFetch']) =>
      connection.onResponse!.ShareFetch!(response, message),
    close: () => filter.close!(),
  };
}

function records(value = 'hello'): Buffer {
  return encodeBatch({}, [
    { offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from(value), headers: [] },
  ]);
}

function produceRequest(topic: { name?: string; topicId?: string }, bytes: Buffer | null = records()) {
  const partitionData = [{ index: 0, records: bytes }];
  return {
    transactionalId: null,
    acks: -1,
    timeoutMs: 1000,
    topicData: [{ name: '', topicId: '', ...topic, partitionData }],
  } as unknown as Requests['Produce'];
}

function fetchResponse(...fields: Buffer[]) {
  const partitions = fields.map((bytes, partitionIndex) => ({
    partitionIndex,
    errorCode: 0,
    records: bytes,
  }));
  return { responses: [{ topic: 'secret', topicId, partitions }] } as unknown as Responses['Fetch'];
}

const valueOf = (field: Buffer | null | undefined) =>
  [...readBatches(field!).batches[0]!.records()][0]!.value!.toString();

test('produce seals and fetch opens, by topic name and by topic id', async () => {
  const filter = await setUp();
  for (const topic of [{ name: 'secret' }, { topicId }]) {
    const verdict = await filter.produce(produceRequest(topic));
    assert.ok(verdict && 'forward' in verdict);
    const sealed = verdict.forward.topicData[0]!.partitionData[0]!.records!;
    assert.equal(sealed.includes('hello'), false);
    const fetched = await filter.fetch(fetchResponse(Buffer.from(sealed)));
    assert.ok(fetched && 'forward' in fetched);
    assert.equal(valueOf(fetched.forward.responses[0]!.partitions[0]!.records), 'hello');
    const shared = await filter.shareFetch(fetchResponse(sealed) as unknown as Responses['ShareFetch']);
    assert.ok(shared && 'forward' in shared);
    assert.equal(valueOf(shared.forward.responses[0]!.partitions[0]!.records), 'hello');
  }
  const report = JSON.stringify(await filter.metrics.snapshot());
  assert.match(report, /sealed_records_total.*"topic":"secret".*"value":2/);
  await filter.close();
});

test('a topic without a key passes, or is refused if the policy says so', async () => {
  const lenient = await setUp();
  assert.equal(await lenient.produce(produceRequest({ name: 'open' })), undefined);
  await lenient.close();
  const strict = await setUp({ policy: 'REJECT' });
  assert.deepEqual(await strict.produce(produceRequest({ name: 'open' })), {
    answer: 'RESOURCE_NOT_FOUND',
    message: 'no encryption key for the topic open',
  });
  await strict.close();
});

test('records in the clear, and partitions without records, pass untouched', async () => {
  const filter = await setUp();
  assert.equal(await filter.fetch(fetchResponse(records(), Buffer.alloc(0))), undefined);
  assert.equal(await filter.produce(produceRequest({ name: 'secret' }, null)), undefined);
  await filter.close();
});

test('each way in which sealing fails has its own answer', async () => {
  const answerOf = async (change: Parameters<typeof setUp>[0], request: Requests['Produce']) => {
    const filter = await setUp(change);
    const verdict = await filter.produce(request);
    await filter.close();
    return verdict && 'answer' in verdict ? verdict.answer : verdict;
  };
  assert.equal(await answerOf({}, produceRequest({ topicId: 'BBBBBBBBBBBBBBBBBBBBBB' })), 'UNKNOWN_TOPIC_ID');
  assert.equal(
    await answerOf({}, produceRequest({ name: 'secret' }, records().fill(9, 61))),
    'CORRUPT_MESSAGE',
  );
  const gone = { resolveAlias: async () => '99999999-2222-3333-4444-555555555555' };
  assert.equal(await answerOf({ kms: gone }, produceRequest({ name: 'secret' })), 'RESOURCE_NOT_FOUND');

  const down = { generateDek: () => Promise.reject(new Error('connection refused')) };
  assert.equal(await answerOf({ kms: down }, produceRequest({ name: 'secret' })), 'NOT_LEADER_OR_FOLLOWER');
});

test('a partition that cannot be opened gets an error and no records; the others keep theirs', async () => {
  const filter = await setUp();
  const verdict = await filter.produce(produceRequest({ name: 'secret' }));
  assert.ok(verdict && 'forward' in verdict);
  const sealed = verdict.forward.topicData[0]!.partitionData[0]!.records!;
  const stranger = await setUp({ kms: inMemoryKms(inMemorySchema.parse({})) });
  const fetched = await stranger.fetch(fetchResponse(records('clear'), sealed));
  assert.ok(fetched && 'forward' in fetched);
  const [one, two] = fetched.forward.responses[0]!.partitions;
  assert.equal(valueOf(one!.records), 'clear');
  assert.equal(two!.errorCode, ERRORS.RESOURCE_NOT_FOUND.code);
  assert.equal(two!.records!.length, 0);
  await filter.close();
  await stranger.close();
});

test('topics that requests make up do not get a counter each', async () => {
  const filter = await setUp();
  for (let i = 0; i < 1500; i++) await filter.produce(produceRequest({ name: `made-up-${i}` }));
  const report = JSON.stringify(await filter.metrics.snapshot());
  assert.equal(report.match(/"topic":"made-up-/g)!.length, 1000);
  assert.match(report, /"topic":"\(others\)"},"value":500/);
  await filter.close();
});
