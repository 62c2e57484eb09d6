import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { recordSchema, typeOf } from '../../../../test/support/avro.ts';
import { KINDS, messagesOf } from '../../../../test/support/kafka/messages.ts';
import type { Kind, Values } from '../../../../test/support/kafka/messages.ts';
import {
  aboutMessage,
  receivedRequest,
  receivedResponse,
  versionsOf,
} from '../../../../test/support/kafka/received.ts';
import { turnsDuring } from '../../../../test/support/turns.ts';
import { COMPRESSIONS } from '../../../kafka/records/compression.ts';
import { readBatches } from '../../../kafka/records/batch.ts';
import type { BatchHead } from '../../../kafka/records/batch.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import type { Responses } from '../../../kafka/schemas/types.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import { atOnce } from '../../../ops/time-slice.ts';
import type { ConnectionContext, FilterSetting } from '../../filter.ts';
import { maskingSchema } from './config.ts';
import { maskSteps } from './json.ts';
import { masking } from './masking.ts';

const maskJson = (value: Buffer, paths: string[][], instead: string) =>
  atOnce(maskSteps(value, paths, Buffer.from(instead)));
const mask = (text: string, ...fields: string[]) =>
  maskJson(
    Buffer.from(text),
    fields.map((field) => field.split('.')),
    '"***"',
  )?.toString();

test('fields are masked where their path leads, and everything else stays as it was written', () => {
  assert.equal(
    mask(
      ' { "id": 12345678901234567890, "card" : { "number": "4111", "to": 1.0 } , "ok":true}',
      'card.number',
    ),
    ' { "id": 12345678901234567890, "card" : { "number": "***", "to": 1.0 } , "ok":true}',
  );
  assert.equal(mask('{"a":{"b":1},"b":2}', 'a.b'), '{"a":{"b":"***"},"b":2}');
  assert.equal(
    mask('{"items":[{"p":1},{"p":[2,3]},{"q":{"p":4}}]}', 'items.*.p'),
    '{"items":[{"p":"***"},{"p":"***"},{"q":{"p":4}}]}',
  );
  assert.equal(mask('[[1,2],[3]]', '*.0'), '[["***",2],["***"]]');
  assert.equal(mask('{"x":{"a":1,"b":null}}', 'x.*'), '{"x":{"a":"***","b":"***"}}');
  assert.equal(mask('{"a":1}', 'b', 'a.b'), undefined);
});

test('no way of writing a key hides it, nor does writing it twice', () => {
  assert.equal(mask('{"em\\u0061il":"x"}', 'email'), '{"em\\u0061il":"***"}');
  assert.equal(mask('{"a":1,"a":"2"}', 'a'), '{"a":"***","a":"***"}');
  assert.equal(mask('{"s":"{\\"email\\":1}","email":"}"}', 'email'), '{"s":"{\\"email\\":1}","email":"***"}');
});

test('what is not JSON is masked as a whole', () => {
  for (const text of [
    '',
    'plain',
    '{"a":1',
    '{"a":1}{"a":2}',
    '\ufeff{"a":1}',
    '{a:1}',
    '['.repeat(500) + ']'.repeat(500),
  ])
    assert.equal(mask(text, 'a'), '"***"', text.slice(0, 20));
  assert.equal(maskJson(Buffer.from([0x7b, 0xff, 0x7d]), [['a']], 'null')?.toString(), 'null');
  assert.equal(maskJson(Buffer.from([0, 0, 0, 0, 1, 0x7b, 0x7d]), [['a']], 'null')?.toString(), 'null');
});

test('whatever the value, what is masked is gone from it, and what is not is there', () => {
  const secret = 'canary-7f3c';
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.nat(3), (other, inner, indent) => {
      const document = { before: other, secret: { value: secret, inner }, after: [other, { secret }] };
      const text = JSON.stringify(document, undefined, indent);
      const masked = mask(text, 'secret', 'after.*.secret')!;
      assert.ok(!masked.includes(secret));
      assert.deepEqual(
        JSON.parse(masked),
        JSON.parse(JSON.stringify({ before: other, secret: '***', after: [other, { secret: '***' }] })),
      );
    }),
  );
});

const RULES = {
  rules: [
    { topics: ['customers', 'crm.*'], fields: ['card.number', 'email'], except: ['auditor', 'team-*'] },
    { topics: ['customers'], fields: ['phone'], mask: null },
  ],
};
const VALUE = '{"email":"a@b.c","phone":"123","n":1}';
const HEAD: Partial<BatchHead> = {
  baseOffset: 41n,
  lastOffsetDelta: 7,
  baseTimestamp: 1000n,
  maxTimestamp: 1005n,
  producerId: 9n,
  producerEpoch: 2,
  baseSequence: 3,
  transactional: true,
};
const record = (offsetDelta: number, value: string | null) => ({
  offsetDelta,
  timestampDelta: offsetDelta,
  key: Buffer.from('k'),
  value: value === null ? null : Buffer.from(value),
  headers: [{ key: 'h', value: Buffer.from('email') }],
});

