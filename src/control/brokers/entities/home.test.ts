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
  assert.equal(isHomeUnclear('a/events', views), true);
  assert.equal(isHomeUnclear('a/others', views), false);
});

test('a status alone is no news', () => {
  const before = kafka('a', {});
  assert.equal(isNews({ before, after: { ...before, status: { x: 1 } } }), false);
  assert.equal(isNews({ before, after: { ...before, spec: {} } }), true);
  assert.equal(isNews({ before: undefined, after: before }), true);
});
