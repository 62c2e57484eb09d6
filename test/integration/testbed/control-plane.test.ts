import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

test('a control plane serves, and refuses who has no role', async () => {
  await using plane = await startControlPlane();
  const version = await plane.kubectl(['version', '-o', 'json']);
  assert.equal(version.code, 0, version.stderr);
  assert.match(version.stdout, /"gitVersion": "v1\.\d+/);

  const made = await plane.kubectl(['create', 'configmap', 'one', '--from-literal=a=b', '-o', 'name']);
  assert.equal(made.stdout.trim(), 'configmap/one', made.stderr);

  const kubeconfig = await plane.userKubeconfig('eve', ['outsiders']);
  const refused = await plane.kubectl(['get', 'configmaps'], { kubeconfig });
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /User "eve" cannot list resource "configmaps"/);

  const bound = await plane.kubectl([
    'create',
    'rolebinding',
    'v',
    '--clusterrole=system:aggregate-to-view',
    '--group=outsiders',
  ]);
  assert.equal(bound.code, 0, bound.stderr);
  // The authorizer watches the bindings, so a new one takes a moment.
  await waitFor('permission', async () => {
    const allowed = await plane.kubectl(['get', 'configmaps', '-o', 'name'], { kubeconfig });
    return allowed.stdout.includes('configmap/one');
  });
});

test('a killed API server comes back on the same address with the same objects', async () => {
  await using plane = await startControlPlane();
  await plane.kubectl(['create', 'namespace', 'kept']);
  await plane.killApiServer();
  const down = await plane.kubectl(['get', 'namespaces']);
  assert.match(down.stderr, /refused/);
  await plane.startApiServer();
  const up = await plane.kubectl(['get', 'namespace', 'kept', '-o', 'name']);
  assert.equal(up.stdout.trim(), 'namespace/kept', up.stderr);
});

test('two control planes at once know nothing of each other', async () => {
  const starting = startControlPlane();
  await using west = await startControlPlane();
  await using east = await starting;
  assert.notEqual(west.url, east.url);
  assert.notEqual(west.caPem, east.caPem);
  await west.kubectl(['create', 'namespace', 'only-west']);
  assert.equal((await west.kubectl(['get', 'namespace', 'only-west'])).code, 0);
  assert.match((await east.kubectl(['get', 'namespace', 'only-west'])).stderr, /not found/);
  const stranger = await east.kubectl(['get', 'namespaces', `--server=${west.url}`]);
  assert.match(stranger.stderr, /certificate signed by unknown authority/);
});

test('with a controller manager and a scheduler, a deployment becomes pods that wait for a node', async () => {
  await using plane = await startControlPlane({ controllerManager: true, scheduler: true });
  const made = await plane.kubectl(['create', 'deployment', 'web', '--image=none', '--replicas=2']);
  assert.equal(made.code, 0, made.stderr);
  const reasons = 'jsonpath={.items[*].status.conditions[*].reason}';
  const isWaiting = async () => {
    const { stdout } = await plane.kubectl(['get', 'pods', '-o', reasons]);
    return stdout === 'Unschedulable Unschedulable';
  };
  await waitFor('two pods that wait for a node', isWaiting, { timeoutMs: 240_000 });
});
