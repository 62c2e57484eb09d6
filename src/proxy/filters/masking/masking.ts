import { ERRORS } from '../../../kafka/errors.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
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
  partitions: { errorCode: number; records: Buffer | null }[];
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
  let changed = false;
  for (const { topic, topicId, partitions } of topics) {
    const name = topic || names?.get(topicId);
    const maskings = name === undefined ? [] : maskingsOf(shared.config, name, context.principal);
    if (name !== undefined && maskings.length === 0) continue;
    for (const partition of partitions) {
      if (!partition.records?.length) continue;
      changed = true;
      if (name === undefined) refuse(shared, partition, 'UNKNOWN_TOPIC_ID');
      else await maskPartition(shared, partition, maskings);
    }
  }
  return changed;
}

async function maskPartition(
  shared: Shared,
  partition: FetchedTopic['partitions'][0],
  maskings: ReturnType<typeof maskingsOf>,
): Promise<void> {
  try {
    partition.records = await maskRecords(partition.records!, maskings, shared);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    refuse(shared, partition, 'CORRUPT_MESSAGE');
  }
}

/** What cannot be masked is not shown. */
function refuse(shared: Shared, partition: FetchedTopic['partitions'][0], why: KafkaErrorName): void {
  shared.refused.value += 1;
  partition.errorCode = ERRORS[why].code;
  partition.records = Buffer.alloc(0);
}
