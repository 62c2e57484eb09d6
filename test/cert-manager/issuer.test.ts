/** CAs of a Kafka that a real cert-manager issues, from the authority of a company: made, used, and renewed under a running node. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireTaken } from '../../src/control/brokers/look/presented.ts';
import { readCertificates } from '../../src/pki/certificate-facts.ts';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import { apply } from '../integration/control/harness.ts';
import { PATIENCE, annotated, entity, kafka, nodePool, startBed } from '../integration/brokers/fixture.ts';
import { startControlPlaneWithCrds } from '../support/control-plane.ts';
import { controllerCrds, ensureCertManager } from '../support/install/cert-manager.ts';
import { workspace } from '../support/workspace.ts';

const CERTIFICATE = { group: 'cert-manager.io', version: 'v1', kind: 'Certificate' };

test('cert-manager issues the CAs of a Kafka, and renews one without a restart', async () => {
  await using stack = new AsyncDisposableStack();
  const plane = await startControlPlaneWithCrds();
  await apply(plane, ...(await controllerCrds()));
  const args = [
    `--kubeconfig=${plane.kubeconfig}`,
    '--leader-elect=false',
    '--cluster-resource-namespace=default',
    '--metrics-listen-address=127.0.0.1:0',
  ];
  const log = { logFile: join(workspace('cert-manager'), 'log.txt') };
  const controller = startServer('cert-manager', await ensureCertManager(), args, log);
  stack.defer(() => controller.stop());
  const bed = stack.use(await startBed({ nodes: [{ name: 'a' }], plane }));

  const certManager = (kind: string, name: string, spec: object) => ({
    apiVersion: 'cert-manager.io/v1',
    kind,
    metadata: { name, ...(kind === 'Certificate' && { namespace: 'default' }) },
    spec,
  });
  await bed.apply(
    // The authority of the company: what is issued for a Kafka is below it.
    certManager('ClusterIssuer', 'itself', { selfSigned: {} }),
    certManager('Certificate', 'corporate', {
      isCA: true,
      commonName: 'corporate',
      secretName: 'corporate',
      privateKey: { algorithm: 'ECDSA', size: 256 },
      issuerRef: { kind: 'ClusterIssuer', name: 'itself' },
    }),
    certManager('ClusterIssuer', 'corporate', { ca: { secretName: 'corporate' } }),
    annotated(kafka('own', {}, { entityOperator: { userOperator: {} } }), {
      'isthmus.dev/ca-issuer': 'ClusterIssuer/corporate',
    }),
    nodePool('own', 'dual'),
    entity('KafkaUser', 'bob', 'own', { authentication: { type: 'tls' } }),
  );
  await bed.untilReady('own');

  const issued = async (name: string) => new X509Certificate(await bed.secret(name, 'tls.crt'));
  const corporate = await issued('corporate');
  for (const name of ['own-cluster-ca', 'own-clients-ca'])
    assert.ok((await issued(name)).verify(corporate.publicKey), name);
  const held = new X509Certificate(await bed.secret('own-dual-0', 'own-dual-0.crt'));
  const first = await issued('own-cluster-ca');
  assert.ok(held.verify(first.publicKey));

  const hasCertificate = async () => (await bed.secret('bob', 'user.crt')) !== '';
  await waitFor('bob has a certificate', hasCertificate, PATIENCE);
  const takesBob = async () =>
    requireTaken({
      host: bed.runner.addressOf('default/own-dual-0')!,
      port: 9093,
      tls: {
        // What clients are told to trust.
        ca: await bed.secret('own-trustbundle', 'cluster-ca.crt'),
        servername: 'own-kafka-bootstrap.default.svc',
        cert: await bed.secret('bob', 'user.crt'),
        key: await bed.secret('bob', 'user.key'),
      },
    }).then(
      () => true,
      () => false,
    );
  await waitFor('bob is taken', takesBob, PATIENCE);

  // As `cmctl renew` does it.
  const uid = await bed.podUid('own-dual-0');
  const conditions = [
    {
      type: 'Issuing',
      status: 'True',
      reason: 'ManuallyTriggered',
      message: '',
      lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
    },
  ];
  const where = { namespace: 'default', name: 'own-cluster-ca' };
  await bed.client.mergePatch(CERTIFICATE, where, { status: { conditions } }, { subresource: 'status' });
  const isRenewed = async () => {
    const now = await issued('own-cluster-ca');
    const bundle = readCertificates(await bed.secret('own-trustbundle', 'cluster-ca.crt'));
    const has = Array.isArray(bundle) && bundle.some(({ pem }) => new X509Certificate(pem).fingerprint256 === now.fingerprint256); // prettier-ignore
    return now.fingerprint256 !== first.fingerprint256 && has;
  };
  await waitFor('the renewed CA is trusted', isRenewed, PATIENCE);
  assert.ok((await issued('own-cluster-ca')).publicKey.equals(first.publicKey), 'the key stays');
  await bed.untilReady('own');
  assert.equal(await bed.podUid('own-dual-0'), uid);
  assert.ok(await takesBob());
});
