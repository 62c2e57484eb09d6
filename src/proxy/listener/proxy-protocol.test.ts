import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseProxyHeader } from './proxy-protocol.ts';

const signature = '0d0a0d0a000d0a515549540a';
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('version 1', () => {
  const line = 'PROXY TCP4 192.0.2.7 192.0.2.1 5000 9092\r\n';
  assert.deepEqual(parseProxyHeader(Buffer.from(`${line}rest`)), {
    found: 'header',
    length: line.length,
    source: '192.0.2.7',
  });
  assert.deepEqual(parseProxyHeader(Buffer.from('PROXY UNKNOWN\r\n')), {
    found: 'header',
    length: 15,
    source: undefined,
  });
  assert.equal(parseProxyHeader(Buffer.from('PROXY TCP6 2001:db8::1 ::1 1 2\r\n')).found, 'header');
});

test('version 2', () => {
  const v4 = hex(`${signature} 21 11 000c c0000207 c0000201 1388 2384 aabb`);
  assert.deepEqual(parseProxyHeader(v4), { found: 'header', length: 28, source: '192.0.2.7' });
  const v6 = hex(`${signature} 21 21 0024 20010db8000000000000000000000001 ${'00'.repeat(16)} 0001 0002`);
  assert.deepEqual(parseProxyHeader(v6), { found: 'header', length: 52, source: '2001:db8:0:0:0:0:0:1' });
  const local = hex(`${signature} 20 00 0000`);
  assert.deepEqual(parseProxyHeader(local), { found: 'header', length: 16, source: undefined });
});

test('bad headers are named, and other bytes are none', () => {
  assert.equal(parseProxyHeader(Buffer.from('PROXY TCP4 nonsense\r\n')).found, 'bad');
  assert.equal(parseProxyHeader(Buffer.from('PROXY '.padEnd(200, 'x'))).found, 'bad');
  assert.equal(parseProxyHeader(hex(`${signature} 31 11 000c`)).found, 'bad');
  assert.equal(parseProxyHeader(hex(`${signature} 21 11 ffff`)).found, 'bad');
  assert.equal(parseProxyHeader(hex('00000020 0012')).found, 'none');
  assert.equal(parseProxyHeader(hex('160301')).found, 'none');
});

test('any part of a good header asks for more', () => {
  const whole = [
    Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 5000 9092\r\n'),
    hex(`${signature} 21 11 000c c0000207 c0000201 1388 2384`),
  ];
  for (const header of whole)
    for (let end = 0; end < header.length; end++)
      assert.equal(parseProxyHeader(header.subarray(0, end)).found, 'more', `${end} bytes`);
});

test('random bytes are never an exception', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300, size: 'max' }),
      (bytes) => void parseProxyHeader(Buffer.from(bytes)),
    ),
  );
  const rest = fc.uint8Array({ maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(fc.nat(3), fc.nat(60), rest, (family, length, bytes) => {
      parseProxyHeader(Buffer.concat([hex(signature), Buffer.from([0x21, family << 4, 0, length]), bytes]));
    }),
  );
});
