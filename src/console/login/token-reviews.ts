/** Who a bearer token is of: asked of the API server, and remembered for a minute. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../ops/bounded-map.ts';

/** Somebody as the API server knows them; access reviews want all of it. */
export interface Identity {
  user: string;
  uid?: string | undefined;
  groups: readonly string[];
  extra?: Readonly<Record<string, string[]>> | undefined;
}

/** Undefined where it is nobody's. */
export type AskToken = (token: string) => Promise<Identity | undefined>;

export interface TokenReviews {
  /** Fails where the API server cannot be asked. */
  review: (token: string) => Promise<Identity | undefined>;
}

/** A token that is taken back is good for so much longer. */
const KNOWN_MS = 60_000;
const MOST_TOKENS = 2048;
/** Strangers cost the API server no more than this. */
const AT_ONCE = 16;
/** Longer than any API server gives out; and what a token is made of (RFC 6750). */
const TOKEN = /^[\w.~+/-]{1,8192}=*$/;

/** Nothing was asked. */
export class TooManyReviews extends Error {}

interface Reviewed {
  until: number;
  identity: Identity | undefined;
}

export function createTokenReviews(ask: AskToken, now: () => number = () => performance.now()): TokenReviews {
  // Apart, so that nobody pushes out those who are known with tokens that are none.
  const known = new BoundedMap<string, Reviewed>(MOST_TOKENS);
  const refused = new BoundedMap<string, Reviewed>(MOST_TOKENS);
  const asked = new Map<string, Promise<Identity | undefined>>();

  async function look(key: string, token: string): Promise<Identity | undefined> {
    if (asked.size >= AT_ONCE)
      throw new TooManyReviews('too many tokens are being checked; try again in a moment');
    const asking = ask(token);
    asked.set(key, asking);
    try {
      const identity = await asking;
      known.delete(key);
      (identity ? known : refused).set(key, { until: now() + KNOWN_MS, identity });
      return identity;
    } finally {
      asked.delete(key);
    }
  }

  return {
    async review(token) {
      if (!TOKEN.test(token)) return undefined;
      const key = createHash('sha256').update(token).digest('base64');
      const found = known.get(key) ?? refused.get(key);
      if (found && now() < found.until) return found.identity;
      return asked.get(key) ?? look(key, token);
    },
  };
}
