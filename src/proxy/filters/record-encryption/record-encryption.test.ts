import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kms } from '../../../crypto/kms.ts';
import { inMemoryKms, inMemorySchema } from '../../../crypto/kms/in-memory.ts';
import { DEFAULT_LIMITS } from '../../../crypto/key-ring.ts';
import { ERRORS, errorOf } from '../../../kafka/errors.ts';
import { readBatches } from '../../../kafka/records/batch.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import { schemaOf } from '../../../kafka/schema.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, MessageContext } from '../../filter.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import type { RecordEncryptionConfig } from './config.ts';
import type { SealedFormat, TopicPolicy } from './policy.ts';
import { recordEncryption } from './record-encryption.ts';
import { ALONE } from '../../../../test/support/alone.ts';

const kek = '11111111-2222-3333-4444-555555555555';
const otherKek = '22222222-2222-3333-4444-555555555555';
const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';
const message = {} as MessageContext;

const existingKeks = [
  { uuid: kek, key: Buffer.alloc(32, 1).toString('base64'), algorithm: 'AES', alias: 'KEK-secret' },
  { uuid: otherKek, key: Buffer.alloc(32, 2).toString('base64'), algorithm: 'AES', alias: 'KEK-other' },
];

interface Change {
  kms?: Partial<Kms>;
  policy?: 'REJECT' | 'PASSTHROUGH_UNENCRYPTED';
  format?: SealedFormat;
  policyOf?: RecordEncryptionConfig['policyOf'];
  unopenable?: 'skip';
  formerKeys?: [string, string[]][];
  limits?: typeof DEFAULT_LIMITS;
  aliasOf?: (topic: string) => string;
}

/** Every topic is sealed, with a key by its name. */
function sealPolicy(topic: string, { aliasOf, format, policy }: Change): TopicPolicy {
  const isLenient = policy !== 'REJECT';
  return {
    action: 'seal',
    alias: aliasOf?.(topic) ?? `KEK-${topic}`,
    format: format ?? 'kroxylicious/2',
    withoutKey: isLenient ? 'plain' : 'refuse',
    acceptPlain: isLenient,
  };
}

