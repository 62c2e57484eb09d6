import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { apiOf } from './apis.ts';
import type { ApiName } from './apis.ts';
import { responseCodec } from './codec.ts';
import type { Codec } from './codec.ts';
import { MalformedMessage } from './malformed.ts';
import type { NodeEndpoint } from './skim.ts';
import { findNodeEndpoints, hasNodeEndpoints, readNodeEndpoints, writeNodeEndpoints } from './skim.ts';
import type { UnknownTag } from './schemas/types.ts';

interface Body {
  nodeEndpoints?: NodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

const ENDPOINTS: NodeEndpoint[] = [
  { nodeId: 1, host: 'broker-1.kafka.example', port: 9092, rack: null },
  { nodeId: 2, host: 'broker-2.kafka.example', port: 9093, rack: 'r2' },
];

const partition = {
  index: 3,
  partitionIndex: 3,
  errorCode: 6,
  records: Buffer.alloc(5000, 1),
  currentLeader: { leaderId: 2, leaderEpoch: 7 },
  abortedTransactions: [{ producerId: 5n, firstOffset: 9n }],
  acquiredRecords: [{ firstOffset: 1n, lastOffset: 2n, deliveryCount: 1 }],
};
const topics = [
  { partitions: [partition, partition], partitionResponses: [partition] },
  { partitions: [], partitionResponses: [partition] },
];

const CARRIERS: [ApiName, number][] = [
  ['Produce', 10],
  ['Fetch', 16],
  ['ShareFetch', 1],
  ['ShareAcknowledge', 1],
];

const versions = CARRIERS.flatMap(([name, from]) => {
  const { key, max } = apiOf(name);
  return Array.from({ length: max - from + 1 }, (_, i) => ({ key, name, version: from + i }));
});
const bodyCodec = (key: number, version: number) => responseCodec(key, version) as unknown as Codec<Body>;

suite('node endpoints', () => {
  test('are in the responses of four APIs, from these versions on', () => {
    for (const [name, from] of CARRIERS) {
      const { key, min, max } = apiOf(name);
      assert.deepEqual([hasNodeEndpoints(key, from), hasNodeEndpoints(key, max)], [true, true], name);
      if (from > min) assert.equal(hasNodeEndpoints(key, from - 1), false, name);
    }
    assert.equal(hasNodeEndpoints(apiOf('Metadata').key, 12), false);
    assert.equal(hasNodeEndpoints(9999, 0), false);
  });

  test('are found behind everything else, and nothing is found where there are none', () => {
    for (const { key, name, version } of versions) {
      const codec = bodyCodec(key, version);
      const draft = { responses: topics, nodeEndpoints: ENDPOINTS };
      const bytes = codec.encode(draft, 5);
      const span = findNodeEndpoints(key, version, bytes, 5);
      assert.ok(span, `${name} v${version}`);
      const expected = codec.decode(bytes, 5).nodeEndpoints;
      assert.deepEqual(readNodeEndpoints(key, version, bytes, span), expected);
      const none = codec.encode({ responses: topics } as Body);
      assert.equal(findNodeEndpoints(key, version, none), undefined, `${name} v${version}`);
    }
  });

  test('are replaced in place, whatever their length', () => {
    for (const { key, version } of versions) {
      const codec = bodyCodec(key, version);
      const tags = [{ tag: 9, data: Buffer.from('kept') }];
      const bytes = codec.encode({ responses: topics, nodeEndpoints: ENDPOINTS, unknownTags: tags } as Body);
      const span = findNodeEndpoints(key, version, bytes)!;
      for (const length of [1, 40, 300]) {
        const moved = readNodeEndpoints(key, version, bytes, span).map((each) => ({
          ...each,
          host: 'h'.repeat(length),
        }));
        const patch = writeNodeEndpoints(key, version, span, moved);
        const patched = Buffer.concat([bytes.subarray(0, patch.from), patch.bytes, bytes.subarray(span.end)]);
        assert.deepEqual(codec.decode(patched), { ...codec.decode(bytes), nodeEndpoints: moved });
      }
    }
  });

  test('of a broken response give MalformedMessage and nothing else', () => {
    for (const { key, version } of versions) {
      const bytes = bodyCodec(key, version).encode({ responses: topics, nodeEndpoints: ENDPOINTS } as Body);
      const check = fc.property(
        fc.nat(bytes.length - 1),
        fc.nat(255),
        fc.nat(bytes.length),
        (at, byte, end) => {
          const broken = Buffer.from(bytes.subarray(0, end));
          if (at < end) broken[at] = byte;
          try {
            const span = findNodeEndpoints(key, version, broken);
            if (span) readNodeEndpoints(key, version, broken, span);
          } catch (error) {
            assert.ok(error instanceof MalformedMessage, String(error));
          }
        },
      );
      fc.assert(check, { numRuns: 300 });
    }
  });
});
