/** A cache follows a real kube-apiserver through everything that befalls connections, and ends up equal to it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createCache } from '../../../src/kube/cache/cache.ts';
import type { Cache, CacheOptions } from '../../../src/kube/cache/cache.ts';
import { createClient } from '../../../src/kube/http/client.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { readPem } from '../../../src/kube/http/connection.ts';
import type { Connection } from '../../../src/kube/http/connection.ts';
import { ApiError } from '../../../src/kube/http/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import {
  CONFIG_MAP,
  NAMESPACE,
  clientOf,
  configMap,
  connect,
  log,
  portOf,
  recordVersions,
  startRelay,
  through,
  waitUntilEqual,
} from './harness.ts';
import type { ConfigMap, Relay } from './harness.ts';

let plane: ControlPlane;
let admin: Client;
before(async () => {
  // A request that is held back on purpose must not be given up by the server meanwhile.
  plane = await startControlPlane({ apiServerArgs: ['--request-timeout=10m'] });
  admin = clientOf(plane.kubeconfigText);
});
after(async () => {
  await admin?.close();
  await plane?.stop();
});

interface Follower extends AsyncDisposable {
  relay: Relay;
  client: Client;
  cache: Cache<KubeObject>;
}

/** A cache that sees the server only by way of a relay. */
async function follow(
  connection: Connection,
  options: Partial<CacheOptions<KubeObject>> = {},
): Promise<Follower> {
  const relay = await startRelay(portOf(plane.url));
  const client = createClient(through(relay, connection));
  const cache = createCache<KubeObject>({ type: CONFIG_MAP, ...options }, { client: () => client, log });
  await waitFor('the first list and watch', async () => cache.isSynced && client.counts.watch > 0);
  await waitFor('a connection for requests and one for watches', async () => relay.connections >= 2);
  return {
    relay,
    client,
    cache,
    async [Symbol.asyncDispose]() {
      await cache.stop();
      await client.close(0);
      await relay[Symbol.asyncDispose]();
    },
  };
}

const requestsOf = ({ counts }: Client) => counts.list + counts.watch;

/** Counts from now on; `assertAtMost` allows so many requests, and one a second besides, since a slow server is asked more often. */
function countRequests(client: Client) {
  const before = requestsOf(client);
  const began = performance.now();
  return {
    assertAtMost(most: number): void {
      const sent = requestsOf(client) - before;
      const seconds = (performance.now() - began) / 1000;
      assert.ok(sent <= most + seconds, `${sent} requests in ${seconds.toFixed(1)} s`);
    },
  };
}

const write = (name: string, value: string) =>
  admin.apply<ConfigMap>(configMap(name, { value }), { fieldManager: 'test' });
const remove = (name: string) => admin.delete(CONFIG_MAP, { namespace: NAMESPACE, name });

suite('a cache follows the server', { timeout: 600_000 }, () => {
  test('killed with -9 and started again in the middle of a watch', async () => {
    await using follower = await follow(connect(plane.kubeconfigText));
    const { cache, client } = follower;
    const seen = recordVersions(cache);
    await write('before', '1');
    await waitUntilEqual(cache, admin);
    await plane.killApiServer();
    await waitFor('the problem to be noticed', async () => cache.problem !== undefined);
    const requests = countRequests(client);
    await delay(3000); // down for long enough that a busy loop would show
    requests.assertAtMost(1);
    await plane.startApiServer();
    const after = await write('before', '2');
    await write('after', '1');
    await waitUntilEqual(cache, admin);
    await waitFor('the end of the problem', async () => cache.problem === undefined);
    assert.ok(seen.get(`${NAMESPACE}/before`)?.includes(after.object.metadata.resourceVersion));
    assert.ok(seen.has(`${NAMESPACE}/after`));
    assert.ok(requestsOf(client) < 40, `${requestsOf(client)} requests in all`);
  });

  test('410 Gone: the server has forgotten where we were', async () => {
    await using follower = await follow(connect(plane.kubeconfigText));
    const { cache, client, relay } = follower;
    await Promise.all(['changed', 'deleted', 'kept'].map((name) => write(name, '1')));
    await waitUntilEqual(cache, admin);
    const lists = cache.lists;
    const seen = recordVersions(cache);
    seen.clear();

    // Away while things change; and a server that starts remembers nothing from before its start.
    relay.admit(false);
    relay.cut();
    const changed = await write('changed', '2');
    await remove('deleted');
    await write('created', '1');
    await plane.killApiServer();
    await plane.startApiServer();
    const requests = countRequests(client);
    relay.admit(true);
    await waitUntilEqual(cache, admin);

    assert.equal(cache.lists, lists + 1, 'the list was read again, once');
    requests.assertAtMost(8);
    assert.equal(seen.get(`${NAMESPACE}/changed`)?.at(-1), changed.object.metadata.resourceVersion);
    assert.deepEqual(seen.get(`${NAMESPACE}/deleted`), [undefined], 'a delete event for what went meanwhile');
    assert.equal(seen.get(`${NAMESPACE}/created`)?.length, 1);
    assert.equal(seen.has(`${NAMESPACE}/kept`), false, 'nothing is told about what did not change');
  });
});

