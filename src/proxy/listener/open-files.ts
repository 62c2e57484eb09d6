import { readFileSync } from 'node:fs';

/** How many files this process may have open; without a limit where the system does not say. */
export function maxOpenFiles(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/** For what is open anyway: the program, its event loop, logs, messages, lookups. */
const RESERVED = 64;
/** The client's socket and the broker's. */
const PER_CONNECTION = 2;

/**
 * How many connections these leave room for. At the limit itself it would be too late: libuv then accepts connections only to close
 * them, and tells nobody, and there is no socket left for the broker's side of those that are open.
 */
export const connectionsWithin = (openFiles: number, ports: number): number =>
  Math.max(1, Math.floor((openFiles - RESERVED - ports) / PER_CONNECTION));
