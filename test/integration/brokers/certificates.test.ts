/** Certificates of a running node: loaded without a restart, by a new clients CA, and by authorities that its owner brings, or has issued. */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { presentedAt, requireTaken } from '../../../src/control/brokers/look/presented.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { certifyAuthority, newPrivateKey } from '../../../src/pki/authority.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { certificateCrd } from '../../support/install/cert-manager.ts';
import { apply, metrics } from '../control/harness.ts';
import { PATIENCE, annotated, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('certificates of a running node', () => {
  let bed: Bed;
  before(async () => {
    const plane = await startControlPlaneWithCrds();
    await apply(plane, await certificateCrd());
    bed = await startBed({ nodes: [{ name: 'a' }], plane });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  interface Pem {
    cert: string;
    key: string;
  }
  const userOf = async (name: string): Promise<Pem> => ({
    cert: await bed.secret(name, 'user.crt'),
    key: await bed.secret(name, 'user.key'),
  });
  const at = async (cluster: string, port: number, identity?: Pem) => ({
    host: bed.runner.addressOf(`default/${cluster}-dual-0`)!,
    port,
    tls: {
      ca: await bed.secret(`${cluster}-trustbundle`, 'cluster-ca.crt'),
      servername: `${cluster}-kafka-bootstrap.default.svc`,
      ...identity,
    },
  });
  const isTaken = async (cluster: string, identity: Pem) =>
    requireTaken(await at(cluster, 9093, identity)).then(
      () => true,
      () => false,
    );
  const operator = async (cluster: string): Promise<Pem> => ({
    cert: await bed.secret(`${cluster}-cluster-operator-certs`, 'cluster-operator.crt'),
    key: await bed.secret(`${cluster}-cluster-operator-certs`, 'cluster-operator.key'),
  });
  /** Waits until a port presents what the node's Secret has, and returns which that is. */
  const untilPresented = async (cluster: string, port: number, not = '') =>
    waitFor(
      `port ${port} presents the certificate of the Secret`,
      async () => {
        const held = await bed.secret(`${cluster}-dual-0`, `${cluster}-dual-0.crt`);
        if (held === '') return undefined;
        const { fingerprint256 } = new X509Certificate(held);
        const shown = await presentedAt(await at(cluster, port, await operator(cluster))).catch(() => '');
        return fingerprint256 !== not && shown === fingerprint256 ? shown : undefined;
      },
      PATIENCE,
    );
  const untilUser = (name: string, isSo: (pem: Pem) => boolean | Promise<boolean>) =>
    waitFor(
      `the Secret of ${name}`,
      async () => {
        const pem = await userOf(name);
        return pem.cert !== '' && (await isSo(pem)) ? pem : undefined;
      },
      PATIENCE,
    );

  test('one that is signed anew is presented by broker listeners without a restart', async () => {
    await bed.apply(
      kafka('one', {}, { entityOperator: { userOperator: {} } }),
      nodePool('one', 'dual'),
      entity('KafkaUser', 'alice', 'one', { authentication: { type: 'tls' } }),
    );
    await bed.untilReady('one');
    const uid = await bed.podUid('one-dual-0');
    const old = await untilPresented('one', 9093);
    await bed.plane.kubectl(['delete', 'secret', 'one-dual-0']);
    const renewed = await untilPresented('one', 9093, old);
    assert.equal(await untilPresented('one', 9091), renewed);
    assert.equal(await bed.podUid('one-dual-0'), uid);
  });

  let first: Pem;
  test('a new key of the clients CA: users get certificates of it, and those of before stay good for a time', async () => {
    first = await untilUser('alice', (pem) => isTaken('one', pem));
    const uid = await bed.podUid('one-dual-0');
    await bed.plane.kubectl(['annotate', 'secret', 'one-clients-ca', '--overwrite', 'strimzi.io/force-replace=true']); // prettier-ignore
    const second = await untilUser('alice', ({ cert }) => cert !== first.cert);
    assert.notEqual(new X509Certificate(second.cert).issuer, new X509Certificate(first.cert).issuer);
    // Nothing is signed by a key that a broker does not trust yet.
    assert.equal(await isTaken('one', second), true);
    assert.equal(await isTaken('one', first), true);
    assert.equal(await bed.podUid('one-dual-0'), uid);
  });

  test('after that time only the new key is trusted, and still nothing was restarted', async () => {
    const uid = await bed.podUid('one-dual-0');
    // So short that it is over.
    await bed.restartOperator({ certificateTimes: { validityMs: 365 * DAY_MS, renewalMs: 1000 } });
    await waitFor('the old key is refused', async () => !(await isTaken('one', first)), PATIENCE);
    assert.equal(await isTaken('one', await userOf('alice')), true);
    assert.equal(await bed.podUid('one-dual-0'), uid);
    await bed.restartOperator();
  });

  test('an authority that its owner brings, or has issued, signs, is left alone, and is told of before it ends', async () => {
    const made = Date.now() - 300 * DAY_MS;
    const authority = async (commonName: string, validityMs: number) => {
      const key = newPrivateKey();
      const validity = { now: new Date(made), validityMs };
      return { key, cert: await certifyAuthority(createPrivateKey(key), { commonName }, validity) };
    };
    // The one ends in ten days.
    const cluster = await authority('mine', 310 * DAY_MS);
    const clients = await authority('theirs', 3650 * DAY_MS);
    const secret = (name: string, data: Record<string, string>, type = 'Opaque') => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type,
      metadata: { name, namespace: 'default', labels: { 'strimzi.io/cluster': 'own' } },
      stringData: data,
    });
    const supplied = { generateCertificateAuthority: false };
    const own = kafka('own', {}, { clusterCa: supplied, entityOperator: { userOperator: {} } });
    await bed.apply(
      secret('own-cluster-ca', { 'ca.key': cluster.key }),
      secret('own-cluster-ca-cert', { 'ca.crt': cluster.cert }),
      annotated(own, { 'isthmus.dev/ca-issuer': 'ClusterIssuer/corporate' }),
      nodePool('own', 'dual'),
      entity('KafkaUser', 'bob', 'own', { authentication: { type: 'tls' } }),
    );
    // The other is asked for. The CRD is cert-manager's; its controller is not here, and this is what it would write.
    const isAsked = () => bed.get('Certificate', 'own-clients-ca');
    const { secretName, secretTemplate } = (await waitFor('a Certificate', isAsked, PATIENCE))['spec'] as {
      secretName: string;
      secretTemplate: { labels: object };
    };
    assert.deepEqual(secretTemplate.labels, { 'strimzi.io/cluster': 'own' });
    const issued = { 'tls.crt': clients.cert, 'tls.key': clients.key, 'ca.crt': clients.cert };
    await bed.apply(secret(secretName, issued, 'kubernetes.io/tls'));
    const told = await waitFor(
      'the status tells',
      async () => {
        const condition = await bed.condition('own', 'Ready');
        return condition?.reason === 'CertificatesEnding' ? condition : undefined;
      },
      PATIENCE,
    );
    assert.match(told.message, /cluster-ca: the supplied CA ends at .*; supply a new one/);
    await untilPresented('own', 9093);
    const held = new X509Certificate(await bed.secret('own-dual-0', 'own-dual-0.crt'));
    assert.ok(held.verify(new X509Certificate(cluster.cert).publicKey));
    assert.equal(await bed.secret('own-cluster-ca', 'ca.key'), cluster.key);
    assert.equal(await bed.secret('own-cluster-ca-cert', 'ca.crt'), cluster.cert);
    const bob = await untilUser('bob', (pem) => isTaken('own', pem));
    assert.ok(new X509Certificate(bob.cert).verify(new X509Certificate(clients.cert).publicKey));
    assert.equal(await bed.secret('own-clients-ca', 'tls.crt'), clients.cert);
    const end = Math.floor(new Date(new X509Certificate(cluster.cert).validTo).getTime() / 1000);
    const lines = (await metrics(bed.operator)).split('\n');
    const gauge = lines.find((line) =>
      /^isthmus_kafka_certificate_not_after_seconds\{.*kafka="own",certificate="cluster-ca"/.test(line),
    );
    assert.equal(Number(gauge?.split(' ').at(-1)), end);
  });
});