/** Ids of topics, as brokers give them. */
const CUSTOMERS = 'AAAAAAAAAAAAAAAAAAAAAQ';
const NOTHING = 'AAAAAAAAAAAAAAAAAAAAAg';

/** The newest versions that clients may use. */
const NEWEST = { Fetch: 12, ShareFetch: versionsOf('ShareFetch').at(-1)! };

async function connect(principal?: string, rules: object = RULES) {
  const setting = { virtualCluster: 'vc', name: 'm', metrics: createMetrics() } as FilterSetting;
  const filter = await masking.create(maskingSchema.parse(rules), setting);
  const asked: string[] = [];
  const topicNames = async (ids: Iterable<string>) => {
    asked.push(...ids);
    return new Map([[CUSTOMERS, 'customers']]);
  };
  const connection = filter.connect({ principal, topicNames } as unknown as ConnectionContext);
  type Handler = (response: object, about: object) => Promise<{ forward: object } | undefined>;
  /** True if that changed the response. */
  const answer = async (api: 'Fetch' | 'ShareFetch', version: number, response: object) =>
    (await (connection.onResponse![api] as unknown as Handler)(response, aboutMessage(api, version))) !==
    undefined;
  const fetch = async (topic: object, records: Buffer, api: 'Fetch' | 'ShareFetch' = 'Fetch') => {
    const body = { responses: [{ ...topic, partitions: [{ errorCode: 0, records }] }] };
    const response = receivedResponse(api, NEWEST[api], body) as Responses['Fetch'];
    const changed = await answer(api, NEWEST[api], response);
    const [partition] = response.responses[0]!.partitions;
    return { changed, errorCode: partition!.errorCode, records: partition!.records! };
  };
  return { connection, answer, fetch, asked };
}
const valuesOf = (records: Buffer) =>
  readBatches(records).batches.flatMap((batch) => [...batch.records()].map(({ value }) => value?.toString()));

test('readers see masked values, whatever the compression, with the offsets, times and keys that there were', async () => {
  const { fetch } = await connect();
  for (const compression of COMPRESSIONS) {
    const records = [record(0, VALUE), record(3, null), record(5, 'not json')];
    const before = encodeBatch({ ...HEAD, compression }, records);
    const { records: after, changed } = await fetch(
      { topic: 'customers' },
      Buffer.concat([before, before.subarray(0, 70)]),
    );
    assert.equal(changed, true);
    assert.deepEqual(valuesOf(after), ['{"email":"***","phone":null,"n":1}', undefined, '"***"']);
    const [was, is] = [before, after].map((bytes) => readBatches(bytes).batches[0]!);
    for (const name of Object.keys(HEAD) as (keyof BatchHead)[]) assert.equal(is![name], was![name], name);
    assert.deepEqual(
      [...is!.records()].map((each) => ({ ...each, value: null })),
      records.map((each) => ({ ...each, value: null })),
    );
  }
});

test('who is excepted sees all, other topics pass as they are, and control batches too', async () => {
  const batch = encodeBatch(HEAD, [record(0, VALUE)]);
  for (const principal of ['auditor', 'team-red']) {
    const { records } = await (await connect(principal)).fetch({ topic: 'crm.people' }, batch);
    assert.ok(records.equals(batch));
    // The second rule has no exception.
    const other = await (await connect(principal)).fetch({ topic: 'customers' }, batch);
    assert.deepEqual(valuesOf(other.records), ['{"email":"a@b.c","phone":null,"n":1}']);
  }
  const { fetch } = await connect('somebody');
  assert.equal((await fetch({ topic: 'orders' }, batch)).changed, false);
  const control = encodeBatch({ ...HEAD, control: true }, [record(0, 'marker')]);
  assert.ok((await fetch({ topic: 'customers' }, control)).records.equals(control));
});

test('values in Avro stay values in Avro, and one that is none is masked as a whole, alone', async () => {
  const schema = recordSchema('Person', { id: 'long', email: ['null', 'string'] });
  const type = typeOf(schema);
  const rules = [{ topics: ['crm.*'], fields: ['email'], except: ['auditor'], avro: { schema } }];
  const of = (...values: Buffer[]) =>
    encodeBatch(
      HEAD,
      values.map((value, i) => ({ ...record(i, ''), value })),
    );
  const given = { id: 1, email: 'a@b.c' };
  const batch = of(type.toBuffer(given), Buffer.from('{"id":1}'), type.toBuffer({ id: 2, email: null }));
  const masked = of(
    type.toBuffer({ id: 1, email: '***' }),
    Buffer.from('"***"'),
    type.toBuffer({ id: 2, email: '***' }),
  );
  const { records } = await (await connect('somebody', { rules })).fetch({ topic: 'crm.people' }, batch);
  assert.ok(records.equals(masked));
  const excepted = await (await connect('auditor', { rules })).fetch({ topic: 'crm.people' }, batch);
  assert.ok(excepted.records.equals(batch));
});

