/** The API servers are fakes: real ones do not stop answering at a request of choice. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Client } from '../../kube/http/client.ts';
import { ApiError, localError } from '../../kube/http/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { createRoadMetrics } from './metrics.ts';
import type { Target } from './plan.ts';
import { createTargets } from './targets.ts';
import type { TargetCluster } from './targets.ts';
import { Stale } from './status.ts';

const never = new AbortController().signal;

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const objects = ['one', 'two', 'three'].map((name) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a' },
}));
const target = (cluster: string): Target => ({
  cluster,
  labels: { own: 'x' },
  namespaces: ['a'],
  objects,
  prune: true,
});

/** Counts requests; `apply` is what becomes of each object. */
function clusterWith(
  apply: (object: KubeObject) => Promise<unknown>,
): TargetCluster & { requests: string[] } {
  const requests: string[] = [];
  const client = {
    get: async (_type: unknown, { name }: { name: string }) => {
      requests.push(`get ${name}`);
      return undefined;
    },
    async apply(object: KubeObject) {
      requests.push(`apply ${object.metadata.name}`);
      return { object: await apply(object), created: true };
    },
    list: async () => {
      requests.push('list');
      return { items: [], resourceVersion: '1' };
    },
  } as unknown as Client;
  return {
    requests,
    client: () => client,
    cacheOf: () => undefined,
    isComplete: () => false,
    ownedTypes: () => [CONFIG_MAP],
  };
}

const metrics = () => createRoadMetrics(createMetrics(), 'test');

suite('targets', () => {
  test('a document is written only over what the plan was made from', async () => {
    const asked: string[] = [];
    const answer = (verb: string) => async (object: KubeObject) => {
      asked.push(`${verb} ${object.metadata.name}`);
      if (object.metadata.name === 'late') throw new ApiError(409, 'Conflict', 'newer');
    };
    const client = { create: answer('create'), update: answer('update') } as unknown as Client;
    const cluster = { ...clusterWith(async () => undefined), client: () => client };
    const targets = createTargets(() => cluster, metrics());
    const document = (name: string, resourceVersion?: string) => ({
      cluster: 'here',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, ...(resourceVersion && { resourceVersion }) },
      },
    });
    await targets.persist([document('new'), document('known', '7')], never);
    await assert.rejects(targets.persist([document('late', '6'), document('never')], never), Stale);
    assert.deepEqual(asked, ['create new', 'update known', 'update late']);
  });

  test('a cluster that does not answer ends its own turn at the first request, and no other’s', async () => {
    const away = clusterWith(async () => {
      throw localError('Timeout', 'no answer within 30 s');
    });
    const there = clusterWith(async (object) => object);
    const clusters: Record<string, TargetCluster> = { away, there };
    const targets = createTargets((name) => clusters[name]!, metrics());
    const errors = await targets.apply('a/x', [target('away'), target('there')], never);
    assert.deepEqual(away.requests, ['get one', 'apply one']);
    assert.deepEqual(
      errors.map(({ cluster, object }) => `${cluster} ${object}`),
      ['away ConfigMap a/one'],
    );
    assert.equal(there.requests.filter((request) => request.startsWith('apply')).length, 3);
    assert.ok(there.requests.includes('list'), 'leftovers are looked for');
  });

  test('a cluster that is not known is an error, and never the local one', async () => {
    const targets = createTargets((name) => {
      throw new Error(`there is no cluster ${name}`);
    }, metrics());
    await assert.rejects(targets.apply('a/x', [target('nowhere')], never), /no cluster nowhere/);
  });

  test('who waits for a name that is taken is known until it waits no more', () => {
    const targets = createTargets(() => clusterWith(async (object) => object), metrics());
    const [one] = objects;
    targets.waitFor('a/x', new Set(['ConfigMap a/one']));
    assert.equal(targets.waiterFor(one!), 'a/x');
    targets.waitFor('a/y', new Set());
    assert.equal(targets.waiterFor(one!), 'a/x');
    targets.waitFor('a/x', new Set());
    assert.equal(targets.waiterFor(one!), undefined);
  });
});
