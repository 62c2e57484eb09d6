/**
 * Locks between processes of one machine that the kernel takes back when their holder dies: a listening socket with an
 * abstract name. Nothing on disk can go stale. Other systems than Linux have no such sockets and go without the lock.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Held until `release`, or until this process ends. */
export interface Lock {
  release(): Promise<void>;
}

function listen(path: string): Promise<Server | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Server | undefined>();
  const server = createServer((socket) => socket.destroy());
  server.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
  );
  server.listen({ path, exclusive: true }, () => resolve(server));
  server.unref();
  return promise;
}

/** Takes the lock of this name if it is free. */
export async function tryLock(name: string): Promise<Lock | undefined> {
  if (process.platform !== 'linux') return { release: async () => {} };
  const server = await listen(`\0isthmus-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`);
  if (!server) return undefined;
  return {
    async release() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      await promise;
    },
  };
}

/** Waits for the lock of this name. */
export async function lock(name: string, onWait: () => void = () => {}): Promise<Lock> {
  for (let tries = 0; ; tries++) {
    const taken = await tryLock(name);
    if (taken) return taken;
    if (tries === 0) onWait();
    await delay(200);
  }
}
