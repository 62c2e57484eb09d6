import { apiOf } from './apis.ts';
import type { ApiName } from './apis.ts';
import type { Draft } from './codec.ts';
import { includes, schemaOf } from './schema.ts';
import type { Field } from './schema.ts';
import type { Requests, Responses } from './schemas/types.ts';

/**
 * The error response of any API, as a broker would build it: the code at the top where the version has one there, and
 * once for every topic, partition, group or resource of the request where clients look for it there. A client that
 * finds no entry for a partition it asked about may wait for ever, so the entries matter as much as the code.
 */

type Values = Record<string, unknown>;

/** A list of the response that has one entry for each entry of a list of the request. */
interface Mirror {
  from: string;
  into: string;
  /** What an entry copies: `name`, or `target=source`; the source `.` is the entry itself, where it is no struct. */
  copy: [target: string, source: string][];
  fixed: Values;
  inner: Mirror | undefined;
  /** The last version with it; later ones have the code at the top alone. */
  until: number;
}

function pairOf(word: string): [target: string, source: string] {
  const [target = '', source = target] = word.split('=');
  return [target, source];
}

function mirror(
  lists: string,
  copy: string,
  more: { fixed?: Values; inner?: Mirror; until?: number } = {},
): Mirror {
  const [from = '', into = from] = lists.split('>');
  return {
    from,
    into,
    copy: copy.split(' ').filter(Boolean).map(pairOf),
    fixed: more.fixed ?? {},
    inner: more.inner,
    until: more.until ?? Infinity,
  };
}

const NO_NODE = { nodeId: -1, port: -1 };
const partitionIndexes = mirror('partitionIndexes>partitions', 'partitionIndex=.');
const partitions = mirror('partitions', 'partitionIndex');
const sharePartitions = mirror('topics>results', 'topicId', { inner: mirror('partitions', 'partition') });
const resources = mirror('resources>responses', 'resourceType resourceName');

const MIRRORS: { [Name in ApiName]?: Mirror[] } = {
  Produce: [
    mirror('topicData>responses', 'name topicId', {
      inner: mirror('partitionData>partitionResponses', 'index', { fixed: { baseOffset: -1n } }),
    }),
  ],
  Fetch: [
    mirror('topics>responses', 'topic', {
      inner: mirror('partitions', 'partitionIndex=partition', {
        fixed: { highWatermark: -1n, abortedTransactions: [], records: Buffer.alloc(0) },
      }),
      until: 12,
    }),
  ],
  ListOffsets: [mirror('topics', 'name', { inner: partitions })],
  Metadata: [mirror('topics', 'name topicId')],
  OffsetCommit: [mirror('topics', 'name topicId', { inner: partitions })],
  OffsetFetch: [
    mirror('topics', 'name', {
      inner: mirror('partitionIndexes>partitions', 'partitionIndex=.', { fixed: { committedOffset: -1n } }),
      until: 1,
    }),
    mirror('groups', 'groupId'),
  ],
  FindCoordinator: [mirror('coordinatorKeys>coordinators', 'key=.', { fixed: NO_NODE })],
  DescribeGroups: [mirror('groups', 'groupId=.')],
  CreateTopics: [mirror('topics', 'name')],
  DeleteTopics: [
    mirror('topicNames>responses', 'name=.', { until: 5 }),
    mirror('topics>responses', 'name topicId'),
  ],
  DeleteRecords: [
    mirror('topics', 'name', {
      inner: mirror('partitions', 'partitionIndex', { fixed: { lowWatermark: -1n } }),
    }),
  ],
  OffsetForLeaderEpoch: [mirror('topics', 'topic', { inner: mirror('partitions', 'partition') })],
  AddPartitionsToTxn: [
    mirror('v3AndBelowTopics>resultsByTopicV3AndBelow', 'name', {
      inner: mirror('partitions>resultsByPartition', 'partitionIndex=.'),
      until: 3,
    }),
  ],
  WriteTxnMarkers: [
    mirror('markers', 'producerId', { inner: mirror('topics', 'name', { inner: partitionIndexes }) }),
  ],
  TxnOffsetCommit: [mirror('topics', 'name', { inner: partitions })],
  CreateAcls: [mirror('creations>results', '')],
  DeleteAcls: [mirror('filters>filterResults', '')],
  DescribeConfigs: [mirror('resources>results', 'resourceType resourceName')],
  AlterConfigs: [resources],
  IncrementalAlterConfigs: [resources],
  CreatePartitions: [mirror('topics>results', 'name')],
  DeleteGroups: [mirror('groupsNames>results', 'groupId=.')],
  ElectLeaders: [
    mirror('topicPartitions>replicaElectionResults', 'topic', {
      inner: mirror('partitions>partitionResult', 'partitionId=.'),
    }),
  ],
  AlterPartitionReassignments: [mirror('topics>responses', 'name', { inner: partitions })],
  AlterClientQuotas: [mirror('entries', 'entity')],
  ListPartitionReassignments: [mirror('topics', 'name', { inner: partitionIndexes })],
  DescribeProducers: [mirror('topics', 'name', { inner: partitionIndexes })],
  DescribeTransactions: [mirror('transactionalIds>transactionStates', 'transactionalId=.')],
  ConsumerGroupDescribe: [mirror('groupIds>groups', 'groupId=.')],
  ShareGroupDescribe: [mirror('groupIds>groups', 'groupId=.')],
  StreamsGroupDescribe: [mirror('groupIds>groups', 'groupId=.')],
  DescribeTopicPartitions: [mirror('topics', 'name')],
  InitializeShareGroupState: [sharePartitions],
  ReadShareGroupState: [sharePartitions],
  WriteShareGroupState: [sharePartitions],
  DeleteShareGroupState: [sharePartitions],
  ReadShareGroupStateSummary: [sharePartitions],
  DescribeShareGroupOffsets: [mirror('groups', 'groupId')],
};

