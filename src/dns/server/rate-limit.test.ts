import assert from 'node:assert/strict';
import test from 'node:test';
import { parseNetwork } from './networks.ts';
import { createRateLimit } from './rate-limit.ts';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';

function limiter(perSecond: number, slip: number, exempt: string[] = []) {
  const limit = createRateLimit({ perSecond, slip, exempt: exempt.map((text) => parseNetwork(text)!) }, 42);
  const client = createClientAddress();
  return (address: string, now: number) => {
    setAddressText(client, address);
    return limit.check(client, now);
  };
}

test('a network gets its rate and no more', () => {
  const check = limiter(10, 0);
  const actions = Array.from({ length: 15 }, () => check('192.0.2.1', 1000));
  assert.equal(actions.filter((action) => action === 'send').length, 10);
  assert.equal(check('192.0.2.1', 1100), 'send', 'a tenth of a second later there is room for one');
  assert.equal(check('192.0.2.1', 1100), 'drop');
  const later = Array.from({ length: 15 }, () => check('192.0.2.1', 60_000));
  assert.equal(later.filter((action) => action === 'send').length, 10, 'unused room does not pile up');
});

test('networks that are trusted later have no limit, until others take their place', () => {
  const limit = createRateLimit({ perSecond: 1, slip: 0, exempt: [] }, 42);
  const client = createClientAddress();
  setAddressText(client, '192.0.2.1');
  const twice = () => [limit.check(client, 1000), limit.check(client, 1000)];
  limit.trust([parseNetwork('192.0.2.1')!]);
  assert.deepEqual([...twice(), ...twice()], ['send', 'send', 'send', 'send']);
  limit.trust([]);
  assert.deepEqual(twice(), ['send', 'drop']);
});

test('a /24 and a /56 share one limit, their neighbours have their own', () => {
  const check = limiter(1, 0);
  assert.equal(check('192.0.2.1', 1000), 'send');
  assert.equal(check('192.0.2.254', 1000), 'drop');
  assert.equal(check('192.0.3.1', 1000), 'send');
  assert.equal(check('2001:db8:0:1200::1', 1000), 'send');
  assert.equal(check('2001:db8:0:12ff:ffff::1', 1000), 'drop');
  assert.equal(check('2001:db8:0:1300::1', 1000), 'send');
});

test('every n-th answer above the limit slips through, truncated', () => {
  const check = limiter(1, 3);
  check('192.0.2.1', 1000);
  const actions = Array.from({ length: 6 }, () => check('192.0.2.1', 1000));
  assert.deepEqual(actions, ['drop', 'drop', 'slip', 'drop', 'drop', 'slip']);
});

test('exempt networks have no limit', () => {
  const check = limiter(1, 0, ['10.0.0.0/8']);
  for (let i = 0; i < 100; i++) assert.equal(check('10.1.2.3', 1000), 'send');
});

test('a flood from very many networks does not lift the limit of one that keeps asking', () => {
  const check = limiter(10, 0);
  let sent = 0;
  for (let i = 0; i < 100_000; i++) {
    check(`${(i >> 16) + 1}.${(i >> 8) & 255}.${i & 255}.1`, 1000 + i / 1000);
    if (i % 100 === 0 && check('198.51.100.7', 1000 + i / 1000) === 'send') sent += 1;
  }
  assert.ok(sent <= 12, `${sent} in 0.1 s at 10 a second`);
});
