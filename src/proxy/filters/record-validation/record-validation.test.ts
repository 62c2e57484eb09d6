import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cpuMs } from '../../../../test/support/cpu.ts';
import { turnsDuring } from '../../../../test/support/turns.ts';
import { errorOf } from '../../../kafka/errors.ts';
import type { KafkaRecord } from '../../../kafka/records/batch.ts';
import { COMPRESSIONS } from '../../../kafka/records/compression.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { atOnce } from '../../../ops/time-slice.ts';
import { problemSteps } from './check.ts';
import { jsonSteps } from '../../../kafka/records/json.ts';
import { createJsonScanner } from '../../../kafka/records/json-scanner.ts';
import { recordValidation } from './record-validation.ts';

const record = (more: Partial<KafkaRecord> = {}): KafkaRecord => ({
  offsetDelta: 0,
  timestampDelta: 0,
  key: Buffer.from('k'),
  value: Buffer.from('{"a":1}'),
  headers: [],
  ...more,
});
const values = (...list: string[]) =>
  list.map((value, offsetDelta) => record({ offsetDelta, value: Buffer.from(value) }));

const JSON_RULE = { topicNames: ['orders'], valueRule: { syntacticallyCorrectJson: {} } };

async function setUp(config: object) {
  const metrics = createMetrics();
  const setting = { virtualCluster: 'vc', name: 'f', metrics } as FilterSetting;
  const filter = await recordValidation.create(recordValidation.config.parse(config), setting);
  const { onRequest, onResponse } = filter.connect({} as ConnectionContext);
  const about = (apiVersion: number) => ({ api: 'Produce', apiVersion, correlationId: 1 }) as MessageContext;
  return {
    metrics,
    produce: async (topicData: object[], version = 12) =>
      onRequest!.Produce!({ acks: -1, topicData } as Requests['Produce'], about(version)),
    response: async (body: object) => onResponse!.Produce!(body as Responses['Produce'], about(12)),
  };
}

const topic = (name: string, ...batches: Buffer[]) => ({
  name,
  partitionData: batches.map((records, index) => ({ index, records })),
});

test('good records pass untouched, with every compression; bad ones are refused with their numbers', async () => {
  const { produce, metrics } = await setUp({ rules: [JSON_RULE] });
  for (const compression of COMPRESSIONS) {
    const good = encodeBatch({ compression }, values('{}', '[1]', '"x"'));
    assert.equal(await produce([topic('orders', good)]), undefined);
    const bad = encodeBatch({ compression }, values('{}', '{', 'x'));
    for (const version of [3, 7, 8, 12]) {
      const verdict = await produce([topic('orders', bad)], version);
      assert.ok(verdict && 'respond' in verdict);
      const [partition] = (verdict.respond as Responses['Produce']).responses[0]!.partitionResponses;
      assert.equal(errorOf(partition!.errorCode).name, 'INVALID_RECORD');
      if (version < 8) continue;
      assert.equal(partition!.errorMessage, 'record 1 of the batch: the value is not JSON');
      assert.deepEqual(
        partition!.recordErrors.map(({ batchIndex }) => batchIndex),
        [1, 2],
      );
    }
  }
  assert.match(JSON.stringify(await metrics.snapshot()), /refused_total.*"value":20/);
});

test('other partitions and topics of a request go on, and the response has all of them', async () => {
  const { produce, response } = await setUp({ rules: [JSON_RULE] });
  const [good, bad] = [encodeBatch({}, values('{}')), encodeBatch({}, values('no'))];
  const verdict = await produce([topic('orders', bad, good), topic('free', bad)]);
  assert.ok(verdict && 'forward' in verdict);
  assert.deepEqual(
    verdict.forward.topicData.map(({ name, partitionData }) => [
      name,
      partitionData.map(({ index }) => index),
    ]),
    [
      ['orders', [1]],
      ['free', [0]],
    ],
  );
  const answered = await response({
    responses: [{ name: 'free', partitionResponses: [{ index: 0, errorCode: 0 }] }],
  });
  assert.ok(answered && 'forward' in answered);
  assert.deepEqual(
    answered.forward.responses.map(({ name, partitionResponses }) => [
      name,
      partitionResponses[0]!.errorCode,
    ]),
    [
      ['free', 0],
      ['orders', 87],
    ],
  );
  assert.equal(await response({ responses: [] }), undefined);
  await produce([topic('orders', bad, good)]);
  const together = await response({ responses: [topicResponse('orders', 1)] });
  assert.ok(together && 'forward' in together);
  assert.deepEqual(
    together.forward.responses.map(({ partitionResponses }) => partitionResponses.map(({ index }) => index)),
    [[1, 0]],
  );
});

