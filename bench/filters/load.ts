/** The load of ../proxy, with topics by name: filters that go by names are offered no versions with ids. */
import { COMPRESSIONS } from '../../src/kafka/records/compression.ts';
import { readBatches } from '../../src/kafka/records/batch.ts';
import { encodeBatch } from '../../src/kafka/records/write.ts';
import { PARTITIONS } from '../proxy/load.ts';
import type { Carried } from '../proxy/load.ts';
import { connect, frameOf } from '../proxy/wire.ts';
import type { Target } from '../proxy/wire.ts';
import type { Stored } from './figures.ts';

const PRODUCE = 12;
const FETCH = 12;
const CONSUMERS = 2;
const FETCH_BYTES = 1_048_576;

function fetchBody(topic: string) {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => ({
    partition,
    fetchOffset: 0n,
    partitionMaxBytes: FETCH_BYTES,
  }));
  return {
    maxWaitMs: 500,
    minBytes: 1,
    maxBytes: 52_428_800,
    sessionEpoch: -1,
    topics: [{ topic, partitions }],
  };
}

/** Reads from the start of a topic, again and again, until so many bytes of values have come. */
export async function consumeByName(target: Target, topic: string, bytes: number): Promise<Carried> {
  const wires = await Promise.all(Array.from({ length: CONSUMERS }, () => connect(target)));
  const body = fetchBody(topic);
  try {
    const { responses } = await wires[0]!.ask('Fetch', FETCH, body);
    let values = 0;
    let wire = 0;
    for (const { errorCode, records } of responses.flatMap(({ partitions }) => partitions)) {
      if (errorCode !== 0 || !records) throw new Error(`a fetch request failed with code ${errorCode}`);
      wire += records.length;
      for (const batch of readBatches(records).batches)
        for (const { value } of batch.records()) values += value?.length ?? 0;
    }
    if (values === 0) throw new Error(`${topic} is empty`);
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

/** An order, much like any other one. */
function order(i: number): Buffer {
  const mixed = Math.imul(i + 1, 2_654_435_761) >>> 0;
  const id = [mixed, Math.imul(mixed, 31) >>> 0, Math.imul(mixed, 977) >>> 0].map((part) =>
    part.toString(16),
  );
  return Buffer.from(
    JSON.stringify({
      orderId: id.join('-'),
      customer: { id: mixed % 1_000_000, country: ['DE', 'FR', 'US', 'JP'][mixed % 4] },
      items: [{ sku: `SKU-${mixed % 90_000}`, quantity: 1 + (mixed % 9), price: (mixed % 100_000) / 100 }],
      status: ['created', 'paid', 'shipped'][mixed % 3],
      createdAt: new Date(1_700_000_000_000 + i * 41).toISOString(),
    }),
  );
}

/** Batches of 16 KiB on the wire, as producers fill them. */
function ordersBatch(compression: (typeof COMPRESSIONS)[number]): Buffer {
  for (let count = 50; ; count += 25) {
    const records = Array.from({ length: count }, (_, offsetDelta) => ({
      offsetDelta,
      timestampDelta: offsetDelta >> 2,
      key: null,
      value: order(offsetDelta),
      headers: [],
    }));
    const batch = encodeBatch({ compression, baseTimestamp: BigInt(Date.now()) }, records);
    if (batch.length >= 16_384) return batch;
  }
}

const BATCHES = 20;

/** What the same batches take on the broker's disk, written in the clear and sealed, by compression. */
export async function measureStored(
  plain: Target,
  sealed: Target,
  broker: Target,
  create: (topic: string) => Promise<void>,
): Promise<Stored[]> {
  const results: Stored[] = [];
  for (const compression of COMPRESSIONS) {
    const batch = ordersBatch(compression);
    const write = async (target: Target, topic: string) => {
      await create(topic);
      const wire = await connect(target);
      try {
        for (let i = 0; i < BATCHES; i++) {
          const topicData = [{ name: topic, partitionData: [{ index: 0, records: batch }] }];
          const { responses } = await wire.ask('Produce', PRODUCE, {
            acks: -1,
            timeoutMs: 30_000,
            topicData,
          });
          const code = responses[0]!.partitionResponses[0]!.errorCode;
          if (code !== 0) throw new Error(`a produce request failed with code ${code}`);
        }
      } finally {
        wire.close();
      }
      return storedBytes(broker, topic);
    };
    results.push({
      compression,
      plain: await write(plain, `stored-plain-${compression}`),
      sealed: await write(sealed, `stored-sealed-${compression}`),
    });
  }
  return results;
}

async function storedBytes(broker: Target, topic: string): Promise<number> {
  const wire = await connect(broker);
  try {
    const { results } = await wire.ask('DescribeLogDirs', 4, { topics: [{ topic, partitions: [0] }] });
    return Number(results[0]!.topics[0]!.partitions[0]!.partitionSize);
  } finally {
    wire.close();
  }
}
