/** Who may ask, and what a browser may do with the answer. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** No script and no style but our own files, nothing from anywhere else, and in nobody's frame. */
export const SECURITY_HEADERS: OutgoingHttpHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const LONGEST_URL = 2048;

export type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export interface Refusal {
  status: number;
  why: string;
}

/**
 * Why a request to a console on this machine is refused; undefined if it is not. A page somewhere else can make a browser on this
 * machine ask us: by a name of its own that leads here (DNS rebinding), which the Host header shows, or directly, which the browser
 * says (Sec-Fetch-Site, Origin).
 */
export function localRefusal(asked: Asked, port: number): Refusal | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (hosts.includes(asked.headers.host ?? ''))
    return refusal(
      asked,
      READ,
      hosts.map((host) => `http://${host}`),
    );
  return (
    badRequest(asked, READ) ?? {
      status: 421,
      why: `ask for ${hosts[0]}: this console answers to this machine's own names alone`,
    }
  );
}

/** The same where everybody logs in: a name that leads here by somebody else's will has no session. */
export function loginRefusal(asked: Asked): Refusal | undefined {
  const { host = '' } = asked.headers;
  const isSession = asked.url === '/session';
  return refusal(asked, isSession ? [...READ, 'POST', 'DELETE'] : READ, [
    `http://${host}`,
    `https://${host}`,
  ]);
}

const READ = ['GET', 'HEAD'];

function refusal(asked: Asked, methods: readonly string[], origins: readonly string[]): Refusal | undefined {
  const { headers } = asked;
  const isForeign = headers.origin !== undefined && !origins.includes(headers.origin);
  const isLink = headers['sec-fetch-mode'] === 'navigate';
  const isElsewhere = headers['sec-fetch-site'] === 'cross-site' && !isLink;
  return (
    badRequest(asked, methods) ??
    (isForeign || isElsewhere ? { status: 403, why: 'another site may not ask this console' } : undefined)
  );
}

function badRequest({ method = '', url = '' }: Asked, methods: readonly string[]): Refusal | undefined {
  if (!methods.includes(method)) return { status: 405, why: 'this console only reads: GET' };
  if (url.length > LONGEST_URL) return { status: 414, why: 'the address is too long' };
  return undefined;
}

/** So many answers a second, and some more at once. */
export function createRateLimit(
  perSecond: number,
  burst: number,
  now: () => number = () => performance.now(),
) {
  let left = burst;
  let at = now();
  return (): boolean => {
    const time = now();
    left = Math.min(burst, left + ((time - at) / 1000) * perSecond);
    at = time;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