test('a request that names very many topics is answered as soon as any', async () => {
  const { produce, response } = await setUp({ defaultRule: JSON_RULE_OF_ALL });
  const [good, bad] = [encodeBatch({}, values('{}')), encodeBatch({}, values('no'))];
  const names = Array.from({ length: 60_000 }, (_, i) => `topic-with-a-long-name-in-common-${i}`);
  assert.ok(await produce(names.map((name) => topic(name, bad, good))));
  const responses = names.toReversed().map((name) => topicResponse(name, 1));
  let answering: ReturnType<typeof response> | undefined;
  const ms = cpuMs(() => (answering = response({ responses })));
  const answered = await answering;
  assert.ok(answered && 'forward' in answered);
  assert.ok(answered.forward.responses.every(({ partitionResponses }) => partitionResponses.length === 2));
  // To look for each among all of them takes ten times as long, and more.
  assert.ok(ms < 2000, `${ms} ms`);
});

const JSON_RULE_OF_ALL = { valueRule: JSON_RULE.valueRule };

const topicResponse = (name: string, index: number) => ({
  name,
  partitionResponses: [{ index, errorCode: 0 }],
});

test('what cannot be read is refused, not passed', async () => {
  const { produce } = await setUp({ defaultRule: { requiredHeaders: ['source'] } });
  const codes = [];
  const broken = encodeBatch({}, values('x'));
  broken[broken.length - 1]! ^= 1;
  for (const bytes of [broken, Buffer.alloc(40), encodeBatch({}, values('x')).subarray(0, -1)]) {
    const verdict = await produce([topic('any', bytes)]);
    assert.ok(verdict && 'respond' in verdict);
    codes.push((verdict.respond as Responses['Produce']).responses[0]!.partitionResponses[0]!.errorCode);
  }
  assert.deepEqual(
    codes.map((code) => errorOf(code).name),
    Array(3).fill('CORRUPT_MESSAGE'),
  );
});

test('what a request unpacks to is bounded for all of its partitions together', async () => {
  const { produce } = await setUp({ defaultRule: { valueRule: {} } });
  const value = Buffer.alloc(4_000_000);
  const packed = encodeBatch({ compression: 'gzip' }, [record({ value })]);
  const plain = encodeBatch({}, [record()]);
  const verdict = await produce([
    topic('one', ...Array<Buffer>(20).fill(packed)),
    topic('two', ...Array<Buffer>(20).fill(packed)),
    topic('three', plain),
  ]);
  assert.ok(verdict && 'forward' in verdict);
  assert.deepEqual(
    verdict.forward.topicData.map(({ name, partitionData }) => [name, partitionData.length]),
    [
      ['one', 20],
      ['two', 13], // 33 times 4 MB, and not 34, are less than 128 MiB
      ['three', 1],
    ],
  );
});

test('sizes, headers, nulls and empty values are as the rule says', () => {
  const rule = (more: object) => recordValidation.config.parse({ defaultRule: more }).ruleOf('t')!;
  const cases: [object, Partial<KafkaRecord>, string | undefined][] = [
    [{ valueRule: {} }, { value: null }, undefined],
    [{ valueRule: { allowNulls: false } }, { value: null }, 'the value is null'],
    [{ valueRule: {} }, { value: Buffer.alloc(0) }, 'the value is empty'],
    [{ valueRule: { allowEmpty: true } }, { value: Buffer.alloc(0) }, undefined],
    [{ keyRule: { allowNulls: false } }, { key: null }, 'the key is null'],
    [{ keyRule: { maxBytes: 2 } }, { key: Buffer.alloc(3) }, 'the key has more than 2 bytes'],
    [{ maxRecordBytes: 8 }, { value: Buffer.alloc(8) }, 'the record has more than 8 bytes'],
    [{ maxRecordBytes: 9 }, { value: Buffer.alloc(8) }, undefined],
    [{ requiredHeaders: ['a'] }, {}, 'the header a is missing'],
    [{ requiredHeaders: ['a'] }, { headers: [{ key: 'a', value: null }] }, undefined],
  ];
  for (const [given, more, expected] of cases)
    assert.equal(atOnce(problemSteps(record(more), rule(given))), expected);
});

const problemOfJson = (text: string | Buffer, uniqueKeys: boolean) =>
  atOnce(jsonSteps(Buffer.from(text), uniqueKeys));
/** The same in pieces of a few bytes. */
function problemInPieces(text: string): string | undefined {
  const bytes = Buffer.from(text);
  const scanner = createJsonScanner(bytes, false);
  for (let at = 0; at < bytes.length; at += 3) {
    const problem = scanner.scan(Math.min(at + 3, bytes.length));
    if (problem !== undefined) return problem;
  }
  return scanner.end();
}

/** JSON, with a letter changed, taken away or put in somewhere. */
const nearlyJson = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom(0, 1),
    fc.constantFrom(...'{}[]",:\\u0e+-.1tn \n\u0001ü'.split(''), ''),
  )
  .map(([text, at, cut, letter]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + letter + text.slice(place + cut);
  });

