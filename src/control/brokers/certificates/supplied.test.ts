/** A CA that cert-manager has issued, in the one Secret that it writes, as the CA of a cluster. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { conditionOf, kafkaObject, poolObject, settledKafka } from '../../../../test/support/brokers/kafka-objects.ts'; // prettier-ignore
import { createAuthority } from '../../../../test/support/pki.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { kafka as kafkaKind } from '../../../resources/strimzi/kafka.ts';
import { read } from '../../kernel/read.ts';
import { issuerFaults } from './issuer.ts';

type Data = Record<string, string>;
const dataOf = (memory: MemoryKafka, secret: string) =>
  (memory.get('Secret', secret)?.['data'] ?? {}) as Data;

/** What cert-manager would write of a Certificate with `isCA`; the authority is one that another cluster has made. */
async function issuedAuthority() {
  const other = await settledKafka();
  const certificate = dataOf(other, 'events-cluster-ca-cert')['ca.crt']!;
  const data = { 'tls.crt': certificate, 'tls.key': dataOf(other, 'events-cluster-ca')['ca.key']!, 'ca.crt': certificate }; // prettier-ignore
  const metadata = {
    name: 'events-cluster-ca',
    namespace: 'kafka',
    labels: { 'strimzi.io/cluster': 'events' },
  };
  return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data };
}

test('it signs the certificates of nodes, and its Secret is left as it is', async () => {
  const secret = await issuedAuthority();
  const memory = createMemoryKafka();
  const { spec, ...kafka } = kafkaObject();
  memory.put({ ...kafka, spec: { ...(spec as object), clusterCa: { generateCertificateAuthority: false } } });
  memory.put(poolObject());
  await memory.settle();
  assert.equal(conditionOf(memory, 'Ready')?.reason, 'CertificateAuthority');
  memory.put(secret);
  await memory.settle();
  const authority = new X509Certificate(Buffer.from(secret.data['tls.crt'], 'base64'));
  for (const pod of ['events-dual-0', 'events-dual-1', 'events-dual-2']) {
    const held = Buffer.from(dataOf(memory, pod)[`${pod}.crt`] ?? '', 'base64');
    assert.ok(new X509Certificate(held).verify(authority.publicKey), pod);
  }
  assert.equal(memory.list('Pod').length, 3);
  assert.deepEqual(dataOf(memory, 'events-cluster-ca'), secret.data);
  assert.equal(memory.get('Secret', 'events-cluster-ca-cert'), undefined);
  const { listeners } = memory.get('Kafka', 'events')!['status'] as {
    listeners: { certificates?: string[] }[];
  };
  const trusted = listeners.flatMap(({ certificates = [] }) => certificates);
  assert.equal(trusted.length, 1);
  assert.ok(trusted.every((pem) => new X509Certificate(pem).fingerprint256 === authority.fingerprint256));
});

test('a CA that is no root needs all that is above it: until clients can verify nodes, the Kafka is not ready, and says what is missing', async () => {
  const root = await createAuthority('corporate root');
  const between = await root.issueAuthority('kafka');
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const secret = await issuedAuthority();
  const issued = (above: string): Data => ({
    'tls.crt': base64(between.certPem),
    'tls.key': base64(between.keyPem),
    'ca.crt': base64(above),
  });
  const memory = createMemoryKafka();
  memory.now = Date.now();
  const { spec, ...kafka } = kafkaObject();
  memory.put({ ...kafka, spec: { ...(spec as object), clusterCa: { generateCertificateAuthority: false } } });
  memory.put(poolObject());
  // As an issuer leaves it that does not know its own root.
  memory.put({ ...secret, data: issued(between.certPem) });
  await memory.settle();
  const ready = conditionOf(memory, 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'CertificateChain']);
  assert.match(ready?.message ?? '', /^clients cannot verify events-dual-0, events-dual-1, events-dual-2: CN=kafka is signed by CN=corporate root, whose certificate is missing; ca\.crt of the cluster CA /); // prettier-ignore
  memory.put({ ...secret, data: issued(root.certPem) });
  await memory.settle();
  assert.notEqual(conditionOf(memory, 'Ready')?.reason, 'CertificateChain');
});

const withIssuer = (issuer: string) => {
  const { metadata, ...kafka } = kafkaObject();
  return { ...kafka, metadata: { ...metadata, annotations: { ...metadata.annotations, 'isthmus.dev/ca-issuer': issuer } } }; // prettier-ignore
};

test('an issuer that is named is asked for both, and what it makes signs', async () => {
  const memory = createMemoryKafka();
  memory.put(withIssuer('corporate'));
  memory.put(poolObject());
  await memory.settle();
  const asked = memory
    .list('Certificate')
    .map(({ spec }) => spec as { secretName: string; issuerRef: object; isCA: boolean });
  assert.deepEqual(asked.map(({ secretName }) => secretName).toSorted(), ['events-clients-ca', 'events-cluster-ca']); // prettier-ignore
  for (const { issuerRef, isCA } of asked) {
    assert.deepEqual(issuerRef, { group: 'cert-manager.io', kind: 'Issuer', name: 'corporate' });
    assert.ok(isCA);
  }
  assert.equal(memory.list('Secret').length, 0, 'no key is made here');
  assert.equal(conditionOf(memory, 'Ready')?.reason, 'CertificateAuthority');
  const [cluster, clients] = [await issuedAuthority(), await issuedAuthority()];
  memory.put(cluster);
  memory.put({ ...clients, metadata: { ...clients.metadata, name: 'events-clients-ca' } });
  await memory.settle();
  assert.equal(conditionOf(memory, 'Ready')?.reason, 'Ready', JSON.stringify(conditionOf(memory, 'Ready')));
  // Nobody is asked any more, and what was issued goes on.
  memory.put(kafkaObject());
  await memory.settle();
  assert.equal(memory.list('Certificate').length, 0);
  assert.equal(memory.list('Pod').length, 3);
});

test('an issuer that cannot be asked is told of, and what runs goes on', async () => {
  for (const issuer of ['', 'Pod/corporate', 'ClusterIssuer/', 'Corporate']) {
    const memory = await settledKafka();
    memory.put(withIssuer(issuer));
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'Invalid', issuer);
    assert.equal(memory.list('Pod').length, 3);
  }
  const kafka = read(kafkaKind, withIssuer('corporate')).resource;
  assert.ok(kafka);
  assert.match(issuerFaults(kafka, false)[0]?.message ?? '', /install cert-manager/);
  assert.deepEqual(issuerFaults(kafka, true), []);
});
