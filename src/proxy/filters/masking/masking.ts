import { ERRORS } from '../../../kafka/errors.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { endBefore, fromAnywhere, hasRecords } from '../../../kafka/records/fetched.ts';
import type { FetchedPartition } from '../../../kafka/records/fetched.ts';
import { roomForMessage } from '../../../kafka/records/unpack.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import type { Cell } from '../../../ops/metrics.ts';
import type { ConnectionContext, ConnectionFilter, FilterType } from '../../filter.ts';
import { maskingSchema, maskingsOf } from './config.ts';
import type { MaskingConfig } from './config.ts';
import { maskRecords } from './records.ts';

/** Hides fields of JSON values from those who read them, unless they are somebody who may see them. What is stored stays as it is. */
export const masking: FilterType<MaskingConfig> = {
  config: maskingSchema,
  create(config, { virtualCluster, name, metrics }) {
    const labels = { virtual_cluster: virtualCluster, filter: name };
    const refused = metrics
      .counter(
        'isthmus_filter_masking_refused_total',
        'Partitions that were not shown, because they could not be masked',
      )
      .of(labels);
    return { connect: (context) => connectionFilter({ config, refused }, context) };
  },
};

interface Shared {
  config: MaskingConfig;
  refused: Cell;
}

/** A topic of a response to Fetch or ShareFetch. */
interface FetchedTopic {
  topic?: string;
  topicId: string;
  partitions: FetchedPartition[];
}

function connectionFilter(shared: Shared, context: ConnectionContext): ConnectionFilter {
  return {
    newestVersions: { Fetch: 12 }, // later ones have ids of topics
    onRequest: {
      /** Share groups have ids only. While a response is handled nobody can be asked for a name, so that is done here. */
      async ShareFetch({ topics }) {
        if (topics.length > 0) await context.topicNames(topics.map(({ topicId }) => topicId));
        return undefined;
      },
    },
    onResponse: {
      async Fetch(response) {
        return (await maskTopics(shared, response.responses, context)) ? { forward: response } : undefined;
      },
      async ShareFetch(response) {
        return (await maskTopics(shared, response.responses, context)) ? { forward: response } : undefined;
      },
    },
  };
}

/** True if that changed anything. */
async function maskTopics(
  shared: Shared,
  topics: FetchedTopic[],
  context: ConnectionContext,
): Promise<boolean> {
  const unnamed = topics.filter(({ topic }) => !topic).map(({ topicId }) => topicId);
  const names = unnamed.length > 0 ? await context.topicNames(unnamed) : undefined;
  const room = roomForMessage();
  const work: (() => Promise<void>)[] = [];
  let changed = false;
  for (const { topic, topicId, partitions } of topics) {
    const name = topic || names?.get(topicId);
    const maskings = name === undefined ? [] : maskingsOf(shared.config, name, context.principal);
    if (name !== undefined && maskings.length === 0) continue;
    for (const partition of partitions.filter(hasRecords)) {
      changed = true;
      if (name === undefined) refuse(shared, partition, 'UNKNOWN_TOPIC_ID');
      else work.push(() => maskPartition(shared, partition, maskings, room));
    }
  }
  for (const each of fromAnywhere(work)) await each();
  return changed;
}

/** A partition for which there is no room any more is left empty, as brokers do it: its reader asks for it again. */
async function maskPartition(
  shared: Shared,
  partition: FetchedPartition,
  maskings: ReturnType<typeof maskingsOf>,
  room: Room,
): Promise<void> {
  try {
    const { bytes, endsBefore } = await maskRecords(partition.records!, maskings, shared, room);
    partition.records = bytes;
    if (endsBefore !== undefined) endBefore(partition, endsBefore);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    refuse(shared, partition, 'CORRUPT_MESSAGE');
  }
}

/** What cannot be masked is not shown. */
function refuse(shared: Shared, partition: FetchedPartition, why: KafkaErrorName): void {
  shared.refused.value += 1;
  partition.errorCode = ERRORS[why].code;
  partition.records = Buffer.alloc(0);
}