interface Refusal {
  code: number;
  message: string | undefined;
}

const ERROR_CODES = new Set(['errorCode', 'partitionErrorCode']);

/** Puts code and message wherever this struct has a field for them. */
function addError(values: Values, fields: Field[], { code, message }: Refusal): Values {
  for (const { name } of fields) {
    if (ERROR_CODES.has(name)) values[name] = code;
    if (name === 'errorMessage' && message !== undefined) values[name] = message;
  }
  return values;
}

function reflect(of: Mirror, request: Values, fields: Field[], refusal: Refusal): Values[] {
  const entryFields = fields.find(({ name }) => name === of.into)?.fields ?? [];
  return ((request[of.from] ?? []) as unknown[]).map((asked) => {
    const entry: Values = { ...of.fixed };
    for (const [target, source] of of.copy) {
      // A request may name a topic by id and leave its name null, where the response must have one.
      entry[target] = (source === '.' ? asked : (asked as Values)[source]) ?? undefined;
    }
    if (of.inner) entry[of.inner.into] = reflect(of.inner, asked as Values, entryFields, refusal);
    return addError(entry, entryFields, refusal);
  });
}

/** The few whose lists are not those of the request. */
const SPECIAL: { [Name in ApiName]?: (request: never, version: number, code: number) => Values } = {
  Fetch: (request: Requests['Fetch']) => ({ sessionId: request.sessionId }),
  FindCoordinator: (_request: unknown, version) => (version < 4 ? NO_NODE : {}),
  JoinGroup: (_request: unknown, version) => (version >= 7 ? { protocolName: null } : {}),
  InitProducerId: () => ({ producerEpoch: -1 }),
  DescribeClientQuotas: () => ({ entries: null }),
  AlterReplicaLogDirs: ({ dirs }: Requests['AlterReplicaLogDirs'], _version, errorCode) => ({
    results: dirs
      .flatMap((dir) => dir.topics)
      .map((topic) => ({
        topicName: topic.name,
        partitions: topic.partitions.map((partitionIndex) => ({ partitionIndex, errorCode })),
      })),
  }),
  AlterUserScramCredentials: (request: Requests['AlterUserScramCredentials'], _version, errorCode) => {
    const users = new Set([...request.deletions, ...request.upsertions].map(({ name }) => name));
    return { results: [...users].map((user) => ({ user, errorCode })) };
  },
};

/**
 * The response that refuses a decoded request with an error code; encode it with `responseCodec(apiKey, version)`.
 * The caller knows which request has no response at all: Produce with acks 0.
 */
export function errorResponse(
  apiKey: number,
  version: number,
  request: Requests[ApiName],
  code: number,
  message?: string,
): Draft<Responses[ApiName]> {
  const api = apiOf(apiKey);
  if (!api) throw new RangeError(`no API has the key ${apiKey}`);
  const { fields } = schemaOf(`${api.name}Response`);
  const present = fields.filter((field) => includes(field.versions, version));
  const refusal = { code, message };
  const response = addError({}, present, refusal);
  for (const each of MIRRORS[api.name] ?? []) {
    const list = reflect(each, request as unknown as Values, present, refusal);
    if (version <= each.until && list.length > 0) response[each.into] = list;
  }
  return Object.assign(response, SPECIAL[api.name]?.(request as never, version, code));
}
