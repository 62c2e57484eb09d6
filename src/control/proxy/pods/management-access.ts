/**
 * What it takes to be told more than health by a proxy's pods: bearer tokens, and a certificate so that they are sent to nobody
 * else. They are in a Secret that pods mount, the operator reads, and Prometheus is given a part of.
 */
import { X509Certificate, createPrivateKey, randomBytes } from 'node:crypto';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { nameOfKey } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { CERTIFICATE_KEY, METRICS_TOKEN_KEY, PRIVATE_KEY_KEY, TOKEN_KEY, managementHost } from '../names.ts';

interface Tokens {
  /** For everything that pods say of themselves. */
  token: string;
  /** For /metrics alone. */
  metricsToken: string;
}

interface KeyPair {
  /** The certificate that the pods show, which is its own authority. In PEM, like its key. */
  certificate: string;
  privateKey: string;
}

export type ManagementAccess = Tokens & KeyPair;

const textIn = (secret: AnyObject | undefined, key: string) => {
  const data = (secret?.['data'] ?? {}) as Record<string, string>;
  return Buffer.from(data[key] ?? '', 'base64')
    .toString('utf8')
    .trim();
};

function tokensIn(secret: AnyObject | undefined): Tokens | undefined {
  const [token, metricsToken] = [textIn(secret, TOKEN_KEY), textIn(secret, METRICS_TOKEN_KEY)];
  return token && metricsToken ? { token, metricsToken } : undefined;
}

function keyPairIn(secret: AnyObject | undefined): KeyPair | undefined {
  const [certificate, privateKey] = [textIn(secret, CERTIFICATE_KEY), textIn(secret, PRIVATE_KEY_KEY)];
  return certificate && privateKey ? { certificate, privateKey } : undefined;
}

/** As it is in the Secret; undefined if a part is missing. */
export function accessIn(secret: AnyObject | undefined): ManagementAccess | undefined {
  const [tokens, keys] = [tokensIn(secret), keyPairIn(secret)];
  return tokens && keys && { ...tokens, ...keys };
}

/** Long before it ends, so that it never ends while nobody runs who could replace it. */
const RENEW_BEFORE_MS = 365 * 24 * 60 * 60 * 1000;

/** Until when a certificate can be used by who has the key; 0 if it cannot. */
function goodUntil({ certificate, privateKey }: KeyPair, host: string): number {
  try {
    const read = new X509Certificate(certificate);
    const isOwn = read.checkHost(host) !== undefined && read.checkPrivateKey(createPrivateKey(privateKey));
    return isOwn ? read.validToDate.getTime() - RENEW_BEFORE_MS : 0;
  } catch {
    return 0;
  }
}

/** Makes what is missing. */
export interface Mint {
  token: () => string;
  keyPair: (host: string) => Promise<KeyPair>;
}

export interface ManagementAccesses {
  /** Makes what a proxy's Secret lacks; before `of` is called. */
  prepare(proxy: string, secret: AnyObject | undefined): Promise<void>;
  /** What is in a proxy's Secret, or is to be put into it. */
  of: (proxy: string, secret: AnyObject | undefined) => ManagementAccess;
}

const MAX_PROXIES = 10_000;

/** What is new is the same until the Secret is seen, which may be after the next plan. A Secret that is deleted then gets another. */
export function createAccesses(mint: Mint, now: () => number = Date.now): ManagementAccesses {
  const minted = new BoundedMap<string, ManagementAccess>(MAX_PROXIES);
  // To read a certificate and a key takes longer than the rest of many a reconcile, and a Secret that was read stays as it is.
  const checked = new WeakMap<AnyObject, number>();
  const untilOf = (secret: AnyObject, keys: KeyPair, host: string) => {
    const until = checked.get(secret) ?? goodUntil(keys, host);
    checked.set(secret, until);
    return until;
  };
  return {
    async prepare(proxy, secret) {
      const { name, namespace = '' } = nameOfKey(proxy);
      const host = managementHost(name, namespace);
      const [tokens, keys] = [tokensIn(secret), keyPairIn(secret)];
      const goodKeys = secret && keys && untilOf(secret, keys, host) > now() ? keys : undefined;
      if (tokens && goodKeys) minted.delete(proxy);
      else if (!minted.has(proxy))
        minted.set(proxy, {
          ...(tokens ?? { token: mint.token(), metricsToken: mint.token() }),
          ...(goodKeys ?? (await mint.keyPair(host))),
        });
    },
    of(proxy, secret) {
      const access = minted.get(proxy) ?? accessIn(secret);
      if (!access) throw new Error(`nothing was prepared for ${proxy}`);
      return access;
    },
  };
}

export const newToken = () => randomBytes(32).toString('base64url');
