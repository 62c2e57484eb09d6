import { createBreaker } from '../../../crypto/breaker.ts';
import { createKeyRing } from '../../../crypto/key-ring.ts';
import type { KeyRing } from '../../../crypto/key-ring.ts';
import { BadEnvelope, KmsUnavailable, UnknownKey } from '../../../crypto/kms.ts';
import { KMS_SECRET_FIELDS } from '../../../crypto/kms/providers.ts';
import { meteredKms, reportBreaker } from '../../../crypto/metered.ts';
import { retryingKms } from '../../../crypto/retry.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import type { Requests } from '../../../kafka/schemas/types.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Cell, Family, Metrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, ConnectionFilter, FilterType, RequestVerdict } from '../../filter.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { openBatches, roomForMessage, sealBatches, TooOldToSeal } from './batches.ts';
import { recordEncryptionSchema } from './config.ts';
import type { RecordEncryptionConfig } from './config.ts';
import { Unsealed } from './open.ts';
import type { Opener } from './open.ts';
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
 * A topic without a key is refused, and so is what is not sealed in a fetched topic, unless `unresolvedKeyPolicy` lets
 * both pass. What was sealed with another key than the topic's is never opened: a broker may put records anywhere.
 */
export const recordEncryption: FilterType<RecordEncryptionConfig> = {
  config: recordEncryptionSchema,
  secretFields: KMS_SECRET_FIELDS.map((field) => `kmsConfig.${field}`),
  create(config, { virtualCluster, name, metrics, outbound }) {
    const labels = { virtual_cluster: virtualCluster, filter: name };
    const breaker = createBreaker();
    const service = config.provider.create(config.kmsConfig, { outbound });
    const kms = retryingKms(meteredKms(service, metrics, labels), { breaker });
    const stopReport = reportBreaker(breaker, metrics, labels);
    const filter: Shared = {
      config,
      ring: createKeyRing(kms, config.limits),
      counters: createCounters(metrics),
      virtualCluster,
      topics: new Set(),
      keks: new BoundedMap(MOST_TOPICS),
    };
    return {
      connect: (context) => connectionFilter(filter, context),
      close() {
        stopReport();
        filter.ring.close();
      },
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
  /** By alias: the key-encryption key that it was last found to stand for, good for opening also when nobody can be asked. */
  keks: BoundedMap<string, string>;
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

/** The last versions in which clients name their topics: after these, the broker would have to say what an id means. */
const BY_NAME = { Produce: 12, Fetch: 12 } as const;

function connectionFilter(shared: Shared, context: ConnectionContext): ConnectionFilter {
  const open = async <T extends { responses: FetchedTopic[] }>(response: T, names?: TopicNames) =>
    (await openTopics(shared, response.responses, context.log, names)) ? { forward: response } : undefined;
  return {
    newestVersions: BY_NAME,
    onRequest: {
      async Produce(request) {
        try {
          return await sealRequest(shared, request);
        } catch (error) {
          return refusal(error, context.log);
        }
      },
      async ShareFetch(request) {
        await context.topicNames(request.topics.map(({ topicId }) => topicId)); // known when the response comes
        return undefined;
      },
    },
    onResponse: {
      Fetch: (response) => open(response),
      ShareFetch: async (response) =>
        open(response, await context.topicNames(response.responses.map(({ topicId }) => topicId))),
    },
  };
}

async function sealRequest(shared: Shared, request: Requests['Produce']): Promise<RequestVerdict<'Produce'>> {
  const { config, ring, counters } = shared;
  const room = roomForMessage();
  const yieldTurn = createTimeSlice();
  let changed = false;
  for (const topic of request.topicData) {
    const { name } = topic;
    if (!name) return { answer: 'UNSUPPORTED_VERSION' };
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
      const sealed = await sealBatches(partition.records, kekId, ring, room, yieldTurn);
      partition.records = sealed.bytes;
      counters.sealed.of(labels).value += sealed.count;
      changed = true;
    }
  }
  return changed ? { forward: request } : undefined;
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
  const corrupt = [BadEnvelope, MalformedMessage, Unsealed];
  return corrupt.some((kind) => error instanceof kind) ? 'CORRUPT_MESSAGE' : undefined;
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

type TopicNames = ReadonlyMap<string, string>;

async function openTopics(
  shared: Shared,
  topics: FetchedTopic[],
  log: Log,
  names?: TopicNames,
): Promise<boolean> {
  const yieldTurn = createTimeSlice();
  let changed = false;
  for (const { topic, topicId, partitions } of topics) {
    const name = topic || names?.get(topicId);
    const opener = name === undefined ? undefined : openerOf(shared, name);
    for (const partition of partitions) {
      if (!partition.records?.length) continue;
      const work = opener
        ? openPartition({ opener, yieldTurn, log }, partition, name!)
        : refusePartition(partition, 'UNKNOWN_TOPIC_ID');
      if (await work) changed = true;
    }
  }
  return changed;
}

/** What may be opened in a topic: what its own key has sealed. The key is asked for as soon as there is something to open. */
function openerOf({ config, ring, keks }: Shared, topic: string): Opener {
  const alias = config.aliasOf(topic);
  const openAs = async (kekId: string, edek: Buffer) => {
    const current = await ring.resolveAlias(alias);
    if (current === undefined) throw new UnknownKey(`a key ${alias}, which the topic would have`);
    if (current !== kekId)
      throw new BadEnvelope(`its key ${kekId} is not that of the topic, nor one of its formerKeys`);
    keks.set(alias, kekId);
    return ring.openingKey(edek);
  };
  return {
    mustBeSealed: config.unresolvedKeyPolicy === 'REJECT',
    owner: ring,
    openingKey(edek) {
      const kekId = ring.kekOf(edek);
      const isKnown = keks.get(alias) === kekId || config.formerKeys.get(alias)?.includes(kekId);
      return isKnown ? ring.openingKey(edek) : openAs(kekId, edek);
    },
  };
}

/**
 * Opens the records of one partition; true if it changed. A partition that cannot be opened gets an error and no
 * records, and the others are none the worse for it.
 */
async function openPartition(
  { opener, yieldTurn, log }: { opener: Opener; yieldTurn: YieldTurn; log: Log },
  partition: FetchedPartition,
  topic: string,
): Promise<boolean> {
  try {
    const opened = await openBatches(partition.records!, opener, yieldTurn);
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
    return refusePartition(partition, answer);
  }
}

function refusePartition(partition: FetchedPartition, answer: KafkaErrorName): true {
  partition.errorCode = ERRORS[answer].code;
  partition.records = Buffer.alloc(0);
  return true;
}
