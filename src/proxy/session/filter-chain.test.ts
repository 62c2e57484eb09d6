import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { KINDS, messagesOf } from '../../../test/support/kafka/messages.ts';
import { apiOf } from '../../kafka/apis.ts';
import { requestCodec, responseCodec } from '../../kafka/codec.ts';
import {
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequest,
  encodeResponse,
} from '../../kafka/frame.ts';
import type { ConnectionFilter } from '../filter.ts';
import type { FrameOutcome } from './direction.ts';
import { createFilterChain } from './filter-chain.ts';

const { key: apiKey } = apiOf('Produce');
const apiVersion = 9;
const produce = (acks = -1) =>
  encodeRequest(
    { apiKey, apiVersion, correlationId: 9, clientId: 'c' },
    { acks, topicData: [{ name: 't', partitionData: [{ index: 4, records: Buffer.from('r') }] }] },
  );
const topicOf = (frame: Buffer) =>
  requestCodec('Produce', apiVersion).decode(frame, decodeRequestHeader(frame, 4).end).topicData[0]?.name;
const context = { api: 'Produce' as const, apiVersion, correlationId: 9, clientId: 'c', bytes: 0 };

const rename = (add: string): ConnectionFilter => ({
  onRequest: {
    Produce(request) {
      request.topicData[0]!.name += add;
      return { forward: request };
    },
  },
});
const mark = (log: string[], name: string): ConnectionFilter => ({
  onResponse: {
    Produce(response) {
      log.push(name);
      response.throttleTimeMs += 1;
      return { forward: response };
    },
  },
});
function answerOf(outcome: FrameOutcome) {
  assert.ok(typeof outcome === 'object' && 'answer' in outcome);
  const frame = outcome.answer;
  const { end, correlationId } = decodeResponseHeader(apiKey, apiVersion, frame, 4);
  return { correlationId, body: responseCodec('Produce', apiVersion).decode(frame, end) };
}

suite('filter chain', () => {
  test('each filter begins before the first request, in their order, until one closes the connection', async () => {
    assert.equal(createFilterChain([rename('a')]).mustBegin(), false);
    const log: string[] = [];
    const begin = (name: string, close?: string): ConnectionFilter => ({
      async onBegin() {
        log.push(name);
        return close === undefined ? undefined : { close };
      },
    });
    const good = createFilterChain([begin('a'), rename('x'), begin('b')]);
    assert.equal(good.mustBegin(), true);
    assert.equal(await good.begin(), undefined);
    assert.equal(good.mustBegin(), false);
    assert.equal(await good.begin(), undefined);
    assert.deepEqual(log, ['a', 'b']);
    const bad = createFilterChain([begin('c', 'no'), begin('d')]);
    assert.equal(await bad.begin(), 'no');
    assert.deepEqual([bad.mustBegin(), log], [true, ['a', 'b', 'c']]);
  });

  test('it wants what some filter has a handler for', () => {
    const chain = createFilterChain([rename('x'), mark([], 'm')]);
    assert.deepEqual(
      [chain.wantsRequest(apiKey), chain.wantsRequest(3), chain.wantsResponse(apiKey)],
      [true, false, true],
    );
  });

  test('requests meet the filters in order, responses in the opposite order', async () => {
    const log: string[] = [];
    const chain = createFilterChain([rename('a'), rename('b'), mark(log, 'first'), mark(log, 'last')]);
    const outcome = await chain.request(produce());
    assert.ok(typeof outcome === 'object' && 'forward' in outcome);
    assert.equal(topicOf(outcome.forward), 'tab');
    const passed = await chain.response(
      responseCodec('Produce', apiVersion).decode(Buffer.alloc(6, 1).fill(0, 1)),
      context,
    );
    assert.deepEqual(log, ['last', 'first']);
    assert.ok('touched' in passed && passed.touched);
  });

  test('what nobody touches goes on as the same bytes', async () => {
    const chain = createFilterChain([{ onRequest: { Produce: () => undefined } }]);
    assert.equal(await chain.request(produce()), 'pass');
  });

  test('a refusal becomes an error response of the same API and version, for every partition', async () => {
    const { correlationId, body } = answerOf(
      await createFilterChain([
        { onRequest: { Produce: () => ({ answer: 'TOPIC_AUTHORIZATION_FAILED' }) } },
      ]).request(produce()),
    );
    assert.equal(correlationId, 9);
    const [partition] = body.responses[0]!.partitionResponses;
    assert.deepEqual([body.responses[0]!.name, partition?.index, partition?.errorCode], ['t', 4, 29]);
  });

  test('the answer of a filter goes back through those before it, not those behind', async () => {
    const log: string[] = [];
    const chain = createFilterChain([
      mark(log, 'before'),
      { onRequest: { Produce: () => ({ respond: { throttleTimeMs: 10 } }) } },
      mark(log, 'behind'),
    ]);
    assert.equal(answerOf(await chain.request(produce())).body.throttleTimeMs, 11);
    assert.deepEqual(log, ['before']);
  });

  test('a refused request that wants no answer closes the connection', async () => {
    const chain = createFilterChain([{ onRequest: { Produce: () => ({ answer: 'RESOURCE_NOT_FOUND' }) } }]);
    const outcome = await chain.request(produce(0));
    assert.ok(typeof outcome === 'object' && 'close' in outcome);
  });

  test('a chain of filters that change nothing is byte-identical to no chain, for every API and version', async () => {
    const forward = (body: never) => ({ forward: body });
    for (const kind of KINDS) {
      const { api, version, side } = kind;
      const handlers = { [api.name]: forward };
      const pass = { [api.name]: () => undefined };
      const chain = createFilterChain([
        { onRequest: handlers, onResponse: handlers },
        { onRequest: pass, onResponse: pass },
        { onRequest: handlers, onResponse: handlers },
      ]);
      const header = { apiKey: api.key, apiVersion: version, correlationId: 9, clientId: 'c', bytes: 0 };
      const same = fc.asyncProperty(messagesOf(kind, { unknownTags: true }), async (message) => {
        if (side === 'request') {
          const frame = encodeRequest(header, message);
          const outcome = await chain.request(Buffer.from(frame));
          assert.ok(typeof outcome === 'object' && 'forward' in outcome);
          assert.ok(outcome.forward.equals(frame), kind.codec.what);
        } else {
          const frame = encodeResponse(api.key, version, header, message);
          const body = kind.codec.decode(frame, decodeResponseHeader(api.key, version, frame, 4).end);
          const about = { ...header, api: api.name, bytes: frame.length };
          const passed = await chain.response(body, about);
          assert.ok('body' in passed && passed.touched);
          const again = encodeResponse(api.key, version, header, passed.body);
          assert.ok(again.equals(frame), kind.codec.what);
        }
      });
      await fc.assert(same, { numRuns: 3 });
    }
  });

  test('APIs that nobody knows are refused where a filter says so', () => {
    const unknown = 30_000;
    assert.equal(createFilterChain([{}]).newestVersion(unknown), Infinity);
    const strict = createFilterChain([{}, { onlyKnownApis: true, newestVersions: { Fetch: -1 } }]);
    assert.deepEqual(
      [unknown, apiOf('Fetch').key, apiOf('Produce').key].map((key) => strict.newestVersion(key)),
      [-1, -1, Infinity],
    );
  });
});
