import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { suite, test } from 'node:test';
import type { OutboundPurpose } from '../../ops/outbound.ts';
import type { TargetPolicyConfig } from '../config/model.ts';
import { lookupOf } from '../../ops/outbound.ts';
import { specialKind } from '../../ops/special-address.ts';
import { createOutbound, createTargetPolicy } from './target-policy.ts';

/** Names that mean what a test says. */
const NAMES: Record<string, string[]> = {
  'broker.example.com': ['192.0.2.10'],
  'inside.example.com': ['10.1.2.3'],
  'rebound.example.com': ['169.254.169.254'],
  'both.example.com': ['127.0.0.1', '192.0.2.11'],
  localhost: ['127.0.0.1', '::1'],
};
const resolve = async (host: string) =>
  (NAMES[host] ?? []).map((address) => ({ address, family: isIP(address) }));

const dialled = async (
  host: string,
  policy: Partial<TargetPolicyConfig> = {},
  bootstrap = ['kafka.example'],
) => {
  const config: TargetPolicyConfig = { allow: [], bootstrap: 'checked', ...policy };
  try {
    const found = await createTargetPolicy(config, bootstrap, resolve).resolve(host);
    return found.map(({ address }) => address).join();
  } catch (error) {
    return String(error);
  }
};

suite('target policy', () => {
  const SPECIAL: [string, string | undefined][] = [
    ['127.0.0.1', 'loopback'],
    ['127.255.0.9', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['0:0:0:0:0:ffff:7f00:1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['64:ff9b:0:0:0:0:7f00:1', 'loopback'],
    ['64:ff9b::169.254.169.254', 'link-local'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1', 'link-local'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'reserved'],
    ['fd00:ec2::254', 'metadata'],
    ['10.0.0.1', undefined],
    ['192.168.1.1', undefined],
    ['fd12::1', undefined],
    ['2001:db8::1', undefined],
  ];
  for (const [address, kind] of SPECIAL)
    test(`${address} is ${kind ?? 'like any other'}`, () => assert.equal(specialKind(address), kind));

  const CASES: [string, string, Partial<TargetPolicyConfig>, RegExp][] = [
    ['any address, without a list', 'broker.example.com', {}, /^192\.0\.2\.10$/],
    ['an address as it is', '10.9.8.7', {}, /^10\.9\.8\.7$/],
    ['no loopback', '127.0.0.1', {}, /not allow it: 127\.0\.0\.1 is loopback/],
    ['no name that means a special address', 'rebound.example.com', {}, /169\.254\.169\.254 is link-local/],
    ['of several addresses those that are allowed', 'both.example.com', {}, /^192\.0\.2\.11$/],
    ['what a network has in it', '10.1.0.1', { allow: ['10.1.0.0/16'] }, /^10\.1\.0\.1$/],
    [
      'nothing else then',
      '10.2.0.1',
      { allow: ['10.1.0.0/16'] },
      /10\.2\.0\.1 is not in targetPolicy\.allow/,
    ],
    ['a name by its address', 'inside.example.com', { allow: ['10.1.0.0/16'] }, /^10\.1\.2\.3$/],
    ['names by a pattern', 'broker.example.com', { allow: ['*.example.com'] }, /^192\.0\.2\.10$/],
    ['no other names', 'broker.example.com', { allow: ['*.example.org'] }, /is not in/],
    ['no special address by a name', 'rebound.example.com', { allow: ['*.example.com'] }, /is link-local/],
    ['no special address by a wide network', '127.0.0.1', { allow: ['0.0.0.0/0'] }, /is loopback/],
    ['a special address that is named', '127.0.0.1', { allow: ['127.0.0.0/8'] }, /^127\.0\.0\.1$/],
    ['a single address', '169.254.169.254', { allow: ['169.254.169.254'] }, /^169/],
    ['only the one that is named', '169.254.1.1', { allow: ['169.254.169.254'] }, /is link-local/],
  ];
  for (const [what, host, policy, expected] of CASES)
    test(`it permits ${what}`, async () => assert.match(await dialled(host, policy), expected));

  test('a bootstrap server on this machine names this machine, where the user has written it', async () => {
    for (const bootstrap of ['127.0.0.1', 'localhost']) {
      assert.equal(await dialled('127.0.0.1', { bootstrap: 'named' }, [bootstrap]), '127.0.0.1');
      assert.match(await dialled('127.0.0.1', { bootstrap: 'checked' }, [bootstrap]), /loopback/);
      assert.match(await dialled('169.254.169.254', { bootstrap: 'named' }, [bootstrap]), /link-local/);
    }
    assert.match(await dialled('127.0.0.1', { bootstrap: 'named' }, ['broker.example.com']), /loopback/);
  });

  test('what is dialled is what was checked', () => {
    const lookup = lookupOf([{ address: '192.0.2.1', family: 4 }]);
    const said: unknown[] = [];
    lookup('other.example.com', { all: true }, (_error, addresses) => said.push(addresses));
    lookup('other.example.com', {}, (_error, address, family) => said.push([address, family]));
    assert.deepEqual(said, [[{ address: '192.0.2.1', family: 4 }], ['192.0.2.1', 4]]);
  });

  const CHECKED: TargetPolicyConfig = { allow: [], bootstrap: 'checked' };
  const dialledFor = async (
    purpose: OutboundPurpose,
    host: string,
    policy: Partial<TargetPolicyConfig> = {},
  ) =>
    createOutbound({ ...CHECKED, ...policy }, resolve)
      .resolve(host, purpose)
      .then((found) => found.map(({ address }) => address).join(), String);

  test('a filter’s service is dialled where a broker may be, but never where a cloud says who we are', async () => {
    assert.equal(await dialledFor('service', 'broker.example.com'), '192.0.2.10');
    assert.match(await dialledFor('service', '127.0.0.1'), /is loopback/);
    assert.match(await dialledFor('service', 'rebound.example.com'), /is link-local/);
    assert.match(await dialledFor('service', '10.2.0.1', { allow: ['10.1.0.0/16'] }), /is not in/);
    const allow = ['169.254.169.254', '127.0.0.1'];
    assert.equal(await dialledFor('service', '127.0.0.1', { allow }), '127.0.0.1');
    for (const host of ['169.254.169.254', 'rebound.example.com'])
      assert.match(await dialledFor('service', host, { allow }), /is no address for a service/);
    assert.equal(await dialledFor('metadata', '169.254.169.254', { allow }), '169.254.169.254');
    assert.match(await dialledFor('metadata', '169.254.169.254'), /is link-local/);
  });

  test('whoever owns the machine may name anything on it', async () => {
    assert.equal(await dialledFor('service', 'localhost', { bootstrap: 'named' }), '127.0.0.1,::1');
    assert.equal(await dialledFor('metadata', '169.254.169.254', { bootstrap: 'named' }), '169.254.169.254');
    assert.ok(createOutbound({ ...CHECKED, bootstrap: 'named' }).mayIdentifyTo(new URL('http://localhost')));
  });

  test('the process identifies itself only to hosts that an admin has named, by HTTPS', () => {
    const url = (text: string) => new URL(text);
    assert.equal(createOutbound(CHECKED).mayIdentifyTo(url('https://kms.example.com')), false);
    const outbound = createOutbound({ ...CHECKED, identityHosts: ['*.example.com'] });
    assert.equal(outbound.mayIdentifyTo(url('https://kms.example.com')), true);
    assert.equal(outbound.mayIdentifyTo(url('http://kms.example.com')), false);
    assert.equal(outbound.mayIdentifyTo(url('https://kms.example.com.evil.example')), false);
    const named = createOutbound({ allow: [], bootstrap: 'named', identityHosts: ['a.example'] });
    assert.deepEqual(
      ['http://a.example', 'http://b.example'].map((text) => named.mayIdentifyTo(url(text))),
      [true, false],
    );
  });
});
