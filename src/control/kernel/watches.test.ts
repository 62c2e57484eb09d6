/** The cluster is a fake: a real one does not leave a list unanswered, or refuse it, when asked to. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { Cache, CacheOptions } from '../../kube/cache/cache.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { localError } from '../../kube/http/errors.ts';
import type { AnyObject, ResourceType } from '../../kube/object.ts';
import { createLog } from '../../ops/log.ts';
import { builtIn, core, openWatches } from './watches.ts';
import type { View, WatchTable } from './watches.ts';

type Answer = 'complete' | 'forbidden';

interface Views {
  secrets: View;
  namespaces: View;
  things?: View;
}

const table = (dispensable: boolean): WatchTable<Views> => ({
  secrets: { kind: core('Secret', 'secrets'), owned: true },
  namespaces: { kind: { ...core('Namespace', 'namespaces'), scope: 'Cluster' } },
  things: {
    kind: { ...builtIn('example.com', 'Thing', 'things'), versions: ['v1alpha1', 'v1'] },
    optional: true,
    dispensable,
  },
});

/** Serves its own kinds at once, and Thing when the promise says so, if it is there at all. */
function clusterWith(things: Promise<Answer> | undefined, failures = 0) {
  let left = failures;
  let served = things;
  const cache = ({ type }: CacheOptions<AnyObject>) => {
    const state = { isSynced: false };
    const answer = type.kind === 'Thing' ? served! : Promise.resolve<Answer>('complete');
    const answered = answer.then((said) => void (state.isSynced = said === 'complete'));
    const synced = answer.then((said) => (said === 'complete' ? undefined : new Promise<void>(() => {})));
    const view = { type, get: () => undefined, list: () => [], find: () => [], addIndex: () => {} };
    const live = { synced, answered, subscribe: () => () => {} };
    return Object.defineProperty({ ...view, ...live }, 'isSynced', {
      get: () => state.isSynced,
    }) as unknown as Cache;
  };
  const resource = async ({ kind, version }: ResourceType) => {
    if (left-- > 0) throw new Error('the server is busy');
    if (kind === 'Thing' && (!served || version !== 'v1alpha1')) throw localError('KindNotServed', kind);
  };
  const cluster = { cache, client: { resource } } as unknown as Cluster;
  return { cluster, serve: (promise: Promise<Answer>) => void (served = promise) };
}

const log = createLog('silent');
const never = new AbortController().signal;

async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await turn();
}

/** Whether something has come to an end within a few turns of the event loop. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false;
  void promise.then(() => (over = true));
  await settle();
  return over;
}

suite('watches', () => {
  test('wait for an optional kind that is there, and count it from when all of it has been read', async () => {
    const answer = Promise.withResolvers<Answer>();
    const clock = createManualClock();
    const watched = openWatches(table(true), { cluster: clusterWith(answer.promise).cluster, log, clock });
    const synced = watched.synced(never);
    assert.equal(await isOver(synced), false);
    assert.deepEqual([...watched.undiscovered], ['things']);
    assert.equal(watched.views.things, undefined);
    answer.resolve('complete');
    await synced;
    await settle();
    assert.ok(watched.views.things);
    assert.equal(watched.versionOf('things'), 'v1alpha1', 'the newest that is served');
    assert.equal(watched.undiscovered.size, 0);
    watched.stop();
  });

  test('go on without a kind that may not be read if it is dispensable, and wait for it otherwise', async () => {
    for (const dispensable of [true, false]) {
      const { cluster } = clusterWith(Promise.resolve<Answer>('forbidden'));
      const watched = openWatches(table(dispensable), { cluster, log, clock: createManualClock() });
      assert.equal(await isOver(watched.synced(never)), dispensable);
      assert.equal(watched.views.things, undefined);
      assert.equal(watched.undiscovered.has('things'), !dispensable);
      watched.stop();
    }
  });

  test('do not take a kind for missing because nobody could say', async () => {
    const clock = createManualClock();
    const { cluster } = clusterWith(Promise.resolve<Answer>('complete'), 3);
    const watched = openWatches(table(true), { cluster, log, clock });
    const synced = watched.synced(never);
    await settle();
    assert.ok(watched.undiscovered.has('things'));
    await clock.advance(5000);
    await synced;
    assert.ok(watched.views.things);
    watched.stop();
  });

  test('find a kind that comes later, and tell of it', async () => {
    const clock = createManualClock();
    const { cluster, serve } = clusterWith(undefined);
    const watched = openWatches(table(true), { cluster, log, clock });
    const opened: string[] = [];
    watched.onOpen((name) => {
      opened.push(name);
      return () => {};
    });
    await watched.synced(never);
    assert.equal(watched.undiscovered.size, 0, 'that it is not there is known');
    serve(Promise.resolve('complete'));
    await clock.advance(20_000);
    await settle();
    assert.deepEqual(opened, ['secrets', 'namespaces', 'things']);
    watched.stop();
  });

  test('with rights in some namespaces only, do without what is in none', () => {
    const { cluster } = clusterWith(undefined);
    const watched = openWatches(table(true), { cluster, namespaces: ['a'], log, clock: createManualClock() });
    assert.deepEqual(watched.views.namespaces.list(), []);
    assert.deepEqual(watched.ownedTypes(), [{ group: '', version: 'v1', kind: 'Secret' }]);
    watched.stop();
  });
});
