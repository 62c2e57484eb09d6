import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newsOfStep } from './news.ts';
import type { TopicStep } from './plan-topic.ts';

const told = (step: TopicStep) => {
  const { reason, note } = newsOfStep(step);
  return `${reason}: ${note}`;
};

test('each step that is taken for a topic has its event', () => {
  const changes = Array.from({ length: 12 }, (_, index) => ({ name: `k${index}`, change: 'set' as const, value: 'v' })); // prettier-ignore
  const wanted = [0, 1].map((partition) => ({ topic: 't', partition, replicas: [1, 2] }));
  assert.equal(told({ do: 'create', topic: { name: 't' } }), 'TopicCreated: made the topic "t"');
  assert.equal(told({ do: 'grow', name: 't', count: 6 }), 'PartitionsAdded: the topic "t" has 6 partitions now'); // prettier-ignore
  assert.match(told({ do: 'configure', change: { resource: { type: 'topic', name: 't' }, changes } }), /^TopicConfigured: changed k0, .*k9 and 2 more$/); // prettier-ignore
  assert.equal(told({ do: 'reassign', wanted }), 'ReplicasChanging: the replicas of 2 partitions are changed'); // prettier-ignore
  assert.equal(told({ do: 'delete', name: 't' }), 'TopicDeleted: deleted the topic "t"');
});
