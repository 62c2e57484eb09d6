/** The load: requests made ready beforehand, in the sizes in which Kafka's own clients send them. */
import { setTimeout as delay } from 'node:timers/promises';
import { encodeBatch } from '../../src/kafka/records/write.ts';
import { readBatches } from '../../src/kafka/records/batch.ts';
import type { Responses } from '../../src/kafka/schemas/types.ts';
import { connect, frameOf } from './wire.ts';
import type { Target, Wire } from './wire.ts';

/** The newest versions that every peer carries. */
const PRODUCE = 12;
const FETCH = 17;
const METADATA = 12;

/** Like the Java producer: batches of 16 KB, five requests on their way. */
const BATCH_BYTES = 16_384;
const IN_FLIGHT = 5;
const PRODUCERS = 3;
/** Like the Java consumer: up to 1 MiB of each partition in one response. */
const FETCH_BYTES = 1_048_576;
const CONSUMERS = 2;
export const PARTITIONS = 3;

/** How much was carried, and how long that took. */
export interface Carried {
  /** Bytes of record values. */
  bytes: number;
  seconds: number;
}

export interface Topic {
  name: string;
  id: string;
}

function batchOf(recordBytes: number): { batch: Buffer; count: number } {
  const count = Math.max(1, Math.floor((BATCH_BYTES - 61) / (recordBytes + 12)));
  const records = Array.from({ length: count }, (_, offsetDelta) => ({
    offsetDelta,
    timestampDelta: 0,
    key: null,
    value: Buffer.alloc(recordBytes, offsetDelta),
    headers: [],
  }));
  return { batch: encodeBatch({ baseTimestamp: BigInt(Date.now()) }, records), count };
}

function produceBody(topic: string, partition: number, records: Buffer) {
  const topicData = [{ name: topic, partitionData: [{ index: partition, records }] }];
  return { transactionalId: null, acks: 1, timeoutMs: 30_000, topicData };
}

function refuseErrors(response: Responses['Produce']): void {
  for (const { partitionResponses } of response.responses) {
    for (const { errorCode } of partitionResponses) {
      if (errorCode !== 0) throw new Error(`a produce request failed with code ${errorCode}`);
    }
  }
}

/** Where the broker is to be reached, as the bootstrap address tells it. */
export async function discover(bootstrap: Target): Promise<Target> {
  const wire = await connect(bootstrap);
  const { brokers } = await wire.ask('Metadata', METADATA, { topics: [] }).finally(() => wire.close());
  const [broker] = brokers;
  if (!broker) throw new Error('the metadata name no broker');
  return { host: broker.host, port: broker.port, ca: bootstrap.ca };
}

/** The ids of topics, which fetch requests carry instead of names. */
export async function describeTopic(target: Target, name: string): Promise<Topic> {
  const wire = await connect(target);
  const { topics } = await wire
    .ask('Metadata', METADATA, { topics: [{ name }], allowAutoTopicCreation: false })
    .finally(() => wire.close());
  return { name, id: topics[0]!.topicId };
}

/** Writes one record and waits for its acknowledgement. */
export async function produceOne(target: Target, topic: string): Promise<void> {
  const wire = await connect(target);
  const { batch } = batchOf(BATCH_BYTES);
  refuseErrors(await wire.ask('Produce', PRODUCE, produceBody(topic, 0, batch)).finally(() => wire.close()));
}

/** Writes records of this size until so many bytes of values are acknowledged. */
export async function produce(
  target: Target,
  topic: string,
  recordBytes: number,
  bytes: number,
): Promise<Carried> {
  const { batch, count } = batchOf(recordBytes);
  const wires = await Promise.all(Array.from({ length: PRODUCERS }, () => connect(target)));
  const perRequest = count * recordBytes;
  let left = Math.ceil(bytes / perRequest);
  const requests = left;
  const started = performance.now();
  const sender = async (wire: Wire, partition: number) => {
    const frame = frameOf('Produce', PRODUCE, produceBody(topic, partition, batch));
    while (left-- > 0) await wire.exchange(frame);
  };
  try {
    for (const wire of wires) refuseErrors(await wire.ask('Produce', PRODUCE, produceBody(topic, 0, batch)));
    await Promise.all(
      wires.flatMap((wire, i) => Array.from({ length: IN_FLIGHT }, () => sender(wire, i % PARTITIONS))),
    );
  } finally {
    for (const wire of wires) wire.close();
  }
  return { bytes: requests * perRequest, seconds: (performance.now() - started) / 1000 };
}

function fetchBody(topic: Topic, offset: bigint, partitions: number, maxWaitMs: number) {
  const list = Array.from({ length: partitions }, (_, partition) => ({
    partition,
    fetchOffset: offset,
    partitionMaxBytes: FETCH_BYTES,
  }));
  return {
    maxWaitMs,
    minBytes: 1,
    maxBytes: 52_428_800,
    sessionEpoch: -1,
    topics: [{ topicId: topic.id, partitions: list }],
  };
}

