/** Ways to reach a real kube-apiserver, and to be refused by it. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { createClient } from '../../../src/kube/http/client.ts';
import { readPem } from '../../../src/kube/http/connection.ts';
import type { Connection } from '../../../src/kube/http/connection.ts';
import { ApiError } from '../../../src/kube/http/errors.ts';
import { connectionOf, readKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { createAuthority } from '../../support/pki.ts';
import { CONFIG_MAP, configMap, connect } from './harness.ts';

let plane: ControlPlane;
let base: Connection;
before(async () => {
  plane = await startControlPlane();
  base = connect(plane.kubeconfigText);
});
after(() => plane?.stop());

/** Who the server takes us for. */
async function whoAmI(connection: Connection): Promise<string> {
  const client = createClient(connection);
  try {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const answer = await client.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    return (answer as { status: { userInfo: { username: string } } }).status.userInfo.username;
  } finally {
    await client.close(0);
  }
}

const unreachable = (pattern: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.reason === 'Unreachable' && pattern.test(error.message);

suite('connecting', { timeout: 300_000 }, () => {
  test('the server is who it should be', async () => {
    const tls = (more: Partial<Connection['tls']>): Connection => ({
      ...base,
      tls: { ...base.tls, ...more },
    });
    assert.equal(await whoAmI(base), 'admin');
    assert.equal(await whoAmI(tls({ serverName: 'kubernetes.default.svc' })), 'admin');
    await assert.rejects(whoAmI(tls({ serverName: 'example.com' })), unreachable(/altnames/));
    const stranger = { text: (await createAuthority('stranger')).certPem };
    await assert.rejects(whoAmI(tls({ ca: stranger })), unreachable(/certificate/));
    assert.equal(await whoAmI(tls({ ca: undefined, insecure: true })), 'admin');
    await assert.rejects(whoAmI({ ...base, server: 'https://127.0.0.1:1' }), unreachable(/ECONNREFUSED/));
  });

  test('we are who we say: certificates in files, a plugin, somebody else’s name', async () => {
    const { certificate } = base.user;
    assert.ok(certificate);
    const [cert, key] = [readPem(certificate.cert, ''), readPem(certificate.key, '')];
    await writeFile(join(plane.directory, 'me.crt'), cert);
    await writeFile(join(plane.directory, 'me.key'), key);
    const credential = { clientCertificateData: cert, clientKeyData: key };
    const printed = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: credential,
    };
    await writeFile(
      join(plane.directory, 'plugin.mjs'),
      `console.log(${JSON.stringify(JSON.stringify(printed))})`,
    );
    const files = { 'client-certificate': 'me.crt', 'client-key': './me.key' };
    const document = parse(plane.kubeconfigText) as { users: { name: string; user: object }[] };
    document.users[0]!.user = files;
    await writeFile(join(plane.directory, 'files.kubeconfig'), stringify(document));
    const fromFiles = connectionOf(readKubeconfig(join(plane.directory, 'files.kubeconfig')));
    assert.equal(await whoAmI(fromFiles), 'admin');
    const args = [join(plane.directory, 'plugin.mjs')];
    const exec = { apiVersion: printed.apiVersion, command: process.execPath, args, env: {} };
    const plugin = { ...base.user, certificate: undefined, exec };
    assert.equal(await whoAmI({ ...base, user: plugin }), 'admin');
    assert.equal(
      await whoAmI({ ...base, user: { ...base.user, impersonate: { 'impersonate-user': 'jane' } } }),
      'jane',
    );
    await assert.rejects(
      whoAmI({ ...base, user: { name: 'nobody', token: 'invented' } }),
      (error: unknown) => error instanceof ApiError && error.status === 401,
    );
  });

  test('what the server refuses says why', async () => {
    const client = createClient(base);
    const refused = (call: Promise<unknown>, status: number, reason: string) =>
      assert.rejects(call, (error: unknown) => {
        assert.ok(error instanceof ApiError, String(error));
        assert.deepEqual([error.status, error.reason], [status, reason]);
        return true;
      });
    const created = await client.create(configMap('twice', {}));
    await refused(client.create(configMap('twice', {})), 409, 'AlreadyExists');
    await client.update({ ...created, data: { a: 'b' } });
    await refused(client.update({ ...created, data: { a: 'c' } }), 409, 'Conflict');
    await refused(client.create(configMap('Not A Name', {})), 422, 'Invalid');
    await refused(
      client.get({ group: 'nope', version: 'v1', kind: 'Nope' }, { name: 'x' }),
      0,
      'KindNotServed',
    );
    assert.equal(await client.get(CONFIG_MAP, { namespace: 'default', name: 'nope' }), undefined);
    await assert.rejects(client.get(CONFIG_MAP, { name: 'no-namespace' }), /a namespace is needed/);
    const { uid } = created.metadata as { uid?: string };
    await refused(client.delete(CONFIG_MAP, created.metadata, { uid: 'another' }), 409, 'Conflict');
    assert.equal(await client.delete(CONFIG_MAP, created.metadata, { uid }), true);
    assert.equal(await client.delete(CONFIG_MAP, created.metadata), false);
    await client.close();
    await refused(client.read('/version'), 0, 'Unreachable');
  });
});
