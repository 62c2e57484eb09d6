import assert from 'node:assert/strict';
import test from 'node:test';
import packet from 'dns-packet';
import { question, serveText } from '../../../test/support/dns/testing.ts';

// RFC 6891, RFC 7873.
const { send, responder } = serveText('a.example.test A 10.0.0.1');
interface Opt {
  type: string;
  udpPayloadSize: number;
  extendedRcode: number;
  ednsVersion: number;
  flag_do: boolean;
  options: { code: number; data: Buffer }[];
}
const optOf = (bytes: Buffer) =>
  (packet.decode(bytes).additionals as unknown as Opt[] | undefined)?.find(({ type }) => type === 'OPT');
const withOption = (code: number, data: Buffer, name = 'a.example.test') => {
  const query = question(name, 'A', { payload: 1232 });
  const option = Buffer.concat([
    Buffer.from([code >> 8, code & 255, data.length >> 8, data.length & 255]),
    data,
  ]);
  query.writeUInt16BE(option.length, query.length - 2);
  return Buffer.concat([query, option]);
};

test('OPT is answered with OPT, and only then', () => {
  const opt = optOf(send(question('a.example.test', 'A', { payload: 4096 })))!;
  assert.deepEqual([opt.udpPayloadSize, opt.ednsVersion, opt.extendedRcode, opt.options], [1232, 0, 0, []]);
  assert.equal(optOf(send(question('a.example.test', 'A'))), undefined);
});

test('errors carry it too', () => {
  assert.equal(optOf(send(question('b.example.test', 'A', { payload: 512 })))!.udpPayloadSize, 1232);
  assert.equal(optOf(send(question('example.org', 'A', { payload: 512 })))!.options[0]!.code, 15);
});

test('a version that is not known: BADVERS, in two halves', () => {
  const query = question('a.example.test', 'A', { payload: 1232 });
  query[query.length - 5] = 1;
  const reply = send(query);
  assert.equal(reply[3]! & 15, 0);
  assert.deepEqual([optOf(reply)!.extendedRcode, optOf(reply)!.ednsVersion], [1, 0]);
  assert.equal(reply.readUInt16BE(6), 0, 'no answer');
});

test('DO comes back, unknown options do not', () => {
  const query = withOption(0xfffe, Buffer.from('hello'));
  query[query.length - 9 - 4] = 0x80;
  const opt = optOf(send(query))!;
  assert.deepEqual([opt.flag_do, opt.options], [true, []]);
});

test('a client cookie is answered with a server cookie, which then proves the address', () => {
  responder.now = 1_700_000_000;
  const first = optOf(send(withOption(10, Buffer.from('12345678'))))!.options[0]!;
  assert.equal(responder.outcome.addressProven, false);
  assert.deepEqual(
    [first.code, first.data.length, first.data.subarray(0, 8).toString()],
    [10, 24, '12345678'],
  );
  send(withOption(10, first.data));
  assert.equal(responder.outcome.addressProven, true);
  const forged = Buffer.from(first.data);
  forged[20]! ^= 1;
  const reply = send(withOption(10, forged));
  assert.equal(responder.outcome.addressProven, false);
  assert.equal(reply.readUInt16BE(6), 1, 'a bad cookie is no reason not to answer');
});

test('a malformed cookie is a malformed query', () => {
  assert.equal(send(withOption(10, Buffer.from('1234567')))[3]! & 15, 1);
});

test('a cookie may be had without a question', () => {
  const query = withOption(10, Buffer.from('12345678'));
  const bare = Buffer.concat([
    query.subarray(0, 4),
    Buffer.from([0, 0]),
    query.subarray(6, 12),
    query.subarray(-23),
  ]);
  const reply = send(bare);
  assert.equal(reply[3]! & 15, 0);
  assert.deepEqual([reply.readUInt16BE(4), reply.readUInt16BE(10)], [0, 1]);
});

test('odd questions', () => {
  const rcode = (type: string, tcp = false) => send(question('example.test', type), tcp)[3]! & 15;
  assert.deepEqual(
    ['OPT', 'TSIG', 'TKEY'].map((type) => rcode(type)),
    [1, 1, 1],
  );
  assert.deepEqual(
    ['MAILA', 'MAILB', 'IXFR'].map((type) => rcode(type)),
    [4, 4, 4],
  );
  assert.equal(rcode('AXFR'), 1, 'a transfer over UDP');
});
