/** The program as a process: how it ends, and what it takes on standard input. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'isthmus-main-'));
after(() => rmSync(folder, { recursive: true }));

function isthmus(args: string[], input = ''): { code: number | null; out: string; err: string } {
  const main = join(import.meta.dirname, '../main.ts');
  const options = { input, encoding: 'utf8', timeout: 180_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options);
  return { code: status, out: stdout, err: stderr };
}

suite('the process', () => {
  test('ends when a command fails half way, with sockets open', () => {
    const config = join(folder, 'dns.yaml');
    const kubernetes = { clusterId: 'a', kubeconfig: join(folder, 'none') };
    const zones = [{ name: 'example.test' }];
    writeFileSync(config, JSON.stringify({ listen: ['127.0.0.1:0'], zones, kubernetes }));
    const { code, err } = isthmus(['dns', '--config', config]);
    assert.match(err, /the kubeconfig cannot be used/);
    assert.equal(code, 1);
  });

  test('analyze reads standard input', () => {
    const good = 'apiVersion: kroxylicious.io/v1alpha1\nkind: KafkaProxy\nmetadata: { name: p }\n';
    const { code, err } = isthmus(['analyze', '-f', '-'], good);
    assert.deepEqual([code, err], [0, 'nothing wrong in 1 resource\n']);
    const bad = isthmus(['analyze', '-f', '-'], good.replace('metadata', 'metadatum'));
    assert.equal(bad.code, 1);
    assert.match(bad.out, /standard input:1 +RESOURCE_INVALID +metadata is required/);
  });
});
