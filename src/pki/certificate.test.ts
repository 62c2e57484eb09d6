import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalName, sortNames } from './alternative-names.ts';
import { authoritySubject, certifyAuthority, newPrivateKey } from './authority.ts';
import { issueLeaf } from './certificate.ts';
import type { Signer } from './certificate.ts';
import { isFault, readCertificates, readPrivateKey, signerOf } from './certificate-facts.ts';
import type { CertificateFacts } from './certificate-facts.ts';

const now = new Date('2026-11-17T12:00:00.500Z');
const DAY_MS = 24 * 60 * 60 * 1000;

function only(pem: string): CertificateFacts {
  const certificates = readCertificates(pem);
  assert.ok(!isFault(certificates));
  return certificates[0]!;
}

async function newSigner(generation: number, keyPem = newPrivateKey()): Promise<Signer> {
  const subject = authoritySubject('cluster-ca', generation);
  const pem = await certifyAuthority(createPrivateKey(keyPem), subject, { now, validityMs: 10 * DAY_MS });
  const key = readPrivateKey(keyPem);
  assert.ok(!isFault(key));
  return { certificate: only(pem), key };
}

test('an authority has the generation of its key in its name, and its certificate can be renewed with the same key', async () => {
  const signer = await newSigner(3);
  const { certificate, key } = signer;
  assert.equal(certificate.subject, 'CN=cluster-ca v3,O=io.strimzi');
  assert.deepEqual([certificate.isAuthority, certificate.isSelfSigned], [true, true]);
  assert.equal(certificate.keyId, key.keyId);
  assert.equal(certificate.notAfter.toISOString(), '2026-11-27T12:00:00.000Z');
  assert.ok(certificate.notBefore < now);
  const pem = key.key.export({ type: 'pkcs8', format: 'pem' });
  const renewed = await newSigner(3, pem);
  assert.notEqual(renewed.certificate.thumbprint, certificate.thumbprint);
  assert.equal(renewed.certificate.keyId, certificate.keyId);
});

test('a certificate has its names, ends with its authority at the latest, and says who signed it', async () => {
  const [first, second] = [await newSigner(0), await newSigner(1)];
  const names = ['10.0.0.1', '2001:db8::1', '*.example.test', 'a.b.svc'];
  const request = { now, subject: { organization: 'io.strimzi', commonName: 'my-kafka' }, names };
  const leaf = await issueLeaf(first, { ...request, validityMs: 20 * DAY_MS });
  const facts = only(leaf.chain);
  assert.equal(facts.subject, 'CN=my-kafka,O=io.strimzi');
  assert.deepEqual(facts.names, sortNames(names).names);
  assert.deepEqual(facts.notAfter, first.certificate.notAfter);
  assert.equal(facts.isAuthority, false);
  assert.ok(new X509Certificate(leaf.chain).checkPrivateKey(createPrivateKey(leaf.key)));
  assert.equal(signerOf(facts, [second.certificate, first.certificate]), first.key.keyId);
  assert.equal(signerOf(facts, [second.certificate]), undefined);
  const short = await issueLeaf(first, { ...request, validityMs: DAY_MS });
  assert.equal(only(short.chain).notAfter.toISOString(), '2026-11-18T12:00:00.000Z');
});

test('an authority of RSA or of another curve signs, too', async () => {
  const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pkcs8);
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(pkcs8);
  for (const pem of [rsa, p384]) {
    const signer = await newSigner(0, pem);
    const leaf = await issueLeaf(signer, {
      now,
      validityMs: DAY_MS,
      subject: { commonName: 'x' },
      names: ['x'],
    });
    assert.equal(signerOf(only(leaf.chain), [signer.certificate]), signer.key.keyId);
  }
});

test('names have one spelling, and what no certificate can name is set apart', () => {
  const given = [
    'B.Example.',
    '10.0.0.1',
    '2001:DB8:0:0::1',
    'b.example',
    '*.x',
    '10.0.0.256',
    'a b',
    '',
    'fe80::1%eth0',
  ];
  assert.deepEqual(sortNames(given), {
    names: ['*.x', '10.0.0.1', '2001:db8::1', 'b.example'],
    unusable: ['10.0.0.256', 'a b', '', 'fe80::1%eth0'],
  });
  fc.assert(
    fc.property(fc.oneof(fc.ipV6(), fc.ipV4(), fc.domain(), fc.string()), (name) => {
      const canonical = canonicalName(name);
      if (canonical !== undefined) assert.equal(canonicalName(canonical), canonical);
    }),
  );
});

test('property: whatever is given for a certificate or a key is read, or is a fault that quotes nothing', async () => {
  const { certificate } = await newSigner(0);
  const keyPem = newPrivateKey();
  fc.assert(
    fc.property(
      fc.constantFrom(certificate.pem, keyPem),
      fc.nat(),
      fc.string({ maxLength: 3 }),
      (pem, at, junk) => {
        const index = at % pem.length;
        const damaged = pem.slice(0, index) + junk + pem.slice(index + junk.length);
        for (const read of [readCertificates(damaged), readPrivateKey(damaged)])
          if (isFault(read)) assert.match(read.fault, /^has (no|a|more than)/);
      },
    ),
    { numRuns: 200 },
  );
  assert.deepEqual(readCertificates(certificate.pem.repeat(65)), { fault: 'has more than 64 certificates' });
});
