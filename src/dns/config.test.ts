import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { checkConfig } from '../ops/config.ts';
import { createLog } from '../ops/log.ts';
import { dnsConfigSchema, loadDnsConfig, loadRecords, zoneSpecOf } from './config.ts';
import { formatName } from './name.ts';
import { followRecordsFile } from './records-file.ts';

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

test('a configuration comes from a file and the environment', (t) => {
  const folder = temporaryFolder(t);
  const config = join(folder, 'dns.yaml');
  writeFileSync(config, 'zones: [{ name: example.test }]\nrecordsFile: /somewhere/records.yaml\n');
  assert.equal(loadDnsConfig(config).recordsFile, '/somewhere/records.yaml');
  assert.equal(loadDnsConfig(config, { ISTHMUS_DNS_WORKERS: '3' }).workers, 3);
});

test('records come from a file, in YAML or JSON', (t) => {
  const folder = temporaryFolder(t);
  const [yaml, json] = [join(folder, 'records.yaml'), join(folder, 'records.json')];
  const record = { name: 'b.example.test', type: 'A' as const, data: '10.0.0.2' };
  writeFileSync(yaml, 'records:\n  - { name: b.example.test, type: A, data: 10.0.0.2 }\n');
  writeFileSync(json, JSON.stringify({ records: [record] }));
  assert.deepEqual([loadRecords(yaml), loadRecords(json)], [[record], [record]]);
  writeFileSync(json, '{');
  assert.throws(() => loadRecords(json), /cannot be read/);
});

test('a records file is followed; a broken one changes nothing', async (t) => {
  const file = join(temporaryFolder(t), 'records.yaml');
  const write = (data: string) =>
    writeFileSync(file, `records:\n  - { name: b.example.test, type: A, data: ${data} }\n`);
  const seen: string[] = [];
  const told: string[] = [];
  const log = createLog('silent');
  log.error = (fields: { problem: string }) => void told.push(fields.problem);
  write('10.0.0.1');
  t.after(followRecordsFile(file, (records) => void seen.push(records[0]!.data), log, 20));
  const until = async (reached: () => boolean) => {
    while (!reached()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  write('10.0.0.22');
  await until(() => seen.includes('10.0.0.22'));
  write('no address at all');
  await until(() => told.length > 0);
  write('10.0.0.3');
  await until(() => seen.includes('10.0.0.3'));
  assert.deepEqual([...new Set(seen)], ['10.0.0.1', '10.0.0.22', '10.0.0.3']);
  assert.match(told[0]!, /is not an IPv4 address/);
});

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-dns-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
