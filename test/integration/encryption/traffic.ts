/** Writing and reading batches as they are, so that a test can say what is in them, and see what came of it. */
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { readBatches } from '../../../src/kafka/records/batch.ts';
import type { KafkaRecord, RecordBatch } from '../../../src/kafka/records/batch.ts';
import { connectTo } from './site.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

async function topicIdOf(client: KafkaClient, topic: string): Promise<string> {
  const { topics } = await client.metadata([topic]);
  return topics[0]!.topicId;
}

/** Writes one batch to each partition and returns the error codes. */
export async function write(bootstrap: string, topic: string, batches: readonly Buffer[]): Promise<number[]> {
  const client = await connectTo(bootstrap);
  try {
    const partitionData = batches.map((records, index) => ({ index, records }));
    const topicId = await topicIdOf(client, topic);
    const topicData = [{ name: topic, topicId, partitionData }];
    const { responses } = await client.request('Produce', { acks: -1, timeoutMs: 30_000, topicData });
    return responses[0]!.partitionResponses
      .toSorted((a, b) => a.index - b.index)
      .map((each) => each.errorCode);
  } finally {
    client.close();
  }
}

/** What one partition gave. */
export interface Fetched {
  errorCode: number;
  batches: RecordBatch[];
}

/** Reads each partition from its start. */
export async function read(bootstrap: string, topic: string, partitions: number): Promise<Fetched[]> {
  const client = await connectTo(bootstrap);
  try {
    const topicId = await topicIdOf(client, topic);
    return await Promise.all(
      Array.from({ length: partitions }, (_, partition) => readPartition(client, topic, topicId, partition)),
    );
  } finally {
    client.close();
  }
}

async function readPartition(
  client: KafkaClient,
  topic: string,
  topicId: string,
  partition: number,
): Promise<Fetched> {
  const partitions = [{ partition, fetchOffset: 0n, partitionMaxBytes: 10_000_000 }];
  const limits = { maxWaitMs: 500, minBytes: 1, maxBytes: 50_000_000, sessionEpoch: -1 };
  const ask = async () => {
    const { responses } = await client.request('Fetch', {
      ...limits,
      topics: [{ topic, topicId, partitions }],
    });
    const answer = responses[0]?.partitions[0];
    if (!answer || (answer.errorCode === ERRORS.NONE.code && !answer.records?.length)) return undefined;
    return { errorCode: answer.errorCode, batches: readBatches(answer.records ?? Buffer.alloc(0)).batches };
  };
  return waitFor(`records in ${topic}-${partition}`, ask);
}

export const recordsOf = ({ batches }: Fetched): KafkaRecord[] =>
  batches.flatMap((batch) => [...batch.records()]);