// These wait for most of their time, and not for each other.
suite('a cache follows the server, several at once', { timeout: 600_000, concurrency: true }, () => {
  test('a half-open connection: nothing comes any more, and nobody says so', async () => {
    await using follower = await follow(connect(plane.kubeconfigText), {
      silenceMs: 2000,
      openTimeoutMs: 3000,
    });
    const { cache, client, relay } = follower;
    await write('frozen', '1');
    await waitUntilEqual(cache, admin);
    const { connections } = relay;
    const requests = countRequests(client);
    const lists = cache.lists;
    relay.freeze();
    await write('frozen', '2');
    await waitUntilEqual(cache, admin);
    assert.equal(cache.lists, lists, 'taken up where it was');
    assert.ok(relay.connections > connections, 'by a new connection');
    requests.assertAtMost(6);

    // The connection for requests is as dead: one fails in time, and the next does not meet it again.
    await assert.rejects(client.read('/version', { timeoutMs: 500 }), (error) => {
      assert.ok(error instanceof ApiError);
      return error.reason === 'Timeout';
    });
    await client.read('/version');
  });

  test('silence is no fault of a quiet kind: the watch is renewed on the same connection, without a list', async () => {
    await using follower = await follow(connect(plane.kubeconfigText), { silenceMs: 500 });
    const { cache, client, relay } = follower;
    const { connections } = relay;
    const watches = client.counts.watch;
    await waitFor('some silences', async () => client.counts.watch >= watches + 3);
    assert.equal(relay.connections, connections);
    assert.equal(cache.lists, 1);
    assert.equal(cache.problem, undefined);
    await write('loud', '1');
    await waitUntilEqual(cache, admin);
  });

  test('429 with Retry-After, from the server’s own priority and fairness', async (t) => {
    const user = connect(await kubeconfigOf('throttled'));
    await using follower = await follow(user);
    const { cache, client, relay } = follower;
    await allowOneRequestAtATime('throttled');
    const release = holdRequest(user);
    t.after(release);
    await waitFor('the server to refuse', async () => {
      // For less than the second that the server asks to wait: then the refusal is passed on.
      const error = await client.read('/version', { timeoutMs: 900 }).catch((thrown: unknown) => thrown);
      return error instanceof ApiError && error.status === 429 && error.retryAfterMs !== undefined;
    });
    const requests = countRequests(client);
    relay.cut();
    await waitFor('the watch to be refused', async () => cache.problem?.includes('Too many'));
    await write('throttled', '1');
    await delay(3000); // refused for long enough that a busy loop would show
    requests.assertAtMost(3);
    assert.equal(cache.get(`${NAMESPACE}/throttled`), undefined);

    // A plain request waits as long as it is told to, and then succeeds, all in one call.
    const before = client.counts.get;
    const answer = client.read('/version');
    await waitFor('the request to be refused at first', async () => client.counts.get > before);
    release();
    await answer;
    await waitUntilEqual(cache, admin);
    assert.equal(cache.lists, 1);
  });

  test('401 after the token was rotated', async () => {
    const [one, two] = await Promise.all([boundToken('one'), boundToken('two')]);
    const tokenFile = join(plane.directory, 'rotated-token');
    writeFileSync(tokenFile, one);
    const { tls } = connect(plane.kubeconfigText);
    const user = { name: 'rotating', tokenFile };
    const connection: Connection = { name: 'rotating', server: plane.url, namespace: NAMESPACE, tls, user };
    await using follower = await follow(connection);
    const { cache, client, relay } = follower;
    const other = createClient({ ...connection, user: { name: 'old', token: one } });
    try {
      writeFileSync(tokenFile, two);
      await admin.delete(
        { group: '', version: 'v1', kind: 'Secret' },
        { namespace: NAMESPACE, name: 'token-one' },
      );
      await waitFor('the old token to be refused', async () => {
        const error = await other
          .get(CONFIG_MAP, { namespace: NAMESPACE, name: 'x' })
          .catch((thrown: unknown) => thrown);
        return error instanceof ApiError && error.status === 401;
      });
    } finally {
      await other.close(0);
    }
    const requests = countRequests(client);
    relay.cut();
    await write('rotated', '1');
    await waitUntilEqual(cache, admin);
    assert.equal(cache.lists, 1);
    requests.assertAtMost(6);
    await client.get(CONFIG_MAP, { namespace: NAMESPACE, name: 'rotated' });
  });
});

