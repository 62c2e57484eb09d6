import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { apiOf } from './apis.ts';
import { requestCodec, responseCodec } from './codec.ts';
import {
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequest,
  encodeResponse,
  requestHeaderVersion,
  responseHeaderVersion,
} from './frame.ts';
import { MalformedMessage } from './malformed.ts';
import { MOST_ELEMENTS } from './reader.ts';
import { Writer } from './writer.ts';

const metadata = apiOf('Metadata').key;
const apiVersions = apiOf('ApiVersions').key;
const controlledShutdown = apiOf('ControlledShutdown').key;
const tags = [{ tag: 3, data: Buffer.from('later') }];

suite('frames', () => {
  test('a request comes back as it was, client id and tags included', () => {
    for (const [apiVersion, unknownTags] of [
      [8, undefined],
      [12, tags],
    ] as const) {
      const header = {
        apiKey: metadata,
        apiVersion,
        correlationId: -7,
        clientId: 'my client',
        unknownTags: unknownTags && [...unknownTags],
      };
      const frame = encodeRequest(header, { topics: null });
      assert.equal(frame.readInt32BE(0), frame.length - 4);
      const { end, ...read } = decodeRequestHeader(frame, 4);
      assert.deepEqual(read, header);
      assert.equal(requestCodec('Metadata', apiVersion).decode(frame, end).topics, null);
    }
  });

  test('a response comes back as it was', () => {
    for (const [version, unknownTags] of [
      [8, undefined],
      [12, tags],
    ] as const) {
      const header = { correlationId: 12, unknownTags: unknownTags && [...unknownTags] };
      const frame = encodeResponse(metadata, version, header, { clusterId: 'abc' });
      assert.equal(frame.readInt32BE(0), frame.length - 4);
      const { end, ...read } = decodeResponseHeader(metadata, version, frame, 4);
      assert.deepEqual(read, header);
      assert.equal(responseCodec('Metadata', version).decode(frame, end).clusterId, 'abc');
    }
  });

  test('header versions have their exceptions', () => {
    assert.deepEqual([requestHeaderVersion(metadata, 8), requestHeaderVersion(metadata, 9)], [1, 2]);
    assert.deepEqual([responseHeaderVersion(metadata, 8), responseHeaderVersion(metadata, 9)], [0, 1]);
    assert.equal(responseHeaderVersion(apiVersions, 4), 0);
    assert.equal(requestHeaderVersion(apiVersions, 99), 2);
    assert.equal(requestHeaderVersion(controlledShutdown, 0), 0);
    assert.equal(requestHeaderVersion(9999, 0), 2);
  });

  test('the oldest header has no client id', () => {
    const { clientId, end } = decodeRequestHeader(Buffer.from([0, 7, 0, 0, 0, 0, 0, 1]));
    assert.deepEqual([clientId, end], [null, 8]);
  });

  test('a header that is cut off, or lies, is refused', () => {
    const header = {
      apiKey: metadata,
      apiVersion: 12,
      correlationId: 1,
      clientId: 'client',
      unknownTags: tags,
    };
    const frame = encodeRequest(header, {});
    const { end } = decodeRequestHeader(frame, 4);
    for (let limit = 4; limit < end; limit++) {
      assert.throws(() => decodeRequestHeader(frame, 4, limit), MalformedMessage);
    }
    const manyTags = Buffer.from([0, 3, 0, 12, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    assert.throws(() => decodeRequestHeader(manyTags), /tagged fields/);
  });

  test('a request of a million nothings is refused before it is turned into objects', () => {
    const count = MOST_ELEMENTS + 1;
    const topics = new Writer();
    topics.compactString(null); // transactional id
    topics.int16(1);
    topics.int32(1);
    topics.unsignedVarint(count + 1);
    topics.raw(Buffer.alloc(count * 3, Buffer.from([1, 1, 0]))); // no name, no partitions, no tags
    topics.int8(0);
    assert.throws(() => requestCodec('Produce', 9).decode(topics.done()), /more elements/);
    const tags = new Writer();
    tags.compactString(null);
    tags.int16(1);
    tags.int32(1);
    tags.unsignedVarint(1);
    tags.unsignedVarint(count);
    tags.raw(Buffer.alloc(count * 2, Buffer.from([5, 0])));
    assert.throws(() => requestCodec('Produce', 9).decode(tags.done()), /more elements/);
    const header = new Writer();
    header.int16(apiOf('Produce').key);
    header.int16(9);
    header.int32(1);
    header.string(null);
    header.unsignedVarint(count);
    header.raw(Buffer.alloc(count * 2, Buffer.from([5, 0])));
    assert.throws(() => decodeRequestHeader(header.done()), /more elements/);
  });
});
