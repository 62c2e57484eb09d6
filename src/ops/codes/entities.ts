/** Reasons of topics and users, which are resources of the road kafka. */
import { NOTHING_TO_DO } from './entry.ts';
import type { CodeEntry } from './entry.ts';

export const ENTITY_REASONS = {
  TopicCreated: {
    means: 'A topic was made in Kafka, as its KafkaTopic says.',
    why: 'There was none of its name.',
    cure: NOTHING_TO_DO,
  },
  TopicConfigured: {
    means: 'Settings of a topic were changed in Kafka.',
    why: 'Its KafkaTopic asks for others, or somebody else had changed them.',
    cure: NOTHING_TO_DO,
  },
  TopicDeleted: {
    means: 'A topic was deleted in Kafka, with its KafkaTopic.',
    why: 'Its KafkaTopic was deleted.',
    cure: NOTHING_TO_DO,
  },
  PartitionsAdded: {
    means: 'A topic was given more partitions.',
    why: 'Its KafkaTopic asks for more.',
    cure: NOTHING_TO_DO,
  },
  ReplicasChanging: {
    means: 'Partitions of a topic are given more replicas, or fewer.',
    why: 'The replicas of its KafkaTopic were changed.',
    cure: NOTHING_TO_DO,
  },
  AclsAdded: {
    means: 'A user was given ACLs in Kafka, as its KafkaUser says.',
    why: 'Its KafkaUser asks for them.',
    cure: NOTHING_TO_DO,
  },
  AclsRemoved: {
    means: 'ACLs of a user were taken away in Kafka.',
    why: 'Its KafkaUser no longer asks for them, or was deleted.',
    cure: NOTHING_TO_DO,
  },
  QuotasChanged: {
    means: 'Quotas of a user were changed in Kafka.',
    why: 'Its KafkaUser asks for others, or was deleted.',
    cure: NOTHING_TO_DO,
  },
  PasswordSet: {
    means: 'Kafka was given the password of a user.',
    why: 'It is new, or Kafka did not have it.',
    cure: NOTHING_TO_DO,
  },
  PasswordRemoved: {
    means: 'Kafka no longer has a password of a user.',
    why: 'Its KafkaUser was deleted, or logs in by another way now.',
    cure: NOTHING_TO_DO,
  },
  ResourceConflict: {
    means: 'An older resource manages the same topic or user.',
    why: 'Two resources name the same thing in one Kafka cluster.',
    cure: 'Delete one of the two.',
  },
  NotEnoughBrokers: {
    means: 'There are fewer brokers than the topic asks for replicas.',
    why: 'Each replica needs a broker of its own.',
    cure: 'Add brokers, or ask for fewer replicas.',
  },
  KafkaRefused: {
    means: 'Kafka refused a change.',
    why: 'The message quotes Kafka: a value that it does not take, or a right that is missing.',
    cure: 'Do as the quoted message says.',
  },
  KafkaUnavailable: {
    means: 'No broker of the Kafka cluster answers.',
    why: 'It is starting, down, or out of reach of the operator.',
    cure: 'See the conditions of the Kafka.',
  },
  SecretMissing: {
    means: 'A Secret that the user needs does not exist, or lacks a key.',
    why: 'The password is to come from a Secret of yours.',
    cure: 'Create the Secret with that key.',
  },
  Reassigning: {
    means: 'Replicas of the topic are on their way to other brokers.',
    why: 'Their number, or the set of brokers, changed.',
    cure: 'Wait; how long depends on the data.',
  },
  Unmanaged: {
    means: 'The resource is not looked after.',
    why: 'Its owner said so by an annotation.',
    cure: 'Remove the annotation to have it managed again.',
  },
  ReconciliationPaused: {
    means: 'The resource is left as it is.',
    why: 'Its owner paused it by an annotation.',
    cure: 'Remove the annotation to go on.',
  },
} as const satisfies Record<string, CodeEntry>;
