import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SETUP_VARIABLE } from './crew-messages.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './crew-messages.ts';

/** A worker process, as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number;
  readonly startedAt: number;
  tell(message: ToWorker): void;
  /** Asks something that has an answer with the same id; undefined if the worker dies first, or says nothing in time. */
  ask(question: Question, timeoutMs: number): Promise<Answer | undefined>;
  kill(): void;
  /** Resolves with what ended it. */
  readonly ended: Promise<string>;
}

type WithoutId<T> = T extends { id: number } ? Omit<T, 'id'> : never;
export type Question = WithoutId<Extract<ToWorker, { type: 'apply' | 'report' }>>;
export type Answer = Extract<FromWorker, { type: 'applied' | 'report' }>;

// Next to this file, whether it runs as it was written or as it was built.
const PROGRAM = fileURLToPath(
  new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

export function startWorker(setup: WorkerSetup, onMessage: (message: FromWorker) => void): WorkerProcess {
  const child = fork(PROGRAM, [], {
    env: { ...process.env, [SETUP_VARIABLE]: JSON.stringify(setup) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let questions = 0;
  child.on('message', (message: FromWorker) => {
    if (message.type === 'applied' || message.type === 'report') waiting.get(message.id)?.(message);
    else onMessage(message);
  });
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.on('error', (error) => {
    if (child.pid === undefined) resolve(error.message); // it never began, so nothing else will tell
    // Else of a message to a worker that has just died: 'exit' follows.
  });
  child.once('exit', (code, signal) => {
    for (const answer of waiting.values()) answer(undefined);
    resolve(signal ?? `exit code ${code}`);
  });
  const tell = (message: ToWorker) => {
    if (child.connected) child.send(message, () => {});
  };
  return {
    pid: child.pid ?? 0,
    startedAt: performance.now(),
    tell,
    ask(question, timeoutMs) {
      const id = ++questions;
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const timer = setTimeout(resolve, timeoutMs, undefined);
      waiting.set(id, resolve);
      if (child.connected) tell({ ...question, id });
      else resolve(undefined);
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}
