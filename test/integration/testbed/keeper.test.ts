/** API servers that are used by one test file after the other. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startControlPlane, startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { startKeeper } from '../../support/shared/keeper.ts';
import { KEEPER } from '../../support/shared/lease.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

const CRD = join(import.meta.dirname, '../../../deploy/crds/serviceexports.multicluster.x-k8s.io.yaml');

suite('kept API servers', () => {
  const outer = process.env[KEEPER];
  let keeper: AsyncDisposable;
  before(async () => {
    keeper = await startKeeper();
  });
  after(async () => {
    await keeper?.[Symbol.asyncDispose]();
    if (outer !== undefined) process.env[KEEPER] = outer;
  });

  async function kubectl(plane: ControlPlane, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await plane.kubectl(args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const everything = (plane: ControlPlane) =>
    kubectl(plane, 'get', 'all,cm,secret,ns,node,crd,ipaddress,clusterrolebinding,quota', '-A', '-o', 'name');

  test('the next user finds what the first one found, whatever was done in between', async () => {
    const first = await startControlPlane();
    const pristine = await everything(first);
    const address = ['--clusterip=10.96.7.10', '--tcp=80'];
    await kubectl(first, 'create', 'service', 'clusterip', 'taken', ...address);
    await kubectl(first, 'create', 'namespace', 'left-behind');
    await kubectl(first, 'create', 'quota', 'tight', '--hard=configmaps=0', '-n', 'left-behind');
    await kubectl(first, 'create', 'clusterrolebinding', 'eve', '--clusterrole=cluster-admin', '--user=eve');
    await kubectl(first, 'delete', 'clusterrolebinding', 'system:basic-user');
    await kubectl(first, 'label', 'namespace', 'default', 'changed=yes');
    await kubectl(first, 'apply', '-f', CRD);
    await kubectl(first, 'wait', '--for=condition=Established', 'crd', '--all');
    await waitFor('the new kind', async () => (await first.kubectl(['get', 'serviceexports'])).code === 0);
    await first.stop();

    await using second = await startControlPlane();
    assert.equal(second.url, first.url);
    assert.equal(await everything(second), pristine);
    assert.doesNotMatch(await kubectl(second, 'get', 'namespace', 'default', '-o', 'yaml'), /changed/);
    assert.match((await second.kubectl(['get', 'serviceexports'])).stderr, /doesn't have a resource type/);
    await kubectl(second, 'create', 'service', 'clusterip', 'mine', ...address);
    const asEve = ['auth', 'can-i', 'list', 'secrets', '--as=eve'];
    assert.match((await second.kubectl(asEve)).stdout, /no/);
  });

  test('two at once have one each, and one without its server is not used again', async () => {
    const [one, two] = await Promise.all([startControlPlane(), startControlPlane()]);
    assert.notEqual(one.url, two.url);
    await one.killApiServer();
    await one.stop();
    await two.stop();
    await using third = await startControlPlane();
    await kubectl(third, 'get', 'namespaces');
  });

  test('one with the kinds of the project keeps them, and loses their objects', async () => {
    const yaml = 'apiVersion: kroxylicious.io/v1alpha1\nkind: KafkaProxy\nmetadata: {name: one}\n';
    const first = await startControlPlaneWithCrds();
    const applied = await first.kubectl(['apply', '-f', '-'], { stdin: yaml });
    assert.equal(applied.code, 0, applied.stderr);
    await first.stop();
    await using second = await startControlPlaneWithCrds();
    assert.equal(second.url, first.url);
    assert.equal(await kubectl(second, 'get', 'kafkaproxies', '-A', '-o', 'name'), '');
  });

  test('a user that is killed gives it back', async () => {
    const module = join(import.meta.dirname, '../../support/control-plane.ts');
    const text = `const { startControlPlane } = await import(${JSON.stringify(module)});
const { url } = await startControlPlane();
console.log(url);
setInterval(() => {}, 1000);`;
    const user = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(user.stdout, 'data')) as [Buffer];
    user.kill('SIGKILL');
    await once(user, 'exit');
    await using plane = await startControlPlane();
    assert.equal(plane.url, line.toString().trim());
  });
});
