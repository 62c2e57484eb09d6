/** Several clusters by name, from Secrets in a real one, with credentials that change and clusters that are not there. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import type { Client } from '../../../src/kube/http/client.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import type { Cluster } from '../../../src/kube/cluster.ts';
import { createClusters } from '../../../src/kube/clusters.ts';
import type { Clusters, Secret } from '../../../src/kube/clusters.ts';
import { createController } from '../../../src/kube/controller/controller.ts';
import { ApiError } from '../../../src/kube/http/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { IsthmusError } from '../../../src/ops/errors.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { CONFIG_MAP, NAMESPACE, configMap, connect, log, waitUntilEqual } from './harness.ts';
import type { ConfigMap } from './harness.ts';

const LABEL = 'example.com/cluster';
const SECRET = { group: '', version: 'v1', kind: 'Secret' };

let plane: ControlPlane;
let local: Cluster;
let clusters: Clusters;
before(async () => {
  plane = await startControlPlane();
  local = createCluster({ name: 'central', connection: connect(plane.kubeconfigText), log });
  clusters = createClusters({ log });
  clusters.add(local);
  const secrets = local.cache<Secret>({ type: SECRET, labelSelector: LABEL });
  clusters.follow(secrets, { nameOf: ({ metadata }) => metadata.labels?.[LABEL] });
});
after(async () => {
  await clusters?.stop();
  await plane?.stop();
});

/** Writes the Secret of a cluster. */
async function join(cluster: string, kubeconfig: string, name = cluster): Promise<void> {
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  const metadata = { name, namespace: NAMESPACE, labels: { [LABEL]: cluster } };
  await local.client.apply<Secret>(
    { apiVersion: 'v1', kind: 'Secret', metadata, data },
    { fieldManager: 'test' },
  );
}

async function kubeconfigOf(user: string): Promise<string> {
  return readFile(await plane.userKubeconfig(user), 'utf8');
}

async function allow(user: string): Promise<void> {
  await local.client.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  } as KubeObject);
}

/** Who the server thinks we are. */
async function whoAmI(client: Client): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await client.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
  return (answer as { status: { userInfo: { username: string } } }).status.userInfo.username;
}

const isKnown = (name: string) => async () => clusters.names().includes(name);

