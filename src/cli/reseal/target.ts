import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from '../../kafka/admin/admin.ts';
import { batchOf, nextSequence } from './rewrite.ts';
import type { Chunk } from './rewrite.ts';
import { check, Refused, sendTo } from './source.ts';

/**
 * Writes a topic by transactions. How far the source was copied is an offset of the group on the *target's* partition of the same
 * number: it is part of the transaction, so what is there was copied once, and source and target may be in different Kafkas.
 */
export interface Target {
  /** The next offset of the source, by partition; those of which nothing was copied are missing. */
  copied(): Promise<Map<number, bigint>>;
  /** Ends what an earlier run has left open, and keeps it from going on. */
  begin(): Promise<void>;
  /** Writes all of it, or nothing. */
  write(round: ReadonlyMap<number, CopiedPart>): Promise<void>;
}

export interface CopiedPart {
  chunks: readonly Chunk[];
  next: bigint;
}

export interface TargetOptions {
  admin: Admin;
  topic: string;
  leaders: readonly number[];
  /** The consumer group, and the transactional id. */
  group: string;
}

/**
 * Versions of before brokers took part in adding partitions to transactions (KIP-890), all of which name topics: the same calls for every Kafka since 2.5.
 */
export const TRANSACTION_VERSIONS = {
  Produce: 11,
  Fetch: 12,
  OffsetFetch: 7,
  InitProducerId: 4,
  AddPartitionsToTxn: 3,
  AddOffsetsToTxn: 3,
  TxnOffsetCommit: 3,
  EndTxn: 3,
} as const;

const TRANSACTION_MS = 60_000;
const PRODUCE_MS = 30_000;
const BUSY_PAUSE_MS = 50;
const MOST_BUSY = 600;

export function openTarget({ admin, topic, leaders, group }: TargetOptions): Target {
  let producer = { producerId: -1n, producerEpoch: -1 };
  const sequences = new Map<number, number>();
  const atTransaction = { transaction: group };
  const identity = () => ({ ...producer, transactionalId: group });

  async function produce(partition: number, chunk: Chunk): Promise<void> {
    const baseSequence = sequences.get(partition) ?? 0;
    const records = batchOf(chunk, { ...producer, baseSequence });
    const body = {
      transactionalId: group,
      acks: -1,
      timeoutMs: PRODUCE_MS,
      topicData: [{ name: topic, partitionData: [{ index: partition, records }] }],
    };
    const { responses } = await sendTo(admin, 'Produce', body, { node: leaders[partition]! });
    const answer = responses[0]?.partitionResponses[0];
    check(`${topic}-${partition}`, answer?.errorCode ?? -1, answer?.errorMessage);
    sequences.set(partition, nextSequence(baseSequence, chunk.records.length));
  }

  async function commitOffsets(round: ReadonlyMap<number, CopiedPart>): Promise<void> {
    const added = await sendTo(admin, 'AddOffsetsToTxn', { ...identity(), groupId: group }, atTransaction);
    check(`group ${group}`, added.errorCode);
    const partitions = [...round].map(([partitionIndex, { next }]) => ({
      partitionIndex,
      committedOffset: next,
      committedMetadata: 'next offset of the source',
    }));
    const body = { ...identity(), groupId: group, topics: [{ name: topic, partitions }] };
    const { topics } = await sendTo(admin, 'TxnOffsetCommit', body, { group });
    for (const { errorCode } of topics[0]?.partitions ?? []) check(`group ${group}`, errorCode);
  }

  return {
    async copied() {
      const partitionIndexes = [...leaders.keys()];
      const body = { groupId: group, topics: [{ name: topic, partitionIndexes }], requireStable: true };
      // Those of a transaction that has just been ended may not be settled yet.
      const partitions = await untilFree(async () => {
        const { topics, errorCode } = await sendTo(admin, 'OffsetFetch', body, { group });
        check(`group ${group}`, errorCode);
        const found = topics[0]?.partitions ?? [];
        for (const each of found) check(`group ${group}`, each.errorCode);
        return found;
      });
      const known = partitions.filter(({ committedOffset }) => committedOffset >= 0n);
      return new Map(known.map((each) => [each.partitionIndex, each.committedOffset]));
    },
    async begin() {
      const body = { transactionalId: group, transactionTimeoutMs: TRANSACTION_MS };
      const { producerId, producerEpoch } = await untilFree(async () => {
        const answer = await sendTo(admin, 'InitProducerId', body, atTransaction);
        check(`transactional id ${group}`, answer.errorCode);
        return answer;
      });
      producer = { producerId, producerEpoch };
      sequences.clear();
    },
    async write(round) {
      const partitions = [...round].flatMap(([partition, { chunks }]) =>
        chunks.length > 0 ? [partition] : [],
      );
      if (partitions.length > 0) {
        const body = {
          v3AndBelowTransactionalId: group,
          v3AndBelowProducerId: producer.producerId,
          v3AndBelowProducerEpoch: producer.producerEpoch,
          v3AndBelowTopics: [{ name: topic, partitions }],
        };
        // The markers of the transaction before may still be on their way.
        await untilFree(async () => {
          const answer = await sendTo(admin, 'AddPartitionsToTxn', body, atTransaction);
          for (const { resultsByPartition } of answer.resultsByTopicV3AndBelow)
            for (const { partitionErrorCode } of resultsByPartition) check(topic, partitionErrorCode);
        });
      }
      await Promise.all(
        [...round].map(async ([partition, { chunks }]) => {
          for (const chunk of chunks) await produce(partition, chunk);
        }),
      );
      await untilFree(() => commitOffsets(round));
      const ended = await sendTo(admin, 'EndTxn', { ...identity(), committed: true }, atTransaction);
      check(`transactional id ${group}`, ended.errorCode);
    },
  };
}

const BUSY: ReadonlySet<string> = new Set([
  'CONCURRENT_TRANSACTIONS',
  'UNSTABLE_OFFSET_COMMIT',
  'COORDINATOR_NOT_AVAILABLE',
  'COORDINATOR_LOAD_IN_PROGRESS',
  'NOT_COORDINATOR',
]);

/** Does it again while Kafka is busy with the transaction before, or makes or moves the coordinator. */
async function untilFree<T>(work: () => Promise<T>): Promise<T> {
  for (let times = 0; ; times++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refused) || !BUSY.has(error.fault.name) || times >= MOST_BUSY) throw error;
      await sleep(BUSY_PAUSE_MS);
    }
  }
}
