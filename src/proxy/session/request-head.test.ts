import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { apiOf } from '../../kafka/apis.ts';
import { encodeRequest } from '../../kafka/frame.ts';
import { OverBudget } from '../net/byte-budget.ts';
import { BadTraffic } from './frame-stream.ts';
import { checkStart, peekAcks } from './request-head.ts';

const { key: apiKey, min, max } = apiOf('Produce');

test('the acks of a Produce request are read in every version, or more bytes are asked for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min, max }),
      fc.constantFrom(-1, 0, 1),
      fc.option(fc.string({ maxLength: 300, size: 'max' })),
      fc.option(fc.string({ maxLength: 300, size: 'max' })),
      fc.nat(200),
      (apiVersion, acks, clientId, transactionalId, offset) => {
        const unknownTags = apiVersion >= 9 ? [{ tag: 9, data: Buffer.alloc(200) }] : undefined;
        const header = { apiKey, apiVersion, correlationId: 3, clientId, unknownTags };
        const frame = encodeRequest(header, { acks, transactionalId, timeoutMs: 1, topicData: [] });
        const bytes = Buffer.concat([Buffer.alloc(offset, 9), frame]);
        assert.equal(peekAcks(bytes, offset, bytes.length, apiVersion), acks);
        // All that follows the acks is the time-out and the (empty) list of topics.
        const end = bytes.length - (apiVersion >= 9 ? 6 : 8);
        assert.equal(peekAcks(bytes, offset, end, apiVersion), acks);
        for (let short = offset + 12; short < end; short += 7)
          assert.equal(peekAcks(bytes, offset, short, apiVersion), undefined);
      },
    ),
  );
});

test('random bytes never make it hang or read outside', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 12, maxLength: 200, size: 'max' }),
      fc.nat(20),
      (array, version) => {
        const acks = peekAcks(Buffer.from(array), 0, array.length, version);
        assert.ok(acks === undefined || Number.isInteger(acks));
      },
    ),
  );
});

test('the first bytes of a connection are told from a Kafka request', () => {
  const request = encodeRequest({ apiKey: 18, apiVersion: 3, correlationId: 1, clientId: 'c' }, {});
  checkStart(request, 1000, 1e6);
  const refused = (bytes: Buffer, message: RegExp) =>
    assert.throws(
      () => checkStart(bytes, 1e8, 1e6),
      (error) => error instanceof BadTraffic && message.test(error.message),
    );
  refused(Buffer.from('GET / HTTP/1.1\r\n'), /HTTP/);
  refused(Buffer.from('160301020001000102030405', 'hex'), /TLS/);
  refused(Buffer.from('PROXY TCP4 1.2.3.4'), /PROXY protocol/);
  refused(Buffer.from('7fffffff0000000000000000', 'hex'), /2147483647 bytes/);
  refused(Buffer.from('00000020ffff000000000000', 'hex'), /API key -1/);
});

test('a first request that could never be held is told by the length that it announces, before a broker is asked', () => {
  const most = 1_000_000;
  const announce = (apiKey: number, length: number) => {
    const head = Buffer.alloc(12);
    head.writeInt32BE(length, 0);
    head.writeInt16BE(apiKey, 4);
    checkStart(head, 1e8, most);
  };
  assert.throws(
    () => announce(3, most),
    (error) => error instanceof OverBudget && /1000004 bytes .* may hold 1000000/.test(error.message),
  );
  announce(3, most - 4);
  announce(0, 1e8); // a Produce request is not held
  assert.throws(() => announce(18, 70_000), /before the login is complete, 65536/);
  announce(36, 70_000); // a token may be long
  assert.throws(() => announce(36, 600_000), /before the login is complete, 524288/);
});
