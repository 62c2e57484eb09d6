import { randomBytes } from 'node:crypto';

/**
 * The keys that TLS sessions are sealed by which clients keep and resume. Whoever gets hold of them can read what was
 * said in those sessions, so they do not live long; tickets last for five minutes, so few clients notice a change.
 */
export const ROTATE_MS = 3_600_000;
/** A name, a key to sign and a key to encrypt, of 16 bytes each. */
const KEYS_BYTES = 48;

export const createTicketKeys = (): Buffer => randomBytes(KEYS_BYTES);

/** Makes new keys now and then; the result ends that. */
export function rotateTicketKeys(onKeys: (keys: Buffer) => void, everyMs = ROTATE_MS): () => void {
  const timer = setInterval(() => onKeys(createTicketKeys()), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
