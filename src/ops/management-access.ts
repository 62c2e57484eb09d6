import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Who may see what at a management port: health is for everyone, the names of tenants and their traffic are not. */

/** Files that hold the bearer tokens. They are read anew for each request, so that a token can be replaced while we run. */
export interface TokenFiles {
  /** For everything. */
  tokenFile?: string | undefined;
  /** For /metrics alone. */
  metricsTokenFile?: string | undefined;
}

export interface Tokens {
  all: string | undefined;
  metrics: string | undefined;
}

/** `health` is whether all is well, in one word. */
export type Access = 'all' | 'metrics' | 'health';

/** Without a token for everything, everything is for this machine alone: for whoever may start programs in this pod, or forward a port to it. */
export function accessOf(
  authorization: string | undefined,
  remoteAddress: string | undefined,
  { all, metrics }: Tokens,
): Access {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (isSame(given, all)) return 'all';
  if (all === undefined && isLoopback(remoteAddress)) return 'all';
  return isSame(given, metrics) ? 'metrics' : 'health';
}

/** Takes the same time wherever two tokens differ, and whatever their lengths. */
function isSame(given: string | undefined, token: string | undefined): boolean {
  if (given === undefined || token === undefined) return false;
  return timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string) => createHash('sha256').update(text).digest();

const isLoopback = (address = '') => /^(::ffff:)?127\.|^::1$/.test(address);

/** A file that is not there, or empty, is no token: then nobody gets in by it. */
export function readTokens({ tokenFile, metricsTokenFile }: TokenFiles): Tokens {
  return { all: tokenIn(tokenFile), metrics: tokenIn(metricsTokenFile) };
}

function tokenIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