suite('clusters', { timeout: 600_000 }, () => {
  test('rotated credentials are used, and watches go on', async () => {
    await Promise.all([allow('alice'), allow('bob')]);
    await local.client.apply(configMap('before-rotation', {}), { fieldManager: 'test' });
    await join('east', await kubeconfigOf('alice'));
    await waitFor('the cluster', isKnown('east'));
    const east = clusters.get('east');
    const cache = east.cache<ConfigMap>({ type: CONFIG_MAP });
    await cache.synced;
    const told: string[] = [];
    cache.subscribe((key) => told.push(key));
    assert.equal(await whoAmI(east.client), 'alice');
    const old = east.client;

    await join('east', await kubeconfigOf('bob'));
    await waitFor('the new credentials', async () => east.client !== old);
    assert.equal(clusters.get('east'), east, 'the cluster stays the same object');
    assert.equal(await whoAmI(east.client), 'bob');
    assert.ok(cache.size > 0, 'what was known stays known');
    await assert.rejects(old.read('/version'), ApiError, 'the old client is closed');

    const binding = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRoleBinding' };
    await local.client.delete(binding, { name: 'alice' });
    await local.client.apply(configMap('after-rotation', {}), { fieldManager: 'test' });
    await waitUntilEqual(cache, local.client);
    // What comes after it has been told of, so whatever there is to be told of it has been.
    await local.client.apply(configMap('last-of-all', {}), { fieldManager: 'test' });
    await waitFor('the last', async () => told.includes(`${NAMESPACE}/last-of-all`));
    assert.equal(told.filter((key) => key === `${NAMESPACE}/after-rotation`).length, 1);
  });

  test('one that does not answer holds up nobody, and says what is wrong', async () => {
    await join('nowhere', plane.kubeconfigText.replace(plane.url, 'https://127.0.0.1:1'));
    await join('west', plane.kubeconfigText);
    await waitFor('both', async () => (await isKnown('nowhere')()) && (await isKnown('west')()));
    const nowhere = clusters.get('nowhere');
    const stuck = nowhere.cache({ type: CONFIG_MAP });
    assert.equal(nowhere.reachability.state, 'unknown');
    await clusters.get('west').cache({ type: CONFIG_MAP }).synced;
    assert.equal(clusters.get('west').reachability.state, 'reachable');
    const probed = await nowhere.probe();
    assert.equal(probed.state, 'unreachable');
    await waitFor('the problem', async () => stuck.problem !== undefined);
    assert.equal(stuck.isSynced, false);
  });

  test('a name that is not known is an error, and so is a kubeconfig of no use; neither means the local cluster', async () => {
    const code = (wanted: string) => (error: unknown) =>
      error instanceof IsthmusError && error.code === wanted;
    assert.throws(() => clusters.get('no-such'), code('CLUSTER_UNKNOWN'));
    await join('broken', 'current-context: none');
    await waitFor('the broken one', isKnown('broken'));
    assert.throws(() => clusters.get('broken'), code('KUBECONFIG_INVALID'));
    assert.match(clusters.problemOf('broken') ?? '', /context "none" does not exist/);
    await join('thief', await kubeconfigOf('mallory'));
    await waitFor('it', isKnown('thief'));
    assert.equal(await whoAmI(clusters.get('thief').client), 'mallory');
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'touch',
      interactiveMode: 'Never',
    };
    const certified = await kubeconfigOf('mallory');
    const running = certified
      .replace(/client-key-data: .*/, '')
      .replace(/client-certificate-data: .*/, `exec: ${JSON.stringify(exec)}`);
    await join('broken', running);
    await waitFor('the refusal', async () => clusters.problemOf('broken')?.includes('exec runs a program'));

    await join('central', await kubeconfigOf('mallory'), 'impostor');
    await join('last', plane.kubeconfigText);
    await waitFor('a Secret that came later', isKnown('last'));
    assert.equal(clusters.get('central'), local, 'no Secret takes the place of the cluster we run in');
  });

  test('bad news about a good cluster leave it as it is; without its Secret it goes', async () => {
    await join('south', plane.kubeconfigText);
    await waitFor('the cluster', isKnown('south'));
    const south = clusters.get('south');
    const names: string[] = [];
    clusters.subscribe((name) => names.push(name));
    await join('south', '[]');
    await waitFor('the problem', async () => clusters.problemOf('south') !== undefined);
    assert.equal(clusters.get('south'), south);
    assert.equal(await whoAmI(south.client), 'admin');
    names.length = 0;
    await local.client.delete(SECRET, { namespace: NAMESPACE, name: 'south' });
    await waitFor('its end', async () => !(await isKnown('south')()));
    assert.ok(names.includes('south'));
  });

  test('a controller is woken by a cache, and works on what the cache holds', async () => {
    const cache = local.cache<ConfigMap>({ type: CONFIG_MAP });
    assert.equal(local.cache<ConfigMap>({ type: CONFIG_MAP }), cache);
    // Who keeps less of an object, or looks at fewer, does not decide for others.
    const trim = ({ apiVersion, kind, metadata }: ConfigMap): ConfigMap => ({ apiVersion, kind, metadata });
    const names = local.cache<ConfigMap>({ type: CONFIG_MAP, trim });
    assert.notEqual(names, cache);
    assert.equal(local.cache<ConfigMap>({ type: CONFIG_MAP, trim }), names);
    const selected = local.cache<ConfigMap>({ type: CONFIG_MAP, labelSelector: 'app' });
    assert.ok(selected !== cache && selected !== names);
    const done = new Map<string, string | undefined>();
    const controller = createController({
      name: 'copy',
      log,
      async reconcile(key) {
        done.set(key, cache.get(`${NAMESPACE}/child`)?.data?.['value']);
        return { outcome: 'success' };
      },
    });
    // Whatever carries the annotation belongs to the key it names.
    cache.subscribe(controller.enqueue, {
      keysOf: ({ metadata }) => [metadata.annotations?.['for'] ?? []].flat(),
    });
    controller.start();
    const child = (value: string) =>
      configMap('child', { value }, { annotations: { for: `${NAMESPACE}/parent` } });
    await local.client.apply(child('1'), { fieldManager: 'test' });
    await waitFor('the parent to be looked at', async () => done.get(`${NAMESPACE}/parent`) === '1');
    done.clear();
    await local.client.delete(CONFIG_MAP, { namespace: NAMESPACE, name: 'child' });
    await waitFor(
      'the same for a deleted child',
      async () => done.has(`${NAMESPACE}/parent`) && done.get(`${NAMESPACE}/parent`) === undefined,
    );
    await controller.stop();
  });
});
