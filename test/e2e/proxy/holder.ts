/**
 * Holds connections to a virtual cluster open, by TLS, and asks a question on each again and again. A program for another
 * machine: it says on its output, in JSON, how often each was answered, and of each connection that it was lost.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connectKafka } from '../../../src/kafka/client.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { messageOf } from '../../../src/ops/errors.ts';
import type { Holding } from './connections.ts';

const { host, port, servername, caFile, pausesMs } = JSON.parse(process.argv[2] ?? '') as Holding;
const tls = { ca: readFileSync(caFile), servername };
const answers = pausesMs.map(() => 0);

const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

/** There is no connection yet that could be lost: one that is refused is tried again. */
async function connect(): Promise<KafkaClient> {
  for (;;) {
    try {
      return await connectKafka({ host, port, tls, connectTimeoutMs: 10_000, requestTimeoutMs: 60_000 });
    } catch (error) {
      say({ refused: messageOf(error) });
      await delay(500);
    }
  }
}

async function hold(pauseMs: number, connection: number): Promise<void> {
  const client = await connect();
  try {
    for (;;) {
      await client.metadata([]);
      answers[connection] = (answers[connection] ?? 0) + 1;
      await delay(pauseMs);
    }
  } catch (error) {
    say({ lost: connection, why: messageOf(error), at: new Date().toISOString() });
  }
}

const held = pausesMs.map(hold);
const saying = setInterval(() => say({ answers }), 250);
await Promise.all(held);
clearInterval(saying);
