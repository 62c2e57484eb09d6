/** What is done in Kafka for a KafkaTopic, for whoever looks at it. Pure. */
import type { News } from '../news.ts';
import type { TopicStep } from './plan-topic.ts';

export function newsOfStep(step: TopicStep): News {
  if (step.do === 'create') return { reason: 'TopicCreated', note: `made the topic "${step.topic.name}"` };
  if (step.do === 'grow')
    return { reason: 'PartitionsAdded', note: `the topic "${step.name}" has ${step.count} partitions now` };
  if (step.do === 'configure')
    return {
      reason: 'TopicConfigured',
      note: `changed ${listedNames(step.change.changes.map(({ name }) => name))}`,
    };
  if (step.do === 'reassign')
    return {
      reason: 'ReplicasChanging',
      note: `the replicas of ${step.wanted.length} partitions are changed`,
    };
  return { reason: 'TopicDeleted', note: `deleted the topic "${step.name}"` };
}

/** More would not fit into an event. */
const MAX_LISTED = 10;

const listedNames = (names: readonly string[]): string =>
  names.length > MAX_LISTED
    ? `${names.slice(0, MAX_LISTED).join(', ')} and ${names.length - MAX_LISTED} more`
    : names.join(', ');
