import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import type { Draft } from '../../kafka/codec.ts';
import { decodeResponseHeader, encodeResponse } from '../../kafka/frame.ts';
import type { Responses } from '../../kafka/schemas/types.ts';
import type { Addressing } from '../cluster/addressing.ts';
import { restrictVersions, rewriteAddresses, rewriteEndpoints } from './rewrite.ts';
import { isServed } from './served-apis.ts';

const addressing: Addressing = {
  bootstrap: { host: 'proxy', port: 9000 },
  advertise: (node) => (node >= 0 && node < 3 ? { host: `proxy-${node}`, port: 9001 + node } : undefined),
};
const versionsOf = (api: ApiName) => {
  const { min, max } = apiOf(api);
  return Array.from({ length: max - min + 1 }, (_, i) => min + i);
};
/** As it looks after a trip over the wire in this version. */
function made<Name extends ApiName>(
  api: Name,
  version: number,
  draft: Draft<Responses[Name]>,
): Responses[Name] {
  const codec = responseCodec(api, version);
  return codec.decode(codec.encode(draft));
}
const broker = (nodeId: number) => ({ nodeId, brokerId: nodeId, host: `real-${nodeId}`, port: 9092 });

suite('addresses', () => {
  for (const version of versionsOf('Metadata')) {
    test(`Metadata v${version}: brokers are readdressed, those without a place left out, topics untouched`, () => {
      const topics = [{ name: 't', partitions: [{ partitionIndex: 0, leaderId: 7, replicaNodes: [1, 7] }] }];
      const response = made('Metadata', version, { brokers: [broker(1), broker(7), broker(2)], topics });
      const before = structuredClone(response.topics);
      const seen = rewriteAddresses('Metadata', response, addressing);
      assert.deepEqual(
        response.brokers.map(({ nodeId, host, port }) => [nodeId, host, port]),
        [
          [1, 'proxy-1', 9002],
          [2, 'proxy-2', 9003],
        ],
      );
      assert.deepEqual(response.topics, before);
      assert.deepEqual(seen.unadvertised, [7]);
      assert.deepEqual(seen.nodes[1], [7, { host: 'real-7', port: 9092 }]);
    });
  }

  for (const version of versionsOf('FindCoordinator')) {
    test(`FindCoordinator v${version}: a coordinator without a place is not available, and others are`, () => {
      const answer = (nodeId: number) =>
        version < 4 ? broker(nodeId) : { coordinators: [{ key: 'g', ...broker(nodeId) }] };
      const read = (nodeId: number) => {
        const response = made('FindCoordinator', version, answer(nodeId));
        rewriteAddresses('FindCoordinator', response, addressing);
        const { nodeId: id, host, errorCode } = version < 4 ? response : response.coordinators[0]!;
        return [id, host, errorCode];
      };
      assert.deepEqual(read(2), [2, 'proxy-2', 0]);
      assert.deepEqual(read(9), [-1, '', 15]);
    });
  }

  test('a coordinator that was not found stays as it is', () => {
    const draft = { coordinators: [{ key: 'g', nodeId: -1, host: '', port: -1, errorCode: 15 }] };
    const response = made('FindCoordinator', 4, draft);
    assert.deepEqual(rewriteAddresses('FindCoordinator', response, addressing).nodes, []);
    assert.deepEqual(response, made('FindCoordinator', 4, draft));
  });

  for (const version of versionsOf('DescribeCluster')) {
    test(`DescribeCluster v${version}`, () => {
      const response = made('DescribeCluster', version, { clusterId: 'c', brokers: [broker(0), broker(5)] });
      rewriteAddresses('DescribeCluster', response, addressing);
      assert.deepEqual(
        response.brokers.map(({ host }) => host),
        ['proxy-0'],
      );
    });
  }

  for (const [api, version] of [
    ['Produce', 13],
    ['Fetch', 18],
    ['ShareFetch', 2],
    ['ShareAcknowledge', 2],
  ] as const) {
    test(`${api} v${version}: node endpoints are readdressed in place`, () => {
      const { key } = apiOf(api);
      const nodeEndpoints = [broker(1), broker(8)];
      const frame = encodeResponse(key, version, { correlationId: 77 }, { throttleTimeMs: 5, nodeEndpoints });
      const { end } = decodeResponseHeader(key, version, frame, 4);
      const rewritten = rewriteEndpoints(key, version, frame, end, addressing);
      assert.ok(rewritten);
      assert.equal(rewritten.frame.readInt32BE(0), rewritten.frame.length - 4);
      const decoded = responseCodec(api, version).decode(rewritten.frame, end);
      assert.equal(decoded.throttleTimeMs, 5);
      assert.deepEqual(
        decoded.nodeEndpoints?.map(({ nodeId, host, port }) => [nodeId, host, port]),
        [[1, 'proxy-1', 9002]],
      );
      const whole = responseCodec(api, version).decode(frame, end);
      rewriteAddresses(api, whole, addressing);
      assert.deepEqual(whole, decoded);
      const none = encodeResponse(key, version, { correlationId: 77 }, {});
      assert.equal(rewriteEndpoints(key, version, none, end, addressing), undefined);
    });
  }
});

test('versions end where we know them; by choice, those without addresses that nobody here reads do not', () => {
  const { max } = apiOf('Metadata');
  const apiKeys = [
    { apiKey: 3, minVersion: 0, maxVersion: max + 5 },
    { apiKey: apiOf('Fetch').key, minVersion: 0, maxVersion: 99 },
    { apiKey: apiOf('ListOffsets').key, minVersion: 0, maxVersion: 99 },
    { apiKey: 17, minVersion: 0, maxVersion: 1 },
    { apiKey: 12_345, minVersion: 0, maxVersion: 3 },
    { apiKey: 10, minVersion: 90, maxVersion: 95 },
    { apiKey: apiOf('AddRaftVoter').key, minVersion: 0, maxVersion: 0 },
    { apiKey: apiOf('Vote').key, minVersion: 0, maxVersion: 0 },
    { apiKey: apiOf('UpdateMetadata').key, minVersion: 0, maxVersion: 0 },
  ];
  const restricted = (unknownApis: 'pass' | 'refuse') => {
    const response = made('ApiVersions', 0, { apiKeys });
    restrictVersions(response, (key) => key === 3 || key === 10, unknownApis);
    return response.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, minVersion, maxVersion]);
  };
  const kept = (newest: number) => [
    [3, 0, max],
    [1, 0, apiOf('Fetch').max],
    [2, 0, newest],
    [17, 0, 1],
  ];
  assert.deepEqual(restricted('pass'), [...kept(99), [12_345, 0, 3]]);
  assert.deepEqual(restricted('refuse'), kept(apiOf('ListOffsets').max));
});

test('what is not in ApiVersions responses is not served either', () => {
  const { key, max } = apiOf('ListOffsets');
  for (const choice of ['pass', 'refuse'] as const) {
    assert.ok(isServed(key, max, choice) && isServed(key, 0, choice));
    assert.equal(isServed(key, max + 1, choice), choice === 'pass');
    assert.equal(isServed(12_345, 0, choice), choice === 'pass');
    assert.equal(isServed(apiOf('Fetch').key, apiOf('Fetch').max + 1, choice), false);
    for (const api of ['AddRaftVoter', 'Vote', 'UpdateMetadata', 'WriteShareGroupState'] as const)
      assert.equal(isServed(apiOf(api).key, 0, choice), false, api);
    assert.equal(isServed(-1, 0, choice), false);
  }
});
