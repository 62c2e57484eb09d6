import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { SETUP_VARIABLE } from './messages.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './messages.ts';
import { readNote, STALL_NOTES_FD } from './stall-note.ts';
import type { StallNote } from './stall-note.ts';

/** A worker process, as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number;
  send(message: ToWorker): void;
  /** Sends a message that has a response with the same id; undefined if the worker dies first, or does not respond in time. */
  request(request: Request, timeoutMs: number): Promise<Response | undefined>;
  /** Whether a signal or a debugger has stopped it; false where that cannot be seen. */
  isStopped(): boolean;
  kill(): void;
  /** Resolves with what ended it. */
  readonly ended: Promise<string>;
}

type WithoutId<T> = T extends { id: number } ? Omit<T, 'id'> : never;
export type Request = WithoutId<Extract<ToWorker, { type: 'apply' | 'report' }>>;
export type Response = Extract<FromWorker, { type: 'applied' | 'report' }>;

// Next to this file, whether it runs as it was written or as it was built.
const PROGRAM = fileURLToPath(
  new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

/** What a worker says; `onMessage` gets every message, also those that are responses. */
export interface WorkerEvents {
  onMessage(message: FromWorker): void;
  onStall(note: StallNote): void;
}

export function startWorker(setup: WorkerSetup, events: WorkerEvents): WorkerProcess {
  const child = fork(PROGRAM, [], {
    env: { ...process.env, [SETUP_VARIABLE]: JSON.stringify(setup) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
  // Not there if there was no process to be had; 'error' follows.
  const notes = child.stdio?.[STALL_NOTES_FD] as Readable | undefined;
  if (notes)
    createInterface({ input: notes }).on('line', (line) => {
      const note = readNote(line);
      if (note) events.onStall(note);
    });
  const waiting = new Map<number, (response: Response | undefined) => void>();
  let lastId = 0;
  child.on('message', (message: FromWorker) => {
    if (message.type === 'applied' || message.type === 'report') waiting.get(message.id)?.(message);
    events.onMessage(message);
  });
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.on('error', (error) => {
    if (child.pid === undefined) resolve(error.message); // it never began, so no 'exit' follows
    // Else of a message to a worker that has just died: 'exit' follows.
  });
  child.once('exit', (code, signal) => {
    for (const respond of waiting.values()) respond(undefined);
    resolve(signal ?? `exit code ${code}`);
  });
  const send = (message: ToWorker) => {
    if (child.connected) child.send(message, () => {});
  };
  return {
    pid: child.pid ?? 0,
    send,
    request(request, timeoutMs) {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Response | undefined>();
      const timer = setTimeout(resolve, timeoutMs, undefined);
      waiting.set(id, resolve);
      if (child.connected) send({ ...request, id });
      else resolve(undefined);
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(id);
      });
    },
    isStopped: () => isStopped(child.pid),
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}

/** By the letter that follows the name in parentheses, which may have any letters itself. Only Linux has the file. */
function isStopped(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^ [Tt] /.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return false;
  }
}
