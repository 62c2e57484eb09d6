/** By what an API server is told who we are, and until when that holds. */
import { X509Certificate } from 'node:crypto';
import { readPem } from '../../kube/http/connection.ts';
import type { User } from '../../kube/http/connection.ts';

export interface Credential {
  kind: 'token' | 'certificate' | 'password' | 'none';
  /** In milliseconds since 1970, as are all times here. Unknown of tokens that are no JWT. */
  issuedAt?: number;
  /** For ever, or unknown, if left out. */
  expiresAt?: number;
  /** Whose it is, as far as it says so. */
  subject?: string;
  /** Whether it is that of a group that may do everything. */
  isAdministrator?: boolean;
}

/** A group that no rule can keep from anything. */
const ADMINISTRATORS = 'system:masters';

/** What a kubeconfig's user goes by; the order is that of the client. */
export function credentialOf({ token, certificate, basic }: User): Credential {
  if (token !== undefined) return { kind: 'token', ...readToken(token) };
  if (certificate !== undefined) return { kind: 'certificate', ...readCertificate(certificate.cert) };
  return { kind: basic ? 'password' : 'none' };
}

/** The end of the year 9999: what is later is never, and not even a date for JavaScript if it is much later. */
const LAST_MS = Date.UTC(10_000) - 1;
const LONGEST_SUBJECT = 200;

/** The times of a credential; the cluster that it is for may have written anything into it. */
function timesOf(times: { issuedAt: number | undefined; expiresAt: number | undefined }) {
  const known = Object.entries(times).filter(([, ms]) => ms !== undefined && ms >= 0 && ms <= LAST_MS);
  return Object.fromEntries(known) as Pick<Credential, 'issuedAt' | 'expiresAt'>;
}

/** What a JWT says of itself. It is not verified: the server does that. */
export function readToken(token: string): Omit<Credential, 'kind'> {
  const claims = claimsOf(token);
  const time = (name: 'iat' | 'exp') => {
    const seconds = claims[name];
    return typeof seconds === 'number' ? seconds * 1000 : undefined;
  };
  const subject = claims['sub'];
  return {
    ...timesOf({ issuedAt: time('iat'), expiresAt: time('exp') }),
    ...(typeof subject === 'string' && { subject: subject.slice(0, LONGEST_SUBJECT) }),
  };
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    const claims: unknown = JSON.parse(text);
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function readCertificate(pem: NonNullable<User['certificate']>['cert']): Omit<Credential, 'kind'> {
  try {
    const { validFromDate, validToDate, subject } = new X509Certificate(readPem(pem, 'client-certificate'));
    const words = subject.split('\n');
    const name = words.find((word) => word.startsWith('CN='))?.slice('CN='.length);
    return {
      ...timesOf({ issuedAt: validFromDate.getTime(), expiresAt: validToDate.getTime() }),
      ...(name !== undefined && { subject: name.slice(0, LONGEST_SUBJECT) }),
      ...(words.includes(`O=${ADMINISTRATORS}`) && { isAdministrator: true }),
    };
  } catch {
    return {};
  }
}
