import assert from 'node:assert/strict';
import { SocketAddress } from 'node:net';
import test from 'node:test';
import fc from 'fast-check';
import { formatAddress, parseAddress, reverseName } from './address.ts';
import { formatName } from './name.ts';

const ipv6 = fc.oneof(
  fc.ipV6(),
  fc
    .array(fc.constantFrom('0', '0', '1', 'ff'), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.join(':')),
);

test('addresses are written as node writes them', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), ipv6), (text) => {
      const family = text.includes(':') ? 'ipv6' : 'ipv4';
      const ours = formatAddress(parseAddress(text)!);
      // node writes some as ::1.2.3.4; both must mean the same bytes
      const theirs = new SocketAddress({ address: text, family }).address;
      assert.equal(parseAddress(theirs), parseAddress(text));
      assert.equal(parseAddress(ours), parseAddress(text));
      if (!theirs.includes('.')) assert.equal(ours, theirs);
    }),
  );
});

test('what is no address is refused', () => {
  for (const text of [
    '',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '01.2.3.4',
    ':::',
    'fe80::1%eth0',
    'g::',
    '1:2:3:4:5:6:7',
  ]) {
    assert.equal(parseAddress(text), undefined, text);
  }
});

test('reverse names', () => {
  assert.equal(formatName(reverseName('192.0.2.5')!), '5.2.0.192.in-addr.arpa.');
  assert.equal(
    formatName(reverseName('2001:db8::567:89ab')!),
    'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
  );
  assert.equal(reverseName('nothing'), undefined);
});
