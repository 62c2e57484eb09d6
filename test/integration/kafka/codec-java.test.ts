/** The codec against Kafka's own Java classes: every API, every version, both directions. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { requestCodec, responseCodec } from '../../../src/kafka/codec.ts';
import { errorResponse } from '../../../src/kafka/error-response.ts';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { requestHeaderVersion, responseHeaderVersion } from '../../../src/kafka/frame.ts';
import { KINDS, messagesOf, plainMessage, project } from '../../support/kafka/messages.ts';
import type { Kind, Values } from '../../support/kafka/messages.ts';
import { SEED } from '../../support/seed.ts';
import { startHarness } from './harness/harness.ts';
import type { Harness } from './harness/harness.ts';
import { parseExactly, toJson, withRecordSizes } from './harness/json.ts';

const SAMPLES = Number(process.env['ISTHMUS_JAVA_SAMPLES'] ?? 6);
const CODE = ERRORS.TOPIC_AUTHORIZATION_FAILED.code;

/** Where Java fills in placeholders that no client looks at. */
const REFUSED_DIFFERENTLY = new Set(['CreateDelegationToken', 'DescribeUserScramCredentials']);

suite('codec and Java', () => {
  let java: Harness;
  before(async () => {
    java = await startHarness();
  });
  after(() => java?.stop());

  const samples = (kind: Kind) =>
    fc.sample(messagesOf(kind, { unknownTags: false }), { numRuns: SAMPLES, seed: SEED });
  const ask = (question: string, { side, api, version }: Kind, rest: string) =>
    java.ask(question, side, api.key, version, rest);

  /** What Java wrote, byte by byte what we write, and the same values read from each other's bytes. */
  async function compare(kind: Kind, message: Values): Promise<void> {
    const what = `${kind.codec.what}, seed ${SEED}`;
    const json = toJson(kind, message);
    const ours = kind.encode(message).toString('base64');
    const [theirs = ''] = await ask('encode', kind, json);
    assert.equal(theirs, ours, what);
    assert.deepEqual(project(kind.codec.decode(Buffer.from(theirs, 'base64')), message), message, what);
    const [read = '', again] = await ask('decode', kind, ours);
    assert.deepEqual(parseExactly(read), withRecordSizes(parseExactly(json)), what);
    assert.equal(again, ours, what);
  }

  test('what Java writes we read, what we write Java reads, and the bytes are the same', async () => {
    await Promise.all(KINDS.map((kind) => Promise.all(samples(kind).map((each) => compare(kind, each)))));
  });

  test('tagged fields that neither knows pass through both alike', async () => {
    for (const kind of KINDS) {
      const [message] = fc.sample(messagesOf(kind, { unknownTags: true }), { numRuns: 1, seed: SEED });
      const ours = kind.encode(message!).toString('base64');
      const [, again] = await ask('decode', kind, ours);
      assert.equal(again, ours, `${kind.codec.what}, seed ${SEED}`);
    }
  });

  test('headers have the versions that Java gives them', async () => {
    for (const { api, version } of KINDS) {
      const ours = [requestHeaderVersion(api.key, version), responseHeaderVersion(api.key, version)].map(
        String,
      );
      assert.deepEqual(await java.ask('header', api.key, version), ours, `${api.name} v${version}`);
    }
  });

  test('a refused request gets the response that a broker would send', async () => {
    const requests = KINDS.filter(
      ({ side, api }) => side === 'request' && !REFUSED_DIFFERENTLY.has(api.name),
    );
    for (const kind of requests) {
      const { api, version } = kind;
      const codec = responseCodec(api.key, version);
      const bytes = kind.encode(plainMessage(kind.schema.fields));
      const refusal = errorResponse(api.key, version, requestCodec(api.key, version).decode(bytes), CODE);
      const [theirs = ''] = await java.ask('refuse', api.key, version, bytes.toString('base64'), CODE);
      const ours = codec.decode(codec.encode(refusal));
      const expected = codec.decode(Buffer.from(theirs, 'base64'));
      assert.deepEqual(comparable(ours), comparable(expected), `${api.name} v${version}`);
    }
  });

  test('error codes are those of Java', async () => {
    const [table = ''] = await java.ask('errors');
    const ours = Object.entries(ERRORS).map(([name, { code, retriable }]) => `${name} ${code} ${retriable}`);
    assert.equal(table, ours.join(' '));
  });
});

/** Without messages, which are ours to word, and without order, which Java's hash maps do not keep. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => JSON.stringify(comparable(each))).toSorted();
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== 'errorMessage');
  return Object.fromEntries(entries.map(([name, each]) => [name, comparable(each)]));
}
