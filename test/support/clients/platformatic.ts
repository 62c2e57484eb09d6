/** @platformatic/kafka. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Consumer, Producer } from '@platformatic/kafka';
import type { BaseOptions } from '@platformatic/kafka';
import type { Security } from '../kafka/security.ts';
import { DEFAULT_TIMEOUT_MS } from './types.ts';
import type { Client, ConsumeRequest, Target, TestRecord } from './types.ts';

/** Its own limits are 5 s each for a connection and for what a broker has to do. */
export const PATIENT_PLATFORMATIC = {
  connectTimeout: 30_000,
  timeout: 60_000,
  requestTimeout: 90_000,
} as const;

/** Its options for a way to connect. */
export function platformaticSecurity({ ca, client, sasl }: Security): Partial<BaseOptions> {
  const pair = client ? { cert: readFileSync(client.cert), key: readFileSync(client.key) } : {};
  return {
    ...(ca === undefined ? {} : { tls: { ca: readFileSync(ca), ...pair }, tlsServerName: true }),
    ...(sasl ? { sasl } : {}),
  };
}

function options({ bootstrap, security = {} }: Target): BaseOptions {
  const base = { clientId: 'testbed', bootstrapBrokers: bootstrap.split(','), autocreateTopics: true };
  return { ...base, ...PATIENT_PLATFORMATIC, ...platformaticSecurity(security) };
}

const text = (data: Buffer | null | undefined) => data?.toString() ?? null;

async function read(request: ConsumeRequest): Promise<TestRecord[]> {
  const { topic, count, group = randomUUID(), timeoutMs = DEFAULT_TIMEOUT_MS } = request;
  const consumer = new Consumer({ ...options(request), groupId: group });
  const records: TestRecord[] = [];
  try {
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: true });
    const late = () =>
      stream.destroy(
        new Error(`@platformatic/kafka: ${records.length} of ${count} records within ${timeoutMs} ms`),
      );
    const timer = setTimeout(late, timeoutMs);
    for await (const { key, value } of stream) {
      records.push({ key: text(key), value: text(value) });
      if (records.length === count) break;
    }
    clearTimeout(timer);
    return records;
  } finally {
    await consumer.close(true);
  }
}

export const platformaticClient: Client = {
  async produce({ records, ...target }) {
    const producer = new Producer(options(target));
    try {
      const messages = records.map(({ key, value }) => ({
        topic: target.topic,
        ...(key === null ? {} : { key: Buffer.from(key) }),
        ...(value === null ? {} : { value: Buffer.from(value) }),
      }));
      await producer.send({ messages, acks: -1 });
    } finally {
      await producer.close();
    }
  },
  consume: read,
};
