import { z } from 'zod';
import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import { duration } from '../../filter.ts';

/** What changes something that others see, records aside. */
const CHANGES: readonly ApiName[] = [
  'CreateTopics',
  'DeleteTopics',
  'DeleteRecords',
  'CreatePartitions',
  'AlterConfigs',
  'IncrementalAlterConfigs',
  'CreateAcls',
  'DeleteAcls',
  'AlterClientQuotas',
  'AlterUserScramCredentials',
  'CreateDelegationToken',
  'RenewDelegationToken',
  'ExpireDelegationToken',
  'DeleteGroups',
  'OffsetDelete',
  'AlterShareGroupOffsets',
  'DeleteShareGroupOffsets',
  'ElectLeaders',
  'AlterPartitionReassignments',
  'AlterReplicaLogDirs',
  'UpdateFeatures',
  'UnregisterBroker',
  'InitProducerId',
  'SaslAuthenticate',
];

/** Requests that carry records: these are too many to be written down one by one. */
export const DATA: readonly ApiName[] = ['Produce', 'Fetch', 'ShareFetch'];

/** Brokers and clients use them all the time, and they say nothing of what anybody did. */
const CHATTER: ReadonlySet<ApiName> = new Set<ApiName>(['ApiVersions', 'SaslHandshake']);

const GROUPS: ReadonlyMap<string, readonly ApiName[]> = new Map([
  ['changes', CHANGES],
  ['data', DATA],
  ['all', ALL_APIS.map(({ name }) => name).filter((name) => !CHATTER.has(name))],
]);

const byName = new Map(ALL_APIS.map(({ name }) => [name.toLowerCase(), name]));

const apis = z.array(z.string()).transform((words, context): ApiName[] =>
  words.flatMap((word, i) => {
    const group = GROUPS.get(word);
    if (group) return group;
    const name = byName.get(word.replaceAll('_', '').toLowerCase());
    if (name) return [name];
    const message = `is neither the name of an API nor one of ${[...GROUPS.keys()].join(', ')}`;
    context.addIssue({ code: 'custom', path: [i], message });
    return [];
  }),
);

export const auditSchema = z.strictObject({
  apis: apis.prefault(['changes', 'data']),
  summaryEvery: duration.prefault('1m'),
});

export type AuditConfig = z.output<typeof auditSchema>;
