import assert from 'node:assert/strict';
import test from 'node:test';
import { createClientAddress, setAddressText } from './client-address.ts';
import { isValidServerCookie, writeServerCookie } from './cookie.ts';
import { sipHash } from './siphash.ts';
import type { CookieSecrets } from './cookie.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const address = (text: string) => {
  const client = createClientAddress();
  setAddressText(client, text);
  return client;
};
const secrets = (current: string, ...previous: string[]): CookieSecrets => ({
  current: hex(current),
  previous: previous.map(hex),
});

test('SipHash-2-4 gives the vectors of its authors', () => {
  const key = Uint8Array.from({ length: 16 }, (_, i) => i);
  const data = Uint8Array.from({ length: 64 }, (_, i) => i);
  const out = new Uint8Array(8);
  const expected = new Map([
    [0, '310e0edd47db6f72'],
    [1, 'fd67dc93c539f874'],
    [8, '6224939a79f5f593'],
    [15, 'e545be4961ca29a1'],
  ]);
  for (const [length, digest] of expected) {
    sipHash(key, data, length, out, 0);
    assert.equal(Buffer.from(out).toString('hex'), digest, `${length} bytes`);
  }
});

// RFC 9018 appendix A.
test('a new cookie', () => {
  const out = new Uint8Array(16);
  const client = address('198.51.100.100');
  writeServerCookie(
    secrets('e5e973e5a6b2a43f48e7dc849e37bfcf'),
    hex('2464c4abcf10c957'),
    0,
    client,
    1559731985,
    out,
    0,
  );
  assert.equal(Buffer.from(out).toString('hex'), '010000005cf79f111f8130c3eee29480');
});

test('a cookie is valid for an hour, and five minutes ahead of the clock', () => {
  const client = address('198.51.100.100');
  const query = hex('2464c4abcf10c957010000005cf79f111f8130c3eee29480');
  const check = (seconds: number) =>
    isValidServerCookie(secrets('e5e973e5a6b2a43f48e7dc849e37bfcf'), query, 0, client, 1559731985 + seconds);
  assert.deepEqual([0, 3600, 3601, -300, -301].map(check), [true, true, false, true, false]);
});

test('an IPv6 client whose cookie was made with the previous secret', () => {
  const rolled = secrets('445536bcd2513298075a5d379663c962', 'dd3bdf9344b678b185a6f5cb60fca715');
  const client = address('2001:db8:220:1:59de:d0f4:8769:82b8');
  const query = hex('22681ab97d52c298010000005cf7c57926556bd0934c72f8');
  assert.equal(isValidServerCookie(rolled, query, 0, client, 1559741961), true);
  const out = new Uint8Array(16);
  writeServerCookie(rolled, query, 0, client, 1559741961, out, 0);
  assert.equal(Buffer.from(out).toString('hex'), '010000005cf7c609a6bb79d16625507a');
});

test('a cookie is invalid from another address, with another client cookie or one bit changed', () => {
  const made = secrets('e5e973e5a6b2a43f48e7dc849e37bfcf');
  const query = hex('2464c4abcf10c957010000005cf79f111f8130c3eee29480');
  assert.equal(isValidServerCookie(made, query, 0, address('198.51.100.101'), 1559731985), false);
  for (let bit = 0; bit < query.length * 8; bit++) {
    const changed = Uint8Array.from(query);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(
      isValidServerCookie(made, changed, 0, address('198.51.100.100'), 1559731985),
      false,
      `bit ${bit}`,
    );
  }
});