test('others have their turns while one long value, or very many, are masked', async () => {
  const fields = ['*.email', ...Array.from({ length: 50 }, (_, i) => `${i}.other`)];
  const { fetch } = await connect(undefined, { rules: [{ topics: ['*'], fields }] });
  const item = (email: string) => `{"n":[1,2,3],"text":"a \\"word\\"","email":${email}}`;
  const list = (email: string) => `[${Array<string>(100_000).fill(item(email)).join()}]`;
  const many = Array.from({ length: 100_000 }, (_, i) => record(i, '[{"email":1}]'));
  for (const [batch, masked] of [
    [encodeBatch({}, [record(0, list('"x"'))]), [list('"***"')]],
    [encodeBatch({ compression: 'gzip' }, many), many.map(() => '[{"email":"***"}]')],
    [encodeBatch({}, [record(0, `["${'\\"'.repeat(2_000_000)}"]`)]), [`["${'\\"'.repeat(2_000_000)}"]`]],
  ] as const) {
    const { result, turns } = await turnsDuring(() => fetch({ topic: 'customers' }, batch));
    assert.ok(turns > 20, `${turns} turns`);
    assert.ok(valuesOf(result.records).join() === masked.join());
  }
});

test('what would become far longer, or has no end of fields, is masked as a whole', () => {
  const zeros = (count: number) => `[${Array<number>(count).fill(0).join()}]`;
  assert.equal(mask(zeros(1_100_000), '*'), '"***"');
  assert.equal(mask(zeros(900_000), '*')?.length, 900_000 * 6 + 1);
  const long = `"${'x'.repeat(999)}"`;
  assert.equal(maskJson(Buffer.from(zeros(1000)), [['*']], long)?.toString(), long);
  assert.equal(maskJson(Buffer.from(zeros(10)), [['*']], long)?.length, 10 * 1002 + 1);
});

test('share groups are masked by the names of their ids, and what cannot be named or read is not shown', async () => {
  const { connection, fetch, asked } = await connect();
  assert.deepEqual(connection.newestVersions, { Fetch: 12 });
  for (const version of versionsOf('ShareFetch')) {
    const request = receivedRequest('ShareFetch', version, { topics: [{ topicId: CUSTOMERS }] });
    await connection.onRequest!.ShareFetch!(request, aboutMessage('ShareFetch', version));
    assert.deepEqual(asked.splice(0), [CUSTOMERS]);
  }
  const batch = encodeBatch(HEAD, [record(0, VALUE)]);
  const shared = await fetch({ topicId: CUSTOMERS }, batch, 'ShareFetch');
  assert.deepEqual(valuesOf(shared.records), ['{"email":"***","phone":null,"n":1}']);
  const unknown = await fetch({ topicId: NOTHING }, batch, 'ShareFetch');
  assert.deepEqual([unknown.errorCode, unknown.records.length], [100, 0]);
  const broken = Buffer.from(batch);
  broken[broken.length - 1]! ^= 1;
  const corrupt = await fetch({ topic: 'customers' }, broken);
  assert.deepEqual([corrupt.errorCode, corrupt.records.length], [2, 0]);
});

/** A response with the same records in every partition, all of the one topic. */
function withRecords({ api }: Kind, message: Values, records: Buffer): Values {
  const topic = api.name === 'Fetch' ? { topic: 'customers' } : { topicId: CUSTOMERS };
  const responses = message['responses'] as { partitions: Values[] }[];
  const filled = responses.map((each) => ({
    ...each,
    ...topic,
    partitions: each.partitions.map((partition) => ({ ...partition, errorCode: 0, records })),
  }));
  return { ...message, responses: filled };
}

test('in every version that clients may use values are masked, and nothing else of a response is changed', async () => {
  const { answer } = await connect();
  const clear = encodeBatch(HEAD, [record(0, VALUE)]);
  const masked = encodeBatch(HEAD, [record(0, '{"email":"***","phone":null,"n":1}')]);
  let changed = 0;
  const seen = KINDS.filter(
    ({ api, side, version }) => side === 'response' && version <= (NEWEST[api.name as 'Fetch'] ?? -1),
  );
  for (const kind of seen)
    await fc.assert(
      fc.asyncProperty(messagesOf(kind, { unknownTags: true }), async (message) => {
        const response = kind.codec.decode(kind.encode(withRecords(kind, message, clear)));
        changed += Number(await answer(kind.api.name as 'Fetch', kind.version, response));
        const expected = kind.encode(withRecords(kind, message, masked));
        assert.ok(kind.encode(response).equals(expected), kind.codec.what);
      }),
      { numRuns: 20 },
    );
  assert.ok(seen.length > 10 && changed > seen.length, `${changed} in ${seen.length} versions`);
});

test('a configuration that means nothing is refused', () => {
  for (const rule of [
    { topics: [], fields: ['a'] },
    { topics: ['a'], fields: [] },
    { topics: ['a'], fields: ['a..b'] },
  ])
    assert.equal(maskingSchema.safeParse({ rules: [rule] }).success, false);
});
