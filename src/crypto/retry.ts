import { setTimeout as delay } from 'node:timers/promises';
import { BadEnvelope, KmsUnavailable, UnknownKey } from './kms.ts';
import type { Kms } from './kms.ts';

export interface RetryOptions {
  attempts?: number;
  firstDelayMs?: number;
  maxDelayMs?: number;
  /** How long one attempt may take. */
  timeoutMs?: number;
  sleep?: (ms: number) => Promise<unknown>;
  random?: () => number;
}

/** The pause before the nth retry (from 1): doubling, spread by up to half of itself either way, never over the limit. */
export function backoffMs(retry: number, first: number, max: number, random: () => number): number {
  const base = first * 2 ** (retry - 1);
  return Math.min(max, base * (0.5 + random()));
}

/**
 * A key service that is asked again when it fails, and that answers in bounded time. What is left after the last attempt
 * is `KmsUnavailable`; a key that does not exist is not asked for twice.
 */
export function retryingKms(kms: Kms, options: RetryOptions = {}): Kms {
  const { attempts = 3, firstDelayMs = 500, maxDelayMs = 5000, timeoutMs = 10_000 } = options;
  const { sleep = delay, random = Math.random } = options;

  async function attempt<T>(operation: string, call: () => Promise<T>): Promise<T> {
    for (let failures = 0; ;) {
      try {
        return await withTimeout(call(), timeoutMs);
      } catch (error) {
        if (error instanceof UnknownKey || error instanceof BadEnvelope) throw error;
        failures += 1;
        if (failures >= attempts) throw new KmsUnavailable(operation, error);
      }
      await sleep(backoffMs(failures, firstDelayMs, maxDelayMs, random));
    }
  }

  return {
    resolveAlias: (alias) => attempt('resolving an alias', () => kms.resolveAlias(alias)),
    generateDek: (kekId) => attempt('generating a data key', () => kms.generateDek(kekId)),
    kekOf: (edek) => kms.kekOf(edek),
    decryptEdek: (edek) => attempt('unwrapping a data key', () => kms.decryptEdek(edek)),
    close: () => kms.close(),
  };
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
