import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 2181 section 9, RFC 6891 section 6.2.3.
const lines = Array.from({ length: 60 }, (_, i) => `many.example.test A 10.0.0.${i}`);
const { ask } = serveText(`${lines.join('\n')}\n_s._tcp.example.test SRV 0 0 1 many.example.test`);

test('without EDNS an answer above 512 bytes is truncated; what fits is in it, for clients that know no TCP', () => {
  const reply = ask('many.example.test', 'A');
  assert.equal(reply.truncated, true);
  assert.deepEqual([reply.rcode, reply.answer.length, reply.authority.length], ['NOERROR', 29, 0]);
  assert.ok(reply.bytes.length <= 512);
});

test('over TCP it is whole', () => {
  const reply = ask('many.example.test', 'A', { tcp: true });
  assert.equal(reply.truncated, false);
  assert.equal(reply.answer.length, 60);
});

test('EDNS raises the limit, up to ours', () => {
  assert.equal(ask('many.example.test', 'A', { payload: 600 }).truncated, true);
  assert.equal(ask('many.example.test', 'A', { payload: 1232 }).truncated, false);
  const more = serveText(Array.from({ length: 90 }, (_, i) => `many.example.test A 10.0.0.${i}`).join('\n'));
  assert.equal(more.ask('many.example.test', 'A', { payload: 65_535 }).truncated, true, '1232 at most');
});

test('a payload size below 512 counts as 512', () => {
  const { ask: askSmall } = serveText(
    Array.from({ length: 20 }, (_, i) => `few.example.test A 10.0.0.${i}`).join('\n'),
  );
  assert.equal(askSmall('few.example.test', 'A', { payload: 0 }).truncated, false);
});

test('what is only a courtesy is left out without truncation', () => {
  const reply = ask('_s._tcp.example.test', 'SRV');
  assert.deepEqual([reply.truncated, reply.answer.length, reply.additional.length], [false, 1, 0]);
  assert.equal(ask('_s._tcp.example.test', 'SRV', { payload: 1232 }).additional.length, 60);
});

test('the exact limit is usable to the last byte', () => {
  // 12 header + 16 name + 4 = 32 bytes, and 16 a record: 30 records make 512 bytes, 31 would be 528.
  const ofSize = (n: number) =>
    serveText(Array.from({ length: n }, (_, i) => `a.example.test A 10.0.0.${i}`).join('\n')).ask(
      'a.example.test',
      'A',
    );
  assert.deepEqual([ofSize(30).bytes.length, ofSize(30).truncated], [512, false]);
  assert.equal(ofSize(31).truncated, true);
});
