import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from '../../kafka/admin/admin.ts';
import { faultOf } from '../../kafka/admin/answer.ts';
import type { Fault } from '../../kafka/admin/answer.ts';
import type { Destination } from '../../kafka/admin/routing.ts';
import type { ApiName } from '../../kafka/apis.ts';
import type { Draft } from '../../kafka/codec.ts';
import { readBatches } from '../../kafka/records/batch.ts';
import type { Requests, Responses } from '../../kafka/schemas/types.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { chunksOf, committedBatches } from './rewrite.ts';
import type { Chunk } from './rewrite.ts';

/** A topic as it is now. */
export interface TopicState {
  id: string;
  /** The leader of each partition, by its number. */
  leaders: number[];
  replicas: number;
}

/** Kafka's refusal, with where it came from: may be retried if Kafka says that this helps. */
export class Refused extends IsthmusError {
  readonly fault: Fault;
  constructor(what: string, fault: Fault) {
    super(
      'KAFKA_REFUSED',
      `${what}: ${fault.name}${fault.message === fault.name ? '' : ` (${fault.message})`}`,
    );
    this.fault = fault;
  }
}

export function check(what: string, errorCode: number, message?: string | null): void {
  const fault = faultOf(errorCode, message);
  if (fault) throw new Refused(what, fault);
}

/** Sends, and throws where Kafka refuses the request as a whole. */
export async function sendTo<Name extends ApiName>(
  admin: Admin,
  api: Name,
  body: Draft<Requests[Name]>,
  to?: Destination,
): Promise<Responses[Name]> {
  const { value, error } = await admin.send(api, body, to);
  if (error) throw new Refused(api, error);
  return value;
}

/** Undefined if it does not exist. */
export async function describeTopic(admin: Admin, name: string): Promise<TopicState | undefined> {
  const { topics } = await sendTo(admin, 'Metadata', { topics: [{ name }], allowAutoTopicCreation: false });
  const topic = topics[0];
  if (!topic || faultOf(topic.errorCode)?.name === 'UNKNOWN_TOPIC_OR_PARTITION') return undefined;
  check(`topic ${name}`, topic.errorCode);
  const partitions = topic.partitions.toSorted((a, b) => a.partitionIndex - b.partitionIndex);
  return {
    id: topic.topicId,
    leaders: partitions.map(({ leaderId }) => leaderId),
    replicas: partitions[0]?.replicaNodes.length ?? 1,
  };
}

const EARLIEST = -2n;
const LATEST = -1n;
const READ_COMMITTED = 1;

/** The first offset of each partition, and the one behind the last record that no open transaction holds back. */
export async function offsetsOf(admin: Admin, topic: string, { leaders }: TopicState) {
  const [first, end] = await Promise.all(
    [EARLIEST, LATEST].map((at) => listOffsets(admin, topic, leaders, at)),
  );
  return { first: first!, end: end! };
}

async function listOffsets(admin: Admin, name: string, leaders: readonly number[], timestamp: bigint) {
  const found = leaders.map(() => 0n);
  await Promise.all(
    [...Map.groupBy(leaders.keys(), (partition) => leaders[partition]!)].map(async ([node, partitions]) => {
      const asked = partitions.map((partitionIndex) => ({ partitionIndex, timestamp }));
      const body = {
        replicaId: -1,
        isolationLevel: READ_COMMITTED,
        topics: [{ name, partitions: asked }],
      };
      const { topics } = await sendTo(admin, 'ListOffsets', body, { node });
      for (const { partitionIndex, offset, errorCode } of topics[0]?.partitions ?? []) {
        check(`offsets of ${name}-${partitionIndex}`, errorCode);
        found[partitionIndex] = offset;
      }
    }),
  );
  return found;
}

/** What one fetch brought of a partition. */
export interface Fetched {
  partition: number;
  chunks: Chunk[];
  bytes: number;
  /** Where to go on; undefined if it brought nothing. */
  next: bigint | undefined;
  /** No open transaction holds back what is before this offset. */
  stable: bigint;
}

const PARTITION_BYTES = 2 * 1024 * 1024;
const FETCH_BYTES = 16 * 1024 * 1024;
const WAIT_MS = 500;
const EMPTY_PAUSE_MS = 100;

/** Fetches from one node what comes next of some partitions; `positions` has the offset of each. */
export async function fetchFrom(
  admin: Admin,
  topic: string,
  node: number,
  positions: ReadonlyMap<number, bigint>,
): Promise<{ fetched: Fetched[]; isThrottled: boolean }> {
  const partitions = [...positions].map(([partition, fetchOffset]) => ({
    partition,
    fetchOffset,
    partitionMaxBytes: PARTITION_BYTES,
  }));
  const body = {
    maxWaitMs: WAIT_MS,
    minBytes: 1,
    maxBytes: FETCH_BYTES,
    isolationLevel: READ_COMMITTED,
    sessionEpoch: -1,
    topics: [{ topic, partitions }],
  };
  const response = await sendTo(admin, 'Fetch', body, { node });
  check(`fetch of ${topic}`, response.errorCode);
  const fetched = (response.responses[0]?.partitions ?? []).map((each) => {
    const where = `${topic}-${each.partitionIndex} at offset ${positions.get(each.partitionIndex)}`;
    check(where, each.errorCode);
    const from = positions.get(each.partitionIndex)!;
    const { batches } = readBatches(each.records ?? Buffer.alloc(0));
    const last = batches.at(-1);
    return {
      partition: each.partitionIndex,
      chunks: chunksOf(committedBatches(batches, each.abortedTransactions ?? []), from),
      bytes: each.records?.length ?? 0,
      next: last && last.baseOffset + BigInt(last.lastOffsetDelta) + 1n,
      stable: each.lastStableOffset,
    };
  });
  if (fetched.every(({ bytes }) => bytes === 0)) await sleep(EMPTY_PAUSE_MS);
  return { fetched, isThrottled: response.throttleTimeMs > 0 };
}
