import { createKeyRing } from '../../../crypto/key-ring.ts';
import type { KeyRing } from '../../../crypto/key-ring.ts';
import { BadEnvelope, KmsUnavailable, UnknownKey } from '../../../crypto/kms.ts';
import { retryingKms } from '../../../crypto/retry.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import type { Requests } from '../../../kafka/schemas/types.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Cell, Family, Metrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, ConnectionFilter, FilterType, RequestVerdict } from '../../filter.ts';
import { openBatches, roomForMessage, sealBatches, TooOldToSeal } from './batches.ts';
import { recordEncryptionSchema } from './config.ts';
import type { RecordEncryptionConfig } from './config.ts';
import { createTimeSlice } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

/** The names by which a configuration asks for this filter. */
export const RECORD_ENCRYPTION_TYPES = [
  'record-encryption',
  'RecordEncryption',
  'io.kroxylicious.filter.encryption.RecordEncryption',
] as const;

/**
 * Seals record values on their way to the broker and opens them on their way back, in the original's format.
 * A topic without a key passes untouched, unless `unresolvedKeyPolicy` says that it must not.
 */
export const recordEncryption: FilterType<RecordEncryptionConfig> = {
  config: recordEncryptionSchema,
  secretFields: ['kmsConfig.existingKeks.*.key', 'kmsConfig.vaultToken.password'],
  create(config, { virtualCluster, metrics }) {
    const kms = retryingKms(config.provider.create(config.kmsConfig));
    const filter: Shared = {
      config,
      ring: createKeyRing(kms, config.limits),
      counters: createCounters(metrics),
      virtualCluster,
      topics: new Set(),
    };
    return {
      connect: (context) => connectionFilter(filter, context),
      close: () => filter.ring.close(),
    };
  },
};

/** What the connections of one virtual cluster share. */
interface Shared {
  config: RecordEncryptionConfig;
  ring: KeyRing;
  counters: { sealed: Family<Cell>; plain: Family<Cell> };
  virtualCluster: string;
  /** Those that have counters of their own. */
  topics: Set<string>;
}

/** Requests may name topics that nobody has: past so many, they are counted as one. */
const MOST_TOPICS = 1000;
const OTHER_TOPICS = '(others)';

function labelsFor({ topics, virtualCluster }: Shared, name: string) {
  if (topics.size < MOST_TOPICS) topics.add(name);
  return { virtual_cluster: virtualCluster, topic: topics.has(name) ? name : OTHER_TOPICS };
}

function createCounters(metrics: Metrics): Shared['counters'] {
  const prefix = 'isthmus_filter_record_encryption_';
  return {
    sealed: metrics.counter(`${prefix}sealed_records_total`, 'Records sealed, by topic'),
    plain: metrics.counter(
      `${prefix}plain_writes_total`,
      'Partitions of produce requests passed in the clear for want of a key, by topic',
    ),
  };
}

function connectionFilter(shared: Shared, context: ConnectionContext): ConnectionFilter {
  return {
    onRequest: {
      async Produce(request) {
        try {
          return await sealRequest(shared, context, request);
        } catch (error) {
          return refusal(error, context.log);
        }
      },
    },
    onResponse: {
      async Fetch(response) {
        return (await openTopics(shared.ring, response.responses, context.log))
          ? { forward: response }
          : undefined;
      },
      async ShareFetch(response) {
        return (await openTopics(shared.ring, response.responses, context.log))
          ? { forward: response }
          : undefined;
      },
    },
  };
}

