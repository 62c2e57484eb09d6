import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { apiOf } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { decodeResponseHeader, encodeResponse } from '../../kafka/frame.ts';
import { scanProgram, EndpointScanner } from './endpoint-scanner.ts';
import type { MemoryAccount } from '../net/byte-budget.ts';
import { FrameStream } from './frame-stream.ts';
import type { FrameRules } from './frame-stream.ts';

const uuid = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const int32 = fc.integer({ min: -2, max: 1_000_000 });
const int16 = fc.integer({ min: -1, max: 120 });
const int64 = fc.bigInt({ min: -1n, max: 1n << 40n });
const text = fc.oneof(fc.constant(null), fc.string({ maxLength: 200 }));
const records = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.nat(20_000).map((size) => Buffer.alloc(size, 1)),
);
const leader = fc.record({ leaderId: int32, leaderEpoch: int32 });
const unknownTags = fc.oneof(
  fc.constant(undefined),
  fc.constant([{ tag: 77, data: Buffer.from('unknown') }]),
);
const few = <T>(element: fc.Arbitrary<T>) => fc.array(element, { maxLength: 3 });
const host = fc.string({ maxLength: 60 }).map((more) => `secret-host-${more}`);
const endpoints = few(fc.record({ nodeId: int32, host, port: fc.nat(65_535), rack: text }));

const bodies = {
  Produce: fc.record({
    responses: few(
      fc.record({
        name: fc.string({ maxLength: 30 }),
        topicId: uuid,
        partitionResponses: few(
          fc.record({
            index: int32,
            errorCode: int16,
            baseOffset: int64,
            recordErrors: few(fc.record({ batchIndex: int32, batchIndexErrorMessage: text })),
            errorMessage: text,
            currentLeader: fc.oneof(fc.constant(undefined), leader),
            unknownTags,
          }),
        ),
      }),
    ),
    throttleTimeMs: int32,
  }),
  Fetch: fc.record({
    throttleTimeMs: int32,
    sessionId: int32,
    responses: few(
      fc.record({
        topicId: uuid,
        partitions: few(
          fc.record({
            partitionIndex: int32,
            highWatermark: int64,
            currentLeader: fc.oneof(fc.constant(undefined), leader),
            abortedTransactions: fc.oneof(
              fc.constant(null),
              few(fc.record({ producerId: int64, firstOffset: int64 })),
            ),
            records,
            unknownTags,
          }),
        ),
      }),
    ),
  }),
  ShareFetch: fc.record({
    errorMessage: text,
    responses: few(
      fc.record({
        topicId: uuid,
        partitions: few(
          fc.record({
            errorMessage: text,
            acknowledgeErrorMessage: text,
            currentLeader: leader,
            records: records.map((bytes) => bytes ?? Buffer.alloc(0)),
            acquiredRecords: few(fc.record({ firstOffset: int64, lastOffset: int64, deliveryCount: int16 })),
          }),
        ),
      }),
    ),
  }),
  ShareAcknowledge: fc.record({
    responses: few(
      fc.record({
        topicId: uuid,
        partitions: few(fc.record({ partitionIndex: int32, errorMessage: text, currentLeader: leader })),
      }),
    ),
  }),
};
type ScannedApi = keyof typeof bodies;
const CASES = (Object.keys(bodies) as ScannedApi[]).flatMap((name) => {
  const { key, min, max } = apiOf(name);
  return Array.from({ length: max - min + 1 }, (_, i) => ({ name, key, version: min + i })).filter(
    ({ version }) => scanProgram(key, version).length > 0,
  );
});

/** Feeds a frame in pieces to a scanner; the position of the endpoints in the frame, or -1. */
function scan(frame: Buffer, key: number, version: number, sizes: number[]): number {
  const scanner = new EndpointScanner({ value: 0 }).begin(scanProgram(key, version));
  let at = 8;
  for (let i = 0; at < frame.length; i++) {
    const end = Math.min(frame.length, at + sizes[i % sizes.length]!);
    const found = scanner.feed(frame, at, end);
    if (found >= 0) return found;
    at = end;
  }
  return -1;
}

const sizes = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 });

suite('endpoint scanner', () => {
  test('exactly the versions that carry endpoints are scanned', () => {
    const named = new Set(CASES.map(({ name, version }) => `${name} ${version}`));
    assert.ok(named.has('Produce 10') && named.has('Fetch 16') && named.has('ShareFetch 1'));
    assert.ok(!named.has('Produce 9') && !named.has('Fetch 15'));
    assert.deepEqual(scanProgram(apiOf('Metadata').key, 12), []);
    assert.deepEqual(scanProgram(apiOf('Fetch').key, 99), []);
  });

  for (const { name, key, version } of CASES) {
    test(`${name} v${version}: endpoints are found wherever the chunks end, and hidden ones are gone`, () => {
      fc.assert(
        fc.property(bodies[name], endpoints, sizes, (body, nodeEndpoints, pieces) => {
          const tagged = name === 'Produce' || name === 'Fetch';
          const sent = nodeEndpoints.length === 0 && tagged ? undefined : nodeEndpoints;
          const frame = encodeResponse(key, version, { correlationId: 5 }, { ...body, nodeEndpoints: sent });
          assert.equal(scan(frame, key, version, pieces) >= 0, nodeEndpoints.length > 0);
          assert.equal(scan(frame, key, version, [frame.length]) >= 0, nodeEndpoints.length > 0);

          const out = hide(frame, key, version, pieces);
          assert.equal(out.length, frame.length);
          const { end } = decodeResponseHeader(key, version, out, 4);
          const decoded = responseCodec(name, version).decode(out, end);
          const original = responseCodec(name, version).decode(frame, end);
          const shown = (decoded as { nodeEndpoints?: unknown[] }).nodeEndpoints ?? [];
          assert.deepEqual(shown, []);
          assert.ok(!out.includes('secret-host'), 'hidden, and still there');
          assert.deepEqual(
            { ...decoded, nodeEndpoints: 0, unknownTags: 0 },
            { ...original, nodeEndpoints: 0, unknownTags: 0 },
          );
        }),
        { numRuns: 40 },
      );
    });
  }
});

/** Sends a frame through a stream in pieces so small that its head has always gone when the endpoints come. */
function hide(frame: Buffer, key: number, version: number, pieces: number[]): Buffer {
  const written: Buffer[] = [];
  const scanner = new EndpointScanner({ value: 0 });
  const rules: FrameRules = {
    minHead: 8,
    maxFrame: 1 << 30,
    firstGather: 0,
    mayBegin: () => true,
    decide: () => scanner.begin(scanProgram(key, version)),
    badLength: String,
    account: undefined as unknown as MemoryAccount, // nothing is gathered
  };
  const stream = new FrameStream(rules, (bytes) => void written.push(Buffer.from(bytes)));
  const bytes = Buffer.from(frame);
  stream.feed(bytes, 0, 8);
  for (let at = 8, i = 0; at < bytes.length; i++) {
    const end = Math.min(bytes.length, at + pieces[i % pieces.length]!);
    stream.feed(bytes, at, end);
    assert.equal(stream.frame, undefined, 'gathered');
    at = end;
  }
  return Buffer.concat(written);
}
