import { Worker } from 'node:worker_threads';
import { MalformedMessage } from '../malformed.ts';

/** What is to be done in the thread. */
export interface ThreadJob {
  kind: 'lz4' | 'snappy';
  work: 'compress' | 'decompress';
  data: Buffer;
  limit: number;
}

/** What the thread says: the bytes, or what is wrong with them. */
export type ThreadAnswer = { bytes: Uint8Array<ArrayBuffer> } | { malformed: string };

interface Waiting {
  kind: ThreadJob['kind'];
  resolve: (bytes: Buffer) => void;
  reject: (error: Error) => void;
}

interface Thread {
  worker: Worker;
  /** Answers come in the order of jobs. */
  waiting: Waiting[];
}

let thread: Thread | undefined;

/** Does a job in a thread beside this one, which is started for the first and keeps no process alive by itself. */
export function runInThread({ kind, work, data, limit }: ThreadJob): Promise<Buffer> {
  const { worker, waiting } = (thread ??= start());
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  waiting.push({ kind, resolve, reject });
  worker.ref();
  const copy = new Uint8Array(data); // the original stays with its connection
  worker.postMessage({ kind, work, limit, data: copy }, [copy.buffer]);
  return promise;
}

function start(): Thread {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./compression-worker.${extension}`, import.meta.url));
  const waiting: Waiting[] = [];
  worker.on('message', (answer: ThreadAnswer) => {
    const { kind, resolve, reject } = waiting.shift()!;
    if (waiting.length === 0) worker.unref();
    if ('malformed' in answer) return reject(new MalformedMessage(`${kind} data`, answer.malformed, 0));
    const { buffer, byteOffset, byteLength } = answer.bytes;
    resolve(Buffer.from(buffer, byteOffset, byteLength));
  });
  worker.on('error', (cause) => {
    thread = undefined; // the next job starts another
    for (const { reject } of waiting) reject(new Error('the compression thread has failed', { cause }));
  });
  return { worker, waiting };
}
