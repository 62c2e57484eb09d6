import type { Draft } from '../../../kafka/codec.ts';
import { responseCodec } from '../../../kafka/codec.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { roomForMessage } from '../../../kafka/records/unpack.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import type { Cell, Family } from '../../../ops/metrics.ts';
import type { ConnectionFilter, FilterType, MessageContext, RequestVerdict } from '../../filter.ts';
import { recordValidationSchema } from './config.ts';
import type { RecordRule, RecordValidationConfig } from './config.ts';
import { badRecordsIn } from './records.ts';

type ProduceResponse = Responses['Produce'];
type PartitionResponse = ProduceResponse['responses'][0]['partitionResponses'][0];

/**
 * Refuses records that are not what their topic's rule says, before the broker has them. A partition with one bad record is
 * refused as a whole, as Kafka does it, with the numbers of the bad ones; other partitions of the request go on.
 */
export const recordValidation: FilterType<RecordValidationConfig> = {
  config: recordValidationSchema,
  create(config, { virtualCluster, name, metrics }) {
    const refused = metrics.counter(
      'isthmus_filter_record_validation_refused_total',
      'Partitions of produce requests that were refused',
    );
    const labels = { virtual_cluster: virtualCluster, filter: name };
    return { connect: () => connectionFilter({ config, refused, labels }) };
  },
};

interface Shared {
  config: RecordValidationConfig;
  refused: Family<Cell>;
  labels: Record<string, string>;
}

function connectionFilter(shared: Shared): ConnectionFilter {
  /** By correlation id: partitions that were refused, and belong into a response that has not come yet. */
  const pending = new Map<number, ProduceResponse>();
  return {
    newestVersions: { Produce: 12 }, // later ones have ids of topics
    onRequest: {
      async Produce(request, about): Promise<RequestVerdict<'Produce'>> {
        const refused = await takeOutBad(request, shared);
        if (refused.length === 0) return undefined;
        shared.refused.of(shared.labels).value += refused.length;
        const response = responseOf(refused, about);
        if (request.topicData.length === 0) return { respond: response };
        if (request.acks !== 0) pending.set(about.correlationId, response);
        return { forward: request };
      },
    },
    onResponse: {
      Produce(response, { correlationId }) {
        const refused = pending.get(correlationId);
        if (!refused) return undefined;
        pending.delete(correlationId);
        addTopics(response, refused);
        return { forward: response };
      },
    },
    onClose: () => pending.clear(),
  };
}

interface Refused {
  topic: string;
  response: Draft<PartitionResponse>;
}

/** Takes partitions with bad records out of a request. */
async function takeOutBad(request: Requests['Produce'], shared: Shared): Promise<Refused[]> {
  const refused: Refused[] = [];
  const room = roomForMessage();
  for (const topic of request.topicData) {
    const rule = shared.config.ruleOf(topic.name);
    if (!rule) continue;
    const good: typeof topic.partitionData = [];
    for (const partition of topic.partitionData) {
      const response = partition.records?.length
        ? await refusalOf(partition.index, partition.records, rule, shared, room)
        : undefined;
      if (response) refused.push({ topic: topic.name, response });
      else good.push(partition);
    }
    topic.partitionData = good;
  }
  request.topicData = request.topicData.filter(({ partitionData }) => partitionData.length > 0);
  return refused;
}

/** What a partition is answered whose records are not as they have to be. */
async function refusalOf(
  index: number,
  records: Buffer,
  rule: RecordRule,
  owner: object,
  room: Room,
): Promise<Draft<PartitionResponse> | undefined> {
  const nothing = { index, baseOffset: -1n };
  try {
    const bad = await badRecordsIn(records, rule, owner, room);
    if (bad.length === 0) return undefined;
    return {
      ...nothing,
      errorCode: ERRORS.INVALID_RECORD.code,
      errorMessage: `record ${bad[0]!.index} of the batch: ${bad[0]!.problem}`,
      recordErrors: bad.map((each) => ({ batchIndex: each.index, batchIndexErrorMessage: each.problem })),
    };
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return { ...nothing, errorCode: ERRORS.CORRUPT_MESSAGE.code, errorMessage: error.message };
  }
}

/** Adds partitions to a response, which has each topic once. */
function addTopics({ responses }: ProduceResponse, refused: ProduceResponse): void {
  const byName = new Map(responses.map((topic) => [topic.name, topic]));
  for (const topic of refused.responses) {
    const there = byName.get(topic.name);
    if (there) there.partitionResponses = [...there.partitionResponses, ...topic.partitionResponses];
    else responses.push(topic);
  }
}

/** The response for them, whole, as if it had come from a broker. */
function responseOf(refused: readonly Refused[], { apiVersion }: MessageContext): ProduceResponse {
  const topics = Map.groupBy(refused, ({ topic }) => topic);
  const responses = [...topics].map(([name, list]) => ({
    name,
    partitionResponses: list.map(({ response }) => response),
  }));
  const codec = responseCodec('Produce', apiVersion);
  return codec.decode(codec.encode({ responses }));
}
