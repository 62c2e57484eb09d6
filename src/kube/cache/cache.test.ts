/**
 * The server here is a fake of a few lines, since a real one does not lose connections, or its memory, at the wish of a random
 * number; test/integration/kube shows the same with a real one.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createLog } from '../../ops/log.ts';
import { createCache, trimManagedFields } from './cache.ts';
import type { Cache } from './cache.ts';
import type { Client } from '../http/client.ts';
import { ApiError, localError } from '../http/errors.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { KubeObject } from '../object.ts';
import { createStore } from './store.ts';
import { SILENT } from '../http/watch.ts';
import type { WatchEvent } from '../http/watch.ts';

const THINGS = { group: 'test', version: 'v1', kind: 'Thing' };

interface Thing extends KubeObject {
  value: number;
}

type Fault = 'none' | 'end' | 'break' | 'gone' | 'silent' | 'busy';

/** Keeps things and the history of their changes; a watch ends the way the next fault says. */
function createFakeServer() {
  const things = new Map<string, Thing>();
  let history: { version: number; event: WatchEvent<Thing> }[] = [];
  let version = 1;
  let forgottenBefore = 0;
  let wake = Promise.withResolvers<void>();
  let fault: Fault = 'none';
  const counts = { list: 0, watch: 0 };

  function change(name: string, value: number | undefined): void {
    version += 1;
    const metadata = { name, uid: name, resourceVersion: String(version) };
    const object: Thing = { apiVersion: 'test/v1', kind: 'Thing', metadata, value: value ?? 0 };
    const type = value === undefined ? 'DELETED' : things.has(name) ? 'MODIFIED' : 'ADDED';
    if (type === 'DELETED' && !things.has(name)) return;
    if (value === undefined) things.delete(name);
    else things.set(name, object);
    history.push({ version, event: { type, object } });
    nudge();
  }

  function nudge(): void {
    wake.resolve();
    wake = Promise.withResolvers();
  }

  function disturb(next: Fault): void {
    fault = next;
    if (next === 'gone') {
      forgottenBefore = version;
      history = [];
    }
    nudge();
  }

  async function* watch(from: number, signal: AbortSignal): AsyncGenerator<WatchEvent<Thing>> {
    counts.watch += 1;
    let at = from;
    for (;;) {
      signal.throwIfAborted();
      const now = fault;
      fault = 'none';
      if (now === 'end') return;
      if (now === 'break') throw localError('Unreachable', 'reset by peer');
      if (now === 'silent') throw new ApiError(0, SILENT, 'nothing came');
      if (now === 'busy') throw new ApiError(429, 'TooManyRequests', 'busy', { retryAfterMs: 40_000 });
      if (at < forgottenBefore) throw new ApiError(410, 'Expired', 'too old');
      const next = history.find((entry) => entry.version > at);
      if (next) {
        at = next.version;
        yield next.event;
      } else {
        const aborted = Promise.withResolvers<void>();
        const stop = () => aborted.resolve();
        signal.addEventListener('abort', stop);
        await Promise.race([wake.promise, aborted.promise]);
        signal.removeEventListener('abort', stop);
      }
    }
  }

  const client = {
    async *listPages() {
      counts.list += 1;
      const items = structuredClone([...things.values()]);
      const resourceVersion = String(version);
      // In two pages, between which the world may change.
      const half = Math.ceil(items.length / 2);
      yield { first: true, items: items.slice(0, half), resourceVersion };
      yield { first: false, items: items.slice(half), resourceVersion };
    },
    watch: (
      _type: unknown,
      options: { resourceVersion: string; signal: AbortSignal; onOpen?: () => void },
    ) => {
      options.onOpen?.();
      return watch(Number(options.resourceVersion), options.signal);
    },
  } as unknown as Client;

  return { things, change, disturb, client, counts };
}

function open(server: ReturnType<typeof createFakeServer>) {
  const clock = createManualClock();
  const context = { client: () => server.client, log: createLog('silent'), clock, random: () => 0.5 };
  const cache: Cache<Thing> = createCache<Thing>({ type: THINGS }, context);
  return { cache, clock };
}

const valuesOf = (things: Iterable<Thing>) =>
  Object.fromEntries([...things].map(({ metadata, value }) => [metadata.name, value] as const));

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.constant(undefined) }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Fault>('end', 'break', 'gone', 'silent', 'busy').map((fault) => ({ fault })),
  },
  { weight: 2, arbitrary: fc.nat(20_000).map((ms) => ({ ms })) },
);

