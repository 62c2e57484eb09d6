/** An authority and a node's certificate through their whole life, with real keys, in Secrets that are plain objects. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { certifyAuthority, newPrivateKey } from './authority.ts';
import { authorityFacts, authorityWrites, readAuthority } from './authority-secrets.ts';
import type { ObservedAuthority } from './authority-state.ts';
import { bundleFiles, nodeAnnotations, readBundle, readNodeAnnotations } from './bundle.ts';
import { issueLeaf } from './certificate.ts';
import { isFault } from './certificate-facts.ts';
import { clientData, readLeaf, signerFrom } from './leaf.ts';
import { readKeyStore } from './key-store.ts';
import { renewalStep } from './renewal.ts';
import type { SecretView } from './secrets.ts';
import { encoded, textOf } from './secrets.ts';
import { readTrustStore } from './trust-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NODE = 'my-pool-0';

interface Store {
  now: Date;
  certificate?: SecretView;
  key?: SecretView;
  bundle?: SecretView;
  node?: SecretView;
  pod?: Record<string, string>;
}

function read(store: Store) {
  const material = readAuthority(store.certificate, store.key);
  const bundle = readBundle(store.bundle, 'cluster-ca');
  const current = material.certificate && !isFault(material.certificate) ? [material.certificate] : [];
  const known = [...current, ...material.former, ...bundle];
  return { material, bundle, known, leaf: readLeaf(NODE, store.node, known) };
}

function observe(store: Store): ObservedAuthority {
  const { material, bundle, leaf } = read(store);
  const pod = store.pod && readNodeAnnotations(store.pod);
  return {
    ...authorityFacts(material),
    now: store.now,
    policy: { validityMs: 365 * DAY_MS, renewalMs: 30 * DAY_MS, onExpiry: 'renew-certificate', windows: [] },
    isSupplied: false,
    bundles: [bundle],
    trusters: pod ? [{ name: NODE, trusts: pod.clusterTrust }] : [],
    leaves: [
      {
        name: NODE,
        held: leaf,
        running: pod?.signedBy === undefined ? undefined : { signedBy: pod.signedBy },
        wantedNames: ['a.b'],
      },
    ],
  };
}

/** Takes one step, and says which. */
async function advance(store: Store): Promise<string> {
  const step = renewalStep(observe(store));
  const { material, known, leaf } = read(store);
  const validity = { now: store.now, validityMs: 365 * DAY_MS };
  for (const { secret, content } of await authorityWrites(step, material, {
    name: 'cluster-ca',
    ...validity,
  }))
    store[secret] = content;
  if (step.do === 'publish') {
    const published = step.authorities.map((one) =>
      known.find(({ thumbprint }) => thumbprint === one.thumbprint)!,
    );
    store.bundle = { data: encoded(bundleFiles({ 'cluster-ca': published, 'clients-ca': [] })) };
  }
  if (step.do === 'sign') {
    const subject = { organization: 'io.strimzi', commonName: 'my-kafka' };
    const signer = signerFrom(material, step.authority)!;
    const leaf = await issueLeaf(signer, { ...validity, subject, names: ['a.b'] });
    store.node = { data: encoded({ [`${NODE}.crt`]: leaf.chain, [`${NODE}.key`]: leaf.key }) };
  }
  if (step.do === 'wait' && leaf && !isFault(leaf))
    store.pod = nodeAnnotations({ 'cluster-ca': read(store).bundle, 'clients-ca': [] }, leaf);
  return step.do;
}

async function untilNothing(store: Store): Promise<string[]> {
  const steps: string[] = [];
  while (steps.at(-1) !== 'nothing' && steps.length < 20) steps.push(await advance(store));
  const { leaf, bundle } = read(store);
  assert.ok(leaf && !isFault(leaf));
  store.pod = nodeAnnotations({ 'cluster-ca': bundle, 'clients-ca': [] }, leaf);
  return steps;
}

const stores = ({ certificate }: Store) => {
  const password = textOf(certificate, 'ca.password')!;
  const p12 = Buffer.from(certificate!.data!['ca.p12']!, 'base64');
  return { password, certificates: readTrustStore(p12, 'PKCS12', password) };
};

