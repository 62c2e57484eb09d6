import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '../../../kube/object.ts';
import { homeOf, isHomeUnclear, isNews, keysOfKafka } from './home.ts';

const kafka = (
  namespace: string,
  entityOperator: object | undefined,
  annotations = { 'isthmus.dev/managed': 'true' },
) =>
  ({
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'Kafka',
    metadata: { name: 'events', namespace, annotations },
    spec: { kafka: {}, ...(entityOperator && { entityOperator }) },
  }) as AnyObject;

const homeIn = (key: string, ...kafkas: AnyObject[]) =>
  homeOf(key, { get: () => undefined, find: () => [], list: () => kafkas }, 'topicOperator')?.metadata
    .namespace;

test('a Kafka has the topics of its namespace, or of the one that it watches, if it says that it has any', () => {
  assert.equal(homeIn('a/events', kafka('a', { topicOperator: {} })), 'a');
  assert.equal(homeIn('a/events', kafka('a', { userOperator: {} })), undefined);
  assert.equal(homeIn('a/events', kafka('a', undefined)), undefined);
  assert.equal(
    homeIn('a/events', kafka('a', { topicOperator: {} }, { 'isthmus.dev/managed': 'false' })),
    undefined,
  );
  const elsewhere = kafka('b', { topicOperator: { watchedNamespace: 'a' } });
  assert.equal(homeIn('a/events', elsewhere), 'b');
  assert.equal(homeIn('b/events', elsewhere), undefined);
  assert.equal(homeIn('a/events', elsewhere, kafka('a', { topicOperator: {} })), 'a');
  assert.deepEqual(keysOfKafka('topicOperator')(elsewhere), ['b/events', 'a/events']);
});

test('a Kafka that cannot be read leaves it open who has its topics', () => {
  const broken = { ...kafka('a', {}), spec: { kafka: { listeners: 'none' } } } as AnyObject;
  const views = { get: () => undefined, find: () => [], list: () => [broken] };
  assert.equal(isHomeUnclear('a/events', views, 'topicOperator'), true);
  assert.equal(isHomeUnclear('a/others', views, 'topicOperator'), false);
});

test('one that cannot be read in another namespace is of no concern, unless it says that it watches this one', () => {
  const views = (...kafkas: AnyObject[]) => ({ get: () => undefined, find: () => [], list: () => kafkas });
  const broken = (entityOperator: object, annotations?: { 'isthmus.dev/managed': string }) =>
    ({
      ...kafka('b', {}, annotations),
      spec: { kafka: { listeners: 'none' }, entityOperator },
    }) as AnyObject;
  const own = kafka('a', { topicOperator: {} });
  const watching = broken({ topicOperator: { watchedNamespace: 'a' } });
  assert.equal(isHomeUnclear('a/events', views(broken({ topicOperator: {} })), 'topicOperator'), false);
  assert.equal(
    isHomeUnclear('a/events', views(broken({ userOperator: { watchedNamespace: 'c' } })), 'topicOperator'),
    false,
  );
  assert.equal(isHomeUnclear('a/events', views(watching), 'topicOperator'), true);
  assert.equal(isHomeUnclear('a/events', views(watching, own), 'topicOperator'), false);
  const foreign = broken({ topicOperator: { watchedNamespace: 'a' } }, { 'isthmus.dev/managed': 'false' });
  assert.equal(isHomeUnclear('a/events', views(foreign), 'topicOperator'), false);
});

test('a status alone is no news', () => {
  const before = kafka('a', {});
  assert.equal(isNews({ before, after: { ...before, status: { x: 1 } } }), false);
  assert.equal(isNews({ before, after: { ...before, spec: {} } }), true);
  assert.equal(isNews({ before: undefined, after: before }), true);
});
