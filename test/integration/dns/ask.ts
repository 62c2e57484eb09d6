/** A small DNS client: many questions at once over one UDP socket, asked again when an answer stays out unless that would be a fault. */
import { createSocket } from 'node:dgram';
import { question, readReply } from '../../support/dns/testing.ts';

/** A busy machine may keep a server from answering for a while. */
const PATIENCE_MS = 60_000;

export interface Question {
  name: string;
  type: string;
}

interface AskOptions {
  payload?: number;
  window?: number;
  host?: string;
  again?: boolean;
  from?: string | undefined;
}

/** Sends all questions to a server on loopback, `window` of them at a time, `from` an address of this machine; the answers come in the same order. */
export async function askAll(
  port: number,
  questions: readonly Question[],
  { payload = 1232, window = 50, host = '127.0.0.1', again = true, from }: AskOptions = {},
): Promise<Buffer[]> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const answers: Buffer[] = [];
  const waiting = new Map<number, (answer: Buffer) => void>();
  socket.on('error', () => {}); // what was not sent is sent again
  socket.on('message', (answer) => waiting.get(answer.readUInt16BE(0))?.(answer));
  if (from !== undefined) socket.bind({ address: from });
  let next = 0;

  async function askOne(index: number): Promise<void> {
    const id = index % 65_536;
    const { name, type } = questions[index]!;
    const query = question(name, type, { id, payload });
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    waiting.set(id, resolve);
    const send = () => socket.send(query, port, host);
    const repeat = again ? setInterval(send, 1000) : undefined;
    send();
    const late = setTimeout(() => resolve(Buffer.alloc(0)), PATIENCE_MS);
    answers[index] = await promise;
    clearInterval(repeat);
    clearTimeout(late);
    waiting.delete(id);
    if (answers[index].length === 0) throw new Error(`no answer to ${name} ${type} from port ${port}`);
  }
  async function lane(): Promise<void> {
    while (next < questions.length) await askOne(next++);
  }
  try {
    await Promise.all(Array.from({ length: window }, lane));
  } finally {
    socket.close();
  }
  return answers;
}

/** How many of twenty answers at once are above a limit, which has to send each of those truncated. */
export async function countTruncated(port: number, name: string, from?: string): Promise<number> {
  const questions = Array.from({ length: 20 }, () => ({ name, type: 'A' }));
  return (await askAll(port, questions, { from })).filter((reply) => readReply(reply).truncated).length;
}
