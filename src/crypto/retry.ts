import { setTimeout as delay } from 'node:timers/promises';
import { createBreaker } from './breaker.ts';
import type { Breaker } from './breaker.ts';
import { BadEnvelope, KmsRefused, KmsThrottled, KmsUnavailable, UnknownKey } from './kms.ts';
import type { Kms } from './kms.ts';

export interface RetryOptions {
  attempts?: number;
  firstDelayMs?: number;
  maxDelayMs?: number;
  /** How long one attempt may take. */
  timeoutMs?: number;
  breaker?: Breaker;
  sleep?: (ms: number) => Promise<unknown>;
  random?: () => number;
}

/** The pause before the nth retry (from 1): doubling, spread by up to half of itself either way, never over the limit. */
export function backoffMs(retry: number, first: number, max: number, random: () => number): number {
  const base = first * 2 ** (retry - 1);
  return Math.min(max, base * (0.5 + random()));
}

/** Retries that may be made beyond what requests have earned, and what each request earns. */
const BUDGET = 10;
const EARNED = 0.1;

/**
 * A key service that is asked again when it fails, and that answers in bounded time. What is left after the last attempt
 * is `KmsUnavailable`; a key that does not exist is not asked for twice. Retries are few beside requests, and none are made
 * to a service that fails all the time: when it comes back it has enough to do.
 */
export function retryingKms(kms: Kms, options: RetryOptions = {}): Kms {
  const { attempts = 3, firstDelayMs = 500, maxDelayMs = 5000, timeoutMs = 10_000 } = options;
  const { sleep = delay, random = Math.random, breaker = createBreaker() } = options;
  let budget = BUDGET;

  function mayRetry(failures: number): boolean {
    if (failures >= attempts || budget < 1 || !breaker.admits()) return false;
    budget -= 1;
    return true;
  }

  async function attempt<T>(operation: string, call: () => Promise<T>): Promise<T> {
    if (!breaker.admits())
      throw new KmsUnavailable(operation, new Error('it is left alone after many failures'));
    budget = Math.min(BUDGET, budget + EARNED);
    for (let failures = 0; ;) {
      try {
        const result = await withTimeout(call(), timeoutMs);
        breaker.succeeded();
        return result;
      } catch (error) {
        if (isAnswer(error)) {
          breaker.succeeded();
          throw error instanceof KmsRefused ? new KmsUnavailable(operation, error) : error;
        }
        breaker.failed();
        failures += 1;
        if (!mayRetry(failures)) throw new KmsUnavailable(operation, error);
        const wanted = error instanceof KmsThrottled ? error.retryAfterMs : 0;
        await sleep(
          Math.min(maxDelayMs, Math.max(wanted, backoffMs(failures, firstDelayMs, maxDelayMs, random))),
        );
      }
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

/** Whether the service is well, whatever it said. */
const isAnswer = (error: unknown) =>
  error instanceof UnknownKey || error instanceof BadEnvelope || error instanceof KmsRefused;

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
