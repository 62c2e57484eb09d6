import assert from 'node:assert/strict';
import test from 'node:test';
import { checkConfig } from '../../ops/config.ts';
import { dnsConfigSchema, zoneSpecOf } from './config.ts';
import { formatName } from '../wire/name.ts';

const check = (document: unknown) => checkConfig(dnsConfigSchema, document, 'dns.yaml');
const zones = [{ name: 'example.test' }];

test('one zone is enough; the rest has defaults', () => {
  const config = check({ zones });
  assert.deepEqual(config.listen, [{ address: '::', port: 53 }]);
  assert.deepEqual(
    [config.workers, config.udp, config.maxUdpPayload, config.transferAllow],
    [1, 'auto', 1232, []],
  );
  assert.equal(config.rateLimit?.responsesPerSecond, 1000);
  assert.ok(config.rateLimit.exempt.length > 5, 'private networks are exempt');
  const spec = zoneSpecOf(config.zones[0]!);
  assert.equal(formatName(spec.soa.primary), 'ns.example.test.');
  assert.equal(formatName(spec.soa.contact), 'hostmaster.example.test.');
});

test('mistakes are named by their key', () => {
  const cases: [unknown, RegExp][] = [
    [{}, /zones: /],
    [{ zones: [] }, /zones: /],
    [{ zones: [{ name: 'a..b' }] }, /zones\.0\.name: is not a domain name/],
    [{ zones, listen: ['localhost:53'] }, /listen\.0: is not an address and port/],
    [{ zones, listen: ['1.2.3.4'] }, /listen\.0/],
    [{ zones, listen: ['[::1]:70000'] }, /listen\.0/],
    [{ zones, lisen: [] }, /lisen/],
    [{ zones, transferAllow: ['10.0.0.0/40'] }, /transferAllow\.0: is not a network/],
    [{ zones, workers: 0 }, /workers: /],
    [{ zones, maxUdpPayload: 100 }, /maxUdpPayload: /],
    [{ zones, cookieSecrets: ['abc'] }, /cookieSecrets\.0: must be 32 hexadecimal digits/],
    [{ zones, rateLimit: { slip: -1 } }, /rateLimit\.slip: /],
    [
      { zones, records: [{ name: 'a.example.test', type: 'A', data: 'x' }] },
      /records\.0: "x" is not an IPv4 address/,
    ],
    [{ zones, records: [{ name: 'a.example.test', type: 'MX', data: 'x' }] }, /records\.0\.type: /],
    [
      { zones, records: [{ name: 'a.example.test', type: 'A', data: '10.0.0.1', tll: 1 }] },
      /records\.0: .*tll/,
    ],
  ];
  for (const [document, expected] of cases) assert.throws(() => check(document), expected);
});

test('the limit can be switched off', () => {
  assert.equal(check({ zones, rateLimit: null }).rateLimit, null);
});