suite('cache', () => {
  test('ends up equal to the server, with a word about every change, whatever happens to the watch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const server = createFakeServer();
        const { cache, clock } = open(server);
        /** What a subscriber saw last of each key, when it was told. */
        const seen = new Map<string, number | undefined>();
        cache.subscribe((key) => seen.set(key, cache.get(key)?.value));
        for (const one of steps) {
          if ('fault' in one) server.disturb(one.fault);
          else if ('ms' in one) await clock.advance(one.ms);
          else server.change(one.name, one.value);
        }
        await clock.advance(120_000);
        assert.deepEqual(valuesOf(cache.list()), valuesOf(server.things.values()));
        for (const [key, value] of seen) assert.equal(value, cache.get(key)?.value, `last word about ${key}`);
        for (const { metadata } of cache.list()) assert.ok(seen.has(metadata.name));
        assert.equal(cache.problem, undefined);
        await cache.stop();
      }),
      { numRuns: 60 },
    );
  });

  test('what was deleted while nobody looked is noticed by the next list', async () => {
    const server = createFakeServer();
    server.change('kept', 1);
    server.change('lost', 1);
    const { cache, clock } = open(server);
    const told: string[] = [];
    await clock.advance(0);
    cache.subscribe((key) => told.push(key));
    assert.deepEqual(told, ['kept', 'lost'], 'what is there already is told at once');
    server.change('lost', undefined);
    server.disturb('gone');
    await clock.advance(5000);
    assert.deepEqual(told, ['kept', 'lost', 'lost']);
    assert.equal(cache.get('lost'), undefined);
    assert.equal(cache.lists, 2);
    await cache.stop();
  });

  test('a watch that ends well is taken up again without a list', async () => {
    const server = createFakeServer();
    const { cache, clock } = open(server);
    let told = 0;
    cache.subscribe(() => (told += 1));
    await clock.advance(0);
    for (let i = 0; i < 5; i++) {
      server.change('a', i);
      await clock.advance(100);
      server.disturb('end');
      await clock.advance(5000);
    }
    assert.equal(server.counts.list, 1);
    assert.equal(told, 5, 'nothing is told twice');
    assert.equal(valuesOf(cache.list())['a'], 4);
    await cache.stop();
  });

  test('no busy loop: failures wait longer and longer, and no less than the server asks', async () => {
    const server = createFakeServer();
    const { cache, clock } = open(server);
    await clock.advance(0);
    for (let i = 0; i < 600; i++) {
      server.disturb('break');
      await clock.advance(1000);
    }
    assert.ok(server.counts.watch < 35, `${server.counts.watch} watches in ten minutes of failure`);
    await clock.advance(60_000);
    const before = server.counts.watch;
    server.disturb('busy');
    await clock.advance(39_000);
    assert.equal(server.counts.watch, before, 'asked to wait 40 s');
    await clock.advance(2000);
    assert.equal(server.counts.watch, before + 1);
    await cache.stop();
  });

  test('synced comes after the first list, and a subscriber that throws stops nobody', async () => {
    const server = createFakeServer();
    server.change('a', 1);
    const { cache, clock } = open(server);
    assert.equal(cache.isSynced, false);
    const told: string[] = [];
    cache.subscribe(() => {
      throw new Error('a bug');
    });
    cache.subscribe((key) => told.push(key));
    await clock.advance(0);
    await cache.synced;
    assert.equal(cache.isSynced, true);
    assert.deepEqual(told, ['a']);
    await cache.stop();
  });
});

test('no right to a kind is told from no answer, and from none of it; it is asked for again', async () => {
  const server = createFakeServer();
  server.change('a', 1);
  let refusal: ApiError | undefined = localError('Unreachable', 'nobody there');
  const listPages = server.client.listPages.bind(server.client);
  const client = Object.assign(server.client, {
    listPages: (...given: Parameters<Client['listPages']>) => {
      if (refusal) throw refusal;
      return listPages(...given);
    },
  });
  const { cache, clock } = open({ ...server, client });
  let isAnswered = false;
  void cache.answered.then(() => (isAnswered = true));
  await clock.advance(60_000);
  assert.deepEqual([isAnswered, cache.isForbidden], [false, false], 'no answer is none');
  refusal = new ApiError(403, 'Forbidden', 'things is forbidden');
  await clock.advance(120_000);
  assert.deepEqual([isAnswered, cache.isForbidden, cache.isSynced], [true, true, false]);
  assert.equal(cache.problem, 'things is forbidden');
  refusal = localError('Unreachable', 'nobody there');
  await clock.advance(120_000);
  assert.equal(cache.isForbidden, true, 'who does not answer has not changed their mind');
  refusal = undefined;
  await clock.advance(120_000);
  assert.deepEqual([cache.isForbidden, cache.isSynced, cache.size], [false, true, 1]);
  await cache.stop();
});

suite('store', () => {
  const thing = (name: string, version: number, labels: Record<string, string> = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, uid: name, resourceVersion: String(version), labels },
  });

  test('finds by index what a full search would find', () => {
    const change = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      team: fc.constantFrom('x', 'y'),
      gone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change), fc.nat(20), (changes, indexAt) => {
        const store = createStore<KubeObject>();
        const teamOf = ({ metadata }: KubeObject) => Object.values(metadata.labels ?? {});
        changes.forEach(({ name, team, gone }, i) => {
          if (i === indexAt) store.addIndex('team', teamOf);
          if (gone) store.delete(name);
          else store.set(thing(name, i, { team }));
        });
        store.addIndex('team', teamOf);
        for (const team of ['x', 'y']) {
          const expected = [...store.values()].filter((object) => teamOf(object).includes(team));
          assert.deepEqual(new Set(store.find('team', team)), new Set(expected));
        }
      }),
    );
  });

  test('the same version again is no change', () => {
    const store = createStore<KubeObject>();
    assert.ok(store.set(thing('a', 1)));
    assert.equal(store.set(thing('a', 1)), undefined);
    assert.ok(store.set(thing('a', 2)));
    assert.equal(store.delete('b'), undefined);
  });

  test('managed fields of others are trimmed', () => {
    const object = thing('a', 1);
    object.metadata.managedFields = [{ manager: 'me' }, { manager: 'kubectl' }];
    assert.deepEqual(trimManagedFields('me')(object).metadata.managedFields, [{ manager: 'me' }]);
    assert.equal('managedFields' in trimManagedFields()(object).metadata, false);
  });
});
