/** Well-behaved neighbours: they ask at a steady rate, and note how long each answer took and which never came. */
import { createSocket } from 'node:dgram';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeBatch } from '../../src/kafka/records/write.ts';
import { question } from '../../test/support/dns/testing.ts';
import { quantile } from '../proxy/figures.ts';
import { connect } from '../proxy/wire.ts';
import type { Target, Wire } from '../proxy/wire.ts';

/** What a neighbour noticed. */
export interface Noticed {
  asked: number;
  lost: number;
  p50: number;
  p99: number;
}

/** Connections of a neighbour: enough to be with every worker. */
const CONNECTIONS = 6;
const REQUESTS_PER_SECOND = 300;
const QUERIES_PER_SECOND = 500;
/** As long as Kafka's clients try to deliver; a resolver asks again after 5 s, and has then noticed. */
const DELIVERY_MS = 30_000;
const ANSWER_MS = 5000;
const PRODUCE = 12;

/** Asks steadily until the time is up, whatever becomes of each question. */
async function steadily(
  seconds: number,
  perSecond: number,
  ask: (number: number) => Promise<void>,
): Promise<Noticed> {
  const times: number[] = [];
  let lost = 0;
  const all: Promise<void>[] = [];
  const started = performance.now();
  const total = seconds * perSecond;
  while (all.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - started) * perSecond) / 1000));
    while (all.length < due) {
      const began = performance.now();
      const done = ask(all.length).then(
        () => void times.push(performance.now() - began),
        () => void (lost += 1),
      );
      all.push(done);
    }
    await delay(1);
  }
  await Promise.all(all);
  return { asked: total, lost, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** A connection that is opened again when it breaks, as clients do. */
function lasting(target: Target): { use(): Promise<Wire>; drop(wire: Wire): void; close(): void } {
  let current: Promise<Wire> | undefined;
  return {
    use: () => (current ??= connect(target)),
    drop(wire) {
      wire.close();
      current = undefined;
    },
    close: () => void current?.then((wire) => wire.close()).catch(() => {}),
  };
}

/** Where a neighbour produces to, and how. */
export interface Producing {
  target: Target;
  topic: string;
  compression?: 'gzip';
}

/** Produces small records; each is acknowledged in the end, or lost. */
export async function produceSteadily(
  { target, topic, compression }: Producing,
  seconds: number,
): Promise<Noticed> {
  const connections = Array.from({ length: CONNECTIONS }, () => lasting(target));
  const value = Buffer.alloc(100);
  const record = { offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] };
  const records = encodeBatch({ baseTimestamp: BigInt(Date.now()), ...(compression && { compression }) }, [
    record,
  ]);
  const topicData = [{ name: topic, partitionData: [{ index: 0, records }] }];
  const body = { transactionalId: null, acks: 1, timeoutMs: 30_000, topicData };
  try {
    return await steadily(seconds, REQUESTS_PER_SECOND, async (number) => {
      const connection = connections[number % CONNECTIONS]!;
      for (const until = performance.now() + DELIVERY_MS; ;) {
        const wire = await connection.use().catch(() => undefined);
        try {
          if (!wire) throw new Error('no connection');
          const { responses } = await wire.ask('Produce', PRODUCE, body);
          if (responses[0]?.partitionResponses[0]?.errorCode === 0) return;
          throw new Error('refused');
        } catch (error) {
          if (wire) connection.drop(wire);
          if (performance.now() > until) throw error;
          await delay(100);
        }
      }
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Asks for names over UDP, and never twice. */
export async function askSteadily(port: number, names: readonly string[], seconds: number): Promise<Noticed> {
  const socket = createSocket('udp4');
  const waiting = new Map<number, () => void>();
  socket.on('message', (answer) => waiting.get(answer.readUInt16BE(0))?.());
  try {
    return await steadily(seconds, QUERIES_PER_SECOND, async (number) => {
      const id = number % 65_536;
      const answered = Promise.withResolvers<void>();
      waiting.set(id, answered.resolve);
      socket.send(question(names[number % names.length]!, 'A', { id }), port, '127.0.0.1');
      const late = setTimeout(() => answered.reject(new Error('no answer')), ANSWER_MS);
      await answered.promise.finally(() => clearTimeout(late));
    });
  } finally {
    socket.close();
  }
}