test('an authority is made, renewed and replaced, and its Secrets have all that clients need at any time', async () => {
  const store: Store = { now: new Date('2026-11-17T12:00:00Z') };
  assert.deepEqual(await untilNothing(store), ['make key', 'make certificate', 'publish', 'sign', 'nothing']);
  assert.deepEqual(store.key!.annotations, {
    'strimzi.io/ca-key-generation': '0',
    'strimzi.io/force-replace': 'false',
  });
  assert.deepEqual(Object.keys(store.certificate!.data!).toSorted(), ['ca.crt', 'ca.p12', 'ca.password']);
  const { password, certificates } = stores(store);
  assert.equal(certificates, textOf(store.certificate, 'ca.crt'));
  const firstKey = textOf(store.key, 'ca.key');

  store.now = new Date('2027-10-20T12:00:00Z');
  const renewal = ['make certificate', 'publish', 'sign', 'wait', 'nothing'];
  assert.deepEqual(await untilNothing(store), renewal);
  assert.equal(store.certificate!.annotations!['strimzi.io/ca-cert-generation'], '1');
  assert.equal(textOf(store.key, 'ca.key'), firstKey);

  store.key = {
    ...store.key,
    annotations: { ...store.key!.annotations, 'strimzi.io/force-replace': 'true' },
  };
  const begin = [await advance(store), await advance(store)];
  assert.deepEqual(begin, ['make key', 'make certificate']);
  assert.ok('ca-2028-10-19T12-00-00Z.crt' in store.certificate!.data!, 'by its end, as Strimzi names it');
  assert.equal(stores(store).certificates.match(/BEGIN/g)!.length, 2);
  assert.equal(stores(store).password, password);
  const { material } = read(store);
  assert.deepEqual(material.force, { renew: false, replace: false });
  assert.ok(material.certificate && !isFault(material.certificate));
  assert.equal(material.certificate.subject, 'CN=cluster-ca v1,O=io.strimzi');

  assert.deepEqual(await untilNothing(store), [
    'publish',
    'wait',
    'sign',
    'wait',
    'remove',
    'publish',
    'nothing',
  ]);
  assert.deepEqual(Object.keys(store.key.data!), ['ca.key']);
  assert.notEqual(textOf(store.key, 'ca.key'), firstKey);
  assert.equal(stores(store).certificates, textOf(store.certificate, 'ca.crt'));
});

test('what a user brought is read, and what is wrong with it is said without a word of it', async () => {
  const store: Store = { now: new Date() };
  await untilNothing(store);
  const bad = (key: string, value: string): SecretView => ({
    data: { [key]: Buffer.from(value).toString('base64') },
  });
  const leafOnly = bad('ca.crt', textOf(store.node, `${NODE}.crt`)!);
  const fault = (material: ReturnType<typeof readAuthority>) => [material.certificate, material.key];
  assert.match(JSON.stringify(fault(readAuthority(leafOnly, undefined))), /is not the certificate of a CA/);
  const broken = readAuthority(bad('ca.crt', 'secret'), bad('ca.key', 'secret'));
  assert.deepEqual(fault(broken), [
    { fault: 'has no certificate in PEM' },
    { fault: 'has no private key in PEM that can be read without a password' },
  ]);
  const unsuited = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  assert.match(JSON.stringify(fault(readAuthority(undefined, bad('ca.key', unsuited)))), /use RSA, or EC/);
});

test('the Secret of a node whose key was changed is a fault; that of a client opens with its password', async () => {
  const store: Store = { now: new Date() };
  await untilNothing(store);
  const { known, material } = read(store);
  const pem = { key: textOf(store.node, `${NODE}.key`)!, chain: textOf(store.node, `${NODE}.crt`)! };
  const swapped = { data: { ...store.node!.data, [`${NODE}.key`]: store.key!.data!['ca.key']! } };
  assert.deepEqual(readLeaf(NODE, swapped, known), {
    fault: 'has a key that is not that of its certificate',
  });
  assert.equal(readLeaf(NODE, { data: {} }, known), undefined);
  assert.equal(signerFrom(material, { ...known[0]!, thumbprint: 'another' }), undefined);
  const client = clientData('user', pem, 'a password');
  const pair = readKeyStore(Buffer.from(client['user.p12']!, 'base64'), 'a password');
  assert.deepEqual(pair, { certificate: pem.chain, privateKey: pem.key });
});

test('an authority that cert-manager issued is read from its one Secret, with the root above it', async () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const validity = { now, validityMs: DAY_MS };
  const rootKey = createPrivateKey(newPrivateKey());
  const root = await certifyAuthority(rootKey, { commonName: 'root' }, validity);
  const key = newPrivateKey();
  const own = await certifyAuthority(createPrivateKey(key), { commonName: 'kafka' }, validity);
  const ids = (certificates: string) => {
    const {
      certificate,
      above,
      key: read,
    } = readAuthority(undefined, {
      data: encoded({ 'tls.key': key, 'tls.crt': own, 'ca.crt': certificates }),
    });
    assert.ok(certificate && !isFault(certificate) && read && !isFault(read));
    assert.equal(certificate.keyId, read.keyId);
    return [certificate, ...above].map(({ subject }) => subject);
  };
  assert.deepEqual(ids(root), ['CN=kafka', 'CN=root']);
  // One that signed itself is its own root.
  assert.deepEqual(ids(own), ['CN=kafka']);
  // Where somebody brings the usual two Secrets, those count.
  const usual = readAuthority(
    { data: encoded({ 'ca.crt': root }) },
    { data: encoded({ 'ca.key': key, 'tls.key': key, 'tls.crt': own }) },
  );
  assert.ok(usual.certificate && !isFault(usual.certificate));
  assert.equal(usual.certificate.subject, 'CN=root');
});
