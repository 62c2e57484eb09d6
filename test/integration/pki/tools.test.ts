/** Certificates and stores that we make, as OpenSSL, Java and Kafka itself see them. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { authoritySubject, certifyAuthority, newPrivateKey } from '../../../src/pki/authority.ts';
import { readAuthority } from '../../../src/pki/authority-secrets.ts';
import { issueLeaf } from '../../../src/pki/certificate.ts';
import type { Leaf, Signer } from '../../../src/pki/certificate.ts';
import { isFault, readCertificates, readPrivateKey } from '../../../src/pki/certificate-facts.ts';
import { signerFrom } from '../../../src/pki/leaf.ts';
import { writeKeyStore, writeTrustStore } from '../../../src/pki/pkcs12-writer.ts';
import { run } from '../../../src/store/embedded/process.ts';
import { ensureKafka } from '../../support/install/kafka.ts';
import { workspace } from '../../support/workspace.ts';

const directory = workspace('pki');
const validity = { now: new Date(), validityMs: 60 * 60 * 1000 };
const names = ['10.0.0.1', '2001:db8::1', '*.wild.test', 'a.b'];
const subject = { organization: 'io.strimzi', commonName: 'my-kafka' };

function file(name: string, contents: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, contents);
  return path;
}

async function newSigner(generation: number, keyPem = newPrivateKey()): Promise<Signer> {
  const pem = await certifyAuthority(
    createPrivateKey(keyPem),
    authoritySubject('cluster-ca', generation),
    validity,
  );
  const [certificates, key] = [readCertificates(pem), readPrivateKey(keyPem)];
  assert.ok(!isFault(certificates) && !isFault(key));
  return { certificate: certificates[0]!, key };
}

const sign = (signer: Signer) => issueLeaf(signer, { ...validity, subject, names });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});
const [old, next, ofUser] = [await newSigner(0), await newSigner(1), await newSigner(0, rsa)];
const renewed = await newSigner(0, old.key.key.export({ type: 'pkcs8', format: 'pem' }));
const [oldLeaf, nextLeaf, userLeaf, renewedLeaf] = (await Promise.all(
  [old, next, ofUser, renewed].map(sign),
)) as [Leaf, Leaf, Leaf, Leaf];

suite('certificates', () => {
  const verify = (authority: Signer, leaf: Leaf, ...args: string[]) =>
    run('openssl', [
      'verify',
      '-x509_strict',
      '-CAfile',
      file('ca.crt', authority.certificate.pem),
      ...args,
      file('leaf.crt', leaf.chain),
    ]);

  test('OpenSSL verifies them, by name, by address and for both ends, and nothing else', async () => {
    const good = [
      ['-purpose', 'sslserver'],
      ['-purpose', 'sslclient'],
      ['-verify_hostname', 'a.b'],
      ['-verify_hostname', 'x.wild.test'],
      ['-verify_ip', '10.0.0.1'],
      ['-verify_ip', '2001:db8::1'],
    ];
    for (const args of good) assert.equal((await verify(old, oldLeaf, ...args)).code, 0, args.join(' '));
    assert.notEqual((await verify(old, oldLeaf, '-verify_hostname', 'b.c')).code, 0);
    assert.notEqual((await verify(next, oldLeaf)).code, 0);
    assert.equal((await verify(ofUser, userLeaf)).code, 0, 'by an authority with RSA');
  });

  test('a renewed authority and the one before it verify what either signed', async () => {
    for (const authority of [old, renewed])
      for (const leaf of [oldLeaf, renewedLeaf]) assert.equal((await verify(authority, leaf)).code, 0);
  });

  test('below an authority that is not a root, the chain leads up to it', async () => {
    const openssl = async (...args: string[]) =>
      assert.equal((await run('openssl', args, { cwd: directory })).code, 0);
    const [root, between] = [file('root.key', rsa), file('between.key', newPrivateKey())];
    await openssl('req', '-x509', '-key', root, '-subj', '/CN=root', '-days', '1', '-out', 'root.crt');
    await openssl('req', '-new', '-key', between, '-subj', '/CN=between', '-out', 'between.csr');
    const ca = file('ca.ext', 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n');
    const issue = ['-in', 'between.csr', '-CA', 'root.crt', '-CAkey', root, '-extfile', ca, '-days', '1'];
    await openssl('x509', '-req', ...issue, '-out', 'between.crt');
    const pem = ['between.crt', 'root.crt']
      .map((name) => readFileSync(join(directory, name), 'utf8'))
      .join('');
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    const keySecret = { data: { 'ca.key': encoded(readFileSync(between, 'utf8')) } };
    const material = readAuthority({ data: { 'ca.crt': encoded(pem) } }, keySecret);
    assert.ok(material.certificate && !isFault(material.certificate));
    const { chain } = await sign(signerFrom(material, material.certificate)!);
    assert.equal(chain.match(/BEGIN/g)?.length, 2);
    const leaf = file('leaf.crt', chain);
    await openssl('verify', '-CAfile', 'root.crt', '-untrusted', leaf, leaf);
  });
});

suite('stores', () => {
  const PASSWORD = 'a-long-password';
  const keytool = (store: string, password = PASSWORD) =>
    run('keytool', [
      '-J-Duser.language=en',
      '-list',
      '-v',
      '-storetype',
      'PKCS12',
      '-keystore',
      store,
      '-storepass',
      password,
    ]);

  test('keytool lists all certificates of a trust store as trusted', async () => {
    const certificates = {
      'ca.crt': next.certificate.pem,
      'ca-2026-11-17T12-00-00Z.crt': old.certificate.pem,
    };
    const path = file('ca.p12', writeTrustStore(certificates, PASSWORD));
    const { code, stdout } = await keytool(path);
    assert.equal(code, 0, stdout);
    const entry = /Alias name: (.*)\n(?:.*\n)*?Entry type: (.*)\n(?:.*\n)*?Owner: (.*)\n/g;
    const entries = [...stdout.matchAll(entry)].map(([, ...parts]) => parts.join(' | '));
    assert.deepEqual(entries.toSorted(), [
      'ca-2026-11-17t12-00-00z.crt | trustedCertEntry | CN=cluster-ca v0, O=io.strimzi',
      'ca.crt | trustedCertEntry | CN=cluster-ca v1, O=io.strimzi',
    ]);
    assert.notEqual((await keytool(path, 'another')).code, 0);
  });

  test('keytool and OpenSSL open a key store, with its chain', async () => {
    const chain = oldLeaf.chain + old.certificate.pem;
    const path = file('user.p12', writeKeyStore({ alias: 'user', key: oldLeaf.key, chain }, PASSWORD));
    const { code, stdout } = await keytool(path);
    assert.equal(code, 0, stdout);
    assert.deepEqual(stdout.match(/Alias name: .*|Entry type: .*|chain length: .*/g), [
      'Alias name: user',
      'Entry type: PrivateKeyEntry',
      'chain length: 2',
    ]);
    const opened = await run('openssl', [
      'pkcs12',
      '-in',
      path,
      '-passin',
      `pass:${PASSWORD}`,
      '-nodes',
      '-nocerts',
    ]);
    assert.equal(opened.code, 0, opened.stderr);
    assert.ok(opened.stdout.includes(oldLeaf.key.trim()));
  });
});

