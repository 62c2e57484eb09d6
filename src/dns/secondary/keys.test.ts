import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { dnsConfigSchema } from '../server/config.ts';
import { loadKeys } from './keys.ts';

const zones = [{ name: 'example.test' }];

test('secrets are read from files; what is wrong is said without quoting them', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const secretFile = join(folder, 'k');
  const load = (text: string | undefined, more = {}) => {
    if (text !== undefined) writeFileSync(secretFile, text);
    const tsigKeys = [{ name: 'k.test', secretFile }];
    return loadKeys(dnsConfigSchema.parse({ zones, tsigKeys, ...more }));
  };
  assert.throws(() => load(undefined), /k \(ENOENT/);
  const [key] = load(`${Buffer.alloc(32, 9).toString('base64')}\n`, { transferKeys: ['K.test.'] });
  assert.deepEqual([key?.algorithm, key?.secret], ['hmac-sha256', new Uint8Array(32).fill(9)]);
  for (const bad of ['not base64!', 'c2hvcnQ=', '', 'x'.repeat(2000)])
    assert.throws(
      () => load(bad),
      (error: Error) =>
        /k (is not a secret|\(it has more)/.test(error.message) &&
        (bad === '' || !error.message.includes(bad)),
    );
  const good = Buffer.alloc(32).toString('base64');
  assert.throws(() => load(good, { transferKeys: ['other.test'] }), /no key other\.test\. in tsigKeys/);
  const notify = [{ address: '192.0.2.1', key: 'other.test' }];
  assert.throws(() => load(good, { notify }), /no key other\.test\. in tsigKeys/);
});
