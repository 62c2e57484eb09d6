import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { KINDS, messagesOf } from '../../../../test/support/kafka/messages.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { audit } from './audit.ts';
import { createSummaries } from './summaries.ts';

type Handler = (message: object, context: MessageContext) => unknown;

/** The filter on one connection, and what it has written. */
async function setUp(config: object = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const metrics = createMetrics();
  const setting = { virtualCluster: 'vc', name: 'audit', log, metrics } as unknown as FilterSetting;
  const filter = await audit.create(audit.config.parse(config), setting);
  const context = {
    virtualCluster: 'vc',
    gateway: 'local',
    clientAddress: '192.0.2.1',
    principal: 'CN=alice',
    log,
    topicNames: async (ids: Iterable<string>) => new Map([...ids].map((id) => [id, `name of ${id}`])),
  };
  const connection = filter.connect(context as unknown as ConnectionContext);
  const about = (api: ApiName, correlationId: number) => ({
    api,
    apiVersion: 1,
    correlationId,
    clientId: 'c',
    bytes: 0,
  });
  return {
    lines,
    metrics,
    connection,
    request: async (api: ApiName, id: number, body: object) =>
      (connection.onRequest![api] as Handler)(body, about(api, id)),
    response: (api: ApiName, id: number, body: object) =>
      (connection.onResponse![api] as Handler)(body, about(api, id)),
  };
}

const WHO = {
  level: 30,
  logger: 'audit',
  virtualCluster: 'vc',
  gateway: 'local',
  client: '192.0.2.1',
  principal: 'CN=alice',
  msg: 'audit',
  clientId: 'c',
};

test('a change is written down with who, what and what came of it, when that is known', async () => {
  const { lines, request, response, metrics } = await setUp();
  await request('CreateTopics', 1, { topics: [{ name: 'a' }, { name: 'b' }] });
  await request('DeleteGroups', 2, { groupsNames: ['g', 'g'] });
  assert.deepEqual(lines, []);
  response('CreateTopics', 1, {
    topics: [
      { name: 'a', errorCode: 0 },
      { name: 'b', errorCode: 36 },
    ],
  });
  response('DeleteGroups', 2, { results: [{ groupId: 'g', errorCode: 0 }] });
  assert.deepEqual(lines, [
    { ...WHO, api: 'CreateTopics', topics: ['a', 'b'], outcome: 'errors', errors: ['TOPIC_ALREADY_EXISTS'] },
    { ...WHO, api: 'DeleteGroups', groups: ['g'], outcome: 'done' },
  ]);
  assert.match(
    JSON.stringify(await metrics.snapshot()),
    /audit_entries_total.*"api":"CreateTopics".*"value":1/,
  );
});

test('what was never answered is written down when the connection ends', async () => {
  const { lines, request, connection } = await setUp();
  await request('DeleteTopics', 1, { topicNames: ['a'], topics: [] });
  connection.onClose!();
  assert.deepEqual(lines, [{ ...WHO, api: 'DeleteTopics', topics: ['a'], outcome: 'unknown' }]);
});

test('an id that is used twice hides nothing', async () => {
  const { lines, request, response, connection } = await setUp();
  await request('DeleteTopics', 1, { topicNames: ['a'], topics: [] });
  await request('CreateTopics', 1, { topics: [{ name: 'b' }] });
  await request('DeleteTopics', 1, { topicNames: ['c'], topics: [] });
  response('DeleteTopics', 1, { responses: [{ errorCode: 29 }] });
  response('CreateTopics', 1, { topics: [] });
  connection.onClose!();
  assert.deepEqual(
    lines.map(({ topics, outcome }) => [topics, outcome]),
    [
      [['a'], 'errors'],
      [['b'], 'done'],
      [['c'], 'unknown'],
    ],
  );
});

test('records are counted by topic, also those that want no answer', async () => {
  const { lines, request, response, connection } = await setUp();
  const body = { acks: -1, topicData: [{ name: 'orders', partitionData: [] }] };
  for (const id of [1, 2, 3]) {
    await request('Produce', id, body);
    const errorCode = id === 3 ? 29 : 0;
    response('Produce', id, { responses: [{ name: 'orders', partitionResponses: [{ errorCode }] }] });
  }
  await request('Produce', 4, { ...body, acks: 0 });
  connection.onClose!();
  const errors = ['TOPIC_AUTHORIZATION_FAILED'];
  assert.deepEqual(lines, [{ ...WHO, api: 'Produce', topic: 'orders', requests: 4, unanswered: 1, errors }]);
});

test('topics that are given by id are written with their names', async () => {
  const { lines, request, connection } = await setUp();
  const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';
  await request('Produce', 1, { acks: 0, topicData: [{ name: '', topicId, partitionData: [] }] });
  connection.onClose!();
  assert.equal(lines[0]!['topic'], `name of ${topicId}`);
});

test('summaries are written when their time has come, and all at once when there are too many', () => {
  const written: object[] = [];
  let now = 0;
  const summaries = createSummaries(
    1000,
    (_api, fields) => void written.push(fields),
    () => now,
  );
  summaries.add('Produce', 'c', ['a'], []);
  now = 999;
  summaries.add('Produce', 'c', ['a'], []);
  assert.equal(written.length, 0);
  now = 1000;
  summaries.add('Produce', 'c', [], []);
  assert.deepEqual(written, [{ clientId: 'c', topic: 'a', requests: 2 }]);
  for (let i = 0; i < 1000; i++) summaries.add('Fetch', 'c', [`topic ${i}`], []);
  assert.ok(written.length >= 900);
});

test('a million names make a short line', async () => {
  const { lines, request, response } = await setUp();
  await request('CreateTopics', 1, { topics: Array.from({ length: 1000 }, (_, i) => ({ name: `t${i}` })) });
  response('CreateTopics', 1, { topics: [] });
  assert.equal((lines[0]!['topics'] as string[]).length, 50);
  assert.equal(lines[0]!['more'], 950);
  await request('CreateTopics', 2, {
    topics: Array.from({ length: 50 }, (_, i) => ({ name: `${i}${'x'.repeat(30_000)}` })),
  });
  response('CreateTopics', 2, { topics: [] });
  assert.ok(JSON.stringify(lines[1]).length < 40_000);
  assert.match((lines[1]!['topics'] as string[])[7]!, /^7x+… \(30001 characters\)$/);
});

test('every API and version passes untouched, and nothing secret is written', async () => {
  const { lines, request, response } = await setUp({ apis: ['all'] });
  const secret = Buffer.from('hunter2-hunter2');
  for (const kind of KINDS.filter(({ api }) => !['ApiVersions', 'SaslHandshake'].includes(api.name)))
    await fc.assert(
      fc.asyncProperty(messagesOf(kind, { unknownTags: true }), async (message) => {
        for (const field of ['authBytes', 'hmac']) if (field in message) message[field] = secret;
        const decoded = kind.codec.decode(kind.encode(message));
        const handle = kind.side === 'request' ? request : response;
        assert.equal(await handle(kind.api.name, 1, decoded), undefined);
        assert.ok(kind.encode(decoded).equals(kind.encode(message)), kind.codec.what);
      }),
      { numRuns: 2 },
    );
  assert.ok(lines.length > 100);
  assert.ok(!JSON.stringify(lines).includes('hunter2'));
});

test('a word that is no API is named', () => {
  for (const word of ['nonsense', 'constructor', '__proto__', 'toString']) {
    const result = audit.config.safeParse({ apis: ['changes', 'CREATE_TOPICS', word] });
    assert.match(JSON.stringify(result.error?.issues ?? []), /"path":\["apis",2\]/, word);
  }
});
