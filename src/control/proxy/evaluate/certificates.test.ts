import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { createAuthority } from '../../../../test/support/pki.ts';
import type { Authority, CertificateRequest } from '../../../../test/support/pki.ts';
import { evaluateCertificates, keyPairProblem, readTrustBundle } from './certificates.ts';
import type { KeyPair } from './certificates.ts';

const DAY_MS = 86_400_000;

suite('certificates', () => {
  let authority: Authority;
  before(async () => (authority = await createAuthority('test')));

  async function issue(request: Partial<CertificateRequest>): Promise<KeyPair> {
    const { certPem, keyPem } = await authority.issue({ commonName: 'test', ...request });
    return { certificate: certPem, privateKey: keyPem };
  }

  test('a pair that fits is fine; a key of another certificate, or none at all, is told apart', async () => {
    const [one, other] = [await issue({}), await issue({})];
    assert.equal(keyPairProblem(one), undefined);
    assert.match(keyPairProblem({ ...one, privateKey: other.privateKey })!, /does not belong to/);
    assert.match(keyPairProblem({ ...one, privateKey: 'x' })!, /not a private key/);
    assert.match(keyPairProblem({ ...one, certificate: 'x' })!, /not a certificate/);
  });

  test('a chain is evaluated by its first certificate', async () => {
    const leaf = await issue({ dns: ['a.example.com'] });
    const chain = { ...leaf, certificate: leaf.certificate + authority.certPem };
    assert.equal(keyPairProblem(chain), undefined);
    assert.deepEqual(evaluateCertificates([chain], ['a.example.com'], Date.now()).faults, []);
  });

  test('every host needs a certificate, whichever of several that is', async () => {
    const keys = [
      await issue({ dns: ['boot.example.com'] }),
      await issue({ dns: ['*.brokers.example.com'] }),
    ];
    const hosts = ['boot.example.com', 'b0.brokers.example.com', 'b1.brokers.example.com'];
    assert.deepEqual(evaluateCertificates(keys, hosts, Date.now()).faults, []);
    const [fault, ...more] = evaluateCertificates(keys, [...hosts, 'b2.example.com'], Date.now()).faults;
    assert.equal(fault?.reason, 'CertificateHostMismatch');
    assert.match(fault.message, /good for b2\.example\.com \(/);
    assert.deepEqual(more, []);
  });

  test('only the first few of many hosts are named', async () => {
    const hosts = Array.from({ length: 100 }, (_, i) => `b${i}.example.com`);
    const { faults } = evaluateCertificates([await issue({})], hosts, Date.now());
    assert.match(faults[0]!.message, /b4\.example\.com and 95 more/);
  });

  test('time changes the evaluation, and it says when', async () => {
    const key = await issue({ dns: ['a'], days: 10 });
    const now = Date.now();
    const { faults, changesAt } = evaluateCertificates([key], ['a'], now);
    assert.deepEqual(faults, []);
    // It is good for eleven days, of which the last fifth is the time to say so.
    assert.ok(Math.abs(changesAt! - (now + 7.8 * DAY_MS)) < 60_000);
    const reasons = (at: number) => evaluateCertificates([key], ['a'], at).faults.map(({ reason }) => reason);
    assert.deepEqual(reasons(changesAt! - 1), []);
    assert.deepEqual(reasons(changesAt!), ['CertificateExpiring']);
    assert.deepEqual(reasons(now + 11 * DAY_MS), ['CertificateExpired']);
    assert.deepEqual(reasons(now - 11 * DAY_MS), ['CertificateNotYetValid']);
    assert.equal(evaluateCertificates([key], ['a'], now + 11 * DAY_MS).changesAt, undefined);
  });

  test('a certificate that no host needs may be as old as it likes', async () => {
    const keys = [await issue({ dns: ['a'] }), await issue({ dns: ['b'], days: -3 })];
    assert.deepEqual(evaluateCertificates(keys, ['a'], Date.now()).faults, []);
  });

  test('a bundle must hold certificates that can be read', () => {
    assert.equal(readTrustBundle(authority.certPem + authority.certPem), undefined);
    assert.match(readTrustBundle('nothing')!, /no certificate/);
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    assert.match(readTrustBundle(authority.certPem + broken)!, /certificate 2 of 2/);
  });
});