/** The kubeconfig of a user who may do anything, but is not exempt from priority and fairness as administrators are. */
async function kubeconfigOf(name: string): Promise<string> {
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  } as KubeObject);
  return readFile(await plane.userKubeconfig(name), 'utf8');
}

/** Gives a user a share of nothing: while one request of it is under way, which is always allowed, others get 429. */
async function allowOneRequestAtATime(user: string): Promise<void> {
  const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
  const limited = {
    nominalConcurrencyShares: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  const resourceRule = {
    verbs: ['*'],
    apiGroups: ['*'],
    resources: ['*'],
    namespaces: ['*'],
    clusterScope: true,
  };
  const rule = {
    subjects: [{ kind: 'User', user: { name: user } }],
    resourceRules: [resourceRule],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
  const level = { apiVersion, kind: 'PriorityLevelConfiguration', metadata: { name: user } };
  await admin.create({ ...level, spec: { type: 'Limited', limited } } as KubeObject);
  // 1 is for the exempt only.
  const spec = { matchingPrecedence: 2, priorityLevelConfiguration: { name: user }, rules: [rule] };
  await admin.create({ apiVersion, kind: 'FlowSchema', metadata: { name: user }, spec } as KubeObject);
}

/**
 * Begins a request and does not finish it: the server waits for the rest. One that is answered has met another of the same user,
 * and is begun again. Returns the way to end it.
 */
function holdRequest({ user, tls }: Connection): () => void {
  const { certificate } = user;
  assert.ok(certificate && tls.ca);
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': 1000 },
    ca: readPem(tls.ca, ''),
    cert: readPem(certificate.cert, ''),
    key: readPem(certificate.key, ''),
    agent: false,
  };
  let isOver = false;
  let held = begin();
  function begin() {
    const attempt = request(`${plane.url}/api/v1/namespaces/${NAMESPACE}/configmaps`, options);
    attempt.on('error', () => {});
    attempt.on('response', () => {
      attempt.destroy();
      if (!isOver) held = begin();
    });
    attempt.write('{');
    return attempt;
  }
  return () => {
    isOver = true;
    held.destroy();
  };
}

/** A token of a service account that is good for as long as a Secret exists. */
async function boundToken(name: string): Promise<string> {
  const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  const metadata = { name: 'rotating', namespace: NAMESPACE };
  const ignoreConflict = (error: unknown) => {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  };
  await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }).catch(ignoreConflict);
  await admin
    .create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'rotating' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    } as KubeObject)
    .catch(ignoreConflict);
  const secretName = `token-${name}`;
  const secret = await admin.create<KubeObject>({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace: NAMESPACE },
  });
  const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name: secretName, uid: secret.metadata.uid };
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } };
  const answer = await admin.post(`${accounts}/rotating/token`, request);
  return (answer as { status: { token: string } }).status.token;
}
