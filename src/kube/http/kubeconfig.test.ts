import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import { IsthmusError } from '../../ops/errors.ts';
import { readPem } from './connection.ts';
import {
  connectionOf,
  inClusterConnection,
  loadConnection,
  parseKubeconfig,
  readKubeconfig,
} from './kubeconfig.ts';
import { selfSigned } from '../../../test/support/self-signed.ts';

const directory = mkdtempSync(join(tmpdir(), 'isthmus-kubeconfig-'));
after(() => rmSync(directory, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');
const pair = await selfSigned();
const other = await selfSigned();

/** A kubeconfig with one context, of which parts may be replaced. */
function config(cluster: object, user: object, context: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
  });
}

function write(name: string, text: string): string {
  const file = join(directory, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function refused(text: string, pattern: RegExp, from?: string): void {
  assert.throws(
    () => connectionOf(parseKubeconfig(text, 'test.yaml', from)),
    (error) =>
      error instanceof IsthmusError && error.code === 'KUBECONFIG_INVALID' && pattern.test(error.message),
    `expected a refusal that says ${pattern}`,
  );
}

suite('kubeconfig', () => {
  test('is read like client-node reads it', async () => {
    write('pki/ca.crt', pair.cert);
    write('pki/client.crt', pair.cert);
    write('pki/client.key', pair.key);
    const cases = {
      'embedded certificates': config(
        { 'certificate-authority-data': base64(pair.cert) },
        { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(pair.key) },
        { namespace: 'team' },
      ),
      'files relative to the kubeconfig': config(
        { 'certificate-authority': 'pki/ca.crt', 'tls-server-name': 'kubernetes' },
        { 'client-certificate': 'pki/client.crt', 'client-key': './pki/client.key' },
      ),
      'a token': config({ 'insecure-skip-tls-verify': true }, { token: 'abc' }),
      'a user and a password': config({}, { username: 'me', password: 'secret' }),
    };
    for (const [name, text] of Object.entries(cases)) {
      const file = write('reference.yaml', text);
      const theirs = new KubeConfig();
      theirs.loadFromFile(file);
      const cluster = theirs.getCurrentCluster();
      const options: Record<string, unknown> = { headers: {} };
      await theirs.applyToHTTPSOptions(options);

      const ours = connectionOf(readKubeconfig(file));
      assert.equal(ours.server, cluster?.server, name);
      assert.equal(ours.tls.insecure, cluster?.skipTLSVerify ?? false, name);
      assert.equal(ours.tls.serverName, cluster?.tlsServerName, name);
      assert.equal(ours.namespace, theirs.getContextObject('x')?.namespace ?? 'default', name);
      const pemText = (value: unknown) => (value === undefined ? undefined : (value as Buffer).toString());
      assert.equal(ours.tls.ca && readPem(ours.tls.ca, ''), pemText(options['ca']), name);
      assert.equal(
        ours.user.certificate && readPem(ours.user.certificate.cert, ''),
        pemText(options['cert']),
        name,
      );
      assert.equal(
        ours.user.certificate && readPem(ours.user.certificate.key, ''),
        pemText(options['key']),
        name,
      );
      const headers = options['headers'] as Record<string, string>;
      assert.equal(ours.user.token && `Bearer ${ours.user.token}`, headers['Authorization'], name);
      assert.equal(
        ours.user.basic && `${ours.user.basic.username}:${ours.user.basic.password}`,
        options['auth'],
        name,
      );
    }
  });

  test('several files: the first to name something has the say', () => {
    const first = write('first.yaml', config({ server: 'https://first' }, { token: '1' }));
    const second = write(
      'second.yaml',
      config({ server: 'https://second' }, { token: '2' }).replaceAll('name: x', 'name: y'),
    );
    const env = { KUBECONFIG: `${join(directory, 'missing.yaml')}:${first}:${second}` };
    assert.equal(loadConnection({ env }).server, 'https://first');
    assert.equal(
      loadConnection({ env, context: 'y' }).user.token,
      '1',
      'context y exists, user u is the first one',
    );
  });

  test('looked for in the home, then in the pod', () => {
    const home = join(directory, 'home');
    const pod = join(directory, 'pod');
    write('pod/token', 'pod-token\n');
    write('pod/namespace', 'pod-namespace');
    write('pod/ca.crt', pair.cert);
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const inPod = loadConnection({ env, home, serviceAccountDirectory: pod });
    assert.equal(inPod.server, 'https://[fd00::1]:443');
    assert.equal(inPod.namespace, 'pod-namespace');
    assert.equal(inPod.user.tokenFile, join(pod, 'token'));
    assert.throws(
      () => loadConnection({ env, home, serviceAccountDirectory: pod, context: 'prod' }),
      /config does not exist, and so there is no context "prod"/,
    );
    write('home/.kube/config', config({ server: 'https://home' }, {}));
    assert.equal(loadConnection({ env, home, serviceAccountDirectory: pod }).server, 'https://home');
    assert.equal(inClusterConnection({}, pod), undefined);
    assert.throws(
      () => loadConnection({ env: {}, home: '/nonexistent' }),
      /does not exist, and this is no pod/,
    );
  });

  test('every problem names the entry', () => {
    refused('a: [', /test.yaml: not YAML/);
    refused('[]', /test.yaml: \(top level\)/);
    refused('\n', /test.yaml: it is empty/);
    refused('{}', /current-context is not set \(contexts: none\)/);
    refused('current-context: nope', /context "nope" does not exist/);
    refused(config({}, {}, { cluster: 'gone' }), /cluster "gone" does not exist \(there are: c\)/);
    refused(config({}, {}, { user: 'gone' }), /user "gone" does not exist/);
    refused(config({ server: 'ftp://x' }, {}), /cluster "c": server is not an http/);
    refused(config({ server: null }, {}), /cluster "c": server/);
    refused(config({ 'proxy-url': 'http://p' }, {}), /cluster "c": proxy-url is not supported/);
    refused(config({ 'certificate-authority-data': '!!' }, {}), /cluster "c": certificate-authority-data/);
    refused(
      config({ 'certificate-authority': 'no.crt' }, {}, {}),
      /certificate-authority: .*no.crt|ENOENT/,
      directory,
    );
    refused(
      config({ 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(pair.cert) }, {}),
      /exclude each other/,
    );
    refused(config({}, { 'client-certificate-data': base64(pair.cert) }), /user "u": .*must come together/);
    refused(
      config({}, { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(other.key) }),
      /user "u": client-certificate and client-key: .*mismatch/i,
    );
    refused(config({}, { token: 7 }), /user "u": token/);
    refused(config({}, { 'auth-provider': { name: 'gcp' } }), /user "u": auth-provider was removed/);
    refused(config({}, { tokenFile: 'nope' }), /user "u": tokenFile: .*ENOENT/, directory);
    refused(config({}, { 'as-groups': ['g'] }), /user "u": as-uid, as-groups/);
  });

  test('a broken entry harms only those who use it', () => {
    const text = stringify({
      clusters: [
        { name: 'good', cluster: { server: 'https://good' } },
        { name: 'bad', cluster: { server: 5 } },
      ],
      users: [{ name: 'bad', user: { token: {} } }],
      contexts: [
        { name: 'good', context: { cluster: 'good' } },
        { name: 'bad', context: { cluster: 'bad', user: 'bad' } },
      ],
      'current-context': 'good',
    });
    const parsed = parseKubeconfig(text, 't');
    assert.equal(connectionOf(parsed).server, 'https://good');
    assert.throws(() => connectionOf(parsed, 'bad'), /cluster "bad": server/);
  });

  test('a stranger may name no files and run no programs here', () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'id', interactiveMode: 'Never' };
    refused(config({}, { exec }), /user "u": exec runs a program/);
    refused(config({}, { tokenFile: '/etc/passwd' }), /user "u": tokenFile names a file/);
    refused(config({ 'certificate-authority': '/etc/passwd' }, {}), /certificate-authority names a file/);
    refused(config({}, { 'client-certificate': 'a', 'client-key': 'b' }), /client-certificate names a file/);
  });

  test('exec plugins: what is refused, and where a relative command is', () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './bin/plugin',
      interactiveMode: 'IfAvailable',
    };
    const resolved = connectionOf(parseKubeconfig(config({}, { exec }), 't', directory)).user.exec;
    assert.equal(resolved?.command, join(directory, 'bin/plugin'));
    refused(
      config({}, { exec: { ...exec, interactiveMode: 'Always' } }),
      /nobody is there to answer/,
      directory,
    );
    refused(
      config({}, { exec: { ...exec, interactiveMode: null } }),
      /interactiveMode is required/,
      directory,
    );
    refused(
      config({}, { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } }),
      /apiVersion/,
      directory,
    );
    const beta = {
      ...exec,
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      interactiveMode: null,
      command: 'plugin',
    };
    assert.equal(
      connectionOf(parseKubeconfig(config({}, { exec: beta }), 't', directory)).user.exec?.command,
      'plugin',
    );
  });

  test('impersonation becomes headers', () => {
    const user = {
      token: 't',
      as: 'jane',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'example.com/Scope': ['x'] },
    };
    assert.deepEqual(connectionOf(parseKubeconfig(config({}, user), 't')).user.impersonate, {
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2fscope': ['x'],
    });
  });

  test('no message holds what the file keeps secret', () => {
    const secret = 'sesame-open';
    for (const text of [
      `users: [{name: u, user: {token: ${secret}\n  x: [`,
      config({}, { token: { deep: secret } }),
    ]) {
      try {
        connectionOf(parseKubeconfig(text, 't'));
        assert.fail('should have been refused');
      } catch (error) {
        assert.ok(error instanceof IsthmusError);
        assert.ok(!`${error.message} ${String(error.cause)}`.includes(secret), error.message);
      }
    }
  });
});
