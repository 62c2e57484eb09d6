import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import test from 'node:test';
import fc from 'fast-check';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';
import { inNetworks, parseNetwork } from './networks.ts';

const ipv6 = fc.ipV6();

test('networks contain what node says they contain', () => {
  const client = createClientAddress();
  const pair = fc.oneof(
    fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.constant('ipv4' as const)),
    fc.tuple(ipv6, ipv6, fc.integer({ min: 0, max: 128 }), fc.constant('ipv6' as const)),
  );
  fc.assert(
    fc.property(pair, ([address, network, prefix, family]) => {
      const list = new BlockList();
      list.addSubnet(network, prefix, family);
      setAddressText(client, address);
      if ((family === 'ipv6') !== (client.length === 16)) return; // a mapped address counts as IPv4 here
      assert.equal(inNetworks(client, [parseNetwork(`${network}/${prefix}`)!]), list.check(address, family));
    }),
  );
});

test('an IPv4 client on an IPv6 socket is an IPv4 client', () => {
  const client = createClientAddress();
  setAddressText(client, '::ffff:10.1.2.3');
  assert.equal(client.length, 4);
  assert.equal(inNetworks(client, [parseNetwork('10.0.0.0/8')!]), true);
  setAddressText(client, 'fe80::1%eth0');
  assert.equal(inNetworks(client, [parseNetwork('fe80::/10')!]), true);
});

test('what is no network is refused', () => {
  for (const text of ['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', 'net', '10.0.0.0/-1']) {
    assert.equal(parseNetwork(text), undefined, text);
  }
  assert.deepEqual(parseNetwork('10.0.0.1')?.prefix, 32);
});
