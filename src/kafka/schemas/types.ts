// Written by tools/kafka-schemas.ts from the message definitions of Apache Kafka 4.3.1; do not edit.

/** A tagged field that this version of the schemas does not know, kept as it came. */
export interface UnknownTag {
  tag: number;
  data: Buffer;
}

/** The request of every API, by the API's name. */
export interface Requests {
  AddOffsetsToTxn: AddOffsetsToTxnRequest;
  AddPartitionsToTxn: AddPartitionsToTxnRequest;
  AddRaftVoter: AddRaftVoterRequest;
  AllocateProducerIds: AllocateProducerIdsRequest;
  AlterClientQuotas: AlterClientQuotasRequest;
  AlterConfigs: AlterConfigsRequest;
  AlterPartitionReassignments: AlterPartitionReassignmentsRequest;
  AlterPartition: AlterPartitionRequest;
  AlterReplicaLogDirs: AlterReplicaLogDirsRequest;
  AlterShareGroupOffsets: AlterShareGroupOffsetsRequest;
  AlterUserScramCredentials: AlterUserScramCredentialsRequest;
  ApiVersions: ApiVersionsRequest;
  AssignReplicasToDirs: AssignReplicasToDirsRequest;
  BeginQuorumEpoch: BeginQuorumEpochRequest;
  BrokerHeartbeat: BrokerHeartbeatRequest;
  BrokerRegistration: BrokerRegistrationRequest;
  ConsumerGroupDescribe: ConsumerGroupDescribeRequest;
  ConsumerGroupHeartbeat: ConsumerGroupHeartbeatRequest;
  ControlledShutdown: ControlledShutdownRequest;
  ControllerRegistration: ControllerRegistrationRequest;
  CreateAcls: CreateAclsRequest;
  CreateDelegationToken: CreateDelegationTokenRequest;
  CreatePartitions: CreatePartitionsRequest;
  CreateTopics: CreateTopicsRequest;
  DeleteAcls: DeleteAclsRequest;
  DeleteGroups: DeleteGroupsRequest;
  DeleteRecords: DeleteRecordsRequest;
  DeleteShareGroupOffsets: DeleteShareGroupOffsetsRequest;
  DeleteShareGroupState: DeleteShareGroupStateRequest;
  DeleteTopics: DeleteTopicsRequest;
  DescribeAcls: DescribeAclsRequest;
  DescribeClientQuotas: DescribeClientQuotasRequest;
  DescribeCluster: DescribeClusterRequest;
  DescribeConfigs: DescribeConfigsRequest;
  DescribeDelegationToken: DescribeDelegationTokenRequest;
  DescribeGroups: DescribeGroupsRequest;
  DescribeLogDirs: DescribeLogDirsRequest;
  DescribeProducers: DescribeProducersRequest;
  DescribeQuorum: DescribeQuorumRequest;
  DescribeShareGroupOffsets: DescribeShareGroupOffsetsRequest;
  DescribeTopicPartitions: DescribeTopicPartitionsRequest;
  DescribeTransactions: DescribeTransactionsRequest;
  DescribeUserScramCredentials: DescribeUserScramCredentialsRequest;
  ElectLeaders: ElectLeadersRequest;
  EndQuorumEpoch: EndQuorumEpochRequest;
  EndTxn: EndTxnRequest;
  Envelope: EnvelopeRequest;
  ExpireDelegationToken: ExpireDelegationTokenRequest;
  Fetch: FetchRequest;
  FetchSnapshot: FetchSnapshotRequest;
  FindCoordinator: FindCoordinatorRequest;
  GetTelemetrySubscriptions: GetTelemetrySubscriptionsRequest;
  Heartbeat: HeartbeatRequest;
  IncrementalAlterConfigs: IncrementalAlterConfigsRequest;
  InitProducerId: InitProducerIdRequest;
  InitializeShareGroupState: InitializeShareGroupStateRequest;
  JoinGroup: JoinGroupRequest;
  LeaderAndIsr: LeaderAndIsrRequest;
  LeaveGroup: LeaveGroupRequest;
  ListConfigResources: ListConfigResourcesRequest;
  ListGroups: ListGroupsRequest;
  ListOffsets: ListOffsetsRequest;
  ListPartitionReassignments: ListPartitionReassignmentsRequest;
  ListTransactions: ListTransactionsRequest;
  Metadata: MetadataRequest;
  OffsetCommit: OffsetCommitRequest;
  OffsetDelete: OffsetDeleteRequest;
  OffsetFetch: OffsetFetchRequest;
  OffsetForLeaderEpoch: OffsetForLeaderEpochRequest;
  Produce: ProduceRequest;
  PushTelemetry: PushTelemetryRequest;
  ReadShareGroupState: ReadShareGroupStateRequest;
  ReadShareGroupStateSummary: ReadShareGroupStateSummaryRequest;
  RemoveRaftVoter: RemoveRaftVoterRequest;
  RenewDelegationToken: RenewDelegationTokenRequest;
  SaslAuthenticate: SaslAuthenticateRequest;
  SaslHandshake: SaslHandshakeRequest;
  ShareAcknowledge: ShareAcknowledgeRequest;
  ShareFetch: ShareFetchRequest;
  ShareGroupDescribe: ShareGroupDescribeRequest;
  ShareGroupHeartbeat: ShareGroupHeartbeatRequest;
  StopReplica: StopReplicaRequest;
  StreamsGroupDescribe: StreamsGroupDescribeRequest;
  StreamsGroupHeartbeat: StreamsGroupHeartbeatRequest;
  SyncGroup: SyncGroupRequest;
  TxnOffsetCommit: TxnOffsetCommitRequest;
  UnregisterBroker: UnregisterBrokerRequest;
  UpdateFeatures: UpdateFeaturesRequest;
  UpdateMetadata: UpdateMetadataRequest;
  UpdateRaftVoter: UpdateRaftVoterRequest;
  Vote: VoteRequest;
  WriteShareGroupState: WriteShareGroupStateRequest;
  WriteTxnMarkers: WriteTxnMarkersRequest;
}

/** The response of every API, by the API's name. */
export interface Responses {
  AddOffsetsToTxn: AddOffsetsToTxnResponse;
  AddPartitionsToTxn: AddPartitionsToTxnResponse;
  AddRaftVoter: AddRaftVoterResponse;
  AllocateProducerIds: AllocateProducerIdsResponse;
  AlterClientQuotas: AlterClientQuotasResponse;
  AlterConfigs: AlterConfigsResponse;
  AlterPartitionReassignments: AlterPartitionReassignmentsResponse;
  AlterPartition: AlterPartitionResponse;
  AlterReplicaLogDirs: AlterReplicaLogDirsResponse;
  AlterShareGroupOffsets: AlterShareGroupOffsetsResponse;
  AlterUserScramCredentials: AlterUserScramCredentialsResponse;
  ApiVersions: ApiVersionsResponse;
  AssignReplicasToDirs: AssignReplicasToDirsResponse;
  BeginQuorumEpoch: BeginQuorumEpochResponse;
  BrokerHeartbeat: BrokerHeartbeatResponse;
  BrokerRegistration: BrokerRegistrationResponse;
  ConsumerGroupDescribe: ConsumerGroupDescribeResponse;
  ConsumerGroupHeartbeat: ConsumerGroupHeartbeatResponse;
  ControlledShutdown: ControlledShutdownResponse;
  ControllerRegistration: ControllerRegistrationResponse;
  CreateAcls: CreateAclsResponse;
  CreateDelegationToken: CreateDelegationTokenResponse;
  CreatePartitions: CreatePartitionsResponse;
  CreateTopics: CreateTopicsResponse;
  DeleteAcls: DeleteAclsResponse;
  DeleteGroups: DeleteGroupsResponse;
  DeleteRecords: DeleteRecordsResponse;
  DeleteShareGroupOffsets: DeleteShareGroupOffsetsResponse;
  DeleteShareGroupState: DeleteShareGroupStateResponse;
  DeleteTopics: DeleteTopicsResponse;
  DescribeAcls: DescribeAclsResponse;
  DescribeClientQuotas: DescribeClientQuotasResponse;
  DescribeCluster: DescribeClusterResponse;
  DescribeConfigs: DescribeConfigsResponse;
  DescribeDelegationToken: DescribeDelegationTokenResponse;
  DescribeGroups: DescribeGroupsResponse;
  DescribeLogDirs: DescribeLogDirsResponse;
  DescribeProducers: DescribeProducersResponse;
  DescribeQuorum: DescribeQuorumResponse;
  DescribeShareGroupOffsets: DescribeShareGroupOffsetsResponse;
  DescribeTopicPartitions: DescribeTopicPartitionsResponse;
  DescribeTransactions: DescribeTransactionsResponse;
  DescribeUserScramCredentials: DescribeUserScramCredentialsResponse;
  ElectLeaders: ElectLeadersResponse;
  EndQuorumEpoch: EndQuorumEpochResponse;
  EndTxn: EndTxnResponse;
  Envelope: EnvelopeResponse;
  ExpireDelegationToken: ExpireDelegationTokenResponse;
  Fetch: FetchResponse;
  FetchSnapshot: FetchSnapshotResponse;
  FindCoordinator: FindCoordinatorResponse;
  GetTelemetrySubscriptions: GetTelemetrySubscriptionsResponse;
  Heartbeat: HeartbeatResponse;
  IncrementalAlterConfigs: IncrementalAlterConfigsResponse;
  InitProducerId: InitProducerIdResponse;
  InitializeShareGroupState: InitializeShareGroupStateResponse;
  JoinGroup: JoinGroupResponse;
  LeaderAndIsr: LeaderAndIsrResponse;
  LeaveGroup: LeaveGroupResponse;
  ListConfigResources: ListConfigResourcesResponse;
  ListGroups: ListGroupsResponse;
  ListOffsets: ListOffsetsResponse;
  ListPartitionReassignments: ListPartitionReassignmentsResponse;
  ListTransactions: ListTransactionsResponse;
  Metadata: MetadataResponse;
  OffsetCommit: OffsetCommitResponse;
  OffsetDelete: OffsetDeleteResponse;
  OffsetFetch: OffsetFetchResponse;
  OffsetForLeaderEpoch: OffsetForLeaderEpochResponse;
  Produce: ProduceResponse;
  PushTelemetry: PushTelemetryResponse;
  ReadShareGroupState: ReadShareGroupStateResponse;
  ReadShareGroupStateSummary: ReadShareGroupStateSummaryResponse;
  RemoveRaftVoter: RemoveRaftVoterResponse;
  RenewDelegationToken: RenewDelegationTokenResponse;
  SaslAuthenticate: SaslAuthenticateResponse;
  SaslHandshake: SaslHandshakeResponse;
  ShareAcknowledge: ShareAcknowledgeResponse;
  ShareFetch: ShareFetchResponse;
  ShareGroupDescribe: ShareGroupDescribeResponse;
  ShareGroupHeartbeat: ShareGroupHeartbeatResponse;
  StopReplica: StopReplicaResponse;
  StreamsGroupDescribe: StreamsGroupDescribeResponse;
  StreamsGroupHeartbeat: StreamsGroupHeartbeatResponse;
  SyncGroup: SyncGroupResponse;
  TxnOffsetCommit: TxnOffsetCommitResponse;
  UnregisterBroker: UnregisterBrokerResponse;
  UpdateFeatures: UpdateFeaturesResponse;
  UpdateMetadata: UpdateMetadataResponse;
  UpdateRaftVoter: UpdateRaftVoterResponse;
  Vote: VoteResponse;
  WriteShareGroupState: WriteShareGroupStateResponse;
  WriteTxnMarkers: WriteTxnMarkersResponse;
}

