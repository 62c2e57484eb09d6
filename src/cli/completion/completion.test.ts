import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { createProgram } from '../program.ts';
import { complete } from './complete.ts';
import type { Lookup } from './complete.ts';
import { clusterLookup } from './lookup.ts';
import { SCRIPTS } from './scripts.ts';

const lookup: Lookup = {
  kinds: clusterLookup.kinds,
  codes: clusterLookup.codes,
  names: async (kind, line) => (line.includes('-n') ? [`${kind}-there`] : ['orders', 'payments']),
  namespaces: async () => ['default', 'team-a'],
  contexts: async () => ['home', 'work'],
};
const program = createProgram({ out: () => {}, err: () => {}, exitCode: 0 });
const candidates = async (...line: string[]) => (await complete(program, line, lookup)).candidates;

suite('completion', () => {
  test('commands, below others, too', async () => {
    assert.deepEqual(await candidates('des'), ['describe']);
    assert.deepEqual(await candidates('dns', 'q'), ['query']);
    assert.deepEqual(await candidates('dns', '--config', 'file', 'q'), ['query']);
  });

  test('options, those of the command above, and their values', async () => {
    assert.deepEqual(await candidates('status', '--wa'), ['--wait']);
    assert.deepEqual(await candidates('dns', 'query', 'name', '--conf'), ['--config']);
    assert.deepEqual(await candidates('get', 'vkc', '-o', ''), ['table', 'wide', 'json', 'yaml', 'name']);
    assert.deepEqual(await candidates('get', 'vkc', '-n', 't'), ['team-a']);
    assert.deepEqual(await candidates('check', '--context', ''), ['home', 'work']);
    assert.deepEqual(await complete(program, ['analyze', '-f', ''], lookup), { candidates: [], files: true });
  });

  test('arguments: kinds, names of objects, codes, choices', async () => {
    assert.deepEqual(await candidates('tree', 'virtual'), ['virtualkafkacluster']);
    assert.deepEqual(await candidates('tree', 'vkc/o'), ['vkc/orders']);
    assert.deepEqual(await candidates('tree', 'vkc', 'p'), ['payments']);
    assert.deepEqual(await candidates('get', '-n', 'team-a', 'vkc', ''), ['vkc-there']);
    assert.deepEqual(await candidates('explain', 'HostNameT'), ['HostNameTaken']);
    assert.deepEqual(await candidates('check', '--pre', 'po'), ['pod-sets']);
    assert.deepEqual(await candidates('tree', 'vkc/orders', ''), []);
  });

  test('without a cluster there are no names, and no message', async () => {
    const line = ['--kubeconfig', join(tmpdir(), 'no', 'such', 'file')];
    assert.deepEqual(await clusterLookup.names('vkc', line), []);
    assert.deepEqual(await clusterLookup.namespaces(line), []);
    assert.deepEqual(await clusterLookup.contexts(line), []);
    assert.deepEqual(await clusterLookup.names('boat', []), []);
  });
});

suite('the script for bash', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-completion-'));
  after(() => rmSync(folder, { recursive: true }));
  const main = join(import.meta.dirname, '../../main.ts');
  writeFileSync(join(folder, 'isthmus'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(join(folder, 'isthmus'), 0o755);

  function completed(line: string): string[] {
    const script = `${SCRIPTS.bash}\nCOMP_LINE='${line}'\nCOMP_POINT=\${#COMP_LINE}\n_isthmus\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env, cwd: folder });
    assert.equal(stderr, '');
    return stdout.split('\n').filter(Boolean);
  }

  test('completes with the program itself, and offers files where one is asked for', () => {
    assert.deepEqual(completed('isthmus desc'), ['describe']);
    assert.deepEqual(completed('isthmus get vkc -o '), ['table', 'wide', 'json', 'yaml', 'name']);
    assert.deepEqual(completed('isthmus analyze -f '), ['isthmus']);
  });
});
