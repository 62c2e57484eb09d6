import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { certifyAuthority, newPrivateKey } from './authority.ts';
import { certManagerCertificate, readIssued } from './cert-manager.ts';
import { issueLeaf } from './certificate.ts';
import { isFault, readCertificates, readPrivateKey } from './certificate-facts.ts';
import { encoded } from './secrets.ts';

const HOUR_MS = 60 * 60 * 1000;
const subject = { organization: 'io.strimzi', commonName: 'my-kafka' };

test('asks cert-manager for what we would sign', () => {
  const names = ['10.0.0.1', 'a.b'];
  const times = { validityMs: 48 * HOUR_MS, renewalMs: 12 * HOUR_MS };
  const request = {
    issuer: { name: 'corporate', kind: 'ClusterIssuer' },
    namespace: 'ns',
    name: 'my-pool-0',
    subject,
    names,
  };
  const { spec, metadata } = certManagerCertificate({ ...request, ...times });
  assert.deepEqual(metadata, { name: 'my-pool-0', namespace: 'ns' });
  assert.partialDeepStrictEqual(spec, {
    secretName: 'my-pool-0',
    issuerRef: { name: 'corporate', kind: 'ClusterIssuer', group: 'cert-manager.io' },
    dnsNames: ['a.b'],
    ipAddresses: ['10.0.0.1'],
    duration: '172800s',
    renewBefore: '43200s',
  });
  const short = certManagerCertificate({ ...request, validityMs: 1000, renewalMs: 9 * HOUR_MS }).spec;
  assert.deepEqual([short.duration, short.renewBefore], ['3600s', '1800s']);
});

test('reads back what it has issued; what is missing or broken is said', async () => {
  const keyPem = newPrivateKey();
  const validity = { now: new Date(), validityMs: HOUR_MS };
  const pem = await certifyAuthority(createPrivateKey(keyPem), { commonName: 'issuer' }, validity);
  const [certificates, key] = [readCertificates(pem), readPrivateKey(keyPem)];
  assert.ok(!isFault(certificates) && !isFault(key));
  const leaf = await issueLeaf(
    { certificate: certificates[0]!, key },
    { ...validity, subject, names: ['a.b'] },
  );
  const secret = { 'tls.crt': leaf.chain, 'tls.key': leaf.key, 'ca.crt': pem };
  const issued = readIssued({ data: encoded(secret) });
  assert.ok(issued && !isFault(issued));
  assert.deepEqual([issued.chain, issued.key, issued.authorities], [leaf.chain, leaf.key, certificates]);
  assert.deepEqual([issued.facts.names, issued.facts.signedBy], [['a.b'], key.keyId]);

  assert.equal(readIssued(undefined), undefined);
  assert.equal(readIssued({ data: encoded({ 'tls.key': leaf.key }) }), undefined);
  const faults = [
    [{ ...secret, 'ca.crt': '' }, /no ca.crt/],
    [{ ...secret, 'ca.crt': 'x' }, /ca.crt that has no certificate/],
    [{ ...secret, 'tls.crt': 'x' }, /tls.crt that has no certificate/],
    [{ ...secret, 'tls.key': keyPem }, /key that is not that of its certificate/],
  ] as const;
  for (const [data, message] of faults) {
    const read = readIssued({ data: encoded(data) });
    assert.ok(read && isFault(read));
    assert.match(read.fault, message);
  }
});
