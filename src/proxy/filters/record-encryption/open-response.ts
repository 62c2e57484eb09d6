import type { BatchPlace } from '../../../crypto/batch-envelope.ts';
import { BadEnvelope, KmsUnavailable, UnknownKey } from '../../../crypto/kms.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { endBefore, fromAnywhere, hasRecords } from '../../../kafka/records/fetched.ts';
import type { FetchedPartition } from '../../../kafka/records/fetched.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { openBatches, roomForOpening } from './batches.ts';
import type { Unopened } from './batches.ts';
import { Unsealed } from './open.ts';
import type { Opener } from './open.ts';
import type { TopicPolicy } from './policy.ts';
import { causeOf, labelsFor } from './shared.ts';
import type { Shared } from './shared.ts';
import { createTimeSlice } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

/** A topic of a fetch response, or of one of a share group. */
export interface FetchedTopic {
  /** Empty since version 13. */
  topic?: string;
  topicId: string;
  partitions: OpenedPartition[];
}

interface OpenedPartition extends FetchedPartition {
  partitionIndex: number;
}

/** By id. */
export type TopicNames = ReadonlyMap<string, string>;

/** Opens what is sealed in these topics; true if that changed anything. */
export async function openTopics(
  shared: Shared,
  topics: FetchedTopic[],
  log: Log,
  names?: TopicNames,
): Promise<boolean> {
  const yieldTurn = createTimeSlice();
  const room = roomForOpening();
  const work: (() => boolean | Promise<boolean>)[] = [];
  for (const { topic, topicId, partitions } of topics) {
    const name = topic || names?.get(topicId);
    const policy = name === undefined ? undefined : shared.config.policyOf(name);
    if (policy?.action === 'plain') continue;
    for (const partition of partitions.filter(hasRecords))
      work.push(
        policy?.action === 'seal'
          ? () => openPartition({ shared, policy, room, yieldTurn, log }, partition, name!)
          : () => refusePartition(partition, policy ? 'TOPIC_AUTHORIZATION_FAILED' : 'UNKNOWN_TOPIC_ID'),
      );
  }
  let changed = false;
  for (const each of fromAnywhere(work)) if (await each()) changed = true;
  return changed;
}

type SealPolicy = Extract<TopicPolicy, { action: 'seal' }>;

/** What may be opened in a partition: what its topic's own key has sealed. The key is asked for as soon as there is something to open. */
function openerOf(
  { config, ring, keks }: Shared,
  { alias, acceptPlain }: SealPolicy,
  place: BatchPlace,
): Opener {
  const openAs = async (kekId: string, edek: Buffer) => {
    const current = await ring.resolveAlias(alias);
    if (current === undefined) throw new UnknownKey(`a key ${alias}, which the topic would have`);
    if (current !== kekId)
      throw new BadEnvelope(`its key ${kekId} is not that of the topic, nor one of its formerKeys`);
    keks.set(alias, kekId);
    return ring.openingKey(edek);
  };
  return {
    mustBeSealed: !acceptPlain,
    owner: ring,
    place,
    openingKey(edek) {
      const kekId = ring.kekOf(edek);
      const isKnown = keks.get(alias) === kekId || config.formerKeys.get(alias)?.includes(kekId);
      return isKnown ? ring.openingKey(edek) : openAs(kekId, edek);
    },
  };
}

interface Opening {
  shared: Shared;
  policy: SealPolicy;
  room: Room;
  yieldTurn: YieldTurn;
  log: Log;
}

/**
 * Opens the records of one partition, as far as there is room; true if it changed. What precedes a batch that cannot be opened is delivered, and
 * when the client then asks for that batch, the partition gets an error and no records; others are none the worse for it.
 */
async function openPartition(
  { shared, policy, room, yieldTurn, log }: Opening,
  partition: OpenedPartition,
  topic: string,
): Promise<boolean> {
  const place = { topic, partition: partition.partitionIndex };
  const report = ({ offset, error }: Unopened, outcome: string) => {
    shared.counters.unopened.of({ ...labelsFor(shared, topic), outcome }).value += 1;
    const fields = { ...place, offset: String(offset), reason: messageOf(error), cause: causeOf(error) };
    log.warn({ ...fields, outcome }, 'records cannot be opened');
  };
  try {
    const maySkip = (error: unknown) => shared.config.unopenable === 'skip' && isForGood(error);
    const opener = openerOf(shared, policy, place);
    const opened = await openBatches(partition.records!, opener, yieldTurn, maySkip, room);
    const { bytes, skipped, failed, endsBefore } = opened;
    for (const each of skipped) report(each, 'skipped');
    if (bytes) partition.records = bytes;
    if (!failed || bytes?.length) {
      if (endsBefore !== undefined) endBefore(partition, endsBefore);
      return bytes !== undefined;
    }
    const answer = fetchError(failed.error);
    if (answer === undefined) throw failed.error;
    report(failed, answer);
    return refusePartition(partition, answer);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error; // batches that cannot be told apart
    const offset = partition.records!.length >= 8 ? partition.records!.readBigInt64BE(0) : -1n;
    report({ offset, error }, 'CORRUPT_MESSAGE');
    return refusePartition(partition, 'CORRUPT_MESSAGE');
  }
}

/** Whether it would be the same another time. A key service that is away comes back. */
const isForGood = (error: unknown): boolean =>
  fetchError(error) !== undefined && !(error instanceof KmsUnavailable);

function refusePartition(partition: FetchedPartition, answer: KafkaErrorName): true {
  partition.errorCode = ERRORS[answer].code;
  partition.records = Buffer.alloc(0);
  return true;
}

function fetchError(error: unknown): KafkaErrorName | undefined {
  if (error instanceof KmsUnavailable) return 'NOT_LEADER_OR_FOLLOWER';
  if (error instanceof UnknownKey) return 'RESOURCE_NOT_FOUND';
  const corrupt = [BadEnvelope, MalformedMessage, Unsealed];
  return corrupt.some((kind) => error instanceof kind) ? 'CORRUPT_MESSAGE' : undefined;
}
