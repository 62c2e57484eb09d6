/** Every Kafka client library the testbed has, behind one signature. */
import { confluentClient } from './clients/confluent.ts';
import { javaClient } from './clients/java.ts';
import { kafkajsClient } from './clients/kafkajs.ts';
import { kcatClient } from './clients/kcat.ts';
import { platformaticClient } from './clients/platformatic.ts';
import type { Client, ConsumeRequest, ProduceRequest, TestRecord } from './clients/types.ts';

const CLIENTS = {
  java: javaClient,
  confluent: confluentClient,
  kafkajs: kafkajsClient,
  platformatic: platformaticClient,
  kcat: kcatClient,
} as const satisfies Record<string, Client>;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

/** Writes the records with acks=all; ends when all are acknowledged. */
export function produce(client: ClientName, request: ProduceRequest): Promise<void> {
  return CLIENTS[client].produce(request);
}

/** Reads records from the beginning of the topic. */
export function consume(client: ClientName, request: ConsumeRequest): Promise<TestRecord[]> {
  return CLIENTS[client].consume(request);
}
