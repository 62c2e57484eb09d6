import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { certifyAuthority, newPrivateKey } from './authority.ts';
import { readKeyStore } from './key-store.ts';
import { writeKeyStore, writeTrustStore } from './pkcs12-writer.ts';
import { readTrustStore } from './trust-store.ts';

// That Java and OpenSSL read them is shown in test/integration/pki.

const key = newPrivateKey();
const validity = { now: new Date(), validityMs: 60_000 };
const chain = await certifyAuthority(createPrivateKey(key), { commonName: 'one' }, validity);
const other = await certifyAuthority(createPrivateKey(newPrivateKey()), { commonName: 'two' }, validity);

test('stores that were written are read back', () => {
  const trust = writeTrustStore({ 'ca.crt': chain, 'ca-2026.crt': other }, 'a password');
  assert.equal(readTrustStore(trust, 'PKCS12', 'a password'), chain + other);
  const pair = readKeyStore(writeKeyStore({ alias: 'user', key, chain }, 'a password'), 'a password');
  assert.deepEqual(pair, { certificate: chain, privateKey: key });
});

test('a key is not in the store in clear, nor opened by another password', () => {
  const store = writeKeyStore({ alias: 'user', key, chain }, 'a password');
  const { d } = createPrivateKey(key).export({ format: 'jwk' });
  assert.equal(store.includes(Buffer.from(d!, 'base64url')), false);
  assert.throws(() => readKeyStore(store, 'another'), /is the password right/);
});
