/** What `npm pack` gives, installed into a prefix of its own: it has to work without the clone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { before, suite, test } from 'node:test';
import { workspace } from '../../support/workspace.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = workspace('package');
const prefix = join(folder, 'prefix');
// The Node that runs this, as a machine with Node 26 has it on its PATH.
const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };

function run(program: string, args: string[], { cwd = folder, input = '' } = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, input, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

const installed = (name: string, ...args: string[]) => run(join(prefix, 'bin', name), args);

suite('the package', () => {
  before(() => {
    const packed = run('npm', ['pack', '--pack-destination', folder], { cwd: root });
    assert.equal(packed.code, 0, packed.err);
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    const install = ['install', '--global', '--prefix', prefix, ...quiet, join(folder, archive)];
    const done = run('npm', install);
    assert.equal(done.code, 0, done.err);
  });

  test('runs', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    assert.deepEqual(installed('isthmus', '--version'), { code: 0, out: `${version}\n`, err: '' });
    assert.match(installed('isthmus', 'install').out, /^kind: CustomResourceDefinition$/m);
    assert.match(installed('isthmus', 'explain', 'HostNameTaken').out, /^HostNameTaken: /);
  });

  test('has the examples, and no sources', () => {
    const home = join(prefix, 'lib/node_modules/isthmus');
    const example = installed('isthmus', 'analyze', '-f', join(home, 'deploy/examples/quickstart'));
    assert.deepEqual([example.code, example.out], [0, ''], example.err);
    const files = readdirSync(home, { recursive: true })
      .map(String)
      .filter((name) => !name.startsWith('node_modules'));
    assert.deepEqual(
      files.filter((name) => /\.test\.|\.ts$|^(src|test|tools|bench)\b/.test(name)),
      [],
    );
  });

  test('is a plugin of kubectl, with its completion', () => {
    assert.match(installed('kubectl-isthmus', '--help').out, /^Usage: kubectl isthmus /);
    assert.equal(installed('kubectl_complete-isthmus', 'expl').out, 'explain\n:4\n');
  });
});
