/** What Kafka's verifiable producer prints: a line for each record that was acknowledged, or was not. */
import type { Properties } from '../../../src/store/embedded/kafka-storage.ts';

export interface Sent {
  name: string;
  /** When it was said, in ms since 1970. */
  timestamp: number;
  value: string;
  partition: number;
  exception?: string;
  message?: string;
}

/** The lines that are whole. */
export function readSent(text: string): Sent[] {
  const whole = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return whole.map((line) => JSON.parse(line) as Sent);
}

export const acknowledged = (sent: readonly Sent[]): Sent[] =>
  sent.filter(({ name }) => name === 'producer_send_success');

/** Stopped just when it would send, the tool counts that as a failure. */
export const failed = (sent: readonly Sent[]): Sent[] =>
  sent.filter(
    ({ name, message = '' }) =>
      name === 'producer_send_error' && !message.includes('after producer has been closed'),
  );

/** The longest time in which a partition acknowledged nothing, among those that touch a span of time if one is given. */
export function longestStallMs(acked: readonly Sent[], from = -Infinity, to = Infinity): number {
  const last = new Map<number, number>();
  let longest = 0;
  for (const { partition, timestamp } of acked) {
    const before = last.get(partition) ?? timestamp;
    if (timestamp > from && before < to) longest = Math.max(longest, timestamp - before);
    last.set(partition, timestamp);
  }
  return longest;
}

/** The tool itself would give up at the first error; this is longer than a broker takes to come back on a slow machine. */
export const PATIENT_PRODUCER: Properties = {
  retries: 2_147_483_647,
  'enable.idempotence': true,
  'request.timeout.ms': 10_000,
  'delivery.timeout.ms': 600_000,
  'max.block.ms': 600_000,
};

/** Records have keys, or they would keep away from a partition that does not answer: so many that each partition has some. */
export const keysFor = (partitions: number) => partitions * 8;
