/** The server is a fake: a real one forgets a list only after minutes, and has no objects too large to read. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ApiError, localError } from './errors.ts';
import { listPages } from './list.ts';
import type { KubeObject } from '../object.ts';
import type { Call, Requests } from './requests.ts';

const THINGS = { group: 'test', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const COUNT = 25;

/** Serves things in pages; `fail` may refuse a request. */
function fakeRequests(fail: (call: Call, index: number) => ApiError | undefined) {
  const calls: Call[] = [];
  const call = async (given: Call) => {
    calls.push(given);
    const failure = fail(given, calls.length);
    if (failure) throw failure;
    const query = given.query ?? {};
    const start = Number(query['continue'] ?? 0);
    const end = query['resourceVersion'] === '0' ? COUNT : Math.min(COUNT, start + Number(query['limit']));
    const items = Array.from({ length: end - start }, (_, i) => ({ metadata: { name: `t${start + i}` } }));
    const metadata = { resourceVersion: '9', ...(end < COUNT ? { continue: String(end) } : {}) };
    return { status: 200, body: { metadata, items } };
  };
  return { calls, requests: { call } as unknown as Requests };
}

async function namesOf(requests: Requests, options: object): Promise<string[]> {
  let names: string[] = [];
  for await (const page of listPages<KubeObject>(requests, THINGS, options)) {
    if (page.first) names = [];
    names.push(...page.items.map(({ metadata }) => metadata.name));
    for (const { kind, apiVersion } of page.items) assert.deepEqual([kind, apiVersion], ['Thing', 'test/v1']);
  }
  return names;
}

const all = Array.from({ length: COUNT }, (_, i) => `t${i}`);
const gone = new ApiError(410, 'Expired', 'the continue token is too old');
const tooLarge = localError('TooLarge', 'too large');

suite('list', () => {
  test('comes in pages, and says which version only once', async () => {
    const { calls, requests } = fakeRequests(() => undefined);
    assert.deepEqual(await namesOf(requests, { pageSize: 10, namespace: 'n', labelSelector: 'a=b' }), all);
    assert.deepEqual(
      calls.map(({ path, query }) => [path, query?.['continue'], query?.['labelSelector']]),
      [undefined, '10', '20'].map((token) => ['/apis/test/v1/namespaces/n/things', token, 'a=b']),
    );
  });

  test('starts over when its continue token has expired', async () => {
    const { calls, requests } = fakeRequests((_call, index) => (index === 3 ? gone : undefined));
    assert.deepEqual(await namesOf(requests, { pageSize: 10 }), all);
    assert.equal(calls.length, 2 + 1 + 3);
    assert.equal(calls[3]?.query?.['continue'], undefined);
  });

  test('gives up when that goes on for ever', async () => {
    const { requests } = fakeRequests((call) => (call.query?.['continue'] ? gone : undefined));
    await assert.rejects(namesOf(requests, { pageSize: 10 }), gone);
  });

  test('a 410 without a token is no reason to start over', async () => {
    const { calls, requests } = fakeRequests(() => gone);
    await assert.rejects(namesOf(requests, {}), gone);
    assert.equal(calls.length, 1);
  });

  test('what is too large to read is asked for in pages, then in smaller ones', async () => {
    const { calls, requests } = fakeRequests(({ query }) =>
      query?.['resourceVersion'] === '0' || Number(query?.['limit']) > 10 ? tooLarge : undefined,
    );
    assert.deepEqual(await namesOf(requests, { pageSize: 100, resourceVersion: '0' }), all);
    assert.deepEqual(
      calls.map(({ query }) => [query?.['resourceVersion'], query?.['limit']]),
      [['0', '100'], [undefined, '100'], ...Array.from({ length: 3 }, () => [undefined, '10'])],
    );
  });
});
