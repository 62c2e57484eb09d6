import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import type { Secret } from '../../kube/clusters.ts';
import { clusterOf, readJoinedSecret, roadsOf, withServer, withToken } from './joined-secret.ts';
import { stateWarnings } from './warnings.ts';

/** As the document prints it, with a token of ours. */
const PRINTED = `apiVersion: v1
clusters:
- cluster:
    insecure-skip-tls-verify: true
    server: https://api.example.com:6443
  name: example-cluster
contexts:
- context:
    cluster: example-cluster
    namespace: kafka
    user: stretch-operator-user
  name: stretch-cluster-context
current-context: stretch-cluster-context
kind: Config
preferences: {}
users:
- name: stretch-operator-user
  user:
    token: header.${Buffer.from(JSON.stringify({ sub: 'system:serviceaccount:kafka:stretch-operator' })).toString('base64url')}.signature
`;

function secretWith(kubeconfig: string, annotations: Record<string, string> = {}, id = 'east'): Secret {
  const labels = { 'connectivity.tanzu.vmware.com/cluster-name': id };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'east', namespace: 'isthmus-system', labels, annotations },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  };
}

function read(...[secret, url]: Parameters<typeof readJoinedSecret>) {
  const found = readJoinedSecret(secret, url);
  assert.ok(!('problem' in found), JSON.stringify(found));
  return found;
}

suite('the Secret of a joined cluster', () => {
  test("the document's kubeconfig is taken, and what is unsafe in it is said", () => {
    const { server, namespaces, credential, account, warnings } = read(secretWith(PRINTED));
    assert.equal(server, 'https://api.example.com:6443');
    assert.deepEqual(namespaces, ['kafka']);
    assert.deepEqual(credential, { kind: 'token', subject: 'system:serviceaccount:kafka:stretch-operator' });
    assert.equal(account, undefined, 'nobody said that its token may be renewed');
    assert.deepEqual(
      warnings.map(({ reason }) => reason),
      ['ServerNotVerified'],
    );
  });

  test('a url of the environment wins, and is said where it differs', () => {
    const same = read(secretWith(PRINTED), 'https://api.example.com:6443/');
    assert.ok(!same.warnings.some(({ reason }) => reason === 'UrlOverruled'));
    const other = read(secretWith(PRINTED), 'https://10.0.0.1:6443');
    assert.equal(other.server, 'https://10.0.0.1:6443');
    assert.match(other.warnings[0]?.message ?? '', /says https:\/\/api\.example\.com:6443, and is overruled/);
  });

  test('another server or token leaves the rest as it is', () => {
    const document = parse(PRINTED) as { clusters: { cluster: object }[]; users: object[] };
    const moved = parse(withServer(PRINTED, 'https://10.0.0.1')) as typeof document;
    assert.deepEqual(moved.clusters[0]?.cluster, {
      'insecure-skip-tls-verify': true,
      server: 'https://10.0.0.1',
    });
    assert.deepEqual(moved.users, document.users);
    const renewed = parse(withToken(PRINTED, 'new')) as typeof document;
    assert.deepEqual(renewed.users, [{ name: 'stretch-operator-user', user: { token: 'new' } }]);
    assert.deepEqual(renewed.clusters, document.clusters);
    assert.equal(withServer('[]', 'https://x'), '[]');
  });

  test('what it was joined for, where, and whose token is renewed', () => {
    assert.deepEqual(roadsOf(secretWith('')), ['stretch', 'discover', 'probe']);
    assert.deepEqual(roadsOf(secretWith('', { 'isthmus.dev/roads': 'discover, other' })), ['discover']);
    assert.equal(clusterOf(secretWith('', {}, 'No.Label')), undefined);
    const { namespaces, account } = read(
      secretWith(PRINTED, {
        'isthmus.dev/namespaces': 'a, b',
        'isthmus.dev/token-account': 'isthmus-system/isthmus-joined',
        'isthmus.dev/token-lifetime-seconds': '3600',
      }),
    );
    assert.deepEqual(namespaces, ['a', 'b']);
    assert.deepEqual(account, { namespace: 'isthmus-system', name: 'isthmus-joined', lifetimeSeconds: 3600 });
    assert.deepEqual(read(secretWith(PRINTED, { 'isthmus.dev/namespaces': '*' })).namespaces, []);
    for (const wrong of ['', 'a', 'a/b/c', '/b'])
      assert.equal(read(secretWith(PRINTED, { 'isthmus.dev/token-account': wrong })).account, undefined);
  });

  test('a token may say anything of itself, since its cluster writes it', () => {
    const sub = 'x'.repeat(100_000);
    for (const time of [1e300, -1e300, 8.64e12 + 1, 253_402_300_800, Number.MAX_VALUE, '5', null]) {
      const claims = Buffer.from(JSON.stringify({ sub, iat: time, exp: time })).toString('base64url');
      const joined = read(secretWith(PRINTED.replace(/token: .*/, `token: header.${claims}.signature`)));
      assert.ok(joined.credential.subject!.length < 1000);
      assert.equal(joined.credential.expiresAt, undefined, `${time}`);
      // Or there would be no report of any cluster, nor metrics.
      const health = { missing: [], isAdministrator: true };
      assert.ok(stateWarnings({ problem: undefined, joined, health, now: 0 }).length > 0);
    }
  });

  test('what cannot be used says why, without a word of what it holds', () => {
    const found = readJoinedSecret(secretWith('clusters: [hunter2'));
    assert.ok('problem' in found);
    assert.doesNotMatch(found.problem, /hunter2/);
    assert.match(found.problem, /Secret isthmus-system\/east/);
  });

  test('nothing of a credential is in a message, whatever is wrong with it', () => {
    const CANARY = 'hunter2';
    const pem = Buffer.from(`-----BEGIN PRIVATE KEY-----\n${CANARY}`).toString('base64');
    const forms = (value: string) => [value, [value], { value }, `${value}\n`, ` ${value}`, `\u0001${value}`];
    const credentials = [
      ...['token', 'tokenFile', 'username', 'password', 'client-key', 'as', 'auth-provider'].map((key) => [
        key,
        CANARY,
      ]),
      ...['client-certificate-data', 'client-key-data'].flatMap((key) => [
        [key, CANARY],
        [key, pem],
      ]),
      ['exec', { command: CANARY, args: [CANARY], env: [{ name: 'A', value: CANARY }] }],
    ] as [string, string | object][];
    const document = parse(PRINTED) as { clusters: { cluster: object }[]; users: { user: object }[] };
    const messages: string[] = [];
    const readWith = (changed: object) => {
      const found = readJoinedSecret(secretWith(JSON.stringify({ ...document, ...changed })));
      messages.push('problem' in found ? found.problem : JSON.stringify([found.warnings, found.server]));
    };
    for (const [key, value] of credentials)
      for (const form of typeof value === 'string' ? forms(value) : [value]) {
        readWith({ users: [{ name: 'stretch-operator-user', user: { [key]: form } }] });
        readWith({ users: { [key]: form } });
      }
    const [{ cluster } = { cluster: {} }] = document.clusters;
    for (const server of [
      `https://me:${CANARY}@a.example.com`,
      `https://${CANARY}@a.example.com`,
      `ftp://me:${CANARY}@a`,
      `me:${CANARY}@a`,
    ])
      readWith({ clusters: [{ name: 'example-cluster', cluster: { ...cluster, server } }] });
    for (const message of messages) assert.doesNotMatch(message, /hunter2|aHVudGVy/, message);
    assert.ok(messages.length > 80);
  });
});
