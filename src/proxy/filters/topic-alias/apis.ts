import { ALL_APIS, apiOf } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';

/**
 * What clients may use. Everything that is not in these tables is refused, also what a later Kafka adds: a name in a field
 * that nobody here knows would be the broker's for the client, or the client's for the broker.
 */

/** What becomes of a request that has a name which clients cannot use. */
export type Unusable =
  /** The topic is answered with this error, and the rest goes on. */
  | { item: KafkaErrorName }
  /** The name is left out: it is one of a list of what is wanted, and as good as one that does not exist. */
  | 'drop'
  /** All of it is refused. */
  | 'refuse';

interface AliasApi {
  unusable: Unusable;
  /** The newest version that may be used, where later ones have ids of topics or regular expressions. */
  newest?: number;
}

const ITEM: AliasApi = { unusable: { item: 'UNKNOWN_TOPIC_OR_PARTITION' } };
const DROP: AliasApi = { unusable: 'drop' };
const WHOLE: AliasApi = { unusable: 'refuse' };

/** APIs that name topics, by their schemas or in fields of their own. */
const ALIAS_APIS: { readonly [Name in ApiName]?: AliasApi } = {
  Produce: { ...ITEM, newest: 12 },
  Fetch: { ...ITEM, newest: 12 },
  ListOffsets: ITEM,
  Metadata: ITEM,
  OffsetCommit: { ...ITEM, newest: 9 },
  OffsetFetch: { ...WHOLE, newest: 9 },
  JoinGroup: DROP,
  SyncGroup: DROP,
  DescribeGroups: DROP,
  CreateTopics: { unusable: { item: 'INVALID_TOPIC_EXCEPTION' } },
  DeleteTopics: { ...ITEM, newest: 5 },
  DeleteRecords: ITEM,
  OffsetForLeaderEpoch: ITEM,
  AddPartitionsToTxn: { ...WHOLE, newest: 3 }, // later ones are between brokers
  TxnOffsetCommit: ITEM,
  DescribeConfigs: WHOLE,
  AlterConfigs: WHOLE,
  IncrementalAlterConfigs: WHOLE,
  AlterReplicaLogDirs: WHOLE,
  DescribeLogDirs: DROP,
  CreatePartitions: ITEM,
  ElectLeaders: WHOLE,
  AlterPartitionReassignments: WHOLE,
  ListPartitionReassignments: DROP,
  OffsetDelete: WHOLE,
  DescribeProducers: ITEM,
  DescribeTransactions: DROP,
  ConsumerGroupHeartbeat: { ...DROP, newest: 0 },
  ConsumerGroupDescribe: DROP,
  ShareGroupHeartbeat: DROP,
  ShareGroupDescribe: DROP,
  ShareFetch: DROP,
  ShareAcknowledge: DROP,
  DescribeShareGroupOffsets: WHOLE,
  AlterShareGroupOffsets: WHOLE,
  DeleteShareGroupOffsets: WHOLE,
};

/** APIs without a topic in them. */
const NAMELESS_APIS: ReadonlySet<ApiName> = new Set<ApiName>([
  'ApiVersions',
  'SaslHandshake',
  'SaslAuthenticate',
  'FindCoordinator',
  'Heartbeat',
  'LeaveGroup',
  'ListGroups',
  'DeleteGroups',
  'InitProducerId',
  'AddOffsetsToTxn',
  'EndTxn',
  'ListTransactions',
  'DescribeCluster',
  'DescribeClientQuotas',
  'AlterClientQuotas',
  'DescribeUserScramCredentials',
  'AlterUserScramCredentials',
  'CreateDelegationToken',
  'RenewDelegationToken',
  'ExpireDelegationToken',
  'DescribeDelegationToken',
  'UpdateFeatures',
  'GetTelemetrySubscriptions',
  'PushTelemetry',
]);

export const ALIAS_API_NAMES = Object.keys(ALIAS_APIS) as ApiName[];

export const unusableIn = (api: ApiName): Unusable => ALIAS_APIS[api]!.unusable;

/** For every API that there is; -1 for those that are refused. */
export const NEWEST_VERSIONS: { readonly [Name in ApiName]?: number } = Object.fromEntries(
  ALL_APIS.map(({ name }) => {
    const known = ALIAS_APIS[name];
    const most = known ? (known.newest ?? Infinity) : NAMELESS_APIS.has(name) ? Infinity : -1;
    return [name, Math.min(most, apiOf(name).max)];
  }),
);
