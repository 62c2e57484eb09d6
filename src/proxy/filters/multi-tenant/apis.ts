import { ALL_APIS, apiOf } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';

/**
 * What tenants may use. Everything that is not in this table is refused, also what a later Kafka adds: a name in a
 * field that nobody here knows would be one of all tenants.
 */

/** APIs whose names are found by their schemas, with the newest version that may be used where that is not the last. */
const TENANT_APIS: { [Name in ApiName]?: number } = {
  Produce: 12, // later versions have ids of topics, as have those below with a limit
  Fetch: 12,
  ListOffsets: Infinity,
  Metadata: Infinity,
  OffsetCommit: 9,
  OffsetFetch: 9,
  FindCoordinator: Infinity,
  JoinGroup: Infinity,
  Heartbeat: Infinity,
  LeaveGroup: Infinity,
  SyncGroup: Infinity,
  DescribeGroups: Infinity,
  ListGroups: Infinity,
  CreateTopics: Infinity,
  DeleteTopics: 5,
  DeleteRecords: Infinity,
  InitProducerId: Infinity,
  OffsetForLeaderEpoch: Infinity,
  AddPartitionsToTxn: 3, // later ones are between brokers
  AddOffsetsToTxn: Infinity,
  EndTxn: Infinity,
  TxnOffsetCommit: Infinity,
  DescribeConfigs: Infinity,
  AlterConfigs: Infinity,
  IncrementalAlterConfigs: Infinity,
  CreatePartitions: Infinity,
  DeleteGroups: Infinity,
  OffsetDelete: Infinity,
  DescribeProducers: Infinity,
  DescribeTransactions: Infinity,
  ListTransactions: 1, // then comes a regular expression
  ConsumerGroupHeartbeat: 0, // the same
  ConsumerGroupDescribe: Infinity,
  ShareGroupHeartbeat: Infinity,
  ShareGroupDescribe: Infinity,
  ShareFetch: Infinity,
  ShareAcknowledge: Infinity,
  DescribeShareGroupOffsets: Infinity,
  AlterShareGroupOffsets: Infinity,
  DeleteShareGroupOffsets: Infinity,
};

/** APIs without a name of anything that tenants have. */
const NAMELESS_APIS: ReadonlySet<ApiName> = new Set<ApiName>([
  'ApiVersions',
  'SaslHandshake',
  'SaslAuthenticate',
  'DescribeCluster',
  'GetTelemetrySubscriptions',
  'PushTelemetry',
]);

export const TENANT_API_NAMES = Object.keys(TENANT_APIS) as ApiName[];

/** For every API that there is; -1 for those that are refused. */
export const NEWEST_VERSIONS: { readonly [Name in ApiName]?: number } = Object.fromEntries(
  ALL_APIS.map(({ name }) => {
    const most = NAMELESS_APIS.has(name) ? Infinity : (TENANT_APIS[name] ?? -1);
    return [name, Math.min(most, apiOf(name).max)];
  }),
);
