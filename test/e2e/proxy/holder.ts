/**
 * Holds connections to a virtual cluster open, by TLS, and asks a question on each again and again. A program for the
 * machine outside: it says on its output, in JSON, how often it was answered, and of each connection that it was lost.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connectKafka } from '../../../src/kafka/client.ts';
import { messageOf } from '../../../src/ops/errors.ts';

const [host = '', port, caFile = '', connections] = process.argv.slice(2);
const tls = { ca: readFileSync(caFile) };
let answers = 0;

const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

async function hold(connection: number): Promise<void> {
  const client = await connectKafka({
    host,
    port: Number(port),
    tls,
    connectTimeoutMs: 60_000,
    requestTimeoutMs: 60_000,
  });
  try {
    for (;;) {
      await client.metadata([]);
      answers += 1;
      await delay(200);
    }
  } catch (error) {
    say({ lost: connection, why: messageOf(error), at: new Date().toISOString() });
  }
}

const held = Array.from({ length: Number(connections) }, (_, i) => hold(i + 1));
setInterval(() => say({ answers }), 500);
await Promise.all(held);
