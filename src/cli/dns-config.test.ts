import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { loadDnsCommandConfig } from './dns-config.ts';

test('aliases that lead elsewhere are resolved where clusters are followed, unless the file says otherwise', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-dns-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'dns.yaml');
  const resolverOf = (more: string) => {
    writeFileSync(file, `zones: [{ name: example.test }]\n${more}`);
    return loadDnsCommandConfig(file, {}).dns.resolver;
  };
  const followed = 'kubernetes: { clusterId: west }\n';
  assert.equal(resolverOf(''), 'none');
  assert.equal(resolverOf(followed), 'system');
  assert.equal(resolverOf(`${followed}resolver: none\n`), 'none');
});

test('the configuration of the DNS server comes from a file and the environment', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-dns-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'dns.yaml');
  writeFileSync(file, 'zones: [{ name: example.test }]\nrecordsFile: /somewhere/records.yaml\n');
  assert.equal(loadDnsCommandConfig(file, {}).dns.recordsFile, '/somewhere/records.yaml');
  assert.equal(loadDnsCommandConfig(file, { ISTHMUS_DNS_WORKERS: '3' }).dns.workers, 3);
});
