/** Writing and reading batches as they are, so that a test can say what is in them, and see what came of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { ERRORS, errorOf } from '../../../src/kafka/errors.ts';
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

/** What a member of a share group gets of the first partition of a topic, and how often Kafka says that it was delivered. */
export async function readShared(
  bootstrap: string,
  topic: string,
  group: string,
): Promise<Fetched & { deliveries: number }> {
  const client = await connectTo(bootstrap);
  try {
    const configs = [{ name: 'share.auto.offset.reset', configOperation: 0, value: 'earliest' }];
    const resources = [{ resourceType: GROUP, resourceName: group, configs }];
    const { responses } = await client.request('IncrementalAlterConfigs', { resources });
    assert.equal(responses[0]?.errorCode, 0);
    const memberId = randomBytes(16).toString('base64url');
    const topicId = await joinShared(client, group, memberId, topic);
    let shareSessionEpoch = 0;
    const limits = { maxWaitMs: 500, minBytes: 1, maxBytes: 1_000_000, maxRecords: 10, batchSize: 10 };
    return await waitFor(`records of ${topic} in the group ${group}`, async () => {
      const topics = shareSessionEpoch === 0 ? [{ topicId, partitions: [{ partitionIndex: 0 }] }] : [];
      const request = { groupId: group, memberId, shareSessionEpoch, ...limits, topics };
      const answer = await client.request('ShareFetch', request);
      assert.equal(answer.errorCode, 0, answer.errorMessage ?? '');
      shareSessionEpoch += 1;
      const [found] = answer.responses[0]?.partitions ?? [];
      const deliveries = found?.acquiredRecords[0]?.deliveryCount;
      if (deliveries === undefined) return undefined;
      const { errorCode, records } = found!;
      return { errorCode, deliveries, batches: readBatches(records ?? Buffer.alloc(0)).batches };
    });
  } finally {
    client.close();
  }
}

const GROUP = 32;

/** Joins a share group, and returns the id of the topic that it is assigned. */
async function joinShared(
  client: KafkaClient,
  groupId: string,
  memberId: string,
  topic: string,
): Promise<string> {
  let memberEpoch = 0;
  return waitFor(`a place in the group ${groupId}`, async () => {
    await client.request('FindCoordinator', { keyType: 0, coordinatorKeys: [groupId] });
    const subscribedTopicNames = memberEpoch === 0 ? [topic] : null;
    const member = { groupId, memberId, memberEpoch, subscribedTopicNames };
    const joined = await client.request('ShareGroupHeartbeat', member);
    // The coordinator may have to be made first.
    if (joined.errorCode === ERRORS.NONE.code) ({ memberEpoch } = joined);
    else assert.ok(errorOf(joined.errorCode).retriable, joined.errorMessage ?? String(joined.errorCode));
    return joined.assignment?.topicPartitions[0]?.topicId;
  });
}

export const recordsOf = ({ batches }: Fetched): KafkaRecord[] =>
  batches.flatMap((batch) => [...batch.records()]);
