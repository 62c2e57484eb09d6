/** The cache and the client are fakes: a real server does not answer in the order that is wanted here. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createLog } from '../../ops/log.ts';
import type { Client } from '../http/client.ts';
import { ApiError } from '../http/errors.ts';
import type { AnyObject } from '../object.ts';
import { createContents } from './contents.ts';

const type = { group: '', version: 'v1', kind: 'Secret' };
const never = new AbortController().signal;

const secret = (name: string, resourceVersion: string, data?: object): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'a', resourceVersion },
  ...(data && { data }),
});

/** What a server has, what the cache has seen of it, and how often it was asked. */
function site(isDispensable = true) {
  const seen = new Map<string, AnyObject>();
  const stored = new Map<string, AnyObject>();
  const asked: string[] = [];
  const refusals = new Map<string, Error>();
  const get = async (_type: unknown, { name }: { name: string }) => {
    asked.push(name);
    const refusal = refusals.get(name);
    if (refusal) throw refusal;
    return stored.get(`a/${name}`);
  };
  const put = (name: string, version: string, data: object) => {
    seen.set(`a/${name}`, secret(name, version));
    stored.set(`a/${name}`, secret(name, version, data));
  };
  const contents = createContents(
    { type, get: (key) => seen.get(key) },
    {
      client: () => ({ get }) as unknown as Client,
      trim: (object) => object,
      isDispensable,
      log: createLog('silent'),
    },
  );
  return { contents, seen, stored, asked, refusals, put };
}

suite('contents', () => {
  test('are read once for each version, whoever wants them', async () => {
    const { contents, asked, put } = site();
    put('x', '1', { k: 'one' });
    assert.equal(contents.get('a/x')?.['data'], undefined);
    const both = await Promise.all(['p', 'q'].map((holder) => contents.load(holder, ['a/x'], never)));
    assert.deepEqual(both, [true, true]);
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'one' });
    assert.equal(await contents.load('p', ['a/x'], never), false);
    put('x', '2', { k: 'two' });
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'one' });
    assert.equal(await contents.load('p', ['a/x'], never), true);
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'two' });
    assert.deepEqual(asked, ['x', 'x']);
  });

  test('that came newer than the cache was are not read again when it has caught up', async () => {
    const { contents, asked, seen, stored } = site();
    seen.set('a/x', secret('x', '1'));
    stored.set('a/x', secret('x', '2', { k: 'two' }));
    await contents.load('p', ['a/x'], never);
    seen.set('a/x', secret('x', '2'));
    assert.equal(await contents.load('p', ['a/x'], never), false);
    assert.deepEqual(asked, ['x']);
  });

  test('that were written here are not read back; what somebody else wrote after that is', async () => {
    const { contents, asked, seen, put } = site();
    put('x', '1', { k: 'one' });
    await contents.load('p', ['a/x'], never);
    contents.wrote(secret('x', '2', { k: 'two' }), '1');
    contents.wrote(secret('y', '1', { k: 'nobody wants it' }), undefined);
    for (const version of ['1', '2']) {
      seen.set('a/x', secret('x', version));
      assert.equal(await contents.load('p', ['a/x'], never), false);
      assert.deepEqual(contents.get('a/x')?.['data'], { k: 'two' });
    }
    assert.deepEqual(asked, ['x']);
    put('x', '4', { k: 'theirs' });
    contents.wrote(secret('x', '3', { k: 'three' }), '2');
    assert.equal(await contents.load('p', ['a/x'], never), true);
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'theirs' });
  });

  test('of an object that does not exist are not asked for; one that went is gone', async () => {
    const { contents, asked, seen, stored, put } = site();
    assert.equal(await contents.load('p', ['a/x'], never), false);
    assert.deepEqual(asked, []);
    put('x', '1', {});
    stored.clear();
    assert.equal(await contents.load('p', ['a/x'], never), true);
    assert.equal(contents.get('a/x'), undefined);
    seen.clear();
    assert.equal(contents.get('a/x'), undefined);
  });

  test('are forgotten when nobody wants them any more', async () => {
    const { contents, put } = site();
    put('x', '1', { k: 'one' });
    for (const holder of ['p', 'q']) await contents.load(holder, ['a/x'], never);
    await contents.load('p', [], never);
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'one' });
    await contents.load('q', [], never);
    assert.equal(contents.get('a/x')?.['data'], undefined);
  });

  test('one that may not be read keeps none of the others from being read, and is asked for again', async () => {
    const { contents, refusals, put } = site();
    put('x', '1', { k: 'x' });
    put('y', '1', { k: 'y' });
    refusals.set('x', new ApiError(403, 'Forbidden', 'no right'));
    assert.equal(await contents.load('p', ['a/x', 'a/y'], never), true);
    assert.equal(contents.get('a/x'), undefined);
    assert.deepEqual(contents.get('a/y')?.['data'], { k: 'y' });
    assert.equal(await contents.load('p', ['a/x', 'a/y'], never), false);
    refusals.clear();
    assert.equal(await contents.load('p', ['a/x', 'a/y'], never), true);
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'x' });
  });

  test('one that may not be read is a failure where it cannot be done without', async () => {
    const { contents, refusals, put } = site(false);
    put('x', '1', { k: 'x' });
    refusals.set('x', new ApiError(403, 'Forbidden', 'no right'));
    await assert.rejects(contents.load('p', ['a/x'], never), /no right/);
  });

  test('a server that is away is a failure, and what was read before stays', async () => {
    const { contents, refusals, put } = site();
    put('x', '1', { k: 'one' });
    await contents.load('p', ['a/x'], never);
    put('x', '2', { k: 'two' });
    refusals.set('x', new ApiError(0, 'Unreachable', 'away'));
    await assert.rejects(contents.load('p', ['a/x'], never), /away/);
    assert.deepEqual(contents.get('a/x')?.['data'], { k: 'one' });
  });
});
