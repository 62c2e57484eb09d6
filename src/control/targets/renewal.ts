/** When a token is renewed. The times are those that the token itself says, so that nothing has to be remembered. */
import type { Credential } from './credential.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A third of its life leaves two thirds for outages. */
const PART = 1 / 3;

/** When to renew it, in milliseconds since 1970; never if it does not end, or has ended: then it opens no door any more. */
export function renewalDueAt({ issuedAt, expiresAt }: Credential, now: number): number | undefined {
  if (expiresAt === undefined || expiresAt <= now) return undefined;
  if (issuedAt === undefined || issuedAt > now) return now;
  return issuedAt + Math.min((expiresAt - issuedAt) * PART, DAY_MS);
}

const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 15 * 60_000;

/** How long to wait after so many failures in a row. */
export const retryAfterMs = (failures: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10), LAST_RETRY_MS);
