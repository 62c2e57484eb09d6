/** Free TCP ports on loopback, below the range from which the kernel takes ports for outgoing connections. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { tryLock } from './mutex.ts';
import type { Lock } from './mutex.ts';

const LOWEST = 10_000;
const HIGHEST = 32_768;

/** Ports that no other run on this machine is given until they are released. */
export interface Ports extends AsyncDisposable {
  numbers: number[];
  release(): Promise<void>;
}

/** Whether nobody listens on a port of loopback now. */
export function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  return promise;
}

/** Reserves `count` ports that are free now. A stranger may still take one: whoever binds it must be ready to try again. */
export async function reservePorts(count: number): Promise<Ports> {
  const locks: Lock[] = [];
  const numbers: number[] = [];
  while (numbers.length < count) {
    const port = randomInt(LOWEST, HIGHEST);
    const held = await tryLock(`port ${port}`);
    if (!held) continue;
    if (await isFree(port)) {
      numbers.push(port);
      locks.push(held);
    } else {
      await held.release();
    }
  }
  const release = async () => {
    await Promise.all(locks.map((held) => held.release()));
  };
  return { numbers, release, [Symbol.asyncDispose]: release };
}
