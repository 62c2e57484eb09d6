/** The cluster is a fake: a real one does not leave a list unanswered, or refuse it, when asked to. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Cache, CacheOptions } from '../../kube/cache/cache.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { localError } from '../../kube/http/errors.ts';
import type { AnyObject, ResourceType } from '../../kube/object.ts';
import { createLog } from '../../ops/log.ts';
import { createProxyCaches } from './caches.ts';

type Answer = 'complete' | 'forbidden';

/** Serves its own kinds at once; of the others those named, each when its promise says so. */
function clusterWith(served: Record<string, Promise<Answer>>, failures = 0): Cluster {
  let left = failures;
  const cache = ({ type }: CacheOptions<AnyObject>) => {
    const state = { isSynced: false };
    const answer = served[type.kind] ?? Promise.resolve<Answer>('complete');
    const answered = answer.then((said) => void (state.isSynced = said === 'complete'));
    const view = { type, get: () => undefined, list: () => [], find: () => [], addIndex: () => {} };
    const live = { synced: answered, answered, subscribe: () => () => {} };
    return Object.defineProperty({ ...view, ...live }, 'isSynced', {
      get: () => state.isSynced,
    }) as unknown as Cache;
  };
  const resource = async ({ kind }: ResourceType) => {
    if (left-- > 0) throw new Error('the server is busy');
    if (!(kind in served)) throw localError('KindNotServed', kind);
  };
  return { cache, client: { resource } } as unknown as Cluster;
}

const log = createLog('silent', {});

/** Whether something has come to an end within a few turns of the event loop. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false;
  void promise.then(() => (over = true));
  for (let i = 0; i < 20; i++) await turn();
  return over;
}

suite('caches of the proxy road', () => {
  test('wait for a kind that is there, and count it from when all of it has been read', async () => {
    const answer = Promise.withResolvers<Answer>();
    const caches = createProxyCaches(clusterWith({ Gateway: answer.promise }), [], log);
    const synced = caches.synced();
    assert.equal(await isOver(synced), false);
    assert.deepEqual([...caches.served().unsettled], ['gateways']);
    assert.equal(caches.served().gateway, false);
    answer.resolve('complete');
    await synced;
    assert.equal(caches.served().gateway, true);
    assert.equal(caches.served().unsettled.size, 0);
    caches.stop();
  });

  test('go on without a kind that may not be read, at once', async () => {
    const caches = createProxyCaches(clusterWith({ Gateway: Promise.resolve('forbidden') }), [], log);
    await caches.synced();
    assert.equal(caches.served().gateway, false);
    assert.equal(caches.served().unsettled.size, 0);
    caches.stop();
  });

  test('do not take a kind for missing because nobody could say', async () => {
    const caches = createProxyCaches(clusterWith({ Kafka: Promise.resolve('complete') }, 3), [], log);
    await caches.synced();
    assert.ok(caches.sources.kafkas);
    assert.equal(caches.served().unsettled.size, 0);
    caches.stop();
  });
});
