import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clientKey, networkMatcher } from './client-address.ts';

test('an IPv6 client is its /64, however the address is spelt', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      // The URL parser knows all spellings, and has one of its own.
      const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
      assert.equal(clientKey(address), clientKey(canonical));
    }),
  );
  assert.equal(clientKey('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(clientKey('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(clientKey('::ffff:c000:201'), '192.0.2.1');
  assert.equal(clientKey('192.0.2.1'), '192.0.2.1');
});

test('networks hold their addresses of both families, and no others', () => {
  const isListed = networkMatcher(['10.1.0.0/16', 'fd00:1::/32', '192.0.2.7/32']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::9', '192.0.2.7'])
    assert.ok(isListed(address), address);
  for (const address of ['10.2.0.0', '::ffff:10.2.0.0', 'fd00:2::', '192.0.2.8', '::1'])
    assert.ok(!isListed(address), address);
  assert.ok(!networkMatcher([])('10.1.2.3'));
});
