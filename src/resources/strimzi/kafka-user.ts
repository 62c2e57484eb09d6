import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty } from '../schema.ts';
import { kept, readyColumn, strimzi, strimziStatus } from './group.ts';

const acl = z.looseObject({
  type: z.enum(['allow', 'deny']).default('allow').describe('Whether it allows or forbids.'),
  resource: kept.describe('What it is about: type, name, patternType.').exactOptional(),
  host: z.string().default('*').describe('From where.'),
  operations: z.array(z.string()).describe('What may be done.').exactOptional(),
});

const spec = z.looseObject({
  authentication: z
    .looseObject({
      type: z.enum(['tls', 'tls-external', 'scram-sha-512']).describe('How the user proves who it is.'),
    })
    .describe('How the user is known.')
    .exactOptional(),
  authorization: z
    .looseObject({
      type: z.string().describe('How access is decided; `simple`.').exactOptional(),
      acls: z.array(acl).describe('What the user may do.').exactOptional(),
    })
    .describe('What the user may do.')
    .exactOptional(),
  quotas: kept.describe('How much of the brokers the user may take.').exactOptional(),
});

const status = strimziStatus.extend({
  username: z.string().describe('The name that Kafka knows the user by.').exactOptional(),
  secret: z.string().describe('The Secret with the user’s credentials.').exactOptional(),
});

export const kafkaUser = defineKind({
  ...strimzi,
  roads: ['stretch'],
  kind: 'KafkaUser',
  plural: 'kafkausers',
  singular: 'kafkauser',
  shortNames: ['ku'],
  description: 'A user of a Kafka cluster.',
  columns: [
    {
      name: 'Cluster',
      type: 'string',
      jsonPath: String.raw`.metadata.labels.strimzi\.io/cluster`,
      description: 'The Kafka it belongs to.',
    },
    {
      name: 'Authentication',
      type: 'string',
      jsonPath: '.spec.authentication.type',
      description: 'How the user proves who it is.',
    },
    {
      name: 'Authorization',
      type: 'string',
      jsonPath: '.spec.authorization.type',
      description: 'How access is decided.',
    },
    readyColumn,
  ],
  spec: orEmpty(spec).describe('The user.'),
  status: status.describe('Written by the operator.'),
  normalise: (written) => written,
});

export type KafkaUser = ResourceOf<typeof kafkaUser>;