test('Kafka’s TLS shakes hands through every phase of a replaced key', async () => {
  const { classPath } = await ensureKafka();
  const pem = (name: string, { key, chain }: Leaf) => file(name, key + chain);
  const [oldNode, nextNode] = [pem('old.pem', oldLeaf), pem('next.pem', nextLeaf)];
  const [oldOnly, both, nextOnly] = [[old], [next, old], [next]].map((signers, index) =>
    file(`trust-${index}.crt`, signers.map(({ certificate }) => certificate.pem).join('')),
  ) as [string, string, string];
  const handshakes = [
    [oldNode, oldOnly, oldNode, both],
    [oldNode, both, nextNode, both],
    [nextNode, nextOnly, nextNode, both],
    [nextNode, both, oldNode, oldOnly],
    [pem('renewed.pem', renewedLeaf), oldOnly, oldNode, file('renewed.crt', renewed.certificate.pem)],
  ].flat();
  const source = join(import.meta.dirname, 'Handshake.java');
  const { stdout, stderr } = await run('java', ['-cp', classPath, source, ...handshakes]);
  const fine = 'CN=my-kafka,O=io.strimzi CN=my-kafka,O=io.strimzi';
  const [first, second, third, fourth, fifth] = stdout.trim().split('\n');
  assert.deepEqual([first, second, third, fifth], [fine, fine, fine, fine], stdout + stderr);
  // This is what the phases are for.
  assert.match(fourth ?? '', /refused: .*unable to find valid certification path/);
});
