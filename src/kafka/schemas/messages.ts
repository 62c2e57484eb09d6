// Written by tools/kafka-schemas.ts from the message definitions of Apache Kafka 4.3.1; do not edit.
/** Every message by name, in the schema language that ../schema.ts reads. */
export const SCHEMAS = {
  AddOffsetsToTxnRequest: `0-4 flexible:3+
transactionalId string @transactionalId
producerId int64 @producerId
producerEpoch int16
groupId string @groupId`,
  AddOffsetsToTxnResponse: `0-4 flexible:3+
throttleTimeMs int32
errorCode int16`,
  AddPartitionsToTxnRequest: `0-5 flexible:3+
transactions []AddPartitionsToTxnTransaction 4+
  transactionalId string 4+ @transactionalId
  producerId int64 4+ @producerId
  producerEpoch int16 4+
  verifyOnly bool 4+ =false
  topics []AddPartitionsToTxnTopic 4+
v3AndBelowTransactionalId string 0-3 @transactionalId
v3AndBelowProducerId int64 0-3 @producerId
v3AndBelowProducerEpoch int16 0-3
v3AndBelowTopics []AddPartitionsToTxnTopic 0-3
struct AddPartitionsToTxnTopic
  name string @topicName
  partitions []int32`,
  AddPartitionsToTxnResponse: `0-5 flexible:3+
throttleTimeMs int32
errorCode int16 4+
resultsByTransaction []AddPartitionsToTxnResult 4+
  transactionalId string 4+ @transactionalId
  topicResults []AddPartitionsToTxnTopicResult 4+
resultsByTopicV3AndBelow []AddPartitionsToTxnTopicResult 0-3
struct AddPartitionsToTxnTopicResult
  name string @topicName
  resultsByPartition []AddPartitionsToTxnPartitionResult
struct AddPartitionsToTxnPartitionResult
  partitionIndex int32
  partitionErrorCode int16`,
  AddRaftVoterRequest: `0-1 flexible:0+
clusterId string null
timeoutMs int32
voterId int32
voterDirectoryId uuid
listeners []Listener
  name string
  host string
  port uint16
ackWhenCommitted bool 1+ =true`,
  AddRaftVoterResponse: `0-1 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null`,
  AllocateProducerIdsRequest: `0 flexible:0+
brokerId int32 @brokerId
brokerEpoch int64 =-1`,
  AllocateProducerIdsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
producerIdStart int64 @producerId
producerIdLen int32`,
  AlterClientQuotasRequest: `0-1 flexible:1+
entries []EntryData
  entity []EntityData
    entityType string
    entityName string null
  ops []OpData
    key string
    value float64
    remove bool
validateOnly bool`,
  AlterClientQuotasResponse: `0-1 flexible:1+
throttleTimeMs int32
entries []EntryData
  errorCode int16
  errorMessage string null
  entity []EntityData
    entityType string
    entityName string null`,
  AlterConfigsRequest: `0-2 flexible:2+
resources []AlterConfigsResource
  resourceType int8
  resourceName string
  configs []AlterableConfig
    name string
    value string null
validateOnly bool`,
  AlterConfigsResponse: `0-2 flexible:2+
throttleTimeMs int32
responses []AlterConfigsResourceResponse
  errorCode int16
  errorMessage string null
  resourceType int8
  resourceName string`,
  AlterPartitionReassignmentsRequest: `0-1 flexible:0+
timeoutMs int32 =60000
allowReplicationFactorChange bool 1+ =true
topics []ReassignableTopic
  name string @topicName
  partitions []ReassignablePartition
    partitionIndex int32
    replicas []int32 null =null @brokerId`,
  AlterPartitionReassignmentsResponse: `0-1 flexible:0+
throttleTimeMs int32
allowReplicationFactorChange bool 1+ =true
errorCode int16
errorMessage string null
responses []ReassignableTopicResponse
  name string @topicName
  partitions []ReassignablePartitionResponse
    partitionIndex int32
    errorCode int16
    errorMessage string null`,
  AlterPartitionRequest: `2-3 flexible:0+
brokerId int32 @brokerId
brokerEpoch int64 =-1
topics []TopicData
  topicId uuid 2+
  partitions []PartitionData
    partitionIndex int32
    leaderEpoch int32
    newIsr []int32 0-2 @brokerId
    newIsrWithEpochs []BrokerState 3+
      brokerId int32 3+ @brokerId
      brokerEpoch int64 3+ =-1
    leaderRecoveryState int8 1+ =0
    partitionEpoch int32`,
  AlterPartitionResponse: `2-3 flexible:0+
throttleTimeMs int32
errorCode int16
topics []TopicData
  topicId uuid 2+
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    leaderId int32 @brokerId
    leaderEpoch int32
    isr []int32 @brokerId
    leaderRecoveryState int8 1+ =0
    partitionEpoch int32`,
  AlterReplicaLogDirsRequest: `1-2 flexible:2+
dirs []AlterReplicaLogDir
  path string
  topics []AlterReplicaLogDirTopic
    name string @topicName
    partitions []int32`,
  AlterReplicaLogDirsResponse: `1-2 flexible:2+
throttleTimeMs int32
results []AlterReplicaLogDirTopicResult
  topicName string @topicName
  partitions []AlterReplicaLogDirPartitionResult
    partitionIndex int32
    errorCode int16`,
  AlterShareGroupOffsetsRequest: `0 flexible:0+
groupId string @groupId
topics []AlterShareGroupOffsetsRequestTopic
  topicName string @topicName
  partitions []AlterShareGroupOffsetsRequestPartition
    partitionIndex int32
    startOffset int64`,
  AlterShareGroupOffsetsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
responses []AlterShareGroupOffsetsResponseTopic
  topicName string @topicName
  topicId uuid
  partitions []AlterShareGroupOffsetsResponsePartition
    partitionIndex int32
    errorCode int16
    errorMessage string null =null`,
  AlterUserScramCredentialsRequest: `0 flexible:0+
deletions []ScramCredentialDeletion
  name string
  mechanism int8
upsertions []ScramCredentialUpsertion
  name string
  mechanism int8
  iterations int32
  salt bytes
  saltedPassword bytes`,
  AlterUserScramCredentialsResponse: `0 flexible:0+
throttleTimeMs int32
results []AlterUserScramCredentialsResult
  user string
  errorCode int16
  errorMessage string null`,
  ApiVersionsRequest: `0-4 flexible:3+
clientSoftwareName string 3+
clientSoftwareVersion string 3+`,
  ApiVersionsResponse: `0-4 flexible:3+
errorCode int16
apiKeys []ApiVersion
  apiKey int16
  minVersion int16
  maxVersion int16
throttleTimeMs int32 1+
supportedFeatures []SupportedFeatureKey 3+ tag:0
  name string 3+
  minVersion int16 3+
  maxVersion int16 3+
finalizedFeaturesEpoch int64 3+ tag:1 =-1
finalizedFeatures []FinalizedFeatureKey 3+ tag:2
  name string 3+
  maxVersionLevel int16 3+
  minVersionLevel int16 3+
zkMigrationReady bool 3+ tag:3 =false`,
  AssignReplicasToDirsRequest: `0 flexible:0+
brokerId int32 @brokerId
brokerEpoch int64 =-1
directories []DirectoryData
  id uuid
  topics []TopicData
    topicId uuid
    partitions []PartitionData
      partitionIndex int32`,
  AssignReplicasToDirsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
directories []DirectoryData
  id uuid
  topics []TopicData
    topicId uuid
    partitions []PartitionData
      partitionIndex int32
      errorCode int16`,
  BeginQuorumEpochRequest: `0-1 flexible:1+
clusterId string null =null
voterId int32 1+ =-1 @brokerId
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    voterDirectoryId uuid 1+
    leaderId int32 @brokerId
    leaderEpoch int32
leaderEndpoints []LeaderEndpoint 1+
  name string 1+
  host string 1+
  port uint16 1+`,
  BeginQuorumEpochResponse: `0-1 flexible:1+
errorCode int16
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    leaderId int32 @brokerId
    leaderEpoch int32
nodeEndpoints []NodeEndpoint 1+ tag:0
  nodeId int32 1+ @brokerId
  host string 1+
  port uint16 1+`,
  BrokerHeartbeatRequest: `0-2 flexible:0+
brokerId int32 @brokerId
brokerEpoch int64 =-1
currentMetadataOffset int64
wantFence bool
wantShutDown bool
offlineLogDirs []uuid 1+ tag:0
cordonedLogDirs []uuid 2+ null tag:1 =null`,
  BrokerHeartbeatResponse: `0-2 flexible:0+
throttleTimeMs int32
errorCode int16
isCaughtUp bool =false
isFenced bool =true
shouldShutDown bool`,
  BrokerRegistrationRequest: `0-4 flexible:0+
brokerId int32 @brokerId
clusterId string
incarnationId uuid
listeners []Listener
  name string
  host string
  port uint16
  securityProtocol int16
features []Feature
  name string
  minSupportedVersion int16
  maxSupportedVersion int16
rack string null
isMigratingZkBroker bool 1+ =false
logDirs []uuid 2+
previousBrokerEpoch int64 3+ =-1`,
  BrokerRegistrationResponse: `0-4 flexible:0+
throttleTimeMs int32
errorCode int16
brokerEpoch int64 =-1`,
  ConsumerGroupDescribeRequest: `0-1 flexible:0+
groupIds []string @groupId
includeAuthorizedOperations bool`,
  ConsumerGroupDescribeResponse: `0-1 flexible:0+
throttleTimeMs int32
groups []DescribedGroup
  errorCode int16
  errorMessage string null =null
  groupId string @groupId
  groupState string
  groupEpoch int32
  assignmentEpoch int32
  assignorName string
  members []Member
    memberId string
    instanceId string null =null
    rackId string null =null
    memberEpoch int32
    clientId string
    clientHost string
    subscribedTopicNames []string @topicName
    subscribedTopicRegex string null =null
    assignment Assignment
    targetAssignment Assignment
    memberType int8 1+ =-1
  authorizedOperations int32 =-2147483648
struct TopicPartitions
  topicId uuid
  topicName string @topicName
  partitions []int32
struct Assignment
  topicPartitions []TopicPartitions`,
  ConsumerGroupHeartbeatRequest: `0-1 flexible:0+
groupId string @groupId
memberId string
memberEpoch int32
instanceId string null =null
rackId string null =null
rebalanceTimeoutMs int32 =-1
subscribedTopicNames []string null =null @topicName
subscribedTopicRegex string 1+ null =null
serverAssignor string null =null
topicPartitions []TopicPartitions null =null
  topicId uuid
  partitions []int32`,
  ConsumerGroupHeartbeatResponse: `0-1 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
memberId string null =null
memberEpoch int32
heartbeatIntervalMs int32
assignment Assignment null =null
  topicPartitions []TopicPartitions
struct TopicPartitions
  topicId uuid
  partitions []int32`,
  ConsumerProtocolAssignment: `0-3 flexible:none
assignedPartitions []TopicPartition
  topic string @topicName
  partitions []int32
userData bytes null =null`,
  ConsumerProtocolSubscription: `0-3 flexible:none
topics []string
userData bytes null =null
ownedPartitions []TopicPartition 1+
  topic string 1+ @topicName
  partitions []int32 1+
generationId int32 2+ =-1
rackId string 3+ null =null`,
  ControlRecordTypeSchema: `0 flexible:none
type int16`,
  ControlledShutdownRequest: `none flexible:none`,
  ControlledShutdownResponse: `none flexible:none`,
  ControllerRegistrationRequest: `0 flexible:0+
controllerId int32
incarnationId uuid
zkMigrationReady bool
listeners []Listener
  name string
  host string
  port uint16
  securityProtocol int16
features []Feature
  name string
  minSupportedVersion int16
  maxSupportedVersion int16`,
  ControllerRegistrationResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null`,
  CreateAclsRequest: `1-3 flexible:2+
creations []AclCreation
  resourceType int8
  resourceName string
  resourcePatternType int8 1+ =3
  principal string
  host string
  operation int8
  permissionType int8`,
  CreateAclsResponse: `1-3 flexible:2+
throttleTimeMs int32
results []AclCreationResult
  errorCode int16
  errorMessage string null`,
  CreateDelegationTokenRequest: `1-3 flexible:2+
ownerPrincipalType string 3+ null
ownerPrincipalName string 3+ null
renewers []CreatableRenewers
  principalType string
  principalName string
maxLifetimeMs int64`,
  CreateDelegationTokenResponse: `1-3 flexible:2+
errorCode int16
principalType string
principalName string
tokenRequesterPrincipalType string 3+
tokenRequesterPrincipalName string 3+
issueTimestampMs int64
expiryTimestampMs int64
maxTimestampMs int64
tokenId string
hmac bytes
throttleTimeMs int32`,
  CreatePartitionsRequest: `0-3 flexible:2+
topics []CreatePartitionsTopic
  name string @topicName
  count int32
  assignments []CreatePartitionsAssignment null
    brokerIds []int32 @brokerId
timeoutMs int32
validateOnly bool`,
  CreatePartitionsResponse: `0-3 flexible:2+
throttleTimeMs int32
results []CreatePartitionsTopicResult
  name string @topicName
  errorCode int16
  errorMessage string null =null`,
  CreateTopicsRequest: `2-7 flexible:5+
topics []CreatableTopic
  name string @topicName
  numPartitions int32
  replicationFactor int16
  assignments []CreatableReplicaAssignment
    partitionIndex int32
    brokerIds []int32 @brokerId
  configs []CreatableTopicConfig
    name string
    value string null
timeoutMs int32 =60000
validateOnly bool 1+ =false`,
  CreateTopicsResponse: `2-7 flexible:5+
throttleTimeMs int32 2+
topics []CreatableTopicResult
  name string @topicName
  topicId uuid 7+
  errorCode int16
  errorMessage string 1+ null:0+
  topicConfigErrorCode int16 5+ tag:0
  numPartitions int32 5+ =-1
  replicationFactor int16 5+ =-1
  configs []CreatableTopicConfigs 5+ null
    name string 5+
    value string 5+ null
    readOnly bool 5+
    configSource int8 5+ =-1
    isSensitive bool 5+`,
  DefaultPrincipalData: `0 flexible:0+
type string
name string
tokenAuthenticated bool`,
  DeleteAclsRequest: `1-3 flexible:2+
filters []DeleteAclsFilter
  resourceTypeFilter int8
  resourceNameFilter string null
  patternTypeFilter int8 1+ =3
  principalFilter string null
  hostFilter string null
  operation int8
  permissionType int8`,
  DeleteAclsResponse: `1-3 flexible:2+
throttleTimeMs int32
filterResults []DeleteAclsFilterResult
  errorCode int16
  errorMessage string null
  matchingAcls []DeleteAclsMatchingAcl
    errorCode int16
    errorMessage string null
    resourceType int8
    resourceName string
    patternType int8 1+ =3
    principal string
    host string
    operation int8
    permissionType int8`,
  DeleteGroupsRequest: `0-2 flexible:2+
groupsNames []string @groupId`,
  DeleteGroupsResponse: `0-2 flexible:2+
throttleTimeMs int32
results []DeletableGroupResult
  groupId string @groupId
  errorCode int16`,
  DeleteRecordsRequest: `0-2 flexible:2+
topics []DeleteRecordsTopic
  name string @topicName
  partitions []DeleteRecordsPartition
    partitionIndex int32
    offset int64
timeoutMs int32`,
  DeleteRecordsResponse: `0-2 flexible:2+
throttleTimeMs int32
topics []DeleteRecordsTopicResult
  name string @topicName
  partitions []DeleteRecordsPartitionResult
    partitionIndex int32
    lowWatermark int64
    errorCode int16`,
  DeleteShareGroupOffsetsRequest: `0 flexible:0+
groupId string @groupId
topics []DeleteShareGroupOffsetsRequestTopic
  topicName string @topicName`,
  DeleteShareGroupOffsetsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
responses []DeleteShareGroupOffsetsResponseTopic
  topicName string @topicName
  topicId uuid
  errorCode int16
  errorMessage string null =null`,
  DeleteShareGroupStateRequest: `0 flexible:0+
groupId string
topics []DeleteStateData
  topicId uuid
  partitions []PartitionData
    partition int32`,
  DeleteShareGroupStateResponse: `0 flexible:0+
results []DeleteStateResult
  topicId uuid
  partitions []PartitionResult
    partition int32
    errorCode int16
    errorMessage string null =null`,
  DeleteTopicsRequest: `1-6 flexible:4+
topics []DeleteTopicState 6+
  name string 6+ null =null @topicName
  topicId uuid 6+
topicNames []string 0-5 @topicName
timeoutMs int32`,
  DeleteTopicsResponse: `1-6 flexible:4+
throttleTimeMs int32 1+
responses []DeletableTopicResult
  name string null:6+ @topicName
  topicId uuid 6+
  errorCode int16
  errorMessage string 5+ null =null`,
  DescribeAclsRequest: `1-3 flexible:2+
resourceTypeFilter int8
resourceNameFilter string null
patternTypeFilter int8 1+ =3
principalFilter string null
hostFilter string null
operation int8
permissionType int8`,
  DescribeAclsResponse: `1-3 flexible:2+
throttleTimeMs int32
errorCode int16
errorMessage string null
resources []DescribeAclsResource
  resourceType int8
  resourceName string
  patternType int8 1+ =3
  acls []AclDescription
    principal string
    host string
    operation int8
    permissionType int8`,
  DescribeClientQuotasRequest: `0-1 flexible:1+
components []ComponentData
  entityType string
  matchType int8
  match string null
strict bool`,
  DescribeClientQuotasResponse: `0-1 flexible:1+
throttleTimeMs int32
errorCode int16
errorMessage string null
entries []EntryData null
  entity []EntityData
    entityType string
    entityName string null
  values []ValueData
    key string
    value float64`,
  DescribeClusterRequest: `0-2 flexible:0+
includeClusterAuthorizedOperations bool
endpointType int8 1+ =1
includeFencedBrokers bool 2+`,
  DescribeClusterResponse: `0-2 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
endpointType int8 1+ =1
clusterId string
controllerId int32 =-1 @brokerId
brokers []DescribeClusterBroker
  brokerId int32 @brokerId
  host string
  port int32
  rack string null =null
  isFenced bool 2+
clusterAuthorizedOperations int32 =-2147483648`,
  DescribeConfigsRequest: `1-4 flexible:4+
resources []DescribeConfigsResource
  resourceType int8
  resourceName string
  configurationKeys []string null
includeSynonyms bool 1+ =false
includeDocumentation bool 3+ =false`,
  DescribeConfigsResponse: `1-4 flexible:4+
throttleTimeMs int32
results []DescribeConfigsResult
  errorCode int16
  errorMessage string null
  resourceType int8
  resourceName string
  configs []DescribeConfigsResourceResult
    name string
    value string null
    readOnly bool
    configSource int8 1+ =-1
    isSensitive bool
    synonyms []DescribeConfigsSynonym 1+
      name string 1+
      value string 1+ null:0+
      source int8 1+
    configType int8 3+ =0
    documentation string 3+ null:0+`,
  DescribeDelegationTokenRequest: `1-3 flexible:2+
owners []DescribeDelegationTokenOwner null
  principalType string
  principalName string`,
  DescribeDelegationTokenResponse: `1-3 flexible:2+
errorCode int16
tokens []DescribedDelegationToken
  principalType string
  principalName string
  tokenRequesterPrincipalType string 3+
  tokenRequesterPrincipalName string 3+
  issueTimestamp int64
  expiryTimestamp int64
  maxTimestamp int64
  tokenId string
  hmac bytes
  renewers []DescribedDelegationTokenRenewer
    principalType string
    principalName string
throttleTimeMs int32`,
  DescribeGroupsRequest: `0-6 flexible:5+
groups []string @groupId
includeAuthorizedOperations bool 3+`,
  DescribeGroupsResponse: `0-6 flexible:5+
throttleTimeMs int32 1+
groups []DescribedGroup
  errorCode int16
  errorMessage string 6+ null =null
  groupId string @groupId
  groupState string
  protocolType string
  protocolData string
  members []DescribedGroupMember
    memberId string
    groupInstanceId string 4+ null =null
    clientId string
    clientHost string
    memberMetadata bytes
    memberAssignment bytes
  authorizedOperations int32 3+ =-2147483648`,
  DescribeLogDirsRequest: `1-5 flexible:2+
topics []DescribableLogDirTopic null
  topic string @topicName
  partitions []int32`,
  DescribeLogDirsResponse: `1-5 flexible:2+
throttleTimeMs int32
errorCode int16 3+
results []DescribeLogDirsResult
  errorCode int16
  logDir string
  topics []DescribeLogDirsTopic
    name string @topicName
    partitions []DescribeLogDirsPartition
      partitionIndex int32
      partitionSize int64
      offsetLag int64
      isFutureKey bool
  totalBytes int64 4+ =-1
  usableBytes int64 4+ =-1
  isCordoned bool 5+ =false`,
  DescribeProducersRequest: `0 flexible:0+
topics []TopicRequest
  name string @topicName
  partitionIndexes []int32`,
  DescribeProducersResponse: `0 flexible:0+
throttleTimeMs int32
topics []TopicResponse
  name string @topicName
  partitions []PartitionResponse
    partitionIndex int32
    errorCode int16
    errorMessage string null =null
    activeProducers []ProducerState
      producerId int64 @producerId
      producerEpoch int32
      lastSequence int32 =-1
      lastTimestamp int64 =-1
      coordinatorEpoch int32
      currentTxnStartOffset int64 =-1`,
  DescribeQuorumRequest: `0-2 flexible:0+
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32`,
  DescribeQuorumResponse: `0-2 flexible:0+
errorCode int16
errorMessage string 2+ null
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    errorMessage string 2+ null
    leaderId int32 @brokerId
    leaderEpoch int32
    highWatermark int64
    currentVoters []ReplicaState
    observers []ReplicaState
nodes []Node 2+
  nodeId int32 2+ @brokerId
  listeners []Listener 2+
    name string 2+
    host string 2+
    port uint16 2+
struct ReplicaState
  replicaId int32 @brokerId
  replicaDirectoryId uuid 2+
  logEndOffset int64
  lastFetchTimestamp int64 1+ =-1
  lastCaughtUpTimestamp int64 1+ =-1`,
  DescribeShareGroupOffsetsRequest: `0-1 flexible:0+
groups []DescribeShareGroupOffsetsRequestGroup
  groupId string @groupId
  topics []DescribeShareGroupOffsetsRequestTopic null
    topicName string @topicName
    partitions []int32`,
  DescribeShareGroupOffsetsResponse: `0-1 flexible:0+
throttleTimeMs int32
groups []DescribeShareGroupOffsetsResponseGroup
  groupId string @groupId
  topics []DescribeShareGroupOffsetsResponseTopic
    topicName string @topicName
    topicId uuid
    partitions []DescribeShareGroupOffsetsResponsePartition
      partitionIndex int32
      startOffset int64
      leaderEpoch int32
      lag int64 1+ =-1
      errorCode int16
      errorMessage string null =null
  errorCode int16
  errorMessage string null =null`,
  DescribeTopicPartitionsRequest: `0 flexible:0+
topics []TopicRequest
  name string @topicName
responsePartitionLimit int32 =2000
cursor Cursor null =null
  topicName string @topicName
  partitionIndex int32`,
  DescribeTopicPartitionsResponse: `0 flexible:0+
throttleTimeMs int32
topics []DescribeTopicPartitionsResponseTopic
  errorCode int16
  name string null @topicName
  topicId uuid
  isInternal bool =false
  partitions []DescribeTopicPartitionsResponsePartition
    errorCode int16
    partitionIndex int32
    leaderId int32 @brokerId
    leaderEpoch int32 =-1
    replicaNodes []int32 @brokerId
    isrNodes []int32 @brokerId
    eligibleLeaderReplicas []int32 null =null @brokerId
    lastKnownElr []int32 null =null @brokerId
    offlineReplicas []int32 @brokerId
  topicAuthorizedOperations int32 =-2147483648
nextCursor Cursor null =null
  topicName string @topicName
  partitionIndex int32`,
  DescribeTransactionsRequest: `0 flexible:0+
transactionalIds []string @transactionalId`,
  DescribeTransactionsResponse: `0 flexible:0+
throttleTimeMs int32
transactionStates []TransactionState
  errorCode int16
  transactionalId string @transactionalId
  transactionState string
  transactionTimeoutMs int32
  transactionStartTimeMs int64
  producerId int64 @producerId
  producerEpoch int16
  topics []TopicData
    topic string @topicName
    partitions []int32`,
  DescribeUserScramCredentialsRequest: `0 flexible:0+
users []UserName null
  name string`,
  DescribeUserScramCredentialsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null
results []DescribeUserScramCredentialsResult
  user string
  errorCode int16
  errorMessage string null
  credentialInfos []CredentialInfo
    mechanism int8
    iterations int32`,
  ElectLeadersRequest: `0-2 flexible:2+
electionType int8 1+
topicPartitions []TopicPartitions null
  topic string @topicName
  partitions []int32
timeoutMs int32 =60000`,
  ElectLeadersResponse: `0-2 flexible:2+
throttleTimeMs int32
errorCode int16 1+
replicaElectionResults []ReplicaElectionResult
  topic string @topicName
  partitionResult []PartitionResult
    partitionId int32
    errorCode int16
    errorMessage string null`,
  EndQuorumEpochRequest: `0-1 flexible:1+
clusterId string null =null
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    leaderId int32 @brokerId
    leaderEpoch int32
    preferredSuccessors []int32 0
    preferredCandidates []ReplicaInfo 1+
      candidateId int32 1+ @brokerId
      candidateDirectoryId uuid 1+
leaderEndpoints []LeaderEndpoint 1+
  name string 1+
  host string 1+
  port uint16 1+`,
  EndQuorumEpochResponse: `0-1 flexible:1+
errorCode int16
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    leaderId int32 @brokerId
    leaderEpoch int32
nodeEndpoints []NodeEndpoint 1+ tag:0
  nodeId int32 1+ @brokerId
  host string 1+
  port uint16 1+`,
  EndTxnMarker: `0 flexible:none
coordinatorEpoch int32`,
  EndTxnRequest: `0-5 flexible:3+
transactionalId string @transactionalId
producerId int64 @producerId
producerEpoch int16
committed bool`,
  EndTxnResponse: `0-5 flexible:3+
throttleTimeMs int32
errorCode int16
producerId int64 5+ =-1 @producerId
producerEpoch int16 5+ =-1`,
  EnvelopeRequest: `0 flexible:0+
requestData bytes
requestPrincipal bytes null
clientHostAddress bytes`,
  EnvelopeResponse: `0 flexible:0+
responseData bytes null =null
errorCode int16`,
  ExpireDelegationTokenRequest: `1-2 flexible:2+
hmac bytes
expiryTimePeriodMs int64`,
  ExpireDelegationTokenResponse: `1-2 flexible:2+
errorCode int16
expiryTimestampMs int64
throttleTimeMs int32`,
  FetchRequest: `4-18 flexible:12+
clusterId string 12+ null tag:0 =null
replicaId int32 0-14 =-1 @brokerId
replicaState ReplicaState 15+ tag:1
  replicaId int32 15+ =-1 @brokerId
  replicaEpoch int64 15+ =-1
maxWaitMs int32
minBytes int32
maxBytes int32 3+ =0x7fffffff
isolationLevel int8 4+ =0
sessionId int32 7+ =0
sessionEpoch int32 7+ =-1
topics []FetchTopic
  topic string 0-12 @topicName
  topicId uuid 13+
  partitions []FetchPartition
    partition int32
    currentLeaderEpoch int32 9+ =-1
    fetchOffset int64
    lastFetchedEpoch int32 12+ =-1
    logStartOffset int64 5+ =-1
    partitionMaxBytes int32
    replicaDirectoryId uuid 17+ tag:0
    highWatermark int64 18+ tag:1 =9223372036854775807
forgottenTopicsData []ForgottenTopic 7+
  topic string 7-12 @topicName
  topicId uuid 13+
  partitions []int32 7+
rackId string 11+`,
  FetchResponse: `4-18 flexible:12+
throttleTimeMs int32 1+
errorCode int16 7+
sessionId int32 7+ =0
responses []FetchableTopicResponse
  topic string 0-12 @topicName
  topicId uuid 13+
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    highWatermark int64
    lastStableOffset int64 4+ =-1
    logStartOffset int64 5+ =-1
    divergingEpoch EpochEndOffset 12+ tag:0
      epoch int32 12+ =-1
      endOffset int64 12+ =-1
    currentLeader LeaderIdAndEpoch 12+ tag:1
      leaderId int32 12+ =-1 @brokerId
      leaderEpoch int32 12+ =-1
    snapshotId SnapshotId 12+ tag:2
      endOffset int64 =-1
      epoch int32 =-1
    abortedTransactions []AbortedTransaction 4+ null
      producerId int64 4+ @producerId
      firstOffset int64 4+
    preferredReadReplica int32 11+ =-1 @brokerId
    records records null
nodeEndpoints []NodeEndpoint 16+ tag:0
  nodeId int32 16+ @brokerId
  host string 16+
  port int32 16+
  rack string 16+ null =null`,
  FetchSnapshotRequest: `0-1 flexible:0+
clusterId string null tag:0 =null
replicaId int32 =-1 @brokerId
maxBytes int32 =0x7fffffff
topics []TopicSnapshot
  name string @topicName
  partitions []PartitionSnapshot
    partition int32
    currentLeaderEpoch int32
    snapshotId SnapshotId
      endOffset int64
      epoch int32
    position int64
    replicaDirectoryId uuid 1+ tag:0`,
  FetchSnapshotResponse: `0-1 flexible:0+
throttleTimeMs int32
errorCode int16
topics []TopicSnapshot
  name string @topicName
  partitions []PartitionSnapshot
    index int32
    errorCode int16
    snapshotId SnapshotId
      endOffset int64
      epoch int32
    currentLeader LeaderIdAndEpoch tag:0
      leaderId int32 @brokerId
      leaderEpoch int32
    size int64
    position int64
    unalignedRecords records
nodeEndpoints []NodeEndpoint 1+ tag:0
  nodeId int32 1+ @brokerId
  host string 1+
  port uint16 1+`,
  FindCoordinatorRequest: `0-6 flexible:3+
key string 0-3
keyType int8 1+ =0
coordinatorKeys []string 4+`,
  FindCoordinatorResponse: `0-6 flexible:3+
throttleTimeMs int32 1+
errorCode int16 0-3
errorMessage string 1-3 null
nodeId int32 0-3 @brokerId
host string 0-3
port int32 0-3
coordinators []Coordinator 4+
  key string 4+
  nodeId int32 4+ @brokerId
  host string 4+
  port int32 4+
  errorCode int16 4+
  errorMessage string 4+ null`,
  GetTelemetrySubscriptionsRequest: `0 flexible:0+
clientInstanceId uuid`,
  GetTelemetrySubscriptionsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
clientInstanceId uuid
subscriptionId int32
acceptedCompressionTypes []int8
pushIntervalMs int32
telemetryMaxBytes int32
deltaTemporality bool
requestedMetrics []string`,
  HeartbeatRequest: `0-4 flexible:4+
groupId string @groupId
generationId int32
memberId string
groupInstanceId string 3+ null =null`,
  HeartbeatResponse: `0-4 flexible:4+
throttleTimeMs int32 1+
errorCode int16`,
  IncrementalAlterConfigsRequest: `0-1 flexible:1+
resources []AlterConfigsResource
  resourceType int8
  resourceName string
  configs []AlterableConfig
    name string
    configOperation int8
    value string null
validateOnly bool`,
  IncrementalAlterConfigsResponse: `0-1 flexible:1+
throttleTimeMs int32
responses []AlterConfigsResourceResponse
  errorCode int16
  errorMessage string null
  resourceType int8
  resourceName string`,
  InitProducerIdRequest: `0-6 flexible:2+
transactionalId string null @transactionalId
transactionTimeoutMs int32
producerId int64 3+ =-1 @producerId
producerEpoch int16 3+ =-1
enable2Pc bool 6+ =false
keepPreparedTxn bool 6+ =false`,
  InitProducerIdResponse: `0-6 flexible:2+
throttleTimeMs int32
errorCode int16
producerId int64 =-1 @producerId
producerEpoch int16
ongoingTxnProducerId int64 6+ =-1 @producerId
ongoingTxnProducerEpoch int16 6+ =-1`,
  InitializeShareGroupStateRequest: `0 flexible:0+
groupId string
topics []InitializeStateData
  topicId uuid
  partitions []PartitionData
    partition int32
    stateEpoch int32
    startOffset int64`,
  InitializeShareGroupStateResponse: `0 flexible:0+
results []InitializeStateResult
  topicId uuid
  partitions []PartitionResult
    partition int32
    errorCode int16
    errorMessage string null =null`,
  JoinGroupRequest: `0-9 flexible:6+
groupId string @groupId
sessionTimeoutMs int32
rebalanceTimeoutMs int32 1+ =-1
memberId string
groupInstanceId string 5+ null =null
protocolType string
protocols []JoinGroupRequestProtocol
  name string
  metadata bytes
reason string 8+ null =null`,
  JoinGroupResponse: `0-9 flexible:6+
throttleTimeMs int32 2+
errorCode int16
generationId int32 =-1
protocolType string 7+ null =null
protocolName string null:7+
leader string
skipAssignment bool 9+ =false
memberId string
members []JoinGroupResponseMember
  memberId string
  groupInstanceId string 5+ null =null
  metadata bytes`,
  KRaftVersionRecord: `0 flexible:0+
version int16
kRaftVersion int16`,
  LeaderAndIsrRequest: `none flexible:none`,
  LeaderAndIsrResponse: `none flexible:none`,
  LeaderChangeMessage: `0-1 flexible:0+
version int16
leaderId int32 @brokerId
voters []Voter
grantingVoters []Voter
struct Voter
  voterId int32
  voterDirectoryId uuid 1+`,
  LeaveGroupRequest: `0-5 flexible:4+
groupId string @groupId
memberId string 0-2
members []MemberIdentity 3+
  memberId string 3+
  groupInstanceId string 3+ null =null
  reason string 5+ null =null`,
  LeaveGroupResponse: `0-5 flexible:4+
throttleTimeMs int32 1+
errorCode int16
members []MemberResponse 3+
  memberId string 3+
  groupInstanceId string 3+ null
  errorCode int16 3+`,
  ListConfigResourcesRequest: `0-1 flexible:0+
resourceTypes []int8 1+`,
  ListConfigResourcesResponse: `0-1 flexible:0+
throttleTimeMs int32
errorCode int16
configResources []ConfigResource
  resourceName string
  resourceType int8 1+ =16`,
  ListGroupsRequest: `0-5 flexible:3+
statesFilter []string 4+
typesFilter []string 5+`,
  ListGroupsResponse: `0-5 flexible:3+
throttleTimeMs int32 1+
errorCode int16
groups []ListedGroup
  groupId string @groupId
  protocolType string
  groupState string 4+
  groupType string 5+`,
  ListOffsetsRequest: `1-11 flexible:6+
replicaId int32 @brokerId
isolationLevel int8 2+
topics []ListOffsetsTopic
  name string @topicName
  partitions []ListOffsetsPartition
    partitionIndex int32
    currentLeaderEpoch int32 4+ =-1
    timestamp int64
timeoutMs int32 10+`,
  ListOffsetsResponse: `1-11 flexible:6+
throttleTimeMs int32 2+
topics []ListOffsetsTopicResponse
  name string @topicName
  partitions []ListOffsetsPartitionResponse
    partitionIndex int32
    errorCode int16
    timestamp int64 1+ =-1
    offset int64 1+ =-1
    leaderEpoch int32 4+ =-1`,
  ListPartitionReassignmentsRequest: `0 flexible:0+
timeoutMs int32 =60000
topics []ListPartitionReassignmentsTopics null =null
  name string @topicName
  partitionIndexes []int32`,
  ListPartitionReassignmentsResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null
topics []OngoingTopicReassignment
  name string @topicName
  partitions []OngoingPartitionReassignment
    partitionIndex int32
    replicas []int32 @brokerId
    addingReplicas []int32 @brokerId
    removingReplicas []int32 @brokerId`,
  ListTransactionsRequest: `0-2 flexible:0+
stateFilters []string
producerIdFilters []int64 @producerId
durationFilter int64 1+ =-1
transactionalIdPattern string 2+ null =null`,
  ListTransactionsResponse: `0-2 flexible:0+
throttleTimeMs int32
errorCode int16
unknownStateFilters []string
transactionStates []TransactionState
  transactionalId string @transactionalId
  producerId int64 @producerId
  transactionState string`,
  MetadataRequest: `0-13 flexible:9+
topics []MetadataRequestTopic null:1+
  topicId uuid 10+
  name string null:10+ @topicName
allowAutoTopicCreation bool 4+ =true
includeClusterAuthorizedOperations bool 8-10
includeTopicAuthorizedOperations bool 8+`,
  MetadataResponse: `0-13 flexible:9+
throttleTimeMs int32 3+
brokers []MetadataResponseBroker
  nodeId int32 @brokerId
  host string
  port int32
  rack string 1+ null =null
clusterId string 2+ null =null
controllerId int32 1+ =-1 @brokerId
topics []MetadataResponseTopic
  errorCode int16
  name string null:12+ @topicName
  topicId uuid 10+
  isInternal bool 1+ =false
  partitions []MetadataResponsePartition
    errorCode int16
    partitionIndex int32
    leaderId int32 @brokerId
    leaderEpoch int32 7+ =-1
    replicaNodes []int32 @brokerId
    isrNodes []int32 @brokerId
    offlineReplicas []int32 5+ @brokerId
  topicAuthorizedOperations int32 8+ =-2147483648
clusterAuthorizedOperations int32 8-10 =-2147483648
errorCode int16 13+`,
  OffsetCommitRequest: `2-10 flexible:8+
groupId string @groupId
generationIdOrMemberEpoch int32 1+ =-1
memberId string 1+
groupInstanceId string 7+ null =null
retentionTimeMs int64 2-4 =-1
topics []OffsetCommitRequestTopic
  name string 0-9 @topicName
  topicId uuid 10+
  partitions []OffsetCommitRequestPartition
    partitionIndex int32
    committedOffset int64
    committedLeaderEpoch int32 6+ =-1
    committedMetadata string null`,
  OffsetCommitResponse: `2-10 flexible:8+
throttleTimeMs int32 3+
topics []OffsetCommitResponseTopic
  name string 0-9 @topicName
  topicId uuid 10+
  partitions []OffsetCommitResponsePartition
    partitionIndex int32
    errorCode int16`,
  OffsetDeleteRequest: `0 flexible:none
groupId string @groupId
topics []OffsetDeleteRequestTopic
  name string @topicName
  partitions []OffsetDeleteRequestPartition
    partitionIndex int32`,
  OffsetDeleteResponse: `0 flexible:none
errorCode int16
throttleTimeMs int32
topics []OffsetDeleteResponseTopic
  name string @topicName
  partitions []OffsetDeleteResponsePartition
    partitionIndex int32
    errorCode int16`,
  OffsetFetchRequest: `1-10 flexible:6+
groupId string 0-7 @groupId
topics []OffsetFetchRequestTopic 0-7 null:2-7
  name string 0-7 @topicName
  partitionIndexes []int32 0-7
groups []OffsetFetchRequestGroup 8+
  groupId string 8+ @groupId
  memberId string 9+ null =null
  memberEpoch int32 9+ =-1
  topics []OffsetFetchRequestTopics 8+ null
    name string 8-9 @topicName
    topicId uuid 10+
    partitionIndexes []int32 8+
requireStable bool 7+ =false`,
  OffsetFetchResponse: `1-10 flexible:6+
throttleTimeMs int32 3+
topics []OffsetFetchResponseTopic 0-7
  name string 0-7 @topicName
  partitions []OffsetFetchResponsePartition 0-7
    partitionIndex int32 0-7
    committedOffset int64 0-7
    committedLeaderEpoch int32 5-7 =-1
    metadata string 0-7 null
    errorCode int16 0-7
errorCode int16 2-7 =0
groups []OffsetFetchResponseGroup 8+
  groupId string 8+ @groupId
  topics []OffsetFetchResponseTopics 8+
    name string 8-9 @topicName
    topicId uuid 10+
    partitions []OffsetFetchResponsePartitions 8+
      partitionIndex int32 8+
      committedOffset int64 8+
      committedLeaderEpoch int32 8+ =-1
      metadata string 8+ null
      errorCode int16 8+
  errorCode int16 8+ =0`,
  OffsetForLeaderEpochRequest: `2-4 flexible:4+
replicaId int32 3+ =-2 @brokerId
topics []OffsetForLeaderTopic
  topic string @topicName
  partitions []OffsetForLeaderPartition
    partition int32
    currentLeaderEpoch int32 2+ =-1
    leaderEpoch int32`,
  OffsetForLeaderEpochResponse: `2-4 flexible:4+
throttleTimeMs int32 2+
topics []OffsetForLeaderTopicResult
  topic string @topicName
  partitions []EpochEndOffset
    errorCode int16
    partition int32
    leaderEpoch int32 1+ =-1
    endOffset int64 =-1`,
  ProduceRequest: `3-13 flexible:9+
transactionalId string 3+ null =null @transactionalId
acks int16
timeoutMs int32
topicData []TopicProduceData
  name string 0-12 @topicName
  topicId uuid 13+
  partitionData []PartitionProduceData
    index int32
    records records null`,
  ProduceResponse: `3-13 flexible:9+
responses []TopicProduceResponse
  name string 0-12 @topicName
  topicId uuid 13+
  partitionResponses []PartitionProduceResponse
    index int32
    errorCode int16
    baseOffset int64
    logAppendTimeMs int64 2+ =-1
    logStartOffset int64 5+ =-1
    recordErrors []BatchIndexAndErrorMessage 8+
      batchIndex int32 8+
      batchIndexErrorMessage string 8+ null =null
    errorMessage string 8+ null =null
    currentLeader LeaderIdAndEpoch 10+ tag:0
      leaderId int32 10+ =-1 @brokerId
      leaderEpoch int32 10+ =-1
throttleTimeMs int32 1+ =0
nodeEndpoints []NodeEndpoint 10+ tag:0
  nodeId int32 10+ @brokerId
  host string 10+
  port int32 10+
  rack string 10+ null =null`,
  PushTelemetryRequest: `0 flexible:0+
clientInstanceId uuid
subscriptionId int32
terminating bool
compressionType int8
metrics bytes`,
  PushTelemetryResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16`,
  ReadShareGroupStateRequest: `0 flexible:0+
groupId string
topics []ReadStateData
  topicId uuid
  partitions []PartitionData
    partition int32
    leaderEpoch int32`,
  ReadShareGroupStateResponse: `0 flexible:0+
results []ReadStateResult
  topicId uuid
  partitions []PartitionResult
    partition int32
    errorCode int16
    errorMessage string null =null
    stateEpoch int32
    startOffset int64
    stateBatches []StateBatch
      firstOffset int64
      lastOffset int64
      deliveryState int8
      deliveryCount int16`,
  ReadShareGroupStateSummaryRequest: `0-1 flexible:0+
groupId string
topics []ReadStateSummaryData
  topicId uuid
  partitions []PartitionData
    partition int32
    leaderEpoch int32`,
  ReadShareGroupStateSummaryResponse: `0-1 flexible:0+
results []ReadStateSummaryResult
  topicId uuid
  partitions []PartitionResult
    partition int32
    errorCode int16
    errorMessage string null =null
    stateEpoch int32
    leaderEpoch int32
    startOffset int64
    deliveryCompleteCount int32 1+ =-1`,
  RemoveRaftVoterRequest: `0 flexible:0+
clusterId string null
voterId int32
voterDirectoryId uuid`,
  RemoveRaftVoterResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null`,
  RenewDelegationTokenRequest: `1-2 flexible:2+
hmac bytes
renewPeriodMs int64`,
  RenewDelegationTokenResponse: `1-2 flexible:2+
errorCode int16
expiryTimestampMs int64
throttleTimeMs int32`,
  RequestHeader: `1-2 flexible:2+
requestApiKey int16
requestApiVersion int16
correlationId int32
clientId string 1+ null flexible:none`,
  ResponseHeader: `0-1 flexible:1+
correlationId int32`,
  SaslAuthenticateRequest: `0-2 flexible:2+
authBytes bytes`,
  SaslAuthenticateResponse: `0-2 flexible:2+
errorCode int16
errorMessage string null
authBytes bytes
sessionLifetimeMs int64 1+ =0`,
  SaslHandshakeRequest: `0-1 flexible:none
mechanism string`,
  SaslHandshakeResponse: `0-1 flexible:none
errorCode int16
mechanisms []string`,
  ShareAcknowledgeRequest: `1-2 flexible:0+
groupId string null =null @groupId
memberId string null
shareSessionEpoch int32
isRenewAck bool 2+ =false
topics []AcknowledgeTopic
  topicId uuid
  partitions []AcknowledgePartition
    partitionIndex int32
    acknowledgementBatches []AcknowledgementBatch
      firstOffset int64
      lastOffset int64
      acknowledgeTypes []int8`,
  ShareAcknowledgeResponse: `1-2 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
acquisitionLockTimeoutMs int32 2+
responses []ShareAcknowledgeTopicResponse
  topicId uuid
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    errorMessage string null =null
    currentLeader LeaderIdAndEpoch
      leaderId int32
      leaderEpoch int32
nodeEndpoints []NodeEndpoint
  nodeId int32 @brokerId
  host string
  port int32
  rack string null =null`,
  ShareFetchRequest: `1-2 flexible:0+
groupId string null =null @groupId
memberId string null
shareSessionEpoch int32
maxWaitMs int32
minBytes int32
maxBytes int32 =0x7fffffff
maxRecords int32 1+
batchSize int32 1+
shareAcquireMode int8 2+ =0
isRenewAck bool 2+ =false
topics []FetchTopic
  topicId uuid
  partitions []FetchPartition
    partitionIndex int32
    partitionMaxBytes int32 0
    acknowledgementBatches []AcknowledgementBatch
      firstOffset int64
      lastOffset int64
      acknowledgeTypes []int8
forgottenTopicsData []ForgottenTopic
  topicId uuid
  partitions []int32`,
  ShareFetchResponse: `1-2 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
acquisitionLockTimeoutMs int32 1+
responses []ShareFetchableTopicResponse
  topicId uuid
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    errorMessage string null =null
    acknowledgeErrorCode int16
    acknowledgeErrorMessage string null =null
    currentLeader LeaderIdAndEpoch
      leaderId int32
      leaderEpoch int32
    records records null:0
    acquiredRecords []AcquiredRecords
      firstOffset int64
      lastOffset int64
      deliveryCount int16
nodeEndpoints []NodeEndpoint
  nodeId int32 @brokerId
  host string
  port int32
  rack string null =null`,
  ShareGroupDescribeRequest: `1 flexible:0+
groupIds []string @groupId
includeAuthorizedOperations bool`,
  ShareGroupDescribeResponse: `1 flexible:0+
throttleTimeMs int32
groups []DescribedGroup
  errorCode int16
  errorMessage string null =null
  groupId string @groupId
  groupState string
  groupEpoch int32
  assignmentEpoch int32
  assignorName string
  members []Member
    memberId string
    rackId string null =null
    memberEpoch int32
    clientId string
    clientHost string
    subscribedTopicNames []string @topicName
    assignment Assignment
  authorizedOperations int32 =-2147483648
struct TopicPartitions
  topicId uuid
  topicName string @topicName
  partitions []int32
struct Assignment
  topicPartitions []TopicPartitions`,
  ShareGroupHeartbeatRequest: `1 flexible:0+
groupId string @groupId
memberId string
memberEpoch int32
rackId string null =null
subscribedTopicNames []string null =null @topicName`,
  ShareGroupHeartbeatResponse: `1 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
memberId string null =null
memberEpoch int32
heartbeatIntervalMs int32
assignment Assignment null =null
  topicPartitions []TopicPartitions
struct TopicPartitions
  topicId uuid
  partitions []int32`,
  SnapshotFooterRecord: `0 flexible:0+
version int16`,
  SnapshotHeaderRecord: `0 flexible:0+
version int16
lastContainedLogTimestamp int64`,
  StopReplicaRequest: `none flexible:none`,
  StopReplicaResponse: `none flexible:none`,
  StreamsGroupDescribeRequest: `0 flexible:0+
groupIds []string @groupId
includeAuthorizedOperations bool`,
  StreamsGroupDescribeResponse: `0 flexible:0+
throttleTimeMs int32
groups []DescribedGroup
  errorCode int16
  errorMessage string null =null
  groupId string @groupId
  groupState string
  groupEpoch int32
  assignmentEpoch int32
  topology Topology null =null
    epoch int32
    subtopologies []Subtopology null =null
      subtopologyId string
      sourceTopics []string @topicName
      repartitionSinkTopics []string @topicName
      stateChangelogTopics []TopicInfo
      repartitionSourceTopics []TopicInfo
  members []Member
    memberId string
    memberEpoch int32
    instanceId string null =null
    rackId string null =null
    clientId string
    clientHost string
    topologyEpoch int32
    processId string
    userEndpoint Endpoint null =null
    clientTags []KeyValue
    taskOffsets []TaskOffset
    taskEndOffsets []TaskOffset
    assignment Assignment
    targetAssignment Assignment
    isClassic bool
  authorizedOperations int32 =-2147483648
struct Endpoint
  host string
  port uint16
struct TaskOffset
  subtopologyId string
  partition int32
  offset int64
struct Assignment
  activeTasks []TaskIds
  standbyTasks []TaskIds
  warmupTasks []TaskIds
struct TaskIds
  subtopologyId string
  partitions []int32
struct KeyValue
  key string
  value string
struct TopicInfo
  name string @topicName
  partitions int32
  replicationFactor int16
  topicConfigs []KeyValue`,
  StreamsGroupHeartbeatRequest: `0 flexible:0+
groupId string @groupId
memberId string
memberEpoch int32
endpointInformationEpoch int32
instanceId string null =null
rackId string null =null
rebalanceTimeoutMs int32 =-1
topology Topology null =null
  epoch int32
  subtopologies []Subtopology
    subtopologyId string
    sourceTopics []string @topicName
    sourceTopicRegex []string
    stateChangelogTopics []TopicInfo
    repartitionSinkTopics []string @topicName
    repartitionSourceTopics []TopicInfo
    copartitionGroups []CopartitionGroup
      sourceTopics []int16
      sourceTopicRegex []int16
      repartitionSourceTopics []int16
activeTasks []TaskIds null =null
standbyTasks []TaskIds null =null
warmupTasks []TaskIds null =null
processId string null =null
userEndpoint Endpoint null =null
clientTags []KeyValue null =null
taskOffsets []TaskOffset null =null
taskEndOffsets []TaskOffset null =null
shutdownApplication bool =false
struct KeyValue
  key string
  value string
struct TopicInfo
  name string @topicName
  partitions int32
  replicationFactor int16
  topicConfigs []KeyValue
struct Endpoint
  host string
  port uint16
struct TaskOffset
  subtopologyId string
  partition int32
  offset int64
struct TaskIds
  subtopologyId string
  partitions []int32`,
  StreamsGroupHeartbeatResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null =null
memberId string
memberEpoch int32
heartbeatIntervalMs int32
acceptableRecoveryLag int32
taskOffsetIntervalMs int32
status []Status null
activeTasks []TaskIds null =null
standbyTasks []TaskIds null =null
warmupTasks []TaskIds null =null
endpointInformationEpoch int32
partitionsByUserEndpoint []EndpointToPartitions null =null
  userEndpoint Endpoint
  activePartitions []TopicPartition
  standbyPartitions []TopicPartition
struct Status
  statusCode int8
  statusDetail string
struct TopicPartition
  topic string @topicName
  partitions []int32
struct TaskIds
  subtopologyId string
  partitions []int32
struct Endpoint
  host string
  port uint16`,
  SyncGroupRequest: `0-5 flexible:4+
groupId string @groupId
generationId int32
memberId string
groupInstanceId string 3+ null =null
protocolType string 5+ null =null
protocolName string 5+ null =null
assignments []SyncGroupRequestAssignment
  memberId string
  assignment bytes`,
  SyncGroupResponse: `0-5 flexible:4+
throttleTimeMs int32 1+
errorCode int16
protocolType string 5+ null =null
protocolName string 5+ null =null
assignment bytes`,
  TxnOffsetCommitRequest: `0-5 flexible:3+
transactionalId string @transactionalId
groupId string @groupId
producerId int64 @producerId
producerEpoch int16
generationId int32 3+ =-1
memberId string 3+
groupInstanceId string 3+ null =null
topics []TxnOffsetCommitRequestTopic
  name string @topicName
  partitions []TxnOffsetCommitRequestPartition
    partitionIndex int32
    committedOffset int64
    committedLeaderEpoch int32 2+ =-1
    committedMetadata string null`,
  TxnOffsetCommitResponse: `0-5 flexible:3+
throttleTimeMs int32
topics []TxnOffsetCommitResponseTopic
  name string @topicName
  partitions []TxnOffsetCommitResponsePartition
    partitionIndex int32
    errorCode int16`,
  UnregisterBrokerRequest: `0 flexible:0+
brokerId int32 @brokerId`,
  UnregisterBrokerResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null`,
  UpdateFeaturesRequest: `0-2 flexible:0+
timeoutMs int32 =60000
featureUpdates []FeatureUpdateKey
  feature string
  maxVersionLevel int16
  allowDowngrade bool 0
  upgradeType int8 1+ =1
validateOnly bool 1+ =false`,
  UpdateFeaturesResponse: `0-2 flexible:0+
throttleTimeMs int32
errorCode int16
errorMessage string null
results []UpdatableFeatureResult 0-1
  feature string
  errorCode int16
  errorMessage string null`,
  UpdateMetadataRequest: `none flexible:none`,
  UpdateMetadataResponse: `none flexible:none`,
  UpdateRaftVoterRequest: `0 flexible:0+
clusterId string null
currentLeaderEpoch int32
voterId int32
voterDirectoryId uuid
listeners []Listener
  name string
  host string
  port uint16
kRaftVersionFeature KRaftVersionFeature
  minSupportedVersion int16
  maxSupportedVersion int16`,
  UpdateRaftVoterResponse: `0 flexible:0+
throttleTimeMs int32
errorCode int16
currentLeader CurrentLeader tag:0
  leaderId int32 =-1 @brokerId
  leaderEpoch int32 =-1
  host string
  port int32`,
  VoteRequest: `0-2 flexible:0+
clusterId string null =null
voterId int32 1+ =-1 @brokerId
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    replicaEpoch int32
    replicaId int32 @brokerId
    replicaDirectoryId uuid 1+
    voterDirectoryId uuid 1+
    lastOffsetEpoch int32
    lastOffset int64
    preVote bool 2+`,
  VoteResponse: `0-2 flexible:0+
errorCode int16
topics []TopicData
  topicName string @topicName
  partitions []PartitionData
    partitionIndex int32
    errorCode int16
    leaderId int32 @brokerId
    leaderEpoch int32
    voteGranted bool
nodeEndpoints []NodeEndpoint 1+ tag:0
  nodeId int32 1+ @brokerId
  host string 1+
  port uint16 1+`,
  VotersRecord: `0 flexible:0+
version int16
voters []Voter
  voterId int32 @brokerId
  voterDirectoryId uuid
  endpoints []Endpoint
    name string
    host string
    port uint16
  kRaftVersionFeature KRaftVersionFeature
    minSupportedVersion int16
    maxSupportedVersion int16`,
  WriteShareGroupStateRequest: `0-1 flexible:0+
groupId string
topics []WriteStateData
  topicId uuid
  partitions []PartitionData
    partition int32
    stateEpoch int32
    leaderEpoch int32
    startOffset int64
    deliveryCompleteCount int32 1+ =-1
    stateBatches []StateBatch
      firstOffset int64
      lastOffset int64
      deliveryState int8
      deliveryCount int16`,
  WriteShareGroupStateResponse: `0-1 flexible:0+
results []WriteStateResult
  topicId uuid
  partitions []PartitionResult
    partition int32
    errorCode int16
    errorMessage string null =null`,
  WriteTxnMarkersRequest: `1-2 flexible:1+
markers []WritableTxnMarker
  producerId int64 @producerId
  producerEpoch int16
  transactionResult bool
  topics []WritableTxnMarkerTopic
    name string @topicName
    partitionIndexes []int32
  coordinatorEpoch int32
  transactionVersion int8 2+ =0`,
  WriteTxnMarkersResponse: `1-2 flexible:1+
markers []WritableTxnMarkerResult
  producerId int64 @producerId
  topics []WritableTxnMarkerTopicResult
    name string @topicName
    partitions []WritableTxnMarkerPartitionResult
      partitionIndex int32
      errorCode int16`,
} as const;
