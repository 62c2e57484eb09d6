/** The bearer tokens of a proxy's management port: in a Secret that pods mount, the operator reads, and Prometheus is given a part of. */
import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { METRICS_TOKEN_KEY, TOKEN_KEY } from '../names.ts';

export interface ManagementTokens {
  /** For everything that pods say of themselves. */
  token: string;
  /** For /metrics alone. */
  metricsToken: string;
}

/** As they are in the Secret; undefined if one is missing. */
export function tokensIn(secret: AnyObject | undefined): ManagementTokens | undefined {
  const data = (secret?.['data'] ?? {}) as Record<string, string>;
  const textOf = (key: string) =>
    Buffer.from(data[key] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const [token, metricsToken] = [textOf(TOKEN_KEY), textOf(METRICS_TOKEN_KEY)];
  return token && metricsToken ? { token, metricsToken } : undefined;
}

/** Gives a proxy's tokens: those in its Secret, or new ones. */
export type TokensOf = (proxy: string, secret: AnyObject | undefined) => ManagementTokens;

const MAX_PROXIES = 10_000;
const newToken = () => randomBytes(32).toString('base64url');

/** New ones are the same until the Secret is seen, which may be after the next plan. A Secret that is deleted then gets others. */
export function createTokens(mint: () => string = newToken): TokensOf {
  const minted = new BoundedMap<string, ManagementTokens>(MAX_PROXIES);
  return (proxy, secret) => {
    const seen = tokensIn(secret);
    if (seen) minted.delete(proxy);
    const tokens = seen ?? minted.get(proxy) ?? { token: mint(), metricsToken: mint() };
    if (!seen) minted.set(proxy, tokens);
    return tokens;
  };
}
