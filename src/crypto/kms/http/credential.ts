import { createCache } from '../../cache.ts';

/** Something that lets us in for a while. */
export interface Credential<T> {
  value: T;
  /** How long from now; a token that never ends has Infinity. */
  lifetimeMs: number;
}

/** Holds a credential: it is asked for once however many wait, and again before it ends or when it is refused. */
export interface CredentialSource<T> {
  get(): Promise<T>;
  /** Says that it was refused: true if a new one is worth a try, which is not so right after it was given. */
  refused(value: T): boolean;
}

/** The part of its life after which a new one is asked for while the old one serves on. */
const RENEW_AT = 0.8;
/** However many requests are refused, it is asked for no more often than this. */
const MIN_AGE_MS = 5000;

/** Makes a source; `load` gets what was held before, refused or not. */
export function createCredentialSource<T>(
  load: (held: T | undefined) => Promise<Credential<T>>,
  now: () => number,
  renewAt = RENEW_AT,
): CredentialSource<T> {
  let held: (Credential<T> & { since: number }) | undefined;
  const cache = createCache({
    async load() {
      held = { ...(await load(held?.value)), since: now() };
      return held;
    },
    lifetimeMs: ({ lifetimeMs }) => lifetimeMs,
    refreshAfterMs: ({ lifetimeMs }) => lifetimeMs * renewAt,
    maxSize: 1,
    now,
  });
  return {
    get: async () => (await cache.get('')).value,
    refused(value) {
      if (held?.value !== value) return true; // there is a newer one already
      if (now() - held.since < MIN_AGE_MS) return false;
      cache.drop('', held);
      return true;
    },
  };
}

/** Asks with a credential, and once more with another one where the first is refused. */
export async function withCredential<T, A>(
  source: CredentialSource<T>,
  ask: (value: T) => Promise<A>,
  isRefused: (answer: A) => boolean,
): Promise<A> {
  const value = await source.get();
  const answer = await ask(value);
  if (!isRefused(answer) || !source.refused(value)) return answer;
  return ask(await source.get());
}
