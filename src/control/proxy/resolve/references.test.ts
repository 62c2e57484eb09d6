import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { JKS, OPENSSL, PASSWORD } from '../../../../test/support/key-stores.ts';
import { readKeyStore } from '../../../pki/key-store.ts';
import { certificateRef, inNamespace, trustAnchorRef } from '../../../resources/common/refs.ts';
import type { Fault } from '../faults.ts';
import type { KeyedText, ProxySnapshot } from '../snapshot.ts';
import { keyPairOf, reportInto, trustOf } from './references.ts';

function secret(name: string, values: Record<string, string | Buffer>, namespace = 'a'): KeyedText {
  const entries = Object.entries(values).map(([key, value]) => [key, Buffer.from(value)] as const);
  return {
    metadata: { name, namespace },
    data: Object.fromEntries(entries.map(([key, bytes]) => [key, bytes.toString('utf8')])),
    base64: Object.fromEntries(entries.map(([key, bytes]) => [key, bytes.toString('base64')])),
  };
}

const pair = readKeyStore(OPENSSL, PASSWORD);
const secrets = [
  secret('pkcs12', { 'keystore.p12': OPENSSL, password: `${PASSWORD}\n` }),
  secret('jks', { 'my.jks': JKS }),
  secret('passwords', { jks: PASSWORD, wrong: 'canary' }),
  secret('user', { 'ca.crt': 'ca', 'user.crt': pair.certificate, 'user.key': pair.privateKey }),
  secret('empty', { 'ca.crt': 'ca' }),
  secret('elsewhere', { 'keystore.p12': OPENSSL, password: PASSWORD }, 'b'),
];

function find(ref: object) {
  const faults: Fault[] = [];
  const snapshot = { secrets, configMaps: [], cluster: { grants: [] } } as unknown as ProxySnapshot;
  const written = inNamespace(certificateRef.parse(ref), 'a');
  const from = { kind: 'VirtualKafkaCluster', namespace: 'a' } as const;
  const found = keyPairOf(written, from, snapshot, reportInto(faults, []));
  return { found, faults: faults.map(({ reason, message }) => `${reason}: ${message}`) };
}

function trust(key: string): string[] {
  const faults: Fault[] = [];
  const configMaps = [secret('trust', { 'ca.crt': pair.certificate })];
  const snapshot = { secrets: [], configMaps, cluster: { grants: [] } } as unknown as ProxySnapshot;
  const ref = inNamespace(trustAnchorRef.parse({ name: 'trust', key }), 'a');
  trustOf([ref], { kind: 'VirtualKafkaCluster', namespace: 'a' }, snapshot, reportInto(faults, []));
  return faults.map(({ message }) => message);
}

suite('certificates of a Secret', () => {
  test('are in a store, its password beside it or elsewhere, or are those of a KafkaUser', () => {
    for (const ref of [
      { name: 'pkcs12', keystore: {} },
      { name: 'jks', keystore: { key: 'my.jks', passwordRef: { name: 'passwords', key: 'jks' } } },
      { name: 'user' },
    ]) {
      const { found, faults } = find(ref);
      assert.deepEqual(faults, []);
      assert.equal(new X509Certificate(found!.certificate).subject, 'CN=store');
      assert.deepEqual(found, pair);
    }
  });

  test('keys that every object of JavaScript has are missing like others', () => {
    for (const key of ['constructor', 'toString', '__proto__']) {
      const password = find({
        name: 'jks',
        keystore: { key: 'my.jks', passwordRef: { name: 'passwords', key } },
      });
      assert.match(password.faults.join(), /Secret "passwords" has no key/);
      const store = find({ name: 'pkcs12', keystore: { key } });
      assert.match(store.faults.join(), /Secret "pkcs12" has no key/);
      assert.match(trust(key).join(), /ConfigMap "trust" has no /);
    }
  });

  test('or it is said what is missing, and never what is there', () => {
    const wrong = (ref: object) => find(ref).faults.join();
    const jks = {
      name: 'jks',
      keystore: { key: 'my.jks', passwordRef: { name: 'passwords', key: 'wrong' } },
    };
    assert.match(wrong(jks), /Secret "jks": the store in "my.jks" has a key that cannot be decrypted/);
    assert.doesNotMatch(wrong(jks), /canary/);
    assert.match(wrong({ name: 'empty' }), /lacks tls\.crt or tls\.key/);
    assert.match(wrong({ name: 'empty', keystore: {} }), /has no key "keystore\.p12"/);
    assert.match(wrong({ name: 'jks', keystore: { key: 'my.jks' } }), /has no key "password"/);
    const nobody = { name: 'pkcs12', keystore: { passwordRef: { name: 'nobody' } } };
    assert.match(wrong(nobody), /ReferencedResourcesNotFound: no Secret is named "nobody"/);
    const foreign = { name: 'elsewhere', namespace: 'b', keystore: {} };
    assert.match(wrong(foreign), /RefNotPermitted/);
  });
});
