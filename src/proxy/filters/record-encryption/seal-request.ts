import { KmsUnavailable, UnknownKey } from '../../../crypto/kms.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { roomForMessage } from '../../../kafka/records/unpack.ts';
import type { Requests } from '../../../kafka/schemas/types.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { RequestVerdict } from '../../filter.ts';
import { sealBatches } from './batches.ts';
import { causeOf, labelsFor } from './shared.ts';
import type { Shared } from './shared.ts';
import { TooOldToSeal } from './sound-batch.ts';
import { createTimeSlice } from './time-slice.ts';
import { sealWholeBatches } from './whole-batch.ts';

/** Seals the records of a produce request, or says why they are refused. */
export async function sealOrRefuse(
  shared: Shared,
  request: Requests['Produce'],
  log: Log,
): Promise<RequestVerdict<'Produce'>> {
  try {
    return await sealRequest(shared, request);
  } catch (error) {
    return refusal(error, log);
  }
}

async function sealRequest(shared: Shared, request: Requests['Produce']): Promise<RequestVerdict<'Produce'>> {
  const { config, ring, counters } = shared;
  const room = roomForMessage();
  const yieldTurn = createTimeSlice();
  let changed = false;
  for (const topic of request.topicData) {
    const { name } = topic;
    if (!name) return { answer: 'UNSUPPORTED_VERSION' };
    const policy = config.policyOf(name);
    if (policy.action === 'plain') continue;
    if (policy.action === 'refuse')
      return { answer: 'TOPIC_AUTHORIZATION_FAILED', message: `no rule lets the topic ${name} be written` };
    const kekId = await ring.resolveAlias(policy.alias);
    const labels = labelsFor(shared, name);
    if (kekId === undefined) {
      if (policy.withoutKey === 'refuse') {
        return { answer: 'RESOURCE_NOT_FOUND', message: `no encryption key for the topic ${name}` };
      }
      counters.plain.of(labels).value += topic.partitionData.length;
      continue;
    }
    for (const partition of topic.partitionData) {
      if (!partition.records?.length) continue;
      const turn = yieldTurn();
      if (turn) await turn;
      const place = { topic: name, partition: partition.index };
      const sealed =
        policy.format === 'isthmus/1'
          ? await sealWholeBatches(partition.records, kekId, ring, place, room, yieldTurn)
          : await sealBatches(partition.records, kekId, ring, room, yieldTurn);
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
