import { constants, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** JSON Web Tokens (RFC 7519) with a signature (RFC 7515): what one says, and whether that is proven. Pure: the caller has key and clock. */

export interface TokenRules {
  /** Any, if left out. */
  issuer?: string | undefined;
  audience?: string | undefined;
  /** The claim that is the user. */
  userClaim: string;
}

export interface Token {
  algorithm: string;
  keyId: string | undefined;
  claims: Record<string, unknown>;
  signed: string;
  signature: Buffer;
}

interface Algorithm {
  hash: string | null;
  /** The kind of key that it is for, and no other: a key must not be taken for what it was not made for. */
  fits: (key: KeyObject) => boolean;
  options: object;
}

const LEAST_RSA_BITS = 2048;
const isRsa = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
  asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS;
const isCurve = (name: string) => (key: KeyObject) =>
  key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === name;
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const pair = { dsaEncoding: 'ieee-p1363' };

/** No `none`, and nothing whose key could be a public one. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ['RS256', { hash: 'sha256', fits: isRsa, options: {} }],
  ['RS384', { hash: 'sha384', fits: isRsa, options: {} }],
  ['RS512', { hash: 'sha512', fits: isRsa, options: {} }],
  ['PS256', { hash: 'sha256', fits: isRsa, options: pss }],
  ['PS384', { hash: 'sha384', fits: isRsa, options: pss }],
  ['PS512', { hash: 'sha512', fits: isRsa, options: pss }],
  ['ES256', { hash: 'sha256', fits: isCurve('prime256v1'), options: pair }],
  ['ES384', { hash: 'sha384', fits: isCurve('secp384r1'), options: pair }],
  ['ES512', { hash: 'sha512', fits: isCurve('secp521r1'), options: pair }],
  ['EdDSA', { hash: null, fits: (key) => key.asymmetricKeyType === 'ed25519', options: {} }],
]);

/** Clocks are never quite the same. */
const SKEW_SECONDS = 30;

/** What a token says, without knowing whether that is so; undefined if it is none. */
export function readToken(text: string): Token | undefined {
  const parts = text.split('.');
  if (parts.length !== 3) return undefined;
  const [header, claims] = parts.slice(0, 2).map(readObject);
  const algorithm = header?.['alg'];
  // An extension that has to be understood (`crit`) is one that we do not understand.
  if (!claims || typeof algorithm !== 'string' || !ALGORITHMS.has(algorithm) || 'crit' in header!)
    return undefined;
  const keyId = header!['kid'];
  return {
    algorithm,
    keyId: typeof keyId === 'string' ? keyId : undefined,
    claims,
    signed: `${parts[0]}.${parts[1]}`,
    signature: Buffer.from(parts[2]!, 'base64url'),
  };
}

function readObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // not a token
  }
}

/** Whose token it is and until when (in ms since 1970), if it is for us and valid now; else why not. */
export function judgeClaims(
  claims: Token['claims'],
  { issuer, audience, userClaim }: TokenRules,
  nowMs: number,
): { user: string; expiresMs: number } | { refused: string } {
  const now = nowMs / 1000;
  const { iss, aud, exp, nbf } = claims;
  const user = claims[userClaim];
  if (issuer !== undefined && iss !== issuer) return { refused: 'a token of another issuer' };
  if (audience !== undefined && ![aud].flat().includes(audience))
    return { refused: 'a token for another audience' };
  if (typeof exp !== 'number' || exp + SKEW_SECONDS <= now) return { refused: 'a token that has expired' };
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf - SKEW_SECONDS <= now))
    return { refused: 'a token that is not valid yet' };
  if (typeof user !== 'string' || user === '' || user.length > 1000)
    return { refused: 'a token without a user' };
  return { user, expiresMs: (exp + SKEW_SECONDS) * 1000 };
}

/** Whether this key has signed it. */
export function isSignedBy({ algorithm, signed, signature }: Token, key: KeyObject): boolean {
  const { hash, fits, options } = ALGORITHMS.get(algorithm)!;
  return fits(key) && verify(hash, Buffer.from(signed), { key, ...options }, signature);
}