/** The filter on one connection, with a key for the topic `secret` and another one for the topic `other`. */
async function setUp(change: Change = {}) {
  const kms = { ...inMemoryKms(inMemorySchema.parse({ existingKeks })), ...change.kms };
  const config: RecordEncryptionConfig = {
    provider: { types: [], schema: inMemorySchema, secretFields: [], create: () => kms },
    kmsConfig: {},
    policyOf: change.policyOf ?? ((topic) => sealPolicy(topic, change)),
    unopenable: change.unopenable ?? 'error',
    formerKeys: new Map(change.formerKeys),
    limits: change.limits ?? DEFAULT_LIMITS,
  };
  const metrics = createMetrics();
  const log = createLog('silent');
  const setting = { virtualCluster: 'vc', name: 'f', log, metrics, outbound: LOOPBACK, peers: ALONE };
  const filter = await recordEncryption.create(config, setting);
  const context = {
    log,
    topicNames: async (ids: Iterable<string>) =>
      new Map([...ids].includes(topicId) ? [[topicId, 'secret']] : []),
  } as unknown as ConnectionContext;
  const connection = filter.connect(context);
  return {
    metrics,
    newestVersions: connection.newestVersions,
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

function produceRequest(topic: { name?: string }, bytes: Buffer | null = records()) {
  const partitionData = [{ index: 0, records: bytes }];
  return {
    transactionalId: null,
    acks: -1,
    timeoutMs: 1000,
    topicData: [{ name: '', topicId, ...topic, partitionData }],
  } as unknown as Requests['Produce'];
}

const fetchResponse = (...fields: Buffer[]) => fetchedFrom({ topic: 'secret' }, ...fields);

function fetchedFrom(topic: { topic?: string; topicId?: string }, ...fields: Buffer[]) {
  const partitions = fields.map((bytes, partitionIndex) => ({
    partitionIndex,
    errorCode: 0,
    records: bytes,
  }));
  return { responses: [{ topic: '', topicId, ...topic, partitions }] } as unknown as Responses['Fetch'];
}

type Filtered = Awaited<ReturnType<typeof setUp>>;

/** What the filter makes of a value that is produced to the topic `secret`. */
async function sealed(filter: Filtered, value = 'hello'): Promise<Buffer> {
  const verdict = await filter.produce(produceRequest({ name: 'secret' }, records(value)));
  assert.ok(verdict && 'forward' in verdict);
  return verdict.forward.topicData[0]!.partitionData[0]!.records!;
}

/** What a client gets of each partition of a topic: its value, or the error. */
async function fetched(filter: Filtered, topic: string, ...fields: Buffer[]) {
  const response = fetchedFrom({ topic }, ...fields.map((field) => Buffer.from(field)));
  await filter.fetch(response);
  return response.responses[0]!.partitions.map(({ errorCode, records: bytes }) =>
    errorCode === 0 ? valueOf(bytes) : errorOf(errorCode).name,
  );
}

const valueOf = (field: Buffer | null | undefined) =>
  [...readBatches(field!).batches[0]!.records()][0]!.value?.toString();

test('produce seals and fetch opens', async () => {
  const filter = await setUp({ policy: 'REJECT' });
  const bytes = await sealed(filter);
  assert.equal(bytes.includes('hello'), false);
  assert.deepEqual(await fetched(filter, 'secret', bytes), ['hello']);
  const shared = await filter.shareFetch(fetchedFrom({}, bytes) as unknown as Responses['ShareFetch']);
  assert.ok(shared && 'forward' in shared);
  assert.equal(valueOf(shared.forward.responses[0]!.partitions[0]!.records), 'hello');
  const report = JSON.stringify(await filter.metrics.snapshot());
  assert.match(report, /sealed_records_total.*"topic":"secret".*"value":1/);
  await filter.close();
});

test('clients name the topics that they write and read: no broker is asked what an id means', async () => {
  const filter = await setUp();
  assert.deepEqual(filter.newestVersions, { Produce: 12, Fetch: 12 });
  for (const [api, newest] of Object.entries(filter.newestVersions)) {
    const { fields } = schemaOf(api === 'Produce' ? 'ProduceRequest' : 'FetchResponse');
    const topics = fields.find(({ name }) => name === (api === 'Produce' ? 'topicData' : 'responses'))!;
    const name = topics.fields!.find((field) => field.name === (api === 'Produce' ? 'name' : 'topic'))!;
    assert.equal(name.versions.to, newest);
  }
  assert.deepEqual(await filter.produce(produceRequest({})), { answer: 'UNSUPPORTED_VERSION' });
  const nameless = fetchedFrom({}, await sealed(filter));
  await filter.fetch(nameless);
  assert.equal(nameless.responses[0]!.partitions[0]!.errorCode, ERRORS.UNKNOWN_TOPIC_ID.code);
  const unknown = fetchedFrom({ topicId: 'BBBBBBBBBBBBBBBBBBBBBB' }, await sealed(filter));
  await filter.shareFetch(unknown as unknown as Responses['ShareFetch']);
  assert.equal(unknown.responses[0]!.partitions[0]!.errorCode, ERRORS.UNKNOWN_TOPIC_ID.code);
  await filter.close();
});

test('what was sealed for one topic is not opened in another, unless that had the key before', async () => {
  for (const policy of ['REJECT', 'PASSTHROUGH_UNENCRYPTED'] as const) {
    const filter = await setUp({ policy });
    const bytes = await sealed(filter);
    assert.deepEqual(await fetched(filter, 'other', bytes), ['CORRUPT_MESSAGE']);
    assert.deepEqual(await fetched(filter, 'keyless', bytes), ['RESOURCE_NOT_FOUND']);
    assert.deepEqual(await fetched(filter, 'secret', bytes), ['hello']);
    assert.deepEqual(await fetched(filter, 'other', bytes), ['CORRUPT_MESSAGE']);
    const moved = await setUp({ policy, formerKeys: [['KEK-other', [kek]]] });
    assert.deepEqual(await fetched(moved, 'other', bytes), ['hello']);
    await filter.close();
    await moved.close();
  }
});

test('between topics that share a key a broker can move records', async () => {
  const filter = await setUp({ policy: 'REJECT', aliasOf: () => 'KEK-secret' });
  assert.deepEqual(await fetched(filter, 'another', await sealed(filter)), ['hello']);
  await filter.close();
});

test('a value in the clear is refused where all must be sealed; a tombstone is not', async () => {
  const strict = await setUp({ policy: 'REJECT' });
  const lenient = await setUp();
  const tombstone = encodeBatch({}, [
    { offsetDelta: 0, timestampDelta: 0, key: null, value: null, headers: [] },
  ]);
  const bytes = await sealed(strict);
  const [mark] = readBatches(bytes).batches[0]!.records();
  const mixed = encodeBatch({}, [mark!, { ...mark!, offsetDelta: 1, value: Buffer.from('x'), headers: [] }]);
  for (const topic of ['secret', 'keyless']) {
    assert.deepEqual(await fetched(strict, topic, records('clear'), tombstone), [
      'CORRUPT_MESSAGE',
      undefined,
    ]);
    assert.deepEqual(await fetched(lenient, topic, records('clear'), tombstone), ['clear', undefined]);
  }
  assert.deepEqual(await fetched(strict, 'secret', mixed, bytes), ['CORRUPT_MESSAGE', 'hello']);
  assert.deepEqual(await fetched(lenient, 'secret', mixed), ['hello']);
  const control = encodeBatch({ control: true }, [mark!]);
  assert.equal(await strict.fetch(fetchResponse(control)), undefined);
  await strict.close();
  await lenient.close();
});

test('what a key has opened before is opened also when nobody says whose key it is', async () => {
  let down = false;
  const kms = inMemoryKms(inMemorySchema.parse({ existingKeks }));
  const resolveAlias = (alias: string) =>
    down ? Promise.reject(new Error('down')) : kms.resolveAlias(alias);
  const limits = { ...DEFAULT_LIMITS, resolvedAliasExpireAfterWriteSeconds: 0 };
  const filter = await setUp({ kms: { resolveAlias }, limits });
  const bytes = await sealed(filter);
  assert.deepEqual(await fetched(filter, 'secret', bytes), ['hello']);
  down = true;
  assert.deepEqual(await fetched(filter, 'secret', bytes), ['hello']);
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
  const stranger = await setUp({ kms: inMemoryKms(inMemorySchema.parse({})) });
  const verdict = await stranger.fetch(fetchResponse(records('clear'), await sealed(filter)));
  assert.ok(verdict && 'forward' in verdict);
  const [one, two] = verdict.forward.responses[0]!.partitions;
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

test('with our format produce seals and fetch opens, in that topic and partition alone', async () => {
  const filter = await setUp({ policy: 'REJECT', format: 'isthmus/1', aliasOf: () => 'KEK-secret' });
  const bytes = await sealed(filter);
  assert.equal(bytes.includes('hello'), false);
  assert.deepEqual(await fetched(filter, 'secret', bytes), ['hello']);
  assert.deepEqual(await fetched(filter, 'secret', bytes, bytes), ['hello', 'CORRUPT_MESSAGE']);
  assert.deepEqual(await fetched(filter, 'other', bytes), ['CORRUPT_MESSAGE']);
  const shared = await filter.shareFetch(fetchedFrom({}, bytes) as unknown as Responses['ShareFetch']);
  assert.ok(shared && 'forward' in shared);
  assert.equal(valueOf(shared.forward.responses[0]!.partitions[0]!.records), 'hello');
  await filter.close();
});

test('both formats are read, whichever is written', async () => {
  const aliasOf = () => 'KEK-secret';
  const old = await setUp({ policy: 'REJECT', aliasOf });
  const ours = await setUp({ policy: 'REJECT', format: 'isthmus/1', aliasOf });
  assert.deepEqual(await fetched(old, 'secret', await sealed(ours)), ['hello']);
  assert.deepEqual(await fetched(ours, 'secret', await sealed(old)), ['hello']);
  await old.close();
  await ours.close();
});

test('what rules leave in the clear passes untouched, and what they refuse is neither written nor read', async () => {
  const filter = await setUp({
    policyOf: (topic) => ({ action: topic === 'open' ? 'plain' : 'refuse' }),
  });
  assert.equal(await filter.produce(produceRequest({ name: 'open' })), undefined);
  assert.equal(await filter.fetch(fetchedFrom({ topic: 'open' }, records())), undefined);
  const verdict = await filter.produce(produceRequest({ name: 'closed' }));
  assert.deepEqual(verdict, {
    answer: 'TOPIC_AUTHORIZATION_FAILED',
    message: 'no rule lets the topic closed be written',
  });
  assert.deepEqual(await fetched(filter, 'closed', records()), ['TOPIC_AUTHORIZATION_FAILED']);
  await filter.close();
});

test('batches that cannot be opened are left out and counted where that is wanted, but not for want of a key service', async () => {
  const down = { decryptEdek: () => Promise.reject(new Error('down')) };
  for (const format of ['kroxylicious/2', 'isthmus/1'] as const) {
    const filter = await setUp({ policy: 'REJECT', unopenable: 'skip', format });
    const bytes = await sealed(filter);
    const response = fetchResponse(Buffer.concat([records('clear'), bytes]));
    await filter.fetch(response);
    const { batches } = readBatches(response.responses[0]!.partitions[0]!.records!);
    assert.deepEqual(
      batches.map(({ count }) => count),
      [0, 1],
    );
    const report = JSON.stringify(await filter.metrics.snapshot());
    assert.match(report, /unopened_batches_total.*"outcome":"skipped".*"value":1/);
    const away = await setUp({ policy: 'REJECT', unopenable: 'skip', format, kms: down });
    assert.deepEqual(await fetched(away, 'secret', bytes), ['NOT_LEADER_OR_FOLLOWER']);
    await filter.close();
    await away.close();
  }
});
