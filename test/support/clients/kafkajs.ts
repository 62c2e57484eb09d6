/** kafkajs. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Kafka, Partitioners, logLevel } from 'kafkajs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import type { Security } from '../kafka/security.ts';
import { DEFAULT_TIMEOUT_MS } from './types.ts';
import type { Client, ConsumeRequest, TestRecord, Target } from './types.ts';

/** With its own limits, a second for a connection and nine in all for a topic's leader, it gives up on a busy machine. */
export const PATIENT_KAFKAJS = {
  logLevel: logLevel.NOTHING,
  connectionTimeout: 30_000,
  authenticationTimeout: 30_000,
  requestTimeout: 60_000,
  retry: { retries: 10, maxRetryTime: 10_000 },
} as const;

/** kafkajs's configuration for a way to connect. */
export function kafkajsSecurity({ ca, client, sasl }: Security): Partial<KafkaConfig> {
  const pair = client ? { cert: readFileSync(client.cert), key: readFileSync(client.key) } : {};
  return {
    ...(ca === undefined ? {} : { ssl: { ca: readFileSync(ca), ...pair } }),
    ...(sasl
      ? {
          sasl: {
            mechanism: sasl.mechanism.toLowerCase(),
            username: sasl.username,
            password: sasl.password,
          } as SASLOptions,
        }
      : {}),
  };
}

function kafka({ bootstrap, security = {} }: Target): Kafka {
  const config = { ...PATIENT_KAFKAJS, brokers: bootstrap.split(','), ...kafkajsSecurity(security) };
  return new Kafka({ clientId: 'testbed', ...config });
}

async function read(request: ConsumeRequest): Promise<TestRecord[]> {
  const { topic, count, group = randomUUID(), timeoutMs = DEFAULT_TIMEOUT_MS } = request;
  const { promise, resolve, reject } = Promise.withResolvers<TestRecord[]>();
  const consumer = kafka(request).consumer({ groupId: group });
  promise.catch(() => {}); // it may fail before anyone awaits it
  const records: TestRecord[] = [];
  const late = () =>
    reject(new Error(`kafkajs: ${records.length} of ${count} records within ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    consumer.on('consumer.crash', ({ payload }) => {
      if (!payload.restart) reject(payload.error);
    });
    await consumer.run({
      eachMessage: async ({ message }) => {
        records.push({ key: message.key?.toString() ?? null, value: message.value?.toString() ?? null });
        if (records.length === count) resolve(records.slice());
      },
    });
    return await promise;
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
}

export const kafkajsClient: Client = {
  async produce({ records, ...target }) {
    const producer = kafka(target).producer({ createPartitioner: Partitioners.DefaultPartitioner });
    try {
      await producer.connect();
      await producer.send({
        topic: target.topic,
        messages: records.map((record) => ({ ...record })),
        acks: -1,
      });
    } finally {
      await producer.disconnect();
    }
  },
  consume: read,
};