test('JSON is what JSON.parse takes, whether it is read at once or in pieces', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return undefined;
    } catch {
      return 'is not JSON';
    }
  };
  const numbers = [
    '0',
    '-0',
    '01',
    '-',
    '1.',
    '.5',
    '1.5e',
    '1e+',
    '1E-7',
    '1.50',
    '+1',
    '1e5.',
    '0x1',
    '--1',
  ];
  const others = [
    '',
    ' ',
    '{}',
    '[]',
    '{"a"}',
    '[1,]',
    '{"a":1,}',
    '[',
    '"',
    '"\\',
    '"\\u12',
    '"\\x"',
    'tru',
    'nulll',
    '1 2',
  ];
  const check = (text: string) => {
    if (Buffer.from(text).toString() !== text) return; // half of a pair has no bytes
    for (const problem of [problemOfJson(text, false), problemInPieces(text)])
      assert.equal(problem, isJson(text), text);
  };
  [...numbers, ...others].forEach(check);
  fc.assert(fc.property(fc.oneof(fc.json(), nearlyJson), check), { numRuns: 2000 });
});

test('a key twice is found however it is written', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.equal(problemOfJson(text, true), undefined); // JavaScript's objects have no key twice
    }),
  );
  const twice = [
    '{"a":1,"a":2}',
    '[{"b":{"a":1,"\\u0061":[{}]}}]',
    '{"x":"{","x":1}',
    '{"a":[1,{"a":1}],"a":0}',
  ];
  for (const text of twice) assert.match(problemOfJson(text, true)!, /twice/);
  const once = ['{"a":"a","b":["a","a"],"c":{"a":1}}', '[{"a":1},{"a":1}]', '"\\"a"', '{"a":"\\\\","b":1}'];
  for (const text of once) assert.equal(problemOfJson(text, true), undefined);
  assert.equal(problemOfJson(Buffer.from([0xff]), false), 'is not UTF-8');
  assert.equal(problemOfJson('\ufeff{}', false), 'is not JSON');
});

test('what would take all memory or all time to look at is refused', () => {
  const deep = '['.repeat(40_000) + ']'.repeat(40_000);
  assert.match(problemOfJson(deep, false)!, /more nesting or keys/);
  const keys = Array.from({ length: 120_000 }, (_, i) => `"${i}":1`);
  assert.match(problemOfJson(`{${keys.join(',')}}`, true)!, /more nesting or keys/);
  assert.equal(problemOfJson(`{${keys.join(',')}}`, false), undefined);
  const objects = Array.from({ length: 4 }, (_, i) => `{${keys.slice(i, i + 50_000).join(',')}}`);
  assert.equal(problemOfJson(`[${objects.join(',')}]`, true), undefined); // one after the other
  assert.match(problemOfJson(`{"${'a'.repeat(100_000)}":1}`, true)!, /more nesting or keys/);
});

test('others have their turns while a record, or very many, are looked at', async () => {
  const { produce } = await setUp({
    defaultRule: { valueRule: { syntacticallyCorrectJson: { validateObjectKeysUnique: true } } },
  });
  const long = encodeBatch({}, values(`[${'{"key":[1,2,3],"other":"text"},'.repeat(200_000)}0]`));
  const many = encodeBatch(
    {},
    Array.from({ length: 50_000 }, (_, offsetDelta) => record({ offsetDelta })),
  );
  for (const batch of [long, many]) {
    const { result, turns } = await turnsDuring(() => produce([topic('orders', batch)]));
    assert.equal(result, undefined);
    assert.ok(turns > 20, `${turns} turns`);
  }
});

test('no end of batches or headers is read', async () => {
  const { produce } = await setUp({ defaultRule: { requiredHeaders: ['source'] } });
  const tiny = encodeBatch({}, []);
  const headers = Array.from({ length: 200_000 }, () => ({ key: '', value: null }));
  for (const bytes of [
    Buffer.concat(Array<Buffer>(1001).fill(tiny)),
    encodeBatch({}, [record({ headers })]),
  ]) {
    const verdict = await produce([topic('any', bytes)]);
    assert.ok(verdict && 'respond' in verdict);
    const [partition] = (verdict.respond as Responses['Produce']).responses[0]!.partitionResponses;
    assert.equal(errorOf(partition!.errorCode).name, 'CORRUPT_MESSAGE');
  }
});

test('what needs a server elsewhere is refused, and so are two rules for a topic', () => {
  const check = (config: object) => recordValidation.config.safeParse(config).success;
  assert.equal(check({ rules: [{ topicNames: ['a'], valueRule: { schemaValidationConfig: {} } }] }), false);
  assert.equal(check({ rules: [JSON_RULE, JSON_RULE] }), false);
  assert.equal(check({ rules: [JSON_RULE], defaultRule: { valueRule: {} } }), true);
});
