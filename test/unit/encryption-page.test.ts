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
    ['src/proxy/**/*.test.ts', 'src/crypto/*.test.ts', 'test/integration/encryption/*.test.ts'],
    { cwd: root },
  ).map(read);
  const [protects = '', doesNot = ''] = page.split(/^## What it /m).slice(1);
  const claims = `${protects}\n${doesNot.split(/^## /m)[0]}`.split(/^- /m).slice(1);
  assert.ok(claims.length > 8);
  const named = [...page.matchAll(/"([^"]{20,})"/g)].map(([, name]) => name!.replaceAll(/\s+/g, ' '));
  assert.ok(named.length > 12);
  for (const name of named)
    assert.ok(
      sources.some((source) => source.includes(`'${name}'`)),
      `no test has the name "${name}"`,
    );
  // What cannot be shown by a test of the filter: what it has no part in.
  const untested = claims.filter((claim) => !/"[^"]{20,}"/.test(claim)).map((claim) => claim.split('**')[1]);
  assert.deepEqual(untested, [
    'Share groups behind several processes.',
    'Availability.',
    'Who writes and reads what, and when',
  ]);
});
