import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { checkConfig } from '../ops/config.ts';
import { dnsConfigSchema, loadDnsConfig, zoneSpecOf } from './config.ts';
import { formatName } from './name.ts';

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

test('a file may name a file of records, in YAML or JSON', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-dns-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const yaml = join(folder, 'records.yaml');
  const json = join(folder, 'records.json');
  const config = join(folder, 'dns.yaml');
  const record = { name: 'b.example.test', type: 'A', data: '10.0.0.2' };
  writeFileSync(yaml, 'records:\n  - { name: b.example.test, type: A, data: 10.0.0.2 }\n');
  writeFileSync(json, JSON.stringify({ records: [record] }));
  for (const file of [yaml, json]) {
    writeFileSync(
      config,
      `zones: [{ name: example.test }]\nrecords: [{ name: a.example.test, type: TXT, data: "1" }]\nrecordsFile: ${file}\n`,
    );
    assert.deepEqual(loadDnsConfig(config).records, [
      { name: 'a.example.test', type: 'TXT', data: '1' },
      record,
    ]);
  }
  assert.equal(loadDnsConfig(config, { ISTHMUS_DNS_WORKERS: '3' }).workers, 3);
  writeFileSync(json, '{');
  assert.throws(() => loadDnsConfig(config), /cannot be read/);
});
