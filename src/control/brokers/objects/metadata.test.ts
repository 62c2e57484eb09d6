import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterWith } from '../../../../test/support/brokers/models.ts';
import { metadataOf } from './metadata.ts';

test('labels and annotations of a user stay their own, and those that mean something here are nobody’s to give', () => {
  const words = {
    team: 'a',
    'example.com/x': 'y',
    // A pod that came with it would be restarted for ever.
    'strimzi.io/manual-rolling-update': 'true',
    'isthmus.dev/reloaded-certificates': 'x',
  };
  const { labels = {}, annotations } = metadataOf(clusterWith({}), 'n', {
    metadata: { labels: words, annotations: words },
  });
  assert.deepEqual(annotations, { team: 'a', 'example.com/x': 'y' });
  assert.deepEqual([labels['team'], labels['strimzi.io/manual-rolling-update']], ['a', undefined]);
});
