import { ERRORS } from '../errors.ts';
import type { MetadataResponseTopic } from '../schemas/types.ts';
import { answerOf, faultOf, mapAnswer } from './answer.ts';
import type { Answer, ItemResult } from './answer.ts';
import type { Destination, Send } from './routing.ts';

export interface Partition {
  index: number;
  /** -1: it has none. */
  leader: number;
  leaderEpoch: number;
  /** The first is the preferred leader. */
  replicas: number[];
  isr: number[];
  offline: number[];
}

/** A topic, or, where it has many partitions, a part of it. */
export interface Topic extends ItemResult {
  name: string;
  id: string;
  internal: boolean;
  partitions: Partition[];
}

/** A topic to be; by default with the brokers' number of partitions and replicas. */
export interface NewTopic {
  name: string;
  partitions?: number;
  replicationFactor?: number;
  configs?: Record<string, string>;
}

export interface TopicResult extends ItemResult {
  name: string;
}

/** By default all topics, as any broker knows them. */
export interface TopicSelection {
  names?: readonly string[];
  node?: number;
}

export interface PartitionRef {
  topic: string;
  partition: number;
}

const PAGE = 2000;

/** Both APIs for topics have these fields. */
function topicOf(topic: Omit<MetadataResponseTopic, 'unknownTags'>): Topic {
  return {
    name: topic.name ?? '',
    id: topic.topicId,
    internal: topic.isInternal,
    error: faultOf(topic.errorCode),
    partitions: topic.partitions.map((partition) => ({
      index: partition.partitionIndex,
      leader: partition.leaderId,
      leaderEpoch: partition.leaderEpoch,
      replicas: partition.replicaNodes,
      isr: partition.isrNodes,
      offline: partition.offlineReplicas,
    })),
  };
}

/** The items of a request grouped by topic, as Kafka's requests have them. */
export function byTopic<T extends PartitionRef>(items: readonly T[]): Map<string, T[]> {
  return Map.groupBy(items, ({ topic }) => topic);
}

interface Cursor {
  topicName: string;
  partitionIndex: number;
}

/** A broker whose cursor does not move would keep us for ever. */
function isAfter(cursor: Cursor, before: Cursor): boolean {
  if (cursor.topicName !== before.topicName) return cursor.topicName > before.topicName;
  return cursor.partitionIndex > before.partitionIndex;
}

/** Calls about topics and their partitions. */
export function topicCalls(send: Send, { timeoutMs }: { timeoutMs: number }) {
  /** Kafka before 3.8, and others that speak its protocol, have topics in one answer alone. */
  async function inOnePage(names: readonly string[] | undefined, to: Destination | undefined) {
    const topics = names?.map((name) => ({ name })) ?? null;
    const answer = await send('Metadata', { topics, allowAutoTopicCreation: false }, to);
    return mapAnswer(answer, (response) => answerOf(response, () => response.topics.map(topicOf)));
  }

  return {
    /**
     * All topics, or those named, as one broker knows them: the one of that id, or any. They come in pages of some
     * thousand partitions, so a topic may come in several parts, and what is created meanwhile may be missing. An error
     * is the last page.
     */
    async *topics({ names, node }: TopicSelection = {}): AsyncGenerator<Answer<Topic[]>, void> {
      if (names?.length === 0) return;
      const topics = (names ?? []).toSorted().map((name) => ({ name }));
      const to = node === undefined ? undefined : { node };
      const pageFrom = (cursor: Cursor | null) =>
        send('DescribeTopicPartitions', { topics, responsePartitionLimit: PAGE, cursor }, to);
      for (let cursor: Cursor | null = null; ;) {
        const { value, error }: Awaited<ReturnType<typeof pageFrom>> = await pageFrom(cursor);
        if (error) {
          yield error.name === 'UNSUPPORTED_VERSION' ? await inOnePage(names, to) : { error };
          return;
        }
        yield { value: value.topics.map(topicOf) };
        const nextCursor: Cursor | null = value.nextCursor;
        if (!nextCursor) return;
        if (cursor && !isAfter(nextCursor, cursor)) {
          yield { error: faultOf(ERRORS.UNKNOWN_SERVER_ERROR.code, 'the pages of topics do not go on')! };
          return;
        }
        cursor = nextCursor;
      }
    },

    async createTopics(topics: readonly NewTopic[], { validateOnly = false } = {}): Promise<TopicResult[]> {
      const wanted = topics.map(({ name, partitions = -1, replicationFactor = -1, configs = {} }) => ({
        name,
        numPartitions: partitions,
        replicationFactor,
        configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
      }));
      const { value, error } = await send('CreateTopics', { topics: wanted, timeoutMs, validateOnly });
      if (error) return topics.map(({ name }) => ({ name, error }));
      return value.topics.map(({ name, errorCode, errorMessage }) => ({
        name,
        error: faultOf(errorCode, errorMessage),
      }));
    },

    async deleteTopics(names: readonly string[]): Promise<TopicResult[]> {
      const topics = names.map((name) => ({ name }));
      const { value, error } = await send('DeleteTopics', { topics, topicNames: [...names], timeoutMs });
      if (error) return names.map((name) => ({ name, error }));
      return value.responses.map(({ name, errorCode, errorMessage }) => ({
        name: name ?? '',
        error: faultOf(errorCode, errorMessage),
      }));
    },

    /** Raises the number of partitions to `count`. */
    async createPartitions(
      wanted: readonly { name: string; count: number }[],
      { validateOnly = false } = {},
    ): Promise<TopicResult[]> {
      const topics = wanted.map(({ name, count }) => ({ name, count, assignments: null }));
      const { value, error } = await send('CreatePartitions', { topics, timeoutMs, validateOnly });
      if (error) return wanted.map(({ name }) => ({ name, error }));
      return value.results.map(({ name, errorCode, errorMessage }) => ({
        name,
        error: faultOf(errorCode, errorMessage),
      }));
    },

    /**
     * Gives partitions back to their preferred leaders. A partition that has its preferred leader already is
     * ELECTION_NOT_NEEDED. There is no way to an unclean election here: it loses records.
     */
    async electPreferredLeaders(partitions: readonly PartitionRef[]): Promise<(PartitionRef & ItemResult)[]> {
      const topicPartitions = [...byTopic(partitions)].map(([topic, its]) => ({
        topic,
        partitions: its.map(({ partition }) => partition),
      }));
      const { value, error } = await send('ElectLeaders', { electionType: 0, topicPartitions, timeoutMs });
      const fault = error ?? faultOf(value.errorCode);
      if (fault || !value) return partitions.map((each) => ({ ...each, error: fault }));
      return value.replicaElectionResults.flatMap(({ topic, partitionResult }) =>
        partitionResult.map(({ partitionId, errorCode, errorMessage }) => ({
          topic,
          partition: partitionId,
          error: faultOf(errorCode, errorMessage),
        })),
      );
    },
  };
}
