import { z } from 'zod';
import type { Log } from '../../ops/log.ts';
import type { Outbound } from '../../ops/outbound.ts';
import { createHttpClient } from '../kms/http/client.ts';
import { filesIn, requireIdentity, serviceUrl, tls as tlsSchema } from '../kms/http/settings.ts';
import { createKeySet } from './key-set.ts';
import type { KeySet } from './key-set.ts';
import { isSignedBy, judgeClaims, readToken } from './token.ts';
import type { TokenRules } from './token.ts';

const text = z.string().min(1).max(1000);

/** Who has issued tokens that are taken, by the original's names. */
export const tokenIssuer = {
  jwksEndpointUrl: serviceUrl,
  jwksEndpointRefreshMs: z.number().int().min(10_000).default(3_600_000),
  expectedIssuer: text,
  expectedAudience: text,
  subClaimName: text.default('sub'),
  tls: tlsSchema.optional(),
};

const settings = z.object(tokenIssuer).partial({ expectedIssuer: true, expectedAudience: true });
export type TokenIssuer = z.output<typeof settings>;

/** Whose token it is and for how long, or why it is refused. */
export type Verified = { user: string; lifetimeMs: number } | { refused: string };

export type VerifyToken = (text: string) => Promise<Verified>;

/** A token that an issuer whom we trust has signed, for us, and that is valid now. */
export function tokenVerifier(
  rules: TokenRules,
  keySet: KeySet,
  clock: () => number = () => Date.now(),
): VerifyToken {
  return async (given) => {
    const token = readToken(given);
    if (!token) return { refused: 'a message without a token that can be read' };
    // Before the issuer is asked for anything: what is not for us costs nothing.
    const judged = judgeClaims(token.claims, rules, clock());
    if ('refused' in judged) return judged;
    const keys = await keySet.keysFor(token.keyId);
    if (!keys.some((key) => isSignedBy(token, key)))
      return { refused: 'a token that no known key has signed' };
    return { user: judged.user, lifetimeMs: Math.max(1, judged.expiresMs - clock()) };
  };
}

/** The same from settings, with the issuer's keys asked for as they are needed. */
export function openVerifier(
  config: TokenIssuer,
  outbound: Outbound,
  log: Log,
): { verify: VerifyToken; close: () => void } {
  const { jwksEndpointUrl: url, tls } = config;
  if (filesIn(tls).length > 0) requireIdentity(outbound, 'tls.trust.storeFile', [url]);
  const http = createHttpClient({ outbound, tls });
  const keySet = createKeySet({ url, http, refreshMs: config.jwksEndpointRefreshMs, log });
  const { expectedIssuer: issuer, expectedAudience: audience, subClaimName: userClaim } = config;
  return { verify: tokenVerifier({ issuer, audience, userClaim }, keySet), close: () => http.close() };
}
