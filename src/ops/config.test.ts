import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { z } from 'zod';
import { checkConfig, loadConfig } from './config.ts';

const schema = z.strictObject({
  leaseDurationSeconds: z.int().positive().default(15),
  roads: z.array(z.enum(['proxy', 'discover'])).default(['proxy']),
  management: z.strictObject({ port: z.int() }).optional(),
});

const folder = mkdtempSync(join(tmpdir(), 'isthmus-config-'));
after(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, text);
  return path;
}

suite('config', () => {
  test('file, then environment, then defaults', () => {
    const config = loadConfig(schema, {
      file: file('leaseDurationSeconds: 20\nmanagement: { port: 8080 }\n'),
      env: { ISTHMUS_ROADS: '[discover]', OTHER: 'x' },
      envPrefix: 'ISTHMUS',
    });
    assert.deepEqual(config, { leaseDurationSeconds: 20, roads: ['discover'], management: { port: 8080 } });
  });

  test('an environment variable overrides the file', () => {
    const source = {
      file: file('leaseDurationSeconds: 20'),
      env: { X_LEASE_DURATION_SECONDS: '5' },
      envPrefix: 'X',
    };
    assert.equal(loadConfig(schema, source).leaseDurationSeconds, 5);
  });

  test('every wrong key is named, all at once', () => {
    const path = file('leaseDurationSeconds: -1\nroads: [rail]\nmanagement: { port: x }\nleese: 1\n');
    assert.throws(
      () => loadConfig(schema, { file: path }),
      (error: Error) => {
        for (const key of ['leaseDurationSeconds:', 'roads.0:', 'management.port:', 'leese']) {
          assert.ok(error.message.includes(key), `${key} in ${error.message}`);
        }
        return true;
      },
    );
  });

  test('a key that must be there is said to be required, also where there is nothing at all', () => {
    const strict = z.strictObject({ a: z.array(z.strictObject({ b: z.string() })) });
    const refused = (text: string, pattern: RegExp) =>
      assert.throws(() => loadConfig(strict, { file: file(text) }), pattern);
    refused('', /\n {2}a: is required$/);
    refused('a: [{}]', /\n {2}a\.0\.b: is required$/);
    refused('a: [{ b: 1 }]', /\n {2}a\.0\.b: .*expected string/);
    assert.throws(() => checkConfig(strict, null, 'x'), /a: is required$/);
  });

  test('what is wrong with YAML is named by its place; a line may hold a secret', () => {
    const refused = (text: string, pattern: RegExp) =>
      assert.throws(
        () => loadConfig(schema, { file: file(text) }),
        (error: Error) => pattern.test(error.message) && !error.message.includes('sesame'),
      );
    refused('password: "sesame\n', /config\.yaml: Missing closing .* at line 2, column 1$/);
    refused('a: *sesame\n', /config\.yaml: it has an alias without an anchor/);
    refused('a: sesame\n---\nb: 1\n', /config\.yaml: one YAML document is expected, not several at line 2, /);
    const source = { env: { X_ROADS: '[sesame' }, envPrefix: 'X' };
    assert.throws(() => loadConfig(schema, source), /X_ROADS: .* at line 1, column \d+$/);
  });

  test('broken YAML, a missing file and a bare list say so', () => {
    assert.throws(() => loadConfig(schema, { file: file('a: [') }), { code: 'CONFIG_INVALID' });
    assert.throws(() => loadConfig(schema, { file: file('- 1') }), { code: 'CONFIG_INVALID' });
    assert.throws(() => loadConfig(schema, { file: join(folder, 'none.yaml') }), {
      code: 'CONFIG_UNREADABLE',
    });
  });
});