/** Bytes of values and of records in a fetch response. */
function contents(response: Responses['Fetch']): { values: number; wire: number } {
  let values = 0;
  let wire = 0;
  for (const { errorCode, records } of response.responses.flatMap(({ partitions }) => partitions)) {
    if (errorCode !== 0 || !records) throw new Error(`a fetch request failed with code ${errorCode}`);
    wire += records.length;
    for (const batch of readBatches(records).batches) {
      for (const { value } of batch.records()) values += value?.length ?? 0;
    }
  }
  return { values, wire };
}

/** Reads from the start of a topic, again and again, until so many bytes of values have come. */
export async function consume(target: Target, topic: Topic, bytes: number): Promise<Carried> {
  const wires = await Promise.all(Array.from({ length: CONSUMERS }, () => connect(target)));
  const body = fetchBody(topic, 0n, PARTITIONS, 500);
  try {
    const { values, wire } = contents(await wires[0]!.ask('Fetch', FETCH, body));
    if (values === 0) throw new Error(`${topic.name} is empty`);
    const wanted = (bytes / values) * wire;
    let carried = 0;
    const started = performance.now();
    await Promise.all(
      wires.map(async (each) => {
        const frame = frameOf('Fetch', FETCH, body);
        while (carried < wanted) carried += await each.exchange(frame);
      }),
    );
    return { bytes: (carried / wire) * values, seconds: (performance.now() - started) / 1000 };
  } finally {
    for (const wire of wires) wire.close();
  }
}

export interface Latency {
  p50: number;
  p99: number;
}

const RECORDS_PER_MS = 2;
const LATENCY_RECORD_BYTES = 100;

/** Milliseconds from the sending of a record to its arrival at a consumer, at 2,000 records a second. */
export async function measureLatency(target: Target, topic: Topic, seconds: number): Promise<Latency> {
  const [producer, consumer] = await Promise.all([connect(target), connect(target)]);
  const total = seconds * 1000 * RECORDS_PER_MS;
  const start = await endOffset(producer, topic);
  const latencies: number[] = [];
  const reader = async () => {
    for (let offset = start; latencies.length < total;) {
      const { responses } = await consumer.ask('Fetch', FETCH, fetchBody(topic, offset, 1, 500));
      const now = performance.now();
      const records = responses[0]?.partitions[0]?.records;
      for (const batch of records?.length ? readBatches(records).batches : []) {
        for (const { value } of batch.records()) latencies.push(now - value!.readDoubleBE(0));
        offset = batch.baseOffset + BigInt(batch.lastOffsetDelta) + 1n;
      }
    }
  };
  try {
    await Promise.all([reader(), sendSteadily(producer, topic, total)]);
  } finally {
    producer.close();
    consumer.close();
  }
  // The first tenth is the start: connections warm up, buffers grow.
  const steady = latencies.slice(Math.floor(total / 10)).toSorted((a, b) => a - b);
  const at = (share: number) => steady[Math.floor(steady.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

async function endOffset(wire: Wire, topic: Topic): Promise<bigint> {
  const partitions = [{ partitionIndex: 0, timestamp: -1n }];
  const { topics } = await wire.ask('ListOffsets', 9, {
    replicaId: -1,
    topics: [{ name: topic.name, partitions }],
  });
  return topics[0]!.partitions[0]!.offset;
}

async function sendSteadily(wire: Wire, topic: Topic, total: number): Promise<void> {
  const started = performance.now();
  const answers: Promise<void>[] = [];
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.floor((performance.now() - started) * RECORDS_PER_MS));
    const now = performance.now();
    const records = Array.from({ length: due - sent }, (_, offsetDelta) => {
      const value = Buffer.alloc(LATENCY_RECORD_BYTES);
      value.writeDoubleBE(now);
      return { offsetDelta, timestampDelta: 0, key: null, value, headers: [] };
    });
    if (records.length > 0) {
      const batch = encodeBatch({ baseTimestamp: BigInt(Date.now()) }, records);
      answers.push(wire.ask('Produce', PRODUCE, produceBody(topic.name, 0, batch)).then(refuseErrors));
    }
    sent = due;
    await delay(1);
  }
  await Promise.all(answers);
}

/** Opens connections that ask one question and then stay silent. */
export async function openIdle(target: Target, count: number): Promise<Wire[]> {
  const wires: Wire[] = [];
  const together = 50;
  while (wires.length < count) {
    const more = Array.from({ length: Math.min(together, count - wires.length) }, async () => {
      const wire = await connect(target);
      await wire.ask('ApiVersions', 3, { clientSoftwareName: 'bench', clientSoftwareVersion: '1' });
      return wire;
    });
    wires.push(...(await Promise.all(more)));
  }
  return wires;
}
