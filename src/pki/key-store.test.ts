import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { JKS, KEYTOOL, LEGACY, OPENSSL, PASSWORD } from '../../test/support/key-stores.ts';
import { readKeyStore } from './key-store.ts';
import { readTrustStore } from './trust-store.ts';

test('key, certificate and chain are read from PKCS12 and JKS, and are the same', () => {
  const pair = readKeyStore(OPENSSL, PASSWORD);
  const [own, issuer, ...rest] = pair.certificate.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
  const certificate = new X509Certificate(own!);
  assert.equal(certificate.subject, 'CN=store');
  assert.ok(certificate.checkPrivateKey(createPrivateKey(pair.privateKey)));
  assert.equal(new X509Certificate(issuer!).subject, 'CN=authority');
  assert.deepEqual(rest, []);
  assert.deepEqual(readKeyStore(KEYTOOL, PASSWORD), pair);
  assert.deepEqual(readKeyStore(JKS, PASSWORD), pair);
});

test('what is wrong is said, and nothing of it is quoted', () => {
  for (const store of [OPENSSL, KEYTOOL, JKS])
    assert.throws(
      () => readKeyStore(store, 'not the password'),
      (error: Error) =>
        /is the password right/.test(error.message) && !/not the password/.test(error.message),
    );
  assert.throws(() => readKeyStore(LEGACY, PASSWORD), /a cipher of the past/);
  assert.throws(() => readKeyStore(Buffer.from('rubbish rubbish'), PASSWORD), /is not a PKCS12 store/);
  assert.throws(() => readTrustStore(JKS, undefined, PASSWORD), /has a private key in it/);
});

test('property: a store that was damaged is read or refused in a few words', () => {
  const stores = fc.constantFrom(OPENSSL, KEYTOOL, JKS);
  fc.assert(
    fc.property(stores, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean(), (store, at, byte, cut) => {
      const damaged = Buffer.from(cut ? store.subarray(0, at % store.length) : store);
      if (!cut) damaged[at % store.length] = byte;
      try {
        readKeyStore(damaged, PASSWORD);
      } catch (error) {
        assert.ok(error instanceof Error && error.message.length < 200);
      }
    }),
    { numRuns: 60 },
  );
});
