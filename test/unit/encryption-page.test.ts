/** docs/encryption.md names a test for every claim: each must be there. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('every claim about encryption names tests that exist', () => {
  const page = read('docs/encryption.md').replaceAll(/^```[^]*?^```/gm, '');
  const sources = globSync(
    [
      'src/proxy/**/*.test.ts',
      'src/crypto/*.test.ts',
      'test/integration/encryption/*.test.ts',
      'test/support/kms-contract.ts',
      'test/integration/filters/*.test.ts',
    ],
    { cwd: root },
  ).map(read);
  const claims = page
    .split(/^## /m)
    .slice(1)
    // That part says what can be written in rules.
    .filter((part) => !part.startsWith('Which topics are sealed'))
    .flatMap((part) => part.split(/^- /m).slice(1));
  assert.ok(claims.length > 15, `${claims.length} claims`);
  const named = [...page.matchAll(/"([^"]{20,})"/g)].map(([, name]) => name!.replaceAll(/\s+/g, ' '));
  assert.ok(named.length > 12);
  for (const name of named)
    assert.ok(
      sources.some((source) => source.includes(`'${name}'`)),
      `no test has the name "${name}"`,
    );
  // What cannot be shown by a test of the filter: what it has no part in.
  const untested = claims.filter((claim) => !/"[^"]{20,}"/.test(claim)).map((claim) => claim.split('**')[1]);
  assert.deepEqual(untested, ['Who writes and reads what, and when']);
});
