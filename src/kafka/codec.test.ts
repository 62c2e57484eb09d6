import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ALL_APIS } from './apis.ts';
import { embeddedCodec, requestCodec, responseCodec } from './codec.ts';
import { errorResponse } from './error-response.ts';
import { MalformedMessage } from './malformed.ts';
import { includes, schemaOf } from './schema.ts';
import type { Field } from './schema.ts';
import { attack, attackWithMutations, randomFrom } from '../../test/support/kafka/attack.ts';
import { KINDS, messagesOf, plainMessage, project } from '../../test/support/kafka/messages.ts';
import type { Values } from '../../test/support/kafka/messages.ts';

const RUNS = Number(process.env['ISTHMUS_FUZZ_RUNS'] ?? 8);

suite('codec', () => {
  test('Kafka 4.3 has 89 APIs in 302 versions, two messages each', () => {
    assert.equal(ALL_APIS.length, 89);
    assert.equal(KINDS.length, 604);
  });

  test('every message of every API and version comes back as it was, and as the same bytes', () => {
    for (const kind of KINDS) {
      const check = fc.property(messagesOf(kind, { unknownTags: true, taggedDefaults: true }), (message) => {
        const bytes = kind.encode(message);
        const decoded = kind.codec.decode(bytes);
        assert.deepEqual(project(decoded, message), message, kind.codec.what);
        assert.ok(kind.encode(decoded).equals(bytes), kind.codec.what);
      });
      fc.assert(check, { numRuns: RUNS });
    }
  });

  test('a message may stand anywhere in a buffer, and leaves head room', () => {
    const codec = requestCodec('Metadata', 12);
    const bytes = codec.encode({ topics: [{ name: 'orders' }] }, 7);
    const padded = Buffer.concat([bytes, Buffer.alloc(3)]);
    assert.equal(codec.decode(padded, 7, bytes.length).topics?.[0]?.name, 'orders');
  });

  test('bytes are views of the frame', () => {
    const codec = requestCodec('SaslAuthenticate', 2);
    const frame = codec.encode({ authBytes: Buffer.from('abc') });
    const { authBytes } = codec.decode(frame);
    frame[1] = 'x'.charCodeAt(0);
    assert.equal(authBytes.toString(), 'xbc');
  });

  test('fields that a version lacks have their defaults', () => {
    const codec = responseCodec('Metadata', 0);
    const { controllerId, topics } = codec.decode(codec.encode({ topics: [{ name: 'a' }] }));
    assert.equal(controllerId, -1);
    assert.equal(topics[0]?.topicId, 'AAAAAAAAAAAAAAAAAAAAAA');
  });

  test('messages that travel inside others have codecs too', () => {
    const codec = embeddedCodec('ConsumerProtocolSubscription', 3);
    const sent = { topics: ['a'], ownedPartitions: [{ topic: 'a', partitions: [0, 1] }], rackId: 'r1' };
    const { topics, ownedPartitions, rackId, generationId } = codec.decode(codec.encode(sent));
    assert.deepEqual(
      [topics, ownedPartitions[0]?.partitions, rackId, generationId],
      [['a'], [0, 1], 'r1', -1],
    );
    assert.throws(() => embeddedCodec('EndTxnMarker', 9), MalformedMessage);
  });

  test('every request can be refused, and the refusal says why', () => {
    const without: string[] = [];
    for (const kind of KINDS.filter(({ side }) => side === 'request')) {
      const { api, version } = kind;
      const refuse = (message: Values) => {
        const request = requestCodec(api.key, version).decode(kind.encode(message));
        const codec = responseCodec(api.key, version);
        const response = codec.decode(codec.encode(errorResponse(api.key, version, request, 29, 'no')));
        const { fields } = schemaOf(`${api.name}Response`);
        return errorCodes(response as unknown as Values, fields, version);
      };
      const check = fc.property(messagesOf(kind, { unknownTags: false }), (message) => {
        assert.deepEqual(new Set([...refuse(message), 29]), new Set([29]), kind.codec.what);
      });
      fc.assert(check, { numRuns: 3 });
      // Where a code belongs to each entry of a list, a list with nothing in it has none.
      if (refuse(plainMessage(kind.schema.fields)).length === 0) without.push(`${api.name} v${version}`);
    }
    // Their codes are those of directories, of which a request names none.
    assert.deepEqual(without, ['DescribeLogDirs v1', 'DescribeLogDirs v2']);
  });
});

/** The error codes of a message, at any depth; decoding adds the defaults of fields that the version lacks. */
function errorCodes(message: Values, fields: Field[], version: number): unknown[] {
  return fields
    .filter((field) => includes(field.versions, version))
    .flatMap((field) => {
      const value = message[field.name];
      if (/^(partitionE|e)rrorCode$/.test(field.name)) return [value];
      const structs = field.fields ? ([value ?? []].flat() as Values[]) : [];
      return structs.flatMap((each) => errorCodes(each, field.fields ?? [], version));
    });
}

suite('malformed messages', () => {
  test('unknown APIs and versions are refused by name', () => {
    assert.throws(() => requestCodec(9999, 0), /API 9999 request v0: no such API or version/);
    assert.throws(() => responseCodec('Produce', 2), MalformedMessage);
    assert.throws(() => requestCodec('LeaderAndIsr', 0), MalformedMessage);
  });

  test('a message that is cut off anywhere is refused', () => {
    for (const kind of KINDS) {
      const [message] = fc.sample(messagesOf(kind, { unknownTags: false }), { numRuns: 1, seed: 1 });
      const bytes = kind.encode(message!);
      for (let end = 0; end < Math.min(bytes.length, 200); end++) {
        assert.ok(attack(kind, bytes.subarray(0, end)), `${kind.codec.what} cut at ${end}`);
      }
      assert.ok(attack(kind, Buffer.concat([bytes, Buffer.alloc(1)])), `${kind.codec.what} with a byte more`);
    }
  });

  test('50,000 mutated messages do no harm', () => {
    const refused = attackWithMutations(50_000, 42);
    assert.ok(refused > 5000, `${refused} refused`);
  });

  test('random bytes do no harm', () => {
    const random = randomFrom(43);
    for (let i = 0; i < 20_000; i++) {
      const bytes = Buffer.from(Uint8Array.from({ length: Math.floor(random() * 64) }, () => random() * 256));
      attack(KINDS[i % KINDS.length]!, bytes);
    }
  });

  test('a length that cannot be is refused before anything is allocated', () => {
    const many = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0]);
    assert.throws(() => requestCodec('Metadata', 12).decode(many), /an array of 2147483646/);
    const old = Buffer.from([0x7f, 0xff, 0xff, 0xff, 0]);
    assert.throws(() => requestCodec('Metadata', 1).decode(old), /an array of 2147483647/);
  });
});
