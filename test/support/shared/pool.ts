/** Servers that are used one after the other: who needs one takes it, has it for itself, and gives it back. */

export interface PoolOptions<T> {
  start: () => Promise<T>;
  /** Makes a server as it was when it was started; false if it cannot be used again. */
  renew: (server: T) => Promise<boolean>;
  stop: (server: T) => Promise<void>;
}

export interface Pool<T> {
  /** A server that is as good as new: one that was given back, or else a new one. */
  take(): Promise<T>;
  giveBack(server: T): Promise<void>;
  /** Stops all servers, also those that are still in use. */
  close(): Promise<void>;
}

export function createPool<T>({ start, renew, stop }: PoolOptions<T>): Pool<T> {
  const idle: T[] = [];
  const all = new Set<T>();
  const renewing = new Set<Promise<void>>();
  let isClosed = false;

  async function discard(server: T): Promise<void> {
    all.delete(server);
    await stop(server);
  }

  async function restore(server: T): Promise<void> {
    const isGood = !isClosed && (await renew(server).catch(() => false));
    if (isGood && !isClosed) idle.push(server);
    else if (all.has(server)) await discard(server);
  }

  return {
    async take() {
      // One that is about to be good again is sooner there than a new one.
      while (idle.length === 0 && renewing.size > 0) await Promise.race(renewing);
      const ready = idle.pop();
      if (ready !== undefined) return ready;
      const server = await start();
      all.add(server);
      return server;
    },
    async giveBack(server) {
      const work = restore(server);
      renewing.add(work);
      await work.finally(() => renewing.delete(work));
    },
    async close() {
      isClosed = true;
      await Promise.all([...all].map(discard));
      await Promise.allSettled(renewing);
    },
  };
}