async function sealRequest(
  shared: Shared,
  context: ConnectionContext,
  request: Requests['Produce'],
): Promise<RequestVerdict<'Produce'>> {
  const { config, ring, counters } = shared;
  const names = await namesOf(request, context); // since version 13 only ids are sent
  const room = roomForMessage();
  const yieldTurn = createTimeSlice();
  let changed = false;
  for (const topic of request.topicData) {
    const name = topic.name || names.get(topic.topicId);
    if (name === undefined) return { answer: 'UNKNOWN_TOPIC_ID' };
    const kekId = await ring.resolveAlias(config.aliasOf(name));
    const labels = labelsFor(shared, name);
    if (kekId === undefined) {
      if (config.unresolvedKeyPolicy === 'REJECT') {
        return { answer: 'RESOURCE_NOT_FOUND', message: `no encryption key for the topic ${name}` };
      }
      counters.plain.of(labels).value += topic.partitionData.length;
      continue;
    }
    for (const partition of topic.partitionData) {
      if (!partition.records?.length) continue;
      const turn = yieldTurn();
      if (turn) await turn;
      const sealed = await sealBatches(partition.records, kekId, ring, room);
      partition.records = sealed.bytes;
      counters.sealed.of(labels).value += sealed.count;
      changed = true;
    }
  }
  return changed ? { forward: request } : undefined;
}

async function namesOf(
  request: Requests['Produce'],
  context: ConnectionContext,
): Promise<ReadonlyMap<string, string>> {
  const ids = request.topicData.filter(({ name }) => !name).map(({ topicId }) => topicId);
  return ids.length === 0 ? new Map() : context.topicNames(ids);
}

/** Every refusal says that nothing was written; what may get better by itself has a code that clients try again after. */
function refusal(error: unknown, log: Log): RequestVerdict<'Produce'> {
  const answer = produceError(error);
  if (answer === undefined) throw error;
  log.warn({ reason: messageOf(error), cause: causeOf(error), answer }, 'records cannot be sealed');
  return { answer, message: messageOf(error) };
}

function produceError(error: unknown): KafkaErrorName | undefined {
  // Not REQUEST_TIMED_OUT: that means "perhaps written", and a producer without an id would write twice.
  if (error instanceof KmsUnavailable) return 'NOT_LEADER_OR_FOLLOWER';
  if (error instanceof UnknownKey) return 'RESOURCE_NOT_FOUND';
  if (error instanceof MalformedMessage) return 'CORRUPT_MESSAGE';
  if (error instanceof TooOldToSeal) return 'UNSUPPORTED_FOR_MESSAGE_FORMAT';
  return undefined;
}

function fetchError(error: unknown): KafkaErrorName | undefined {
  if (error instanceof KmsUnavailable) return 'NOT_LEADER_OR_FOLLOWER';
  if (error instanceof UnknownKey) return 'RESOURCE_NOT_FOUND';
  if (error instanceof BadEnvelope || error instanceof MalformedMessage) return 'CORRUPT_MESSAGE';
  return undefined;
}

function causeOf(error: unknown): string | undefined {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : undefined;
}

interface FetchedTopic {
  /** Empty since version 13. */
  topic?: string;
  topicId: string;
  partitions: FetchedPartition[];
}

interface FetchedPartition {
  partitionIndex: number;
  errorCode: number;
  records: Buffer | null;
}

async function openTopics(ring: KeyRing, topics: FetchedTopic[], log: Log): Promise<boolean> {
  const yieldTurn = createTimeSlice();
  let changed = false;
  for (const { topic, topicId, partitions } of topics) {
    for (const partition of partitions) {
      if (await openPartition({ ring, yieldTurn }, partition, topic || topicId, log)) changed = true;
    }
  }
  return changed;
}

/**
 * Opens the records of one partition; true if it changed. A partition that cannot be opened gets an error and no
 * records, and the others are none the worse for it.
 */
async function openPartition(
  { ring, yieldTurn }: { ring: KeyRing; yieldTurn: YieldTurn },
  partition: FetchedPartition,
  topic: string,
  log: Log,
): Promise<boolean> {
  if (!partition.records?.length) return false;
  try {
    const opened = await openBatches(partition.records, ring, yieldTurn);
    if (opened) partition.records = opened;
    return opened !== undefined;
  } catch (error) {
    const answer = fetchError(error);
    if (answer === undefined) throw error;
    const { partitionIndex } = partition;
    const fields = {
      topic,
      partition: partitionIndex,
      reason: messageOf(error),
      cause: causeOf(error),
      answer,
    };
    log.warn(fields, 'records cannot be opened');
    partition.errorCode = ERRORS[answer].code;
    partition.records = Buffer.alloc(0);
    return true;
  }
}
