import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { z } from 'zod';
import { loadConfig } from './config.ts';

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

  test('broken YAML, a missing file and a bare list say so', () => {
    assert.throws(() => loadConfig(schema, { file: file('a: [') }), { code: 'CONFIG_INVALID' });
    assert.throws(() => loadConfig(schema, { file: file('- 1') }), { code: 'CONFIG_INVALID' });
    assert.throws(() => loadConfig(schema, { file: join(folder, 'none.yaml') }), {
      code: 'CONFIG_UNREADABLE',
    });
  });
});
