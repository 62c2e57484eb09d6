/**
 * A server that another process keeps for us (see keeper.ts), for as long as a connection to that process is open: it is taken back
 * when we end, however we end. Requests and answers are JSON, one a line.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** The path of the keeper's socket. Without it, as when a test file is run by hand, everybody starts servers of their own. */
export const KEEPER = 'ISTHMUS_TEST_SERVERS';

/** What is kept: a bare API server, one that has all kinds of this project. */
export type Kept = 'control-plane' | 'control-plane-with-crds';

export interface Request {
  call: string;
  args: readonly unknown[];
}

export type Reply = { value: unknown } | { problem: string };

export interface Lease {
  /** Has the keeper do something to the server. */
  call<T>(name: string, ...args: readonly unknown[]): Promise<T>;
  /** Gives the server back. */
  end(): Promise<void>;
}

/** Takes a server, if there is a keeper. */
export async function takeLease<T>(kind: Kept): Promise<{ given: T; lease: Lease } | undefined> {
  const path = process.env[KEEPER];
  if (path === undefined || path === '') return undefined;
  const socket = connect(path);
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  const lose = (why: string) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`the keeper of the test's servers: ${why}`));
  };
  socket.on('error', (error) => lose(error.message));
  socket.on('close', () => lose('it has gone'));
  createInterface({ input: socket }).on('line', (line) => {
    const reply = JSON.parse(line) as Reply;
    const next = waiting.shift();
    if ('problem' in reply) next?.reject(new Error(reply.problem));
    else next?.resolve(reply.value);
  });
  const call = <R>(name: string, ...args: readonly unknown[]): Promise<R> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.push({ resolve, reject });
    socket.write(`${JSON.stringify({ call: name, args } satisfies Request)}\n`);
    return promise as Promise<R>;
  };
  const given = await call<T>('take', kind);
  socket.unref(); // a test that forgets it must not hang
  const end = async () => {
    await call('giveBack'); // so that who asks next does not come too early
    socket.destroy();
  };
  return { given, lease: { call, end } };
}
