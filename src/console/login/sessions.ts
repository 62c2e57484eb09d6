/**
 * Who is logged in: a random number in a cookie stands for a token, which stays in this memory. A cookie goes to every port of a
 * host, so on a machine with a port-forward the token itself would get to whatever else listens there.
 */
import { createHash, randomBytes } from 'node:crypto';

export interface Sessions {
  /** The secret of a new session. `owner`: whose it is. */
  open(token: string, owner: string): string;
  /** The token that it stands for. */
  token(secret: string): string | undefined;
  close(secret: string): void;
}

const LIFETIME_MS = 12 * 3_600_000;
const MOST = 4096;
/** One person cannot log the others out. */
const MOST_OF_ONE = 16;

interface Session {
  token: string;
  owner: string;
  until: number;
}

export function createSessions(now: () => number = () => performance.now()): Sessions {
  /** By a digest, the oldest first. */
  const all = new Map<string, Session>();
  const keyOf = (secret: string) => createHash('sha256').update(secret).digest('base64');

  function makeRoom(owner: string): void {
    for (const [key, { until }] of all) if (until <= now()) all.delete(key);
    const theirs = [...all].filter(([, session]) => session.owner === owner);
    const [surplus] = theirs.length >= MOST_OF_ONE ? theirs : all.size >= MOST ? all : [];
    if (surplus) all.delete(surplus[0]);
  }

  return {
    open(token, owner) {
      makeRoom(owner);
      const secret = randomBytes(32).toString('base64url');
      all.set(keyOf(secret), { token, owner, until: now() + LIFETIME_MS });
      return secret;
    },
    token(secret) {
      const session = all.get(keyOf(secret));
      return session && now() < session.until ? session.token : undefined;
    },
    close: (secret) => void all.delete(keyOf(secret)),
  };
}