/** Messages that travel inside others: consumer protocol, control records, KRaft records. */
export interface Embedded {
  ConsumerProtocolAssignment: ConsumerProtocolAssignment;
  ConsumerProtocolSubscription: ConsumerProtocolSubscription;
  ControlRecordTypeSchema: ControlRecordTypeSchema;
  DefaultPrincipalData: DefaultPrincipalData;
  EndTxnMarker: EndTxnMarker;
  KRaftVersionRecord: KRaftVersionRecord;
  LeaderChangeMessage: LeaderChangeMessage;
  SnapshotFooterRecord: SnapshotFooterRecord;
  SnapshotHeaderRecord: SnapshotHeaderRecord;
  VotersRecord: VotersRecord;
}

export interface AddOffsetsToTxnRequest {
  transactionalId: string;
  producerId: bigint;
  producerEpoch: number;
  groupId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddOffsetsToTxnResponse {
  throttleTimeMs: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnRequest {
  transactions: AddPartitionsToTxnRequestAddPartitionsToTxnTransaction[];
  v3AndBelowTransactionalId: string;
  v3AndBelowProducerId: bigint;
  v3AndBelowProducerEpoch: number;
  v3AndBelowTopics: AddPartitionsToTxnRequestAddPartitionsToTxnTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnRequestAddPartitionsToTxnTransaction {
  transactionalId: string;
  producerId: bigint;
  producerEpoch: number;
  verifyOnly: boolean;
  topics: AddPartitionsToTxnRequestAddPartitionsToTxnTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnRequestAddPartitionsToTxnTopic {
  name: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnResponse {
  throttleTimeMs: number;
  errorCode: number;
  resultsByTransaction: AddPartitionsToTxnResponseAddPartitionsToTxnResult[];
  resultsByTopicV3AndBelow: AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnResponseAddPartitionsToTxnResult {
  transactionalId: string;
  topicResults: AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult {
  name: string;
  resultsByPartition: AddPartitionsToTxnResponseAddPartitionsToTxnPartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddPartitionsToTxnResponseAddPartitionsToTxnPartitionResult {
  partitionIndex: number;
  partitionErrorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddRaftVoterRequest {
  clusterId: string | null;
  timeoutMs: number;
  voterId: number;
  voterDirectoryId: string;
  listeners: AddRaftVoterRequestListener[];
  ackWhenCommitted: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddRaftVoterRequestListener {
  name: string;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AddRaftVoterResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AllocateProducerIdsRequest {
  brokerId: number;
  brokerEpoch: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AllocateProducerIdsResponse {
  throttleTimeMs: number;
  errorCode: number;
  producerIdStart: bigint;
  producerIdLen: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasRequest {
  entries: AlterClientQuotasRequestEntryData[];
  validateOnly: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasRequestEntryData {
  entity: AlterClientQuotasRequestEntityData[];
  ops: AlterClientQuotasRequestOpData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasRequestEntityData {
  entityType: string;
  entityName: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasRequestOpData {
  key: string;
  value: number;
  remove: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasResponse {
  throttleTimeMs: number;
  entries: AlterClientQuotasResponseEntryData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasResponseEntryData {
  errorCode: number;
  errorMessage: string | null;
  entity: AlterClientQuotasResponseEntityData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterClientQuotasResponseEntityData {
  entityType: string;
  entityName: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterConfigsRequest {
  resources: AlterConfigsRequestAlterConfigsResource[];
  validateOnly: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterConfigsRequestAlterConfigsResource {
  resourceType: number;
  resourceName: string;
  configs: AlterConfigsRequestAlterableConfig[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterConfigsRequestAlterableConfig {
  name: string;
  value: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterConfigsResponse {
  throttleTimeMs: number;
  responses: AlterConfigsResponseAlterConfigsResourceResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterConfigsResponseAlterConfigsResourceResponse {
  errorCode: number;
  errorMessage: string | null;
  resourceType: number;
  resourceName: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionReassignmentsRequest {
  timeoutMs: number;
  allowReplicationFactorChange: boolean;
  topics: AlterPartitionReassignmentsRequestReassignableTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionReassignmentsRequestReassignableTopic {
  name: string;
  partitions: AlterPartitionReassignmentsRequestReassignablePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionReassignmentsRequestReassignablePartition {
  partitionIndex: number;
  replicas: number[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionReassignmentsResponse {
  throttleTimeMs: number;
  allowReplicationFactorChange: boolean;
  errorCode: number;
  errorMessage: string | null;
  responses: AlterPartitionReassignmentsResponseReassignableTopicResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionReassignmentsResponseReassignableTopicResponse {
  name: string;
  partitions: AlterPartitionReassignmentsResponseReassignablePartitionResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionReassignmentsResponseReassignablePartitionResponse {
  partitionIndex: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionRequest {
  brokerId: number;
  brokerEpoch: bigint;
  topics: AlterPartitionRequestTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionRequestTopicData {
  topicId: string;
  partitions: AlterPartitionRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionRequestPartitionData {
  partitionIndex: number;
  leaderEpoch: number;
  newIsr: number[];
  newIsrWithEpochs: AlterPartitionRequestBrokerState[];
  leaderRecoveryState: number;
  partitionEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionRequestBrokerState {
  brokerId: number;
  brokerEpoch: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionResponse {
  throttleTimeMs: number;
  errorCode: number;
  topics: AlterPartitionResponseTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionResponseTopicData {
  topicId: string;
  partitions: AlterPartitionResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterPartitionResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  leaderId: number;
  leaderEpoch: number;
  isr: number[];
  leaderRecoveryState: number;
  partitionEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterReplicaLogDirsRequest {
  dirs: AlterReplicaLogDirsRequestAlterReplicaLogDir[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterReplicaLogDirsRequestAlterReplicaLogDir {
  path: string;
  topics: AlterReplicaLogDirsRequestAlterReplicaLogDirTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterReplicaLogDirsRequestAlterReplicaLogDirTopic {
  name: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterReplicaLogDirsResponse {
  throttleTimeMs: number;
  results: AlterReplicaLogDirsResponseAlterReplicaLogDirTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterReplicaLogDirsResponseAlterReplicaLogDirTopicResult {
  topicName: string;
  partitions: AlterReplicaLogDirsResponseAlterReplicaLogDirPartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterReplicaLogDirsResponseAlterReplicaLogDirPartitionResult {
  partitionIndex: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterShareGroupOffsetsRequest {
  groupId: string;
  topics: AlterShareGroupOffsetsRequestTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterShareGroupOffsetsRequestTopic {
  topicName: string;
  partitions: AlterShareGroupOffsetsRequestPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterShareGroupOffsetsRequestPartition {
  partitionIndex: number;
  startOffset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterShareGroupOffsetsResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  responses: AlterShareGroupOffsetsResponseTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterShareGroupOffsetsResponseTopic {
  topicName: string;
  topicId: string;
  partitions: AlterShareGroupOffsetsResponsePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterShareGroupOffsetsResponsePartition {
  partitionIndex: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterUserScramCredentialsRequest {
  deletions: AlterUserScramCredentialsRequestScramCredentialDeletion[];
  upsertions: AlterUserScramCredentialsRequestScramCredentialUpsertion[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterUserScramCredentialsRequestScramCredentialDeletion {
  name: string;
  mechanism: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterUserScramCredentialsRequestScramCredentialUpsertion {
  name: string;
  mechanism: number;
  iterations: number;
  salt: Buffer;
  saltedPassword: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterUserScramCredentialsResponse {
  throttleTimeMs: number;
  results: AlterUserScramCredentialsResponseAlterUserScramCredentialsResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AlterUserScramCredentialsResponseAlterUserScramCredentialsResult {
  user: string;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ApiVersionsRequest {
  clientSoftwareName: string;
  clientSoftwareVersion: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ApiVersionsResponse {
  errorCode: number;
  apiKeys: ApiVersionsResponseApiVersion[];
  throttleTimeMs: number;
  supportedFeatures?: ApiVersionsResponseSupportedFeatureKey[] | undefined;
  finalizedFeaturesEpoch?: bigint | undefined;
  finalizedFeatures?: ApiVersionsResponseFinalizedFeatureKey[] | undefined;
  zkMigrationReady?: boolean | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ApiVersionsResponseApiVersion {
  apiKey: number;
  minVersion: number;
  maxVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ApiVersionsResponseSupportedFeatureKey {
  name: string;
  minVersion: number;
  maxVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ApiVersionsResponseFinalizedFeatureKey {
  name: string;
  maxVersionLevel: number;
  minVersionLevel: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsRequest {
  brokerId: number;
  brokerEpoch: bigint;
  directories: AssignReplicasToDirsRequestDirectoryData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsRequestDirectoryData {
  id: string;
  topics: AssignReplicasToDirsRequestTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsRequestTopicData {
  topicId: string;
  partitions: AssignReplicasToDirsRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsRequestPartitionData {
  partitionIndex: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsResponse {
  throttleTimeMs: number;
  errorCode: number;
  directories: AssignReplicasToDirsResponseDirectoryData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsResponseDirectoryData {
  id: string;
  topics: AssignReplicasToDirsResponseTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsResponseTopicData {
  topicId: string;
  partitions: AssignReplicasToDirsResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface AssignReplicasToDirsResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochRequest {
  clusterId: string | null;
  voterId: number;
  topics: BeginQuorumEpochRequestTopicData[];
  leaderEndpoints: BeginQuorumEpochRequestLeaderEndpoint[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochRequestTopicData {
  topicName: string;
  partitions: BeginQuorumEpochRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochRequestPartitionData {
  partitionIndex: number;
  voterDirectoryId: string;
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochRequestLeaderEndpoint {
  name: string;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochResponse {
  errorCode: number;
  topics: BeginQuorumEpochResponseTopicData[];
  nodeEndpoints?: BeginQuorumEpochResponseNodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochResponseTopicData {
  topicName: string;
  partitions: BeginQuorumEpochResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BeginQuorumEpochResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BrokerHeartbeatRequest {
  brokerId: number;
  brokerEpoch: bigint;
  currentMetadataOffset: bigint;
  wantFence: boolean;
  wantShutDown: boolean;
  offlineLogDirs?: string[] | undefined;
  cordonedLogDirs?: string[] | null | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BrokerHeartbeatResponse {
  throttleTimeMs: number;
  errorCode: number;
  isCaughtUp: boolean;
  isFenced: boolean;
  shouldShutDown: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BrokerRegistrationRequest {
  brokerId: number;
  clusterId: string;
  incarnationId: string;
  listeners: BrokerRegistrationRequestListener[];
  features: BrokerRegistrationRequestFeature[];
  rack: string | null;
  isMigratingZkBroker: boolean;
  logDirs: string[];
  previousBrokerEpoch: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BrokerRegistrationRequestListener {
  name: string;
  host: string;
  port: number;
  securityProtocol: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BrokerRegistrationRequestFeature {
  name: string;
  minSupportedVersion: number;
  maxSupportedVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface BrokerRegistrationResponse {
  throttleTimeMs: number;
  errorCode: number;
  brokerEpoch: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupDescribeRequest {
  groupIds: string[];
  includeAuthorizedOperations: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupDescribeResponse {
  throttleTimeMs: number;
  groups: ConsumerGroupDescribeResponseDescribedGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupDescribeResponseDescribedGroup {
  errorCode: number;
  errorMessage: string | null;
  groupId: string;
  groupState: string;
  groupEpoch: number;
  assignmentEpoch: number;
  assignorName: string;
  members: ConsumerGroupDescribeResponseMember[];
  authorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupDescribeResponseMember {
  memberId: string;
  instanceId: string | null;
  rackId: string | null;
  memberEpoch: number;
  clientId: string;
  clientHost: string;
  subscribedTopicNames: string[];
  subscribedTopicRegex: string | null;
  assignment: ConsumerGroupDescribeResponseAssignment;
  targetAssignment: ConsumerGroupDescribeResponseAssignment;
  memberType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupDescribeResponseTopicPartitions {
  topicId: string;
  topicName: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupDescribeResponseAssignment {
  topicPartitions: ConsumerGroupDescribeResponseTopicPartitions[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupHeartbeatRequest {
  groupId: string;
  memberId: string;
  memberEpoch: number;
  instanceId: string | null;
  rackId: string | null;
  rebalanceTimeoutMs: number;
  subscribedTopicNames: string[] | null;
  subscribedTopicRegex: string | null;
  serverAssignor: string | null;
  topicPartitions: ConsumerGroupHeartbeatRequestTopicPartitions[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupHeartbeatRequestTopicPartitions {
  topicId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupHeartbeatResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  memberId: string | null;
  memberEpoch: number;
  heartbeatIntervalMs: number;
  assignment: ConsumerGroupHeartbeatResponseAssignment | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupHeartbeatResponseAssignment {
  topicPartitions: ConsumerGroupHeartbeatResponseTopicPartitions[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerGroupHeartbeatResponseTopicPartitions {
  topicId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerProtocolAssignment {
  assignedPartitions: ConsumerProtocolAssignmentTopicPartition[];
  userData: Buffer | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerProtocolAssignmentTopicPartition {
  topic: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerProtocolSubscription {
  topics: string[];
  userData: Buffer | null;
  ownedPartitions: ConsumerProtocolSubscriptionTopicPartition[];
  generationId: number;
  rackId: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ConsumerProtocolSubscriptionTopicPartition {
  topic: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControlRecordTypeSchema {
  type: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControlledShutdownRequest {
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControlledShutdownResponse {
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControllerRegistrationRequest {
  controllerId: number;
  incarnationId: string;
  zkMigrationReady: boolean;
  listeners: ControllerRegistrationRequestListener[];
  features: ControllerRegistrationRequestFeature[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControllerRegistrationRequestListener {
  name: string;
  host: string;
  port: number;
  securityProtocol: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControllerRegistrationRequestFeature {
  name: string;
  minSupportedVersion: number;
  maxSupportedVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ControllerRegistrationResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateAclsRequest {
  creations: CreateAclsRequestAclCreation[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateAclsRequestAclCreation {
  resourceType: number;
  resourceName: string;
  resourcePatternType: number;
  principal: string;
  host: string;
  operation: number;
  permissionType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateAclsResponse {
  throttleTimeMs: number;
  results: CreateAclsResponseAclCreationResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateAclsResponseAclCreationResult {
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateDelegationTokenRequest {
  ownerPrincipalType: string | null;
  ownerPrincipalName: string | null;
  renewers: CreateDelegationTokenRequestCreatableRenewers[];
  maxLifetimeMs: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateDelegationTokenRequestCreatableRenewers {
  principalType: string;
  principalName: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateDelegationTokenResponse {
  errorCode: number;
  principalType: string;
  principalName: string;
  tokenRequesterPrincipalType: string;
  tokenRequesterPrincipalName: string;
  issueTimestampMs: bigint;
  expiryTimestampMs: bigint;
  maxTimestampMs: bigint;
  tokenId: string;
  hmac: Buffer;
  throttleTimeMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreatePartitionsRequest {
  topics: CreatePartitionsRequestCreatePartitionsTopic[];
  timeoutMs: number;
  validateOnly: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreatePartitionsRequestCreatePartitionsTopic {
  name: string;
  count: number;
  assignments: CreatePartitionsRequestCreatePartitionsAssignment[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreatePartitionsRequestCreatePartitionsAssignment {
  brokerIds: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreatePartitionsResponse {
  throttleTimeMs: number;
  results: CreatePartitionsResponseCreatePartitionsTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreatePartitionsResponseCreatePartitionsTopicResult {
  name: string;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsRequest {
  topics: CreateTopicsRequestCreatableTopic[];
  timeoutMs: number;
  validateOnly: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsRequestCreatableTopic {
  name: string;
  numPartitions: number;
  replicationFactor: number;
  assignments: CreateTopicsRequestCreatableReplicaAssignment[];
  configs: CreateTopicsRequestCreatableTopicConfig[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsRequestCreatableReplicaAssignment {
  partitionIndex: number;
  brokerIds: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsRequestCreatableTopicConfig {
  name: string;
  value: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsResponse {
  throttleTimeMs: number;
  topics: CreateTopicsResponseCreatableTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsResponseCreatableTopicResult {
  name: string;
  topicId: string;
  errorCode: number;
  errorMessage: string | null;
  topicConfigErrorCode?: number | undefined;
  numPartitions: number;
  replicationFactor: number;
  configs: CreateTopicsResponseCreatableTopicConfigs[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface CreateTopicsResponseCreatableTopicConfigs {
  name: string;
  value: string | null;
  readOnly: boolean;
  configSource: number;
  isSensitive: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DefaultPrincipalData {
  type: string;
  name: string;
  tokenAuthenticated: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteAclsRequest {
  filters: DeleteAclsRequestDeleteAclsFilter[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteAclsRequestDeleteAclsFilter {
  resourceTypeFilter: number;
  resourceNameFilter: string | null;
  patternTypeFilter: number;
  principalFilter: string | null;
  hostFilter: string | null;
  operation: number;
  permissionType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteAclsResponse {
  throttleTimeMs: number;
  filterResults: DeleteAclsResponseDeleteAclsFilterResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteAclsResponseDeleteAclsFilterResult {
  errorCode: number;
  errorMessage: string | null;
  matchingAcls: DeleteAclsResponseDeleteAclsMatchingAcl[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteAclsResponseDeleteAclsMatchingAcl {
  errorCode: number;
  errorMessage: string | null;
  resourceType: number;
  resourceName: string;
  patternType: number;
  principal: string;
  host: string;
  operation: number;
  permissionType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteGroupsRequest {
  groupsNames: string[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteGroupsResponse {
  throttleTimeMs: number;
  results: DeleteGroupsResponseDeletableGroupResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteGroupsResponseDeletableGroupResult {
  groupId: string;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteRecordsRequest {
  topics: DeleteRecordsRequestDeleteRecordsTopic[];
  timeoutMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteRecordsRequestDeleteRecordsTopic {
  name: string;
  partitions: DeleteRecordsRequestDeleteRecordsPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteRecordsRequestDeleteRecordsPartition {
  partitionIndex: number;
  offset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteRecordsResponse {
  throttleTimeMs: number;
  topics: DeleteRecordsResponseDeleteRecordsTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteRecordsResponseDeleteRecordsTopicResult {
  name: string;
  partitions: DeleteRecordsResponseDeleteRecordsPartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteRecordsResponseDeleteRecordsPartitionResult {
  partitionIndex: number;
  lowWatermark: bigint;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupOffsetsRequest {
  groupId: string;
  topics: DeleteShareGroupOffsetsRequestTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupOffsetsRequestTopic {
  topicName: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupOffsetsResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  responses: DeleteShareGroupOffsetsResponseTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupOffsetsResponseTopic {
  topicName: string;
  topicId: string;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupStateRequest {
  groupId: string;
  topics: DeleteShareGroupStateRequestDeleteStateData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupStateRequestDeleteStateData {
  topicId: string;
  partitions: DeleteShareGroupStateRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupStateRequestPartitionData {
  partition: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupStateResponse {
  results: DeleteShareGroupStateResponseDeleteStateResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupStateResponseDeleteStateResult {
  topicId: string;
  partitions: DeleteShareGroupStateResponsePartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteShareGroupStateResponsePartitionResult {
  partition: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteTopicsRequest {
  topics: DeleteTopicsRequestDeleteTopicState[];
  topicNames: string[];
  timeoutMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteTopicsRequestDeleteTopicState {
  name: string | null;
  topicId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteTopicsResponse {
  throttleTimeMs: number;
  responses: DeleteTopicsResponseDeletableTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DeleteTopicsResponseDeletableTopicResult {
  name: string | null;
  topicId: string;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeAclsRequest {
  resourceTypeFilter: number;
  resourceNameFilter: string | null;
  patternTypeFilter: number;
  principalFilter: string | null;
  hostFilter: string | null;
  operation: number;
  permissionType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeAclsResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  resources: DescribeAclsResponseDescribeAclsResource[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeAclsResponseDescribeAclsResource {
  resourceType: number;
  resourceName: string;
  patternType: number;
  acls: DescribeAclsResponseAclDescription[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeAclsResponseAclDescription {
  principal: string;
  host: string;
  operation: number;
  permissionType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClientQuotasRequest {
  components: DescribeClientQuotasRequestComponentData[];
  strict: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClientQuotasRequestComponentData {
  entityType: string;
  matchType: number;
  match: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClientQuotasResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  entries: DescribeClientQuotasResponseEntryData[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClientQuotasResponseEntryData {
  entity: DescribeClientQuotasResponseEntityData[];
  values: DescribeClientQuotasResponseValueData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClientQuotasResponseEntityData {
  entityType: string;
  entityName: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClientQuotasResponseValueData {
  key: string;
  value: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClusterRequest {
  includeClusterAuthorizedOperations: boolean;
  endpointType: number;
  includeFencedBrokers: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClusterResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  endpointType: number;
  clusterId: string;
  controllerId: number;
  brokers: DescribeClusterResponseDescribeClusterBroker[];
  clusterAuthorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeClusterResponseDescribeClusterBroker {
  brokerId: number;
  host: string;
  port: number;
  rack: string | null;
  isFenced: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeConfigsRequest {
  resources: DescribeConfigsRequestDescribeConfigsResource[];
  includeSynonyms: boolean;
  includeDocumentation: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeConfigsRequestDescribeConfigsResource {
  resourceType: number;
  resourceName: string;
  configurationKeys: string[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeConfigsResponse {
  throttleTimeMs: number;
  results: DescribeConfigsResponseDescribeConfigsResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeConfigsResponseDescribeConfigsResult {
  errorCode: number;
  errorMessage: string | null;
  resourceType: number;
  resourceName: string;
  configs: DescribeConfigsResponseDescribeConfigsResourceResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeConfigsResponseDescribeConfigsResourceResult {
  name: string;
  value: string | null;
  readOnly: boolean;
  configSource: number;
  isSensitive: boolean;
  synonyms: DescribeConfigsResponseDescribeConfigsSynonym[];
  configType: number;
  documentation: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeConfigsResponseDescribeConfigsSynonym {
  name: string;
  value: string | null;
  source: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeDelegationTokenRequest {
  owners: DescribeDelegationTokenRequestDescribeDelegationTokenOwner[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeDelegationTokenRequestDescribeDelegationTokenOwner {
  principalType: string;
  principalName: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeDelegationTokenResponse {
  errorCode: number;
  tokens: DescribeDelegationTokenResponseDescribedDelegationToken[];
  throttleTimeMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeDelegationTokenResponseDescribedDelegationToken {
  principalType: string;
  principalName: string;
  tokenRequesterPrincipalType: string;
  tokenRequesterPrincipalName: string;
  issueTimestamp: bigint;
  expiryTimestamp: bigint;
  maxTimestamp: bigint;
  tokenId: string;
  hmac: Buffer;
  renewers: DescribeDelegationTokenResponseDescribedDelegationTokenRenewer[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeDelegationTokenResponseDescribedDelegationTokenRenewer {
  principalType: string;
  principalName: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeGroupsRequest {
  groups: string[];
  includeAuthorizedOperations: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeGroupsResponse {
  throttleTimeMs: number;
  groups: DescribeGroupsResponseDescribedGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeGroupsResponseDescribedGroup {
  errorCode: number;
  errorMessage: string | null;
  groupId: string;
  groupState: string;
  protocolType: string;
  protocolData: string;
  members: DescribeGroupsResponseDescribedGroupMember[];
  authorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeGroupsResponseDescribedGroupMember {
  memberId: string;
  groupInstanceId: string | null;
  clientId: string;
  clientHost: string;
  memberMetadata: Buffer;
  memberAssignment: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeLogDirsRequest {
  topics: DescribeLogDirsRequestDescribableLogDirTopic[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeLogDirsRequestDescribableLogDirTopic {
  topic: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeLogDirsResponse {
  throttleTimeMs: number;
  errorCode: number;
  results: DescribeLogDirsResponseDescribeLogDirsResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeLogDirsResponseDescribeLogDirsResult {
  errorCode: number;
  logDir: string;
  topics: DescribeLogDirsResponseDescribeLogDirsTopic[];
  totalBytes: bigint;
  usableBytes: bigint;
  isCordoned: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeLogDirsResponseDescribeLogDirsTopic {
  name: string;
  partitions: DescribeLogDirsResponseDescribeLogDirsPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeLogDirsResponseDescribeLogDirsPartition {
  partitionIndex: number;
  partitionSize: bigint;
  offsetLag: bigint;
  isFutureKey: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeProducersRequest {
  topics: DescribeProducersRequestTopicRequest[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeProducersRequestTopicRequest {
  name: string;
  partitionIndexes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeProducersResponse {
  throttleTimeMs: number;
  topics: DescribeProducersResponseTopicResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeProducersResponseTopicResponse {
  name: string;
  partitions: DescribeProducersResponsePartitionResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeProducersResponsePartitionResponse {
  partitionIndex: number;
  errorCode: number;
  errorMessage: string | null;
  activeProducers: DescribeProducersResponseProducerState[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeProducersResponseProducerState {
  producerId: bigint;
  producerEpoch: number;
  lastSequence: number;
  lastTimestamp: bigint;
  coordinatorEpoch: number;
  currentTxnStartOffset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumRequest {
  topics: DescribeQuorumRequestTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumRequestTopicData {
  topicName: string;
  partitions: DescribeQuorumRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumRequestPartitionData {
  partitionIndex: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumResponse {
  errorCode: number;
  errorMessage: string | null;
  topics: DescribeQuorumResponseTopicData[];
  nodes: DescribeQuorumResponseNode[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumResponseTopicData {
  topicName: string;
  partitions: DescribeQuorumResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  errorMessage: string | null;
  leaderId: number;
  leaderEpoch: number;
  highWatermark: bigint;
  currentVoters: DescribeQuorumResponseReplicaState[];
  observers: DescribeQuorumResponseReplicaState[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumResponseNode {
  nodeId: number;
  listeners: DescribeQuorumResponseListener[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumResponseListener {
  name: string;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeQuorumResponseReplicaState {
  replicaId: number;
  replicaDirectoryId: string;
  logEndOffset: bigint;
  lastFetchTimestamp: bigint;
  lastCaughtUpTimestamp: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsRequest {
  groups: DescribeShareGroupOffsetsRequestGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsRequestGroup {
  groupId: string;
  topics: DescribeShareGroupOffsetsRequestTopic[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsRequestTopic {
  topicName: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsResponse {
  throttleTimeMs: number;
  groups: DescribeShareGroupOffsetsResponseGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsResponseGroup {
  groupId: string;
  topics: DescribeShareGroupOffsetsResponseTopic[];
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsResponseTopic {
  topicName: string;
  topicId: string;
  partitions: DescribeShareGroupOffsetsResponsePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeShareGroupOffsetsResponsePartition {
  partitionIndex: number;
  startOffset: bigint;
  leaderEpoch: number;
  lag: bigint;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsRequest {
  topics: DescribeTopicPartitionsRequestTopicRequest[];
  responsePartitionLimit: number;
  cursor: DescribeTopicPartitionsRequestCursor | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsRequestTopicRequest {
  name: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsRequestCursor {
  topicName: string;
  partitionIndex: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsResponse {
  throttleTimeMs: number;
  topics: DescribeTopicPartitionsResponseTopic[];
  nextCursor: DescribeTopicPartitionsResponseCursor | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsResponseTopic {
  errorCode: number;
  name: string | null;
  topicId: string;
  isInternal: boolean;
  partitions: DescribeTopicPartitionsResponsePartition[];
  topicAuthorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsResponsePartition {
  errorCode: number;
  partitionIndex: number;
  leaderId: number;
  leaderEpoch: number;
  replicaNodes: number[];
  isrNodes: number[];
  eligibleLeaderReplicas: number[] | null;
  lastKnownElr: number[] | null;
  offlineReplicas: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTopicPartitionsResponseCursor {
  topicName: string;
  partitionIndex: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTransactionsRequest {
  transactionalIds: string[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTransactionsResponse {
  throttleTimeMs: number;
  transactionStates: DescribeTransactionsResponseTransactionState[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTransactionsResponseTransactionState {
  errorCode: number;
  transactionalId: string;
  transactionState: string;
  transactionTimeoutMs: number;
  transactionStartTimeMs: bigint;
  producerId: bigint;
  producerEpoch: number;
  topics: DescribeTransactionsResponseTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeTransactionsResponseTopicData {
  topic: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeUserScramCredentialsRequest {
  users: DescribeUserScramCredentialsRequestUserName[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeUserScramCredentialsRequestUserName {
  name: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeUserScramCredentialsResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  results: DescribeUserScramCredentialsResponseDescribeUserScramCredentialsResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeUserScramCredentialsResponseDescribeUserScramCredentialsResult {
  user: string;
  errorCode: number;
  errorMessage: string | null;
  credentialInfos: DescribeUserScramCredentialsResponseCredentialInfo[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface DescribeUserScramCredentialsResponseCredentialInfo {
  mechanism: number;
  iterations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ElectLeadersRequest {
  electionType: number;
  topicPartitions: ElectLeadersRequestTopicPartitions[] | null;
  timeoutMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ElectLeadersRequestTopicPartitions {
  topic: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ElectLeadersResponse {
  throttleTimeMs: number;
  errorCode: number;
  replicaElectionResults: ElectLeadersResponseReplicaElectionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ElectLeadersResponseReplicaElectionResult {
  topic: string;
  partitionResult: ElectLeadersResponsePartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ElectLeadersResponsePartitionResult {
  partitionId: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochRequest {
  clusterId: string | null;
  topics: EndQuorumEpochRequestTopicData[];
  leaderEndpoints: EndQuorumEpochRequestLeaderEndpoint[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochRequestTopicData {
  topicName: string;
  partitions: EndQuorumEpochRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochRequestPartitionData {
  partitionIndex: number;
  leaderId: number;
  leaderEpoch: number;
  preferredSuccessors: number[];
  preferredCandidates: EndQuorumEpochRequestReplicaInfo[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochRequestReplicaInfo {
  candidateId: number;
  candidateDirectoryId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochRequestLeaderEndpoint {
  name: string;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochResponse {
  errorCode: number;
  topics: EndQuorumEpochResponseTopicData[];
  nodeEndpoints?: EndQuorumEpochResponseNodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochResponseTopicData {
  topicName: string;
  partitions: EndQuorumEpochResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndQuorumEpochResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndTxnMarker {
  coordinatorEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndTxnRequest {
  transactionalId: string;
  producerId: bigint;
  producerEpoch: number;
  committed: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EndTxnResponse {
  throttleTimeMs: number;
  errorCode: number;
  producerId: bigint;
  producerEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EnvelopeRequest {
  requestData: Buffer;
  requestPrincipal: Buffer | null;
  clientHostAddress: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface EnvelopeResponse {
  responseData: Buffer | null;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ExpireDelegationTokenRequest {
  hmac: Buffer;
  expiryTimePeriodMs: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ExpireDelegationTokenResponse {
  errorCode: number;
  expiryTimestampMs: bigint;
  throttleTimeMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchRequest {
  clusterId?: string | null | undefined;
  replicaId: number;
  replicaState?: FetchRequestReplicaState | undefined;
  maxWaitMs: number;
  minBytes: number;
  maxBytes: number;
  isolationLevel: number;
  sessionId: number;
  sessionEpoch: number;
  topics: FetchRequestFetchTopic[];
  forgottenTopicsData: FetchRequestForgottenTopic[];
  rackId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchRequestReplicaState {
  replicaId: number;
  replicaEpoch: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchRequestFetchTopic {
  topic: string;
  topicId: string;
  partitions: FetchRequestFetchPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchRequestFetchPartition {
  partition: number;
  currentLeaderEpoch: number;
  fetchOffset: bigint;
  lastFetchedEpoch: number;
  logStartOffset: bigint;
  partitionMaxBytes: number;
  replicaDirectoryId?: string | undefined;
  highWatermark?: bigint | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchRequestForgottenTopic {
  topic: string;
  topicId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponse {
  throttleTimeMs: number;
  errorCode: number;
  sessionId: number;
  responses: FetchResponseFetchableTopicResponse[];
  nodeEndpoints?: FetchResponseNodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponseFetchableTopicResponse {
  topic: string;
  topicId: string;
  partitions: FetchResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  highWatermark: bigint;
  lastStableOffset: bigint;
  logStartOffset: bigint;
  divergingEpoch?: FetchResponseEpochEndOffset | undefined;
  currentLeader?: FetchResponseLeaderIdAndEpoch | undefined;
  snapshotId?: FetchResponseSnapshotId | undefined;
  abortedTransactions: FetchResponseAbortedTransaction[] | null;
  preferredReadReplica: number;
  records: Buffer | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponseEpochEndOffset {
  epoch: number;
  endOffset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponseLeaderIdAndEpoch {
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponseSnapshotId {
  endOffset: bigint;
  epoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponseAbortedTransaction {
  producerId: bigint;
  firstOffset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  rack: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotRequest {
  clusterId?: string | null | undefined;
  replicaId: number;
  maxBytes: number;
  topics: FetchSnapshotRequestTopicSnapshot[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotRequestTopicSnapshot {
  name: string;
  partitions: FetchSnapshotRequestPartitionSnapshot[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotRequestPartitionSnapshot {
  partition: number;
  currentLeaderEpoch: number;
  snapshotId: FetchSnapshotRequestSnapshotId;
  position: bigint;
  replicaDirectoryId?: string | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotRequestSnapshotId {
  endOffset: bigint;
  epoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotResponse {
  throttleTimeMs: number;
  errorCode: number;
  topics: FetchSnapshotResponseTopicSnapshot[];
  nodeEndpoints?: FetchSnapshotResponseNodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotResponseTopicSnapshot {
  name: string;
  partitions: FetchSnapshotResponsePartitionSnapshot[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotResponsePartitionSnapshot {
  index: number;
  errorCode: number;
  snapshotId: FetchSnapshotResponseSnapshotId;
  currentLeader?: FetchSnapshotResponseLeaderIdAndEpoch | undefined;
  size: bigint;
  position: bigint;
  unalignedRecords: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotResponseSnapshotId {
  endOffset: bigint;
  epoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotResponseLeaderIdAndEpoch {
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FetchSnapshotResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface FindCoordinatorRequest {
  key: string;
  keyType: number;
  coordinatorKeys: string[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FindCoordinatorResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  nodeId: number;
  host: string;
  port: number;
  coordinators: FindCoordinatorResponseCoordinator[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface FindCoordinatorResponseCoordinator {
  key: string;
  nodeId: number;
  host: string;
  port: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface GetTelemetrySubscriptionsRequest {
  clientInstanceId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface GetTelemetrySubscriptionsResponse {
  throttleTimeMs: number;
  errorCode: number;
  clientInstanceId: string;
  subscriptionId: number;
  acceptedCompressionTypes: number[];
  pushIntervalMs: number;
  telemetryMaxBytes: number;
  deltaTemporality: boolean;
  requestedMetrics: string[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface HeartbeatRequest {
  groupId: string;
  generationId: number;
  memberId: string;
  groupInstanceId: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface HeartbeatResponse {
  throttleTimeMs: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface IncrementalAlterConfigsRequest {
  resources: IncrementalAlterConfigsRequestAlterConfigsResource[];
  validateOnly: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface IncrementalAlterConfigsRequestAlterConfigsResource {
  resourceType: number;
  resourceName: string;
  configs: IncrementalAlterConfigsRequestAlterableConfig[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface IncrementalAlterConfigsRequestAlterableConfig {
  name: string;
  configOperation: number;
  value: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface IncrementalAlterConfigsResponse {
  throttleTimeMs: number;
  responses: IncrementalAlterConfigsResponseAlterConfigsResourceResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface IncrementalAlterConfigsResponseAlterConfigsResourceResponse {
  errorCode: number;
  errorMessage: string | null;
  resourceType: number;
  resourceName: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitProducerIdRequest {
  transactionalId: string | null;
  transactionTimeoutMs: number;
  producerId: bigint;
  producerEpoch: number;
  enable2Pc: boolean;
  keepPreparedTxn: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitProducerIdResponse {
  throttleTimeMs: number;
  errorCode: number;
  producerId: bigint;
  producerEpoch: number;
  ongoingTxnProducerId: bigint;
  ongoingTxnProducerEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitializeShareGroupStateRequest {
  groupId: string;
  topics: InitializeShareGroupStateRequestInitializeStateData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitializeShareGroupStateRequestInitializeStateData {
  topicId: string;
  partitions: InitializeShareGroupStateRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitializeShareGroupStateRequestPartitionData {
  partition: number;
  stateEpoch: number;
  startOffset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitializeShareGroupStateResponse {
  results: InitializeShareGroupStateResponseInitializeStateResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitializeShareGroupStateResponseInitializeStateResult {
  topicId: string;
  partitions: InitializeShareGroupStateResponsePartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface InitializeShareGroupStateResponsePartitionResult {
  partition: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface JoinGroupRequest {
  groupId: string;
  sessionTimeoutMs: number;
  rebalanceTimeoutMs: number;
  memberId: string;
  groupInstanceId: string | null;
  protocolType: string;
  protocols: JoinGroupRequestProtocol[];
  reason: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface JoinGroupRequestProtocol {
  name: string;
  metadata: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface JoinGroupResponse {
  throttleTimeMs: number;
  errorCode: number;
  generationId: number;
  protocolType: string | null;
  protocolName: string | null;
  leader: string;
  skipAssignment: boolean;
  memberId: string;
  members: JoinGroupResponseMember[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface JoinGroupResponseMember {
  memberId: string;
  groupInstanceId: string | null;
  metadata: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface KRaftVersionRecord {
  version: number;
  kRaftVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaderAndIsrRequest {
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaderAndIsrResponse {
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaderChangeMessage {
  version: number;
  leaderId: number;
  voters: LeaderChangeMessageVoter[];
  grantingVoters: LeaderChangeMessageVoter[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaderChangeMessageVoter {
  voterId: number;
  voterDirectoryId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaveGroupRequest {
  groupId: string;
  memberId: string;
  members: LeaveGroupRequestMemberIdentity[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaveGroupRequestMemberIdentity {
  memberId: string;
  groupInstanceId: string | null;
  reason: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaveGroupResponse {
  throttleTimeMs: number;
  errorCode: number;
  members: LeaveGroupResponseMemberResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface LeaveGroupResponseMemberResponse {
  memberId: string;
  groupInstanceId: string | null;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListConfigResourcesRequest {
  resourceTypes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListConfigResourcesResponse {
  throttleTimeMs: number;
  errorCode: number;
  configResources: ListConfigResourcesResponseConfigResource[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListConfigResourcesResponseConfigResource {
  resourceName: string;
  resourceType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListGroupsRequest {
  statesFilter: string[];
  typesFilter: string[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListGroupsResponse {
  throttleTimeMs: number;
  errorCode: number;
  groups: ListGroupsResponseListedGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListGroupsResponseListedGroup {
  groupId: string;
  protocolType: string;
  groupState: string;
  groupType: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListOffsetsRequest {
  replicaId: number;
  isolationLevel: number;
  topics: ListOffsetsRequestListOffsetsTopic[];
  timeoutMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListOffsetsRequestListOffsetsTopic {
  name: string;
  partitions: ListOffsetsRequestListOffsetsPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListOffsetsRequestListOffsetsPartition {
  partitionIndex: number;
  currentLeaderEpoch: number;
  timestamp: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListOffsetsResponse {
  throttleTimeMs: number;
  topics: ListOffsetsResponseListOffsetsTopicResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListOffsetsResponseListOffsetsTopicResponse {
  name: string;
  partitions: ListOffsetsResponseListOffsetsPartitionResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListOffsetsResponseListOffsetsPartitionResponse {
  partitionIndex: number;
  errorCode: number;
  timestamp: bigint;
  offset: bigint;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListPartitionReassignmentsRequest {
  timeoutMs: number;
  topics: ListPartitionReassignmentsRequestListPartitionReassignmentsTopics[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListPartitionReassignmentsRequestListPartitionReassignmentsTopics {
  name: string;
  partitionIndexes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListPartitionReassignmentsResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  topics: ListPartitionReassignmentsResponseOngoingTopicReassignment[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListPartitionReassignmentsResponseOngoingTopicReassignment {
  name: string;
  partitions: ListPartitionReassignmentsResponseOngoingPartitionReassignment[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListPartitionReassignmentsResponseOngoingPartitionReassignment {
  partitionIndex: number;
  replicas: number[];
  addingReplicas: number[];
  removingReplicas: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListTransactionsRequest {
  stateFilters: string[];
  producerIdFilters: bigint[];
  durationFilter: bigint;
  transactionalIdPattern: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListTransactionsResponse {
  throttleTimeMs: number;
  errorCode: number;
  unknownStateFilters: string[];
  transactionStates: ListTransactionsResponseTransactionState[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ListTransactionsResponseTransactionState {
  transactionalId: string;
  producerId: bigint;
  transactionState: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface MetadataRequest {
  topics: MetadataRequestTopic[] | null;
  allowAutoTopicCreation: boolean;
  includeClusterAuthorizedOperations: boolean;
  includeTopicAuthorizedOperations: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface MetadataRequestTopic {
  topicId: string;
  name: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface MetadataResponse {
  throttleTimeMs: number;
  brokers: MetadataResponseBroker[];
  clusterId: string | null;
  controllerId: number;
  topics: MetadataResponseTopic[];
  clusterAuthorizedOperations: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface MetadataResponseBroker {
  nodeId: number;
  host: string;
  port: number;
  rack: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface MetadataResponseTopic {
  errorCode: number;
  name: string | null;
  topicId: string;
  isInternal: boolean;
  partitions: MetadataResponsePartition[];
  topicAuthorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface MetadataResponsePartition {
  errorCode: number;
  partitionIndex: number;
  leaderId: number;
  leaderEpoch: number;
  replicaNodes: number[];
  isrNodes: number[];
  offlineReplicas: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetCommitRequest {
  groupId: string;
  generationIdOrMemberEpoch: number;
  memberId: string;
  groupInstanceId: string | null;
  retentionTimeMs: bigint;
  topics: OffsetCommitRequestTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetCommitRequestTopic {
  name: string;
  topicId: string;
  partitions: OffsetCommitRequestPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetCommitRequestPartition {
  partitionIndex: number;
  committedOffset: bigint;
  committedLeaderEpoch: number;
  committedMetadata: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetCommitResponse {
  throttleTimeMs: number;
  topics: OffsetCommitResponseTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetCommitResponseTopic {
  name: string;
  topicId: string;
  partitions: OffsetCommitResponsePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetCommitResponsePartition {
  partitionIndex: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetDeleteRequest {
  groupId: string;
  topics: OffsetDeleteRequestTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetDeleteRequestTopic {
  name: string;
  partitions: OffsetDeleteRequestPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetDeleteRequestPartition {
  partitionIndex: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetDeleteResponse {
  errorCode: number;
  throttleTimeMs: number;
  topics: OffsetDeleteResponseTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetDeleteResponseTopic {
  name: string;
  partitions: OffsetDeleteResponsePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetDeleteResponsePartition {
  partitionIndex: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchRequest {
  groupId: string;
  topics: OffsetFetchRequestTopic[] | null;
  groups: OffsetFetchRequestGroup[];
  requireStable: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchRequestTopic {
  name: string;
  partitionIndexes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchRequestGroup {
  groupId: string;
  memberId: string | null;
  memberEpoch: number;
  topics: OffsetFetchRequestTopics[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchRequestTopics {
  name: string;
  topicId: string;
  partitionIndexes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchResponse {
  throttleTimeMs: number;
  topics: OffsetFetchResponseTopic[];
  errorCode: number;
  groups: OffsetFetchResponseGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchResponseTopic {
  name: string;
  partitions: OffsetFetchResponsePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchResponsePartition {
  partitionIndex: number;
  committedOffset: bigint;
  committedLeaderEpoch: number;
  metadata: string | null;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchResponseGroup {
  groupId: string;
  topics: OffsetFetchResponseTopics[];
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchResponseTopics {
  name: string;
  topicId: string;
  partitions: OffsetFetchResponsePartitions[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetFetchResponsePartitions {
  partitionIndex: number;
  committedOffset: bigint;
  committedLeaderEpoch: number;
  metadata: string | null;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetForLeaderEpochRequest {
  replicaId: number;
  topics: OffsetForLeaderEpochRequestOffsetForLeaderTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetForLeaderEpochRequestOffsetForLeaderTopic {
  topic: string;
  partitions: OffsetForLeaderEpochRequestOffsetForLeaderPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetForLeaderEpochRequestOffsetForLeaderPartition {
  partition: number;
  currentLeaderEpoch: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetForLeaderEpochResponse {
  throttleTimeMs: number;
  topics: OffsetForLeaderEpochResponseOffsetForLeaderTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetForLeaderEpochResponseOffsetForLeaderTopicResult {
  topic: string;
  partitions: OffsetForLeaderEpochResponseEpochEndOffset[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface OffsetForLeaderEpochResponseEpochEndOffset {
  errorCode: number;
  partition: number;
  leaderEpoch: number;
  endOffset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceRequest {
  transactionalId: string | null;
  acks: number;
  timeoutMs: number;
  topicData: ProduceRequestTopicProduceData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceRequestTopicProduceData {
  name: string;
  topicId: string;
  partitionData: ProduceRequestPartitionProduceData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceRequestPartitionProduceData {
  index: number;
  records: Buffer | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceResponse {
  responses: ProduceResponseTopicProduceResponse[];
  throttleTimeMs: number;
  nodeEndpoints?: ProduceResponseNodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceResponseTopicProduceResponse {
  name: string;
  topicId: string;
  partitionResponses: ProduceResponsePartitionProduceResponse[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceResponsePartitionProduceResponse {
  index: number;
  errorCode: number;
  baseOffset: bigint;
  logAppendTimeMs: bigint;
  logStartOffset: bigint;
  recordErrors: ProduceResponseBatchIndexAndErrorMessage[];
  errorMessage: string | null;
  currentLeader?: ProduceResponseLeaderIdAndEpoch | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceResponseBatchIndexAndErrorMessage {
  batchIndex: number;
  batchIndexErrorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceResponseLeaderIdAndEpoch {
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ProduceResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  rack: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface PushTelemetryRequest {
  clientInstanceId: string;
  subscriptionId: number;
  terminating: boolean;
  compressionType: number;
  metrics: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface PushTelemetryResponse {
  throttleTimeMs: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateRequest {
  groupId: string;
  topics: ReadShareGroupStateRequestReadStateData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateRequestReadStateData {
  topicId: string;
  partitions: ReadShareGroupStateRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateRequestPartitionData {
  partition: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateResponse {
  results: ReadShareGroupStateResponseReadStateResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateResponseReadStateResult {
  topicId: string;
  partitions: ReadShareGroupStateResponsePartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateResponsePartitionResult {
  partition: number;
  errorCode: number;
  errorMessage: string | null;
  stateEpoch: number;
  startOffset: bigint;
  stateBatches: ReadShareGroupStateResponseStateBatch[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateResponseStateBatch {
  firstOffset: bigint;
  lastOffset: bigint;
  deliveryState: number;
  deliveryCount: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateSummaryRequest {
  groupId: string;
  topics: ReadShareGroupStateSummaryRequestReadStateSummaryData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateSummaryRequestReadStateSummaryData {
  topicId: string;
  partitions: ReadShareGroupStateSummaryRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateSummaryRequestPartitionData {
  partition: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateSummaryResponse {
  results: ReadShareGroupStateSummaryResponseReadStateSummaryResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateSummaryResponseReadStateSummaryResult {
  topicId: string;
  partitions: ReadShareGroupStateSummaryResponsePartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ReadShareGroupStateSummaryResponsePartitionResult {
  partition: number;
  errorCode: number;
  errorMessage: string | null;
  stateEpoch: number;
  leaderEpoch: number;
  startOffset: bigint;
  deliveryCompleteCount: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface RemoveRaftVoterRequest {
  clusterId: string | null;
  voterId: number;
  voterDirectoryId: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface RemoveRaftVoterResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface RenewDelegationTokenRequest {
  hmac: Buffer;
  renewPeriodMs: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface RenewDelegationTokenResponse {
  errorCode: number;
  expiryTimestampMs: bigint;
  throttleTimeMs: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface RequestHeader {
  requestApiKey: number;
  requestApiVersion: number;
  correlationId: number;
  clientId: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ResponseHeader {
  correlationId: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SaslAuthenticateRequest {
  authBytes: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SaslAuthenticateResponse {
  errorCode: number;
  errorMessage: string | null;
  authBytes: Buffer;
  sessionLifetimeMs: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SaslHandshakeRequest {
  mechanism: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SaslHandshakeResponse {
  errorCode: number;
  mechanisms: string[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeRequest {
  groupId: string | null;
  memberId: string | null;
  shareSessionEpoch: number;
  isRenewAck: boolean;
  topics: ShareAcknowledgeRequestAcknowledgeTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeRequestAcknowledgeTopic {
  topicId: string;
  partitions: ShareAcknowledgeRequestAcknowledgePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeRequestAcknowledgePartition {
  partitionIndex: number;
  acknowledgementBatches: ShareAcknowledgeRequestAcknowledgementBatch[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeRequestAcknowledgementBatch {
  firstOffset: bigint;
  lastOffset: bigint;
  acknowledgeTypes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  acquisitionLockTimeoutMs: number;
  responses: ShareAcknowledgeResponseShareAcknowledgeTopicResponse[];
  nodeEndpoints: ShareAcknowledgeResponseNodeEndpoint[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeResponseShareAcknowledgeTopicResponse {
  topicId: string;
  partitions: ShareAcknowledgeResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  errorMessage: string | null;
  currentLeader: ShareAcknowledgeResponseLeaderIdAndEpoch;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeResponseLeaderIdAndEpoch {
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareAcknowledgeResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  rack: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchRequest {
  groupId: string | null;
  memberId: string | null;
  shareSessionEpoch: number;
  maxWaitMs: number;
  minBytes: number;
  maxBytes: number;
  maxRecords: number;
  batchSize: number;
  shareAcquireMode: number;
  isRenewAck: boolean;
  topics: ShareFetchRequestFetchTopic[];
  forgottenTopicsData: ShareFetchRequestForgottenTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchRequestFetchTopic {
  topicId: string;
  partitions: ShareFetchRequestFetchPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchRequestFetchPartition {
  partitionIndex: number;
  partitionMaxBytes: number;
  acknowledgementBatches: ShareFetchRequestAcknowledgementBatch[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchRequestAcknowledgementBatch {
  firstOffset: bigint;
  lastOffset: bigint;
  acknowledgeTypes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchRequestForgottenTopic {
  topicId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  acquisitionLockTimeoutMs: number;
  responses: ShareFetchResponseShareFetchableTopicResponse[];
  nodeEndpoints: ShareFetchResponseNodeEndpoint[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchResponseShareFetchableTopicResponse {
  topicId: string;
  partitions: ShareFetchResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  errorMessage: string | null;
  acknowledgeErrorCode: number;
  acknowledgeErrorMessage: string | null;
  currentLeader: ShareFetchResponseLeaderIdAndEpoch;
  records: Buffer | null;
  acquiredRecords: ShareFetchResponseAcquiredRecords[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchResponseLeaderIdAndEpoch {
  leaderId: number;
  leaderEpoch: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchResponseAcquiredRecords {
  firstOffset: bigint;
  lastOffset: bigint;
  deliveryCount: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareFetchResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  rack: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupDescribeRequest {
  groupIds: string[];
  includeAuthorizedOperations: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupDescribeResponse {
  throttleTimeMs: number;
  groups: ShareGroupDescribeResponseDescribedGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupDescribeResponseDescribedGroup {
  errorCode: number;
  errorMessage: string | null;
  groupId: string;
  groupState: string;
  groupEpoch: number;
  assignmentEpoch: number;
  assignorName: string;
  members: ShareGroupDescribeResponseMember[];
  authorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupDescribeResponseMember {
  memberId: string;
  rackId: string | null;
  memberEpoch: number;
  clientId: string;
  clientHost: string;
  subscribedTopicNames: string[];
  assignment: ShareGroupDescribeResponseAssignment;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupDescribeResponseTopicPartitions {
  topicId: string;
  topicName: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupDescribeResponseAssignment {
  topicPartitions: ShareGroupDescribeResponseTopicPartitions[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupHeartbeatRequest {
  groupId: string;
  memberId: string;
  memberEpoch: number;
  rackId: string | null;
  subscribedTopicNames: string[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupHeartbeatResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  memberId: string | null;
  memberEpoch: number;
  heartbeatIntervalMs: number;
  assignment: ShareGroupHeartbeatResponseAssignment | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupHeartbeatResponseAssignment {
  topicPartitions: ShareGroupHeartbeatResponseTopicPartitions[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface ShareGroupHeartbeatResponseTopicPartitions {
  topicId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface SnapshotFooterRecord {
  version: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SnapshotHeaderRecord {
  version: number;
  lastContainedLogTimestamp: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StopReplicaRequest {
  unknownTags?: UnknownTag[] | undefined;
}

export interface StopReplicaResponse {
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeRequest {
  groupIds: string[];
  includeAuthorizedOperations: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponse {
  throttleTimeMs: number;
  groups: StreamsGroupDescribeResponseDescribedGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseDescribedGroup {
  errorCode: number;
  errorMessage: string | null;
  groupId: string;
  groupState: string;
  groupEpoch: number;
  assignmentEpoch: number;
  topology: StreamsGroupDescribeResponseTopology | null;
  members: StreamsGroupDescribeResponseMember[];
  authorizedOperations: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseTopology {
  epoch: number;
  subtopologies: StreamsGroupDescribeResponseSubtopology[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseSubtopology {
  subtopologyId: string;
  sourceTopics: string[];
  repartitionSinkTopics: string[];
  stateChangelogTopics: StreamsGroupDescribeResponseTopicInfo[];
  repartitionSourceTopics: StreamsGroupDescribeResponseTopicInfo[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseMember {
  memberId: string;
  memberEpoch: number;
  instanceId: string | null;
  rackId: string | null;
  clientId: string;
  clientHost: string;
  topologyEpoch: number;
  processId: string;
  userEndpoint: StreamsGroupDescribeResponseEndpoint | null;
  clientTags: StreamsGroupDescribeResponseKeyValue[];
  taskOffsets: StreamsGroupDescribeResponseTaskOffset[];
  taskEndOffsets: StreamsGroupDescribeResponseTaskOffset[];
  assignment: StreamsGroupDescribeResponseAssignment;
  targetAssignment: StreamsGroupDescribeResponseAssignment;
  isClassic: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseEndpoint {
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseTaskOffset {
  subtopologyId: string;
  partition: number;
  offset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseAssignment {
  activeTasks: StreamsGroupDescribeResponseTaskIds[];
  standbyTasks: StreamsGroupDescribeResponseTaskIds[];
  warmupTasks: StreamsGroupDescribeResponseTaskIds[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseTaskIds {
  subtopologyId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseKeyValue {
  key: string;
  value: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupDescribeResponseTopicInfo {
  name: string;
  partitions: number;
  replicationFactor: number;
  topicConfigs: StreamsGroupDescribeResponseKeyValue[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequest {
  groupId: string;
  memberId: string;
  memberEpoch: number;
  endpointInformationEpoch: number;
  instanceId: string | null;
  rackId: string | null;
  rebalanceTimeoutMs: number;
  topology: StreamsGroupHeartbeatRequestTopology | null;
  activeTasks: StreamsGroupHeartbeatRequestTaskIds[] | null;
  standbyTasks: StreamsGroupHeartbeatRequestTaskIds[] | null;
  warmupTasks: StreamsGroupHeartbeatRequestTaskIds[] | null;
  processId: string | null;
  userEndpoint: StreamsGroupHeartbeatRequestEndpoint | null;
  clientTags: StreamsGroupHeartbeatRequestKeyValue[] | null;
  taskOffsets: StreamsGroupHeartbeatRequestTaskOffset[] | null;
  taskEndOffsets: StreamsGroupHeartbeatRequestTaskOffset[] | null;
  shutdownApplication: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestTopology {
  epoch: number;
  subtopologies: StreamsGroupHeartbeatRequestSubtopology[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestSubtopology {
  subtopologyId: string;
  sourceTopics: string[];
  sourceTopicRegex: string[];
  stateChangelogTopics: StreamsGroupHeartbeatRequestTopicInfo[];
  repartitionSinkTopics: string[];
  repartitionSourceTopics: StreamsGroupHeartbeatRequestTopicInfo[];
  copartitionGroups: StreamsGroupHeartbeatRequestCopartitionGroup[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestCopartitionGroup {
  sourceTopics: number[];
  sourceTopicRegex: number[];
  repartitionSourceTopics: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestKeyValue {
  key: string;
  value: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestTopicInfo {
  name: string;
  partitions: number;
  replicationFactor: number;
  topicConfigs: StreamsGroupHeartbeatRequestKeyValue[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestEndpoint {
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestTaskOffset {
  subtopologyId: string;
  partition: number;
  offset: bigint;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatRequestTaskIds {
  subtopologyId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  memberId: string;
  memberEpoch: number;
  heartbeatIntervalMs: number;
  acceptableRecoveryLag: number;
  taskOffsetIntervalMs: number;
  status: StreamsGroupHeartbeatResponseStatus[] | null;
  activeTasks: StreamsGroupHeartbeatResponseTaskIds[] | null;
  standbyTasks: StreamsGroupHeartbeatResponseTaskIds[] | null;
  warmupTasks: StreamsGroupHeartbeatResponseTaskIds[] | null;
  endpointInformationEpoch: number;
  partitionsByUserEndpoint: StreamsGroupHeartbeatResponseEndpointToPartitions[] | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatResponseEndpointToPartitions {
  userEndpoint: StreamsGroupHeartbeatResponseEndpoint;
  activePartitions: StreamsGroupHeartbeatResponseTopicPartition[];
  standbyPartitions: StreamsGroupHeartbeatResponseTopicPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatResponseStatus {
  statusCode: number;
  statusDetail: string;
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatResponseTopicPartition {
  topic: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatResponseTaskIds {
  subtopologyId: string;
  partitions: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface StreamsGroupHeartbeatResponseEndpoint {
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SyncGroupRequest {
  groupId: string;
  generationId: number;
  memberId: string;
  groupInstanceId: string | null;
  protocolType: string | null;
  protocolName: string | null;
  assignments: SyncGroupRequestAssignment[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface SyncGroupRequestAssignment {
  memberId: string;
  assignment: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface SyncGroupResponse {
  throttleTimeMs: number;
  errorCode: number;
  protocolType: string | null;
  protocolName: string | null;
  assignment: Buffer;
  unknownTags?: UnknownTag[] | undefined;
}

export interface TxnOffsetCommitRequest {
  transactionalId: string;
  groupId: string;
  producerId: bigint;
  producerEpoch: number;
  generationId: number;
  memberId: string;
  groupInstanceId: string | null;
  topics: TxnOffsetCommitRequestTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface TxnOffsetCommitRequestTopic {
  name: string;
  partitions: TxnOffsetCommitRequestPartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface TxnOffsetCommitRequestPartition {
  partitionIndex: number;
  committedOffset: bigint;
  committedLeaderEpoch: number;
  committedMetadata: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface TxnOffsetCommitResponse {
  throttleTimeMs: number;
  topics: TxnOffsetCommitResponseTopic[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface TxnOffsetCommitResponseTopic {
  name: string;
  partitions: TxnOffsetCommitResponsePartition[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface TxnOffsetCommitResponsePartition {
  partitionIndex: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UnregisterBrokerRequest {
  brokerId: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UnregisterBrokerResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateFeaturesRequest {
  timeoutMs: number;
  featureUpdates: UpdateFeaturesRequestFeatureUpdateKey[];
  validateOnly: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateFeaturesRequestFeatureUpdateKey {
  feature: string;
  maxVersionLevel: number;
  allowDowngrade: boolean;
  upgradeType: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateFeaturesResponse {
  throttleTimeMs: number;
  errorCode: number;
  errorMessage: string | null;
  results: UpdateFeaturesResponseUpdatableFeatureResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateFeaturesResponseUpdatableFeatureResult {
  feature: string;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateMetadataRequest {
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateMetadataResponse {
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateRaftVoterRequest {
  clusterId: string | null;
  currentLeaderEpoch: number;
  voterId: number;
  voterDirectoryId: string;
  listeners: UpdateRaftVoterRequestListener[];
  kRaftVersionFeature: UpdateRaftVoterRequestKRaftVersionFeature;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateRaftVoterRequestListener {
  name: string;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateRaftVoterRequestKRaftVersionFeature {
  minSupportedVersion: number;
  maxSupportedVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateRaftVoterResponse {
  throttleTimeMs: number;
  errorCode: number;
  currentLeader?: UpdateRaftVoterResponseCurrentLeader | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface UpdateRaftVoterResponseCurrentLeader {
  leaderId: number;
  leaderEpoch: number;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteRequest {
  clusterId: string | null;
  voterId: number;
  topics: VoteRequestTopicData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteRequestTopicData {
  topicName: string;
  partitions: VoteRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteRequestPartitionData {
  partitionIndex: number;
  replicaEpoch: number;
  replicaId: number;
  replicaDirectoryId: string;
  voterDirectoryId: string;
  lastOffsetEpoch: number;
  lastOffset: bigint;
  preVote: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteResponse {
  errorCode: number;
  topics: VoteResponseTopicData[];
  nodeEndpoints?: VoteResponseNodeEndpoint[] | undefined;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteResponseTopicData {
  topicName: string;
  partitions: VoteResponsePartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteResponsePartitionData {
  partitionIndex: number;
  errorCode: number;
  leaderId: number;
  leaderEpoch: number;
  voteGranted: boolean;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VoteResponseNodeEndpoint {
  nodeId: number;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VotersRecord {
  version: number;
  voters: VotersRecordVoter[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface VotersRecordVoter {
  voterId: number;
  voterDirectoryId: string;
  endpoints: VotersRecordEndpoint[];
  kRaftVersionFeature: VotersRecordKRaftVersionFeature;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VotersRecordEndpoint {
  name: string;
  host: string;
  port: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface VotersRecordKRaftVersionFeature {
  minSupportedVersion: number;
  maxSupportedVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateRequest {
  groupId: string;
  topics: WriteShareGroupStateRequestWriteStateData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateRequestWriteStateData {
  topicId: string;
  partitions: WriteShareGroupStateRequestPartitionData[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateRequestPartitionData {
  partition: number;
  stateEpoch: number;
  leaderEpoch: number;
  startOffset: bigint;
  deliveryCompleteCount: number;
  stateBatches: WriteShareGroupStateRequestStateBatch[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateRequestStateBatch {
  firstOffset: bigint;
  lastOffset: bigint;
  deliveryState: number;
  deliveryCount: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateResponse {
  results: WriteShareGroupStateResponseWriteStateResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateResponseWriteStateResult {
  topicId: string;
  partitions: WriteShareGroupStateResponsePartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteShareGroupStateResponsePartitionResult {
  partition: number;
  errorCode: number;
  errorMessage: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersRequest {
  markers: WriteTxnMarkersRequestWritableTxnMarker[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersRequestWritableTxnMarker {
  producerId: bigint;
  producerEpoch: number;
  transactionResult: boolean;
  topics: WriteTxnMarkersRequestWritableTxnMarkerTopic[];
  coordinatorEpoch: number;
  transactionVersion: number;
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersRequestWritableTxnMarkerTopic {
  name: string;
  partitionIndexes: number[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersResponse {
  markers: WriteTxnMarkersResponseWritableTxnMarkerResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersResponseWritableTxnMarkerResult {
  producerId: bigint;
  topics: WriteTxnMarkersResponseWritableTxnMarkerTopicResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersResponseWritableTxnMarkerTopicResult {
  name: string;
  partitions: WriteTxnMarkersResponseWritableTxnMarkerPartitionResult[];
  unknownTags?: UnknownTag[] | undefined;
}

export interface WriteTxnMarkersResponseWritableTxnMarkerPartitionResult {
  partitionIndex: number;
  errorCode: number;
  unknownTags?: UnknownTag[] | undefined;
}
