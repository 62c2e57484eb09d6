import assert from 'node:assert/strict';
import test from 'node:test';
import packet from 'dns-packet';
import { RCODE, TYPE } from './constants.ts';
import { formatName } from './name.ts';
import { createQuery, DROP, parseQuery } from './query.ts';
import { toName } from './search-name.ts';
import { question } from '../../../test/support/dns/testing.ts';

const query = createQuery();
const parse = (bytes: Uint8Array) => parseQuery(query, bytes, 0, bytes.length);
const name = Buffer.from('\x01a\x04test\x00', 'latin1');
const header = (counts: number[], flags = 0) =>
  Buffer.from([1, 2, flags, 0, ...counts.flatMap((n) => [n >> 8, n & 255])]);
const asked = Buffer.concat([name, Buffer.from([0, 1, 0, 1])]);
const opt = (data: number[], { version = 0, owner = [0] } = {}) =>
  Buffer.from([...owner, 0, 41, 4, 208, 0, version, 0x80, 0, data.length >> 8, data.length & 255, ...data]);

test('a plain query', () => {
  const bytes = packet.encode({
    type: 'query',
    id: 0x1234,
    flags: packet.RECURSION_DESIRED,
    questions: [{ name: 'WWW.Example.test', type: 'SRV' }],
  });
  assert.equal(parse(bytes), RCODE.NOERROR);
  assert.equal(formatName(toName(query.name)), 'www.example.test.');
  assert.deepEqual(
    [query.id, query.type, query.class, query.edns, query.recursionDesired],
    [0x1234, TYPE.SRV, 1, false, true],
  );
  assert.equal(query.questionEnd, bytes.length);
});

test('it may lie anywhere in a buffer', () => {
  const bytes = question('a.test', 'A', { payload: 1232 });
  const shifted = Buffer.concat([Buffer.alloc(7, 0xff), bytes, Buffer.alloc(9, 0xff)]);
  assert.equal(parseQuery(query, shifted, 7, bytes.length), RCODE.NOERROR);
  assert.deepEqual([query.edns, query.payload], [true, 1232]);
});

test('what is not a query is dropped', () => {
  assert.equal(parse(Buffer.alloc(0)), DROP);
  assert.equal(parse(Buffer.alloc(11)), DROP);
  assert.equal(parse(Buffer.concat([header([1, 0, 0, 0], 0x80), asked])), DROP, 'a response');
  assert.equal(parse(Buffer.alloc(4097)), DROP, 'too large');
});

test('other operations are not implemented', () => {
  for (const opcode of [1, 2, 4, 5, 6, 15]) {
    assert.equal(parse(Buffer.concat([header([1, 0, 0, 0], opcode << 3), asked])), RCODE.NOTIMP);
  }
});

test('malformed queries', () => {
  const bad: [string, Buffer][] = [
    ['no question', header([0, 0, 0, 0])],
    ['two questions', Buffer.concat([header([2, 0, 0, 0]), asked, asked])],
    ['question missing', header([1, 0, 0, 0])],
    ['question cut', Buffer.concat([header([1, 0, 0, 0]), asked.subarray(0, -1)])],
    ['label beyond the end', Buffer.concat([header([1, 0, 0, 0]), Buffer.from([9, 97])])],
    ['pointer in the question', Buffer.concat([header([1, 0, 0, 0]), Buffer.from([0xc0, 12, 0, 1, 0, 1])])],
    ['reserved label type', Buffer.concat([header([1, 0, 0, 0]), Buffer.from([0x41, 97, 0, 0, 1, 0, 1])])],
    [
      'name too long',
      Buffer.concat([
        header([1, 0, 0, 0]),
        Buffer.from('\x01a'.repeat(128), 'latin1'),
        Buffer.from([0, 0, 1, 0, 1]),
      ]),
    ],
    ['bytes after the end', Buffer.concat([header([1, 0, 0, 0]), asked, Buffer.from([0])])],
    ['record missing', Buffer.concat([header([1, 0, 0, 1]), asked])],
    ['record cut', Buffer.concat([header([1, 0, 0, 1]), asked, opt([]).subarray(0, -1)])],
    ['data beyond the end', Buffer.concat([header([1, 0, 0, 1]), asked, opt([0, 3, 0, 0]).subarray(0, -1)])],
    ['OPT twice', Buffer.concat([header([1, 0, 0, 2]), asked, opt([]), opt([])])],
    ['OPT not at the root', Buffer.concat([header([1, 0, 0, 1]), asked, opt([], { owner: [1, 97, 0] })])],
    ['OPT as an answer', Buffer.concat([header([1, 1, 0, 0]), asked, opt([])])],
    ['option cut', Buffer.concat([header([1, 0, 0, 1]), asked, opt([0, 10, 0, 9, 1])])],
    [
      'cookie of 7 bytes',
      Buffer.concat([header([1, 0, 0, 1]), asked, opt([0, 10, 0, 7, 1, 2, 3, 4, 5, 6, 7])]),
    ],
    [
      'cookie of 12 bytes',
      Buffer.concat([header([1, 0, 0, 1]), asked, opt([0, 10, 0, 12, ...Array<number>(12).fill(1)])]),
    ],
    [
      'cookie of 41 bytes',
      Buffer.concat([header([1, 0, 0, 1]), asked, opt([0, 10, 0, 41, ...Array<number>(41).fill(1)])]),
    ],
  ];
  for (const [why, bytes] of bad) assert.equal(parse(bytes), RCODE.FORMERR, why);
});

test('the longest name there can be', () => {
  const bytes = Buffer.concat([
    header([1, 0, 0, 0]),
    Buffer.from('\x01a'.repeat(127), 'latin1'),
    Buffer.from([0, 0, 1, 0, 1]),
  ]);
  assert.equal(parse(bytes), RCODE.NOERROR);
  assert.deepEqual([query.name.length, query.name.labels], [255, 127]);
});

test('EDNS: unknown options and other records are passed over, a cookie is found', () => {
  const tsig = Buffer.from([0xc0, 12, 0, 250, 0, 255, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
  const options = [0xff, 0xfe, 0, 2, 1, 2, 0, 10, 0, 24, ...Array<number>(24).fill(7), 0, 12, 0, 0];
  assert.equal(parse(Buffer.concat([header([1, 0, 0, 2]), asked, opt(options), tsig])), RCODE.NOERROR);
  assert.deepEqual([query.edns, query.dnssecOk, query.serverCookie], [true, true, true]);
  assert.equal(query.cookieAt, 12 + asked.length + 11 + 6 + 4);
});

test('a later version of EDNS is noticed, whatever its options are', () => {
  assert.equal(
    parse(Buffer.concat([header([1, 0, 0, 1]), asked, opt([1, 2, 3], { version: 1 })])),
    RCODE.NOERROR,
  );
  assert.equal(query.ednsVersion, 1);
});

test('a query without a question may ask for a cookie', () => {
  const cookie = [0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];
  assert.equal(parse(Buffer.concat([header([0, 0, 0, 1]), opt(cookie)])), RCODE.NOERROR);
  assert.equal(parse(Buffer.concat([header([0, 0, 0, 1]), opt([])])), RCODE.FORMERR);
});
