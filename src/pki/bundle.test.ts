import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { certifyAuthority, newPrivateKey } from './authority.ts';
import {
  bundleFiles,
  generationAnnotations,
  loadingOf,
  nodeAnnotations,
  readBundle,
  readNodeAnnotations,
  reloadedAnnotations,
  trustingAnnotations,
} from './bundle.ts';
import { isFault, readCertificates } from './certificate-facts.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import { encoded } from './secrets.ts';

const now = new Date('2026-11-17T12:00:00Z');

async function authority(commonName: string): Promise<CertificateFacts> {
  const key = createPrivateKey(newPrivateKey());
  const facts = readCertificates(await certifyAuthority(key, { commonName }, { now, validityMs: 60_000 }));
  assert.ok(!isFault(facts));
  return facts[0]!;
}

const [first, second, clients, clients2] = await Promise.all(
  ['1', '2', 'c', 'd'].map(authority) as [
    Promise<CertificateFacts>,
    Promise<CertificateFacts>,
    Promise<CertificateFacts>,
    Promise<CertificateFacts>,
  ],
);
const until = new Date('2026-12-01T00:00:00Z');
const leaf = { hash: 'h1', notBefore: now, notAfter: until, names: [], signedBy: first.keyId };
const bundles = { 'cluster-ca': [first], 'clients-ca': [clients] };
const loaded = nodeAnnotations(bundles, leaf);

test('a bundle is read back as it was written; one that is missing or broken is empty', () => {
  const data = encoded(bundleFiles({ 'cluster-ca': [first, second], 'clients-ca': [clients] }));
  assert.deepEqual(readBundle({ data }, 'cluster-ca'), [first, second]);
  assert.deepEqual(readBundle({ data }, 'clients-ca'), [clients]);
  assert.deepEqual(readBundle(undefined, 'cluster-ca'), []);
  assert.deepEqual(readBundle({ data: { 'cluster-ca.crt': 'eA==' } }, 'cluster-ca'), []);
});

test('annotations say what a pod trusts and presents, whatever becomes of the certificates', () => {
  const trust = (one: CertificateFacts) => ({ keyId: one.keyId, until: one.notAfter });
  assert.deepEqual(readNodeAnnotations(loaded), {
    clusterTrust: [trust(first)],
    clientsTrust: [trust(clients)],
    signedBy: first.keyId,
    hash: 'h1',
    until,
  });
  const unknown = { signedBy: undefined, hash: undefined, until: undefined };
  assert.deepEqual(readNodeAnnotations({}), { clusterTrust: 'unknown', clientsTrust: 'unknown', ...unknown });
  fc.assert(
    fc.property(fc.string(), (text) => {
      const read = readNodeAnnotations({
        'isthmus.dev/cluster-ca-trust': text,
        'isthmus.dev/server-cert-until': text,
      });
      assert.equal(read.clusterTrust, 'unknown');
    }),
  );
});

test('generations are on pods as Strimzi has them', () => {
  const annotations = generationAnnotations(
    { certificateGeneration: 3, keyGeneration: 1 },
    { certificateGeneration: 0 },
  );
  assert.deepEqual(annotations, {
    'strimzi.io/cluster-ca-cert-generation': '3',
    'strimzi.io/cluster-ca-key-generation': '1',
    'strimzi.io/clients-ca-cert-generation': '0',
  });
});

test('other keys take a restart now, what was renewed one before the old ends, new clients none', () => {
  const loading = (wanted: Record<string, string>, has = loaded) => loadingOf(has, wanted);
  // The authority ends before the certificate.
  const by = first.notAfter;
  assert.deepEqual(loading(loaded), { reload: false, restart: undefined });
  const trusting = nodeAnnotations({ ...bundles, 'cluster-ca': [second, first] }, leaf);
  assert.deepEqual(loading(trusting), { reload: true, restart: { why: 'keys changed', by } });
  assert.deepEqual(loading(loaded, trusting), { reload: true, restart: { why: 'keys changed', by } });
  const replaced = nodeAnnotations(bundles, { ...leaf, hash: 'h2', signedBy: second.keyId });
  assert.deepEqual(loading(replaced), { reload: true, restart: { why: 'keys changed', by } });
  const longer = { ...first, notAfter: until };
  const renewedCa = nodeAnnotations({ ...bundles, 'cluster-ca': [longer] }, leaf);
  assert.deepEqual(loading(renewedCa), { reload: true, restart: { why: 'authority renewed', by } });
  const renewed = nodeAnnotations(bundles, { ...leaf, hash: 'h2', notAfter: new Date('2027-12-01') });
  assert.deepEqual(loading(renewed), { reload: true, restart: { why: 'certificate renewed', by } });
  const newClients = nodeAnnotations({ ...bundles, 'clients-ca': [clients2] }, leaf);
  assert.deepEqual(loading(newClients), { reload: true, restart: undefined });
  assert.deepEqual(loadingOf({}, loaded), {
    reload: true,
    restart: { why: 'keys changed', by: new Date(0) },
  });
});

test('a pod that has reloaded does so once, and its restart stays due', () => {
  const wanted = nodeAnnotations({ ...bundles, 'clients-ca': [clients2] }, { ...leaf, hash: 'h2' });
  const reloaded = { ...loaded, ...reloadedAnnotations(wanted) };
  const restart = { why: 'certificate renewed', by: first.notAfter };
  assert.deepEqual(loadingOf(reloaded, wanted), { reload: false, restart });
  assert.deepEqual(readNodeAnnotations(reloaded).clientsTrust, readNodeAnnotations(wanted).clientsTrust);
  const again = nodeAnnotations(bundles, { ...leaf, hash: 'h3' });
  assert.deepEqual(loadingOf(reloaded, again), { reload: true, restart });
});

test('a pod that is seen to trust new clients says so before its reload is over', () => {
  const wanted = nodeAnnotations({ ...bundles, 'clients-ca': [clients2] }, leaf);
  const trusting = { ...loaded, ...trustingAnnotations(loaded, wanted) };
  assert.deepEqual(readNodeAnnotations(trusting).clientsTrust, readNodeAnnotations(wanted).clientsTrust);
  assert.equal(loadingOf(trusting, wanted).reload, true);
  assert.equal(trustingAnnotations(trusting, wanted), undefined);
  assert.equal(loadingOf({ ...trusting, ...reloadedAnnotations(wanted) }, wanted).reload, false);
});
