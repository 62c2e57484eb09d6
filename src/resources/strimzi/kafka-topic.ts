import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty } from '../schema.ts';
import { kept, readyColumn, strimzi, strimziStatus } from './group.ts';

const spec = z.looseObject({
  topicName: z
    .string()
    .max(249)
    .describe('The name in Kafka; the name of the resource if left out.')
    .exactOptional(),
  partitions: z
    .int()
    .min(1)
    .max(2_147_483_647)
    .describe('How many partitions; what the brokers say if left out.')
    .exactOptional(),
  replicas: z.int().min(1).max(32_767).describe('How many replicas of each.').exactOptional(),
  config: kept.describe('Topic configuration.').exactOptional(),
});

const status = strimziStatus.extend({
  topicName: z.string().describe('The name in Kafka.').exactOptional(),
  topicId: z.string().describe('The id in Kafka.').exactOptional(),
});

export const kafkaTopic = defineKind({
  ...strimzi,
  roads: ['stretch'],
  kind: 'KafkaTopic',
  plural: 'kafkatopics',
  singular: 'kafkatopic',
  shortNames: ['kt'],
  description: 'A topic.',
  columns: [
    {
      name: 'Cluster',
      type: 'string',
      jsonPath: String.raw`.metadata.labels.strimzi\.io/cluster`,
      description: 'The Kafka it belongs to.',
    },
    {
      name: 'Partitions',
      type: 'integer',
      jsonPath: '.spec.partitions',
      description: 'How many partitions.',
    },
    {
      name: 'Replication factor',
      type: 'integer',
      jsonPath: '.spec.replicas',
      description: 'How many replicas.',
    },
    readyColumn,
  ],
  spec: orEmpty(spec).describe('The topic.'),
  status: status.describe('Written by the operator.'),
  normalise: (written) => ({
    ...written,
    spec: { ...written.spec, topicName: written.spec.topicName ?? written.metadata.name },
  }),
});

export type KafkaTopic = ResourceOf<typeof kafkaTopic>;
