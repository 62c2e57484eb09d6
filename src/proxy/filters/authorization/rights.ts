import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import type { NameKind } from '../../../kafka/names.ts';
import type { Operation, ResourceType } from './rules.ts';

/**
 * Which right each API needs for what it names, as Kafka has it. What is not in this table is refused: nobody could say what
 * it does, and to whose resources.
 */
export interface ApiRights {
  topicName?: Operation;
  groupId?: Operation;
  transactionalId?: Operation;
  /** What there may be several of, each answered by itself; a denial of anything else refuses the request as a whole. */
  items?: NameKind;
  /** Its response may name what was not asked for: that is left out unless it may be described. */
  lists?: true;
  /** The newest version with names, where later ones have ids. */
  newest?: number;
}

const GROUP: ApiRights = { groupId: 'READ' };
const TRANSACTION: ApiRights = { transactionalId: 'WRITE' };

export const RIGHTS: { readonly [Name in ApiName]?: ApiRights } = {
  Produce: { topicName: 'WRITE', transactionalId: 'WRITE', items: 'topicName', newest: 12 },
  Fetch: { topicName: 'READ', items: 'topicName', newest: 12 },
  ListOffsets: { topicName: 'DESCRIBE', items: 'topicName' },
  Metadata: { topicName: 'DESCRIBE', items: 'topicName', lists: true },
  OffsetCommit: { groupId: 'READ', topicName: 'READ', items: 'topicName', newest: 9 },
  OffsetFetch: { groupId: 'DESCRIBE', topicName: 'DESCRIBE', lists: true, newest: 9 },
  FindCoordinator: { groupId: 'DESCRIBE', transactionalId: 'DESCRIBE' },
  JoinGroup: GROUP,
  Heartbeat: GROUP,
  LeaveGroup: GROUP,
  SyncGroup: GROUP,
  DescribeGroups: { groupId: 'DESCRIBE', items: 'groupId' },
  ListGroups: { lists: true },
  CreateTopics: { topicName: 'CREATE', items: 'topicName' },
  DeleteTopics: { topicName: 'DELETE', items: 'topicName', newest: 5 },
  DeleteRecords: { topicName: 'DELETE', items: 'topicName' },
  InitProducerId: TRANSACTION,
  OffsetForLeaderEpoch: { topicName: 'DESCRIBE', items: 'topicName' },
  AddPartitionsToTxn: { transactionalId: 'WRITE', topicName: 'WRITE', newest: 3 },
  AddOffsetsToTxn: { transactionalId: 'WRITE', groupId: 'READ' },
  EndTxn: TRANSACTION,
  TxnOffsetCommit: { transactionalId: 'WRITE', groupId: 'READ', topicName: 'READ', items: 'topicName' },
  DescribeConfigs: { topicName: 'DESCRIBE_CONFIGS', groupId: 'DESCRIBE_CONFIGS' },
  AlterConfigs: { topicName: 'ALTER_CONFIGS', groupId: 'ALTER_CONFIGS' },
  IncrementalAlterConfigs: { topicName: 'ALTER_CONFIGS', groupId: 'ALTER_CONFIGS' },
  CreatePartitions: { topicName: 'ALTER', items: 'topicName' },
  DeleteGroups: { groupId: 'DELETE', items: 'groupId' },
  OffsetDelete: { groupId: 'DELETE', topicName: 'READ' },
  DescribeProducers: { topicName: 'READ', items: 'topicName' },
  DescribeTransactions: { transactionalId: 'DESCRIBE', items: 'transactionalId', lists: true },
  ListTransactions: { lists: true },
  ConsumerGroupHeartbeat: { groupId: 'READ', topicName: 'DESCRIBE', newest: 0 }, // then comes a regular expression
  ConsumerGroupDescribe: { groupId: 'DESCRIBE', items: 'groupId', lists: true },
  ShareGroupHeartbeat: { groupId: 'READ', topicName: 'DESCRIBE' },
  ShareGroupDescribe: { groupId: 'DESCRIBE', items: 'groupId', lists: true },
  ShareFetch: { groupId: 'READ', topicName: 'READ' },
  ShareAcknowledge: { groupId: 'READ', topicName: 'READ' },
  DescribeShareGroupOffsets: { groupId: 'DESCRIBE', topicName: 'DESCRIBE', lists: true },
  AlterShareGroupOffsets: { groupId: 'READ', topicName: 'READ' },
  DeleteShareGroupOffsets: { groupId: 'DELETE', topicName: 'READ' },
};

/** APIs without anything that a right could be for. */
const FREE: ReadonlySet<ApiName> = new Set<ApiName>([
  'ApiVersions',
  'SaslHandshake',
  'SaslAuthenticate',
  'DescribeCluster',
  'GetTelemetrySubscriptions',
  'PushTelemetry',
]);

export const GUARDED = Object.keys(RIGHTS) as ApiName[];

/** For every API that there is; -1 for those that are refused. */
export const NEWEST_VERSIONS: { readonly [Name in ApiName]?: number } = Object.fromEntries(
  ALL_APIS.map(({ name, max }) => {
    const rights = RIGHTS[name];
    if (!rights) return [name, FREE.has(name) ? max : -1];
    return [name, Math.min(max, rights.newest ?? Infinity)];
  }),
);

export const RESOURCE_OF: Record<NameKind, ResourceType> = {
  topicName: 'TopicResource',
  groupId: 'GroupResource',
  transactionalId: 'TransactionalIdResource',
};
