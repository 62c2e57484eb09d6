/** How often somebody may try to log in in vain. What works costs nothing. */
import { BoundedMap } from '../../ops/bounded-map.ts';
import { clientKey } from '../../ops/client-address.ts';

export interface Attempts {
  /** Whether somebody from this address may try. */
  mayTry(address: string): boolean;
  failed(address: string): void;
}

/** So many at once, and one more after each of these times. */
export const MOST_FAILURES = 10;
const FORGIVEN_MS = 6000;
const MOST_ADDRESSES = 4096;

export function createAttempts(now: () => number = () => performance.now()): Attempts {
  /** From when on nothing is held against an address. */
  const clearAt = new BoundedMap<string, number>(MOST_ADDRESSES);
  const debtOf = (address: string) => Math.max(0, (clearAt.get(clientKey(address)) ?? 0) - now());
  return {
    mayTry: (address) => debtOf(address) <= (MOST_FAILURES - 1) * FORGIVEN_MS,
    failed: (address) => void clearAt.set(clientKey(address), now() + debtOf(address) + FORGIVEN_MS),
  };
}
