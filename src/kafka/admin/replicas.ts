import { answerOf, faultOf, mapAnswer } from './answer.ts';
import type { Answer, ItemResult } from './answer.ts';
import type { Send } from './routing.ts';
import { byTopic } from './topics.ts';
import type { PartitionRef } from './topics.ts';

/** A replica on a broker's disk. */
export interface LogDirReplica extends PartitionRef {
  bytes: number;
  /** Records that it is behind. */
  lag: number;
  /** It is being moved into this directory from another one of the broker. */
  future: boolean;
}

export interface LogDir extends ItemResult {
  path: string;
  totalBytes: number | undefined;
  usableBytes: number | undefined;
  /** It takes no new replicas. */
  cordoned: boolean;
  replicas: LogDirReplica[];
}

/** A reassignment under way. `replicas` has the old and the new ones as long as it lasts. */
export interface Reassignment extends PartitionRef {
  replicas: number[];
  adding: number[];
  removing: number[];
}

/** The replicas that a partition shall have, the preferred leader first; null ends a reassignment that is under way. */
export interface WantedReplicas extends PartitionRef {
  replicas: readonly number[] | null;
}

const bytesOf = (bytes: bigint) => (bytes < 0n ? undefined : Number(bytes));

/** Calls about where the replicas of partitions are, and are to be. */
export function replicaCalls(send: Send, { timeoutMs }: { timeoutMs: number }) {
  return {
    /** What a broker has on its disks. */
    async logDirs(node: number): Promise<Answer<LogDir[]>> {
      const answer = await send('DescribeLogDirs', { topics: null }, { node });
      return mapAnswer(answer, (response) =>
        answerOf(response, () =>
          response.results.map((dir) => ({
            path: dir.logDir,
            error: faultOf(dir.errorCode),
            totalBytes: bytesOf(dir.totalBytes),
            usableBytes: bytesOf(dir.usableBytes),
            cordoned: dir.isCordoned,
            replicas: dir.topics.flatMap(({ name, partitions }) =>
              partitions.map(({ partitionIndex, partitionSize, offsetLag, isFutureKey }) => ({
                topic: name,
                partition: partitionIndex,
                bytes: Number(partitionSize),
                lag: Number(offsetLag),
                future: isFutureKey,
              })),
            ),
          })),
        ),
      );
    },

    /** Every reassignment under way, whoever began it. */
    async reassignments(): Promise<Answer<Reassignment[]>> {
      const answer = await send('ListPartitionReassignments', { timeoutMs, topics: null });
      return mapAnswer(answer, (response) =>
        answerOf(response, () =>
          response.topics.flatMap(({ name, partitions }) =>
            partitions.map(({ partitionIndex, replicas, addingReplicas, removingReplicas }) => ({
              topic: name,
              partition: partitionIndex,
              replicas,
              adding: addingReplicas,
              removing: removingReplicas,
            })),
          ),
        ),
      );
    },

    /** Begins reassignments, or replaces those under way. A different number of replicas has to be allowed. */
    async reassign(
      wanted: readonly WantedReplicas[],
      { allowReplicationFactorChange = false } = {},
    ): Promise<(PartitionRef & ItemResult)[]> {
      const topics = [...byTopic(wanted)].map(([name, its]) => ({
        name,
        partitions: its.map(({ partition, replicas }) => ({
          partitionIndex: partition,
          replicas: replicas && [...replicas],
        })),
      }));
      const body = { timeoutMs, allowReplicationFactorChange, topics };
      const { value, error } = await send('AlterPartitionReassignments', body);
      const fault = error ?? faultOf(value.errorCode, value.errorMessage);
      if (fault || !value) return wanted.map(({ topic, partition }) => ({ topic, partition, error: fault }));
      return value.responses.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, errorCode, errorMessage }) => ({
          topic: name,
          partition: partitionIndex,
          error: faultOf(errorCode, errorMessage),
        })),
      );
    },
  };
}
