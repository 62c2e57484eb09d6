import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Place } from '../cluster-source.ts';
import { createAccessReviews } from './access-reviews.ts';
import { MOST_FAILURES, createAttempts } from './attempts.ts';
import { createSessions } from './sessions.ts';
import { TooManyReviews, createTokenReviews } from './token-reviews.ts';
import type { Identity } from './token-reviews.ts';

const ANNA: Identity = { user: 'anna', groups: ['team-a'] };
const places = (...all: string[]): Place[] =>
  all.map((one) => {
    const [resource = '', namespace] = one.split(' ');
    return { group: 'g', resource, namespace };
  });

suite('reviews of tokens', () => {
  test('a token is asked about once a minute, and what is refused is remembered as well', async () => {
    let now = 0;
    const asked: string[] = [];
    const { review } = createTokenReviews(
      async (token) => {
        asked.push(token);
        return token === 'good' ? ANNA : undefined;
      },
      () => now,
    );
    for (const token of ['good', 'good', 'bad', 'bad']) await review(token);
    assert.deepEqual(asked, ['good', 'bad']);
    now = 60_001;
    assert.deepEqual([await review('good'), await review('bad')], [ANNA, undefined]);
    assert.deepEqual(asked, ['good', 'bad', 'good', 'bad']);
  });

  test('a token that is taken back is nobody’s after that minute', async () => {
    let now = 0;
    let answer: Identity | undefined = ANNA;
    const { review } = createTokenReviews(
      async () => answer,
      () => now,
    );
    assert.equal(await review('t'), ANNA);
    answer = undefined;
    now = 60_001;
    assert.equal(await review('t'), undefined);
    assert.equal(await review('t'), undefined);
  });

  test('what can be no token is never asked about, and no flood of tokens is', async () => {
    let asked = 0;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { review } = createTokenReviews(async () => {
      asked += 1;
      return promise;
    });
    for (const text of ['', 'a b', 'a\nb', '{}', 'x'.repeat(8193), 'ä'])
      assert.equal(await review(text), undefined);
    assert.equal(asked, 0);
    const flood = Array.from({ length: 100 }, (_, index) => review(`t${index}`));
    const settled = Promise.allSettled(flood);
    resolve(undefined);
    const busy = (await settled).filter(
      (one) => one.status === 'rejected' && one.reason instanceof TooManyReviews,
    );
    assert.deepEqual([asked, busy.length], [16, 84]);
  });

  test('an API server that does not answer refuses nobody for longer than it takes', async () => {
    let isThere = false;
    const { review } = createTokenReviews(async () => {
      if (!isThere) throw new Error('no answer');
      return ANNA;
    });
    await assert.rejects(review('t'), /no answer/);
    isThere = true;
    assert.equal(await review('t'), ANNA);
  });
});

suite('reviews of access', () => {
  test('who may read a kind everywhere is not asked about by namespace', async () => {
    const asked: string[] = [];
    const { readable } = createAccessReviews(async (_, { resource, namespace }) => {
      asked.push(`${resource} ${namespace ?? '*'}`);
      return resource === 'kafkas' || namespace === 'a';
    });
    const may = await readable(ANNA, places('kafkas a', 'kafkas b', 'pods a', 'pods b', 'pods a'));
    assert.deepEqual(places('kafkas b', 'pods a', 'pods b', 'kafkas').map(may), [true, true, false, true]);
    assert.deepEqual(asked.toSorted(), ['kafkas *', 'pods *', 'pods a', 'pods b']);
    assert.equal(may(places('secrets a')[0]!), false, 'nobody has asked about it');
  });

  test('a right counts for a minute, a refusal for five, and a login asks anew', async () => {
    let now = 0;
    let asked = 0;
    const reviews = createAccessReviews(
      async (_, { namespace }) => {
        asked += 1;
        return namespace === 'a';
      },
      () => now,
    );
    const look = async () => {
      asked = 0;
      await reviews.readable(ANNA, places('pods a', 'pods b'));
      return asked;
    };
    assert.equal(await look(), 3);
    assert.equal(await look(), 0);
    now = 60_001;
    assert.equal(await look(), 1);
    now = 300_001;
    assert.equal(await look(), 3);
    reviews.forget(ANNA);
    assert.equal(await look(), 3);
  });

  test('where the API server cannot be asked, nothing is shown', async () => {
    const { readable } = createAccessReviews(async () => {
      throw new Error('no answer');
    });
    await assert.rejects(readable(ANNA, places('pods a')), /no answer/);
  });

  test('whatever is granted to two people, each sees just that', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const grants = fc.array(fc.tuple(fc.constantFrom('anna', 'ben'), name, fc.option(name)));
    const asked = fc.array(fc.tuple(name, name), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(grants, asked, async (granted, wanted) => {
        const isGranted = (user: string, resource: string, namespace: string | undefined) =>
          granted.some(
            ([who, what, where]) =>
              who === user && what === resource && (where === null || where === namespace),
          );
        const { readable } = createAccessReviews(async ({ user }, { resource, namespace }) =>
          isGranted(user, resource, namespace),
        );
        const all = wanted.map(([resource, namespace]) => ({ group: '', resource, namespace }));
        await Promise.all(
          ['anna', 'ben'].map(async (user) => {
            const may = await readable({ user, groups: [] }, all);
            for (const place of all)
              assert.equal(may(place), isGranted(user, place.resource, place.namespace));
          }),
        );
      }),
    );
  });
});

suite('sessions and attempts', () => {
  test('a session ends after half a day, when it is closed, and when its owner has too many', () => {
    let now = 0;
    const sessions = createSessions(() => now);
    const others = sessions.open('theirs', 'ben');
    const first = sessions.open('t0', 'anna');
    assert.equal(sessions.token(first), 't0');
    for (let index = 1; index <= 16; index++) sessions.open(`t${index}`, 'anna');
    assert.deepEqual([sessions.token(first), sessions.token(others)], [undefined, 'theirs']);
    sessions.close(others);
    assert.equal(sessions.token(others), undefined);
    const late = sessions.open('t', 'ben');
    now = 12 * 3_600_000;
    assert.equal(sessions.token(late), undefined);
    assert.equal(sessions.token('constructor'), undefined);
  });

  test('ten failures of an address, then one in six seconds; nobody else waits', () => {
    let now = 0;
    const attempts = createAttempts(() => now);
    for (let index = 0; index < MOST_FAILURES; index++) {
      assert.ok(attempts.mayTry('192.0.2.1'));
      attempts.failed('192.0.2.1');
    }
    assert.equal(attempts.mayTry('192.0.2.1'), false);
    assert.equal(
      attempts.mayTry('::ffff:192.0.2.1'),
      false,
      'the same address on a socket for both families',
    );
    assert.ok(attempts.mayTry('192.0.2.2'));
    now += 6000;
    assert.ok(attempts.mayTry('192.0.2.1'));
    attempts.failed('192.0.2.1');
    assert.equal(attempts.mayTry('192.0.2.1'), false);
  });
});
