import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '../../../kube/object.ts';
import { selfSigned } from '../../../pki/self-signed.ts';
import { accessIn, createAccesses, newToken } from './management-access.ts';
import type { ManagementAccess } from './management-access.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;
const YEAR_MS = 365 * DAY_MS;

const mint = {
  token: newToken,
  keyPair: (host: string) => selfSigned(host, { now: new Date(NOW), validityMs: 10 * YEAR_MS }),
};

function secretOf(access: Partial<ManagementAccess>): AnyObject {
  const { token = '', metricsToken = '', certificate = '', privateKey = '' } = access;
  const texts = { token, 'metrics-token': metricsToken, 'tls.crt': certificate, 'tls.key': privateKey };
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'p-management', namespace: 'n' }, data };
}

/** As a reconcile does it. */
async function accessWith(
  accesses: ReturnType<typeof createAccesses>,
  proxy: string,
  secret: AnyObject | undefined,
): Promise<ManagementAccess> {
  await accesses.prepare(proxy, secret);
  return accesses.of(proxy, secret);
}

const trimmed = ({ certificate, privateKey, ...tokens }: ManagementAccess) => ({
  ...tokens,
  certificate: certificate.trim(),
  privateKey: privateKey.trim(),
});

test('tokens and certificates are made once for a proxy, and again when their Secret was deleted', async () => {
  const accesses = createAccesses(mint, () => NOW);
  const first = await accessWith(accesses, 'n/p', undefined);
  assert.ok(first.token.length >= 43 && first.token !== first.metricsToken);
  assert.deepEqual(await accessWith(accesses, 'n/p', undefined), first, 'before the Secret is seen');
  assert.notDeepEqual(await accessWith(accesses, 'n/q', undefined), first);
  assert.deepEqual(trimmed(await accessWith(accesses, 'n/p', secretOf(first))), trimmed(first));
  assert.notDeepEqual(await accessWith(accesses, 'n/p', undefined), first, 'after it was deleted');
});

test('tokens that somebody has chosen stay, and half of them are none', async () => {
  const keys = await mint.keyPair('p-management.n');
  const chosen = { token: 'mine', metricsToken: 'theirs\n', ...keys };
  const access = await accessWith(
    createAccesses(mint, () => NOW),
    'n/p',
    secretOf(chosen),
  );
  assert.deepEqual([access.token, access.metricsToken], ['mine', 'theirs']);
  assert.equal(accessIn(secretOf({ ...chosen, metricsToken: '' })), undefined);
  assert.equal(accessIn(secretOf({ ...chosen, privateKey: '' })), undefined);
});

test('a certificate that is of no use gets another in its place, and the tokens stay', async () => {
  const good = await mint.keyPair('p-management.n');
  const other = await mint.keyPair('p-management.n');
  const ofAnother = await mint.keyPair('q-management.n');
  const isKept = async (keys: Partial<ManagementAccess>, now = NOW) => {
    const secret = secretOf({ token: 'mine', metricsToken: 'theirs', ...keys });
    const access = await accessWith(
      createAccesses(mint, () => now),
      'n/p',
      secret,
    );
    assert.equal(access.token, 'mine');
    return access.certificate.trim() === keys.certificate?.trim();
  };
  assert.equal(await isKept(good), true);
  assert.equal(await isKept({}), false);
  assert.equal(await isKept({ ...good, privateKey: other.privateKey }), false, 'not its key');
  assert.equal(await isKept(ofAnother), false, 'for another host');
  assert.equal(await isKept({ certificate: 'nonsense', privateKey: 'nonsense' }), false);
  assert.equal(await isKept(good, NOW + 9 * YEAR_MS - DAY_MS), true);
  assert.equal(await isKept(good, NOW + 9 * YEAR_MS), false, 'a year before it ends');
});
