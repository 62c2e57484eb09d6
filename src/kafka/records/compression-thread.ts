import { Worker } from 'node:worker_threads';
import { MalformedMessage } from '../malformed.ts';
import type { Compression } from './compression.ts';

/** What is to be done in the thread. */
export interface ThreadJob {
  kind: Exclude<Compression, 'none'>;
  work: 'compress' | 'decompress';
  data: Buffer;
  limit: number;
}

/** What the thread says: the bytes, or what is wrong with them. */
export type ThreadAnswer = { bytes: Uint8Array<ArrayBuffer> } | { malformed: string };

interface Waiting extends ThreadJob {
  owner: object;
  resolve: (bytes: Buffer) => void;
  reject: (error: Error) => void;
}

/** Jobs by whom they are for; the first owner's first one is next, and after it that owner is the last. */
const waiting = new Map<object, Waiting[]>();
/** Until when nothing is done for an owner. */
const restingUntil = new WeakMap<object, number>();
/**
 * Whoever sends what has to be refused lets others have the processor for so many times as long as that took: bombs cost a tenth of a core
 * then, however many come, and nobody waits for it but those who share a virtual cluster with them.
 */
const REST_FACTOR = 9;
/** By the clock on the wall: on a busy machine a job may take any time. */
const LONGEST_REST_MS = 2000;
let rest: NodeJS.Timeout | undefined;
let startedAt = 0;
let worker: Worker | undefined;
let current: Waiting | undefined;

/**
 * Does a job in a thread beside this one, which is started for the first and keeps no process alive by itself. What the
 * job takes up until it is refused is then garbage of that thread's heap: to collect it stops nobody here. Owners have
 * their jobs done by turns, so that nobody waits for more than one job of each other.
 */
export function runInThread(job: ThreadJob, owner: object): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const jobs = waiting.get(owner) ?? [];
  jobs.push({ ...job, owner, resolve, reject });
  waiting.set(owner, jobs);
  if (current === undefined) startNext();
  return promise;
}

/** Lets an owner rest, because it took so long to find out that something of it has to be refused. */
export function letRest(owner: object, tookMs: number): void {
  const until = performance.now() + Math.min(REST_FACTOR * tookMs, LONGEST_REST_MS);
  restingUntil.set(owner, Math.max(until, restingUntil.get(owner) ?? 0));
}

const restOf = (owner: object, now: number): number => (restingUntil.get(owner) ?? 0) - now;

/** Whether nothing is to be done for an owner now. */
export const isResting = (owner: object): boolean => restOf(owner, performance.now()) > 0;

function startNext(): void {
  clearTimeout(rest);
  const now = performance.now();
  const next = [...waiting].find(([owner]) => restOf(owner, now) <= 0);
  if (next === undefined) {
    worker?.unref();
    const rests = [...waiting.keys()].map((owner) => restOf(owner, now));
    if (rests.length > 0) rest = setTimeout(startNext, Math.min(...rests));
    return;
  }
  const [owner, jobs] = next;
  current = jobs.shift()!;
  startedAt = now;
  if (jobs.length === 0) waiting.delete(owner);
  worker ??= startThread();
  worker.ref();
  const { kind, work, limit } = current;
  const data = new Uint8Array(current.data); // a copy: the original stays with its connection
  worker.postMessage({ kind, work, limit, data }, [data.buffer]);
}

function startThread(): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const thread = new Worker(new URL(`./compression-worker.${extension}`, import.meta.url));
  const finish = (settle: (job: Waiting) => void) => {
    const job = current!;
    current = undefined;
    const more = waiting.get(job.owner);
    if (more && waiting.delete(job.owner)) waiting.set(job.owner, more); // now behind the others
    settle(job);
    startNext();
  };
  thread.on('message', (answer: ThreadAnswer) =>
    finish(({ kind, owner, resolve, reject }) => {
      if ('malformed' in answer) {
        letRest(owner, performance.now() - startedAt);
        return reject(new MalformedMessage(`${kind} data`, answer.malformed, 0));
      }
      const { buffer, byteOffset, byteLength } = answer.bytes;
      resolve(Buffer.from(buffer, byteOffset, byteLength));
    }),
  );
  thread.on('error', (cause) => {
    worker = undefined; // the next job starts another
    finish(({ reject }) => reject(new Error('the compression thread has failed', { cause })));
  });
  return thread;
}
