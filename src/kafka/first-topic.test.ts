import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { apiOf } from './apis.ts';
import type { ApiName } from './apis.ts';
import { firstTopic } from './first-topic.ts';
import { decodeRequestHeader, encodeRequest } from './frame.ts';

const ID = 'AAAAAAAAAAAAAAAAAAAAAQ';

/** What is found in the first `length` bytes of a request. */
function found(api: ApiName, apiVersion: number, body: object, length = Infinity) {
  const { key: apiKey } = apiOf(api);
  const frame = encodeRequest({ apiKey, apiVersion, correlationId: 1, clientId: 'c' }, body);
  const { end } = decodeRequestHeader(frame, 4);
  return firstTopic(apiKey, apiVersion, frame, end, Math.min(length, frame.length));
}

const versions = (api: ApiName, from = apiOf(api).min, to = apiOf(api).max) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

suite('the first topic of a request', () => {
  test('by its name, in every version that has names', () => {
    const cases: [ApiName, object, number?][] = [
      ['Produce', { acks: -1, timeoutMs: 1, topicData: [{ name: 'orders', partitionData: [] }] }, 12],
      [
        'Fetch',
        {
          topics: [
            { topic: 'orders', partitions: [] },
            { topic: 'others', partitions: [] },
          ],
        },
        12,
      ],
      ['Metadata', { topics: [{ name: 'orders' }] }],
      ['ListOffsets', { topics: [{ name: 'orders', partitions: [] }] }],
      ['OffsetCommit', { groupId: 'g', topics: [{ name: 'orders', partitions: [] }] }, 9],
      ['CreateTopics', { topics: [{ name: 'orders', assignments: [], configs: [] }] }],
      ['DeleteTopics', { topicNames: ['orders'] }, 5],
    ];
    for (const [api, body, newest] of cases)
      for (const version of versions(api, undefined, newest))
        assert.deepEqual(found(api, version, body), { name: 'orders' }, `${api} v${version}`);
  });

  test('by its id, where requests have nothing else', () => {
    const produce = { acks: -1, timeoutMs: 1, topicData: [{ topicId: ID, partitionData: [] }] };
    for (const version of versions('Produce', 13))
      assert.deepEqual(found('Produce', version, produce), { id: ID });
    for (const version of versions('Fetch', 13))
      assert.deepEqual(found('Fetch', version, { topics: [{ topicId: ID, partitions: [] }] }), { id: ID });
    assert.deepEqual(found('Metadata', 12, { topics: [{ topicId: ID, name: null }] }), { id: ID });
  });

  test('none, where there is none', () => {
    assert.equal(found('Metadata', 12, { topics: null }), undefined);
    assert.equal(found('ApiVersions', 3, {}), undefined);
    assert.equal(firstTopic(32_000, 0, Buffer.alloc(8), 0, 8), undefined);
  });

  test('the beginning of a request is enough, and less than that is nothing wrong', () => {
    const partitionData = [{ index: 0, records: Buffer.alloc(5000) }];
    const body = { acks: -1, timeoutMs: 1, topicData: [{ name: 'orders', partitionData }] };
    assert.deepEqual(found('Produce', 9, body, 60), { name: 'orders' });
    for (let length = 0; length < 60; length++) found('Produce', 9, body, length);
  });

  test('any bytes at all are taken', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(80), fc.nat(17), (bytes, apiKey, version) => {
        const known = firstTopic(apiKey, version, Buffer.from(bytes), 0, bytes.length);
        assert.ok(known === undefined || 'name' in known || 'id' in known);
      }),
    );
  });
});
