/** Lets in who shows a bearer token of the cluster, and shows them what they may read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { SessionView } from '../api.ts';
import type { ClusterSource } from '../cluster-source.ts';
import type { Door, Viewer } from '../http/door.ts';
import { loginRefusal } from '../http/guard.ts';
import { sendJson, sendText } from '../http/send.ts';
import { identityKey } from './access-reviews.ts';
import type { AccessReviews } from './access-reviews.ts';
import { createAttempts } from './attempts.ts';
import { createSessions } from './sessions.ts';
import { TooManyReviews } from './token-reviews.ts';
import type { Identity, TokenReviews } from './token-reviews.ts';

export interface LoginParts {
  source: Pick<ClusterSource, 'seenBy' | 'sees'>;
  tokens: TokenReviews;
  access: AccessReviews;
  log: Log;
}

const COOKIE = 'isthmus-console';
/** A token of 8 kB, as JSON. */
const LONGEST_BODY = 16_384;

export function loginDoor({ source, tokens, access, log }: LoginParts): Door {
  const sessions = createSessions();
  const attempts = createAttempts();
  const sessionOf = (user?: string): SessionView => ({
    login: true,
    ...(user !== undefined && { user }),
    sees: source.sees,
  });

  /** Undefined where there is no token, or one of nobody's. */
  async function identify(request: IncomingMessage): Promise<Identity | undefined> {
    const bearer = bearerOf(request);
    if (bearer !== undefined) return strangerOf(bearer, request);
    const secret = cookieOf(request);
    const token = secret === undefined ? undefined : sessions.token(secret);
    const identity = token === undefined ? undefined : await tokens.review(token);
    // A token that has ended does not come back.
    if (secret !== undefined && !identity) sessions.close(secret);
    return identity;
  }

  /** Whoever sends tokens of nobody's too often has to wait. */
  async function strangerOf(token: string, { socket }: IncomingMessage): Promise<Identity | undefined> {
    const address = socket.remoteAddress ?? '';
    if (!attempts.mayTry(address)) return undefined;
    const identity = await tokens.review(token);
    if (!identity) attempts.failed(address);
    return identity;
  }

  const viewerOf = (identity: Identity): Viewer => ({
    id: identityKey(identity),
    source: source.seenBy((places) => access.readable(identity, places)),
  });

  async function logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = request.socket.remoteAddress ?? '';
    if (!isConfidential(request))
      return sendText(response, 403, 'log in over https, or at localhost by way of kubectl port-forward');
    if (!attempts.mayTry(address))
      return sendText(response, 429, 'too many tokens were refused; wait a minute');
    const token = await tokenIn(request);
    if (token === undefined) return sendText(response, 400, 'send JSON: {"token": "…"}');
    const identity = await strangerOf(token, request);
    if (!identity) {
      log.warn({ address }, 'console login refused');
      return sendText(response, 401, 'the API server does not know this token; get a new one');
    }
    access.forget(identity);
    log.info({ user: identity.user, address }, 'console login');
    response.setHeader('set-cookie', cookie(request, sessions.open(token, identityKey(identity))));
    sendJson(response, 200, sessionOf(identity.user));
  }

  function logOut(request: IncomingMessage, response: ServerResponse): void {
    const secret = cookieOf(request);
    if (secret !== undefined) sessions.close(secret);
    response.setHeader('set-cookie', `${cookie(request, '')}; Max-Age=0`);
    sendJson(response, 200, sessionOf());
  }

  return {
    refusal: loginRefusal,
    async admit(request) {
      const identity = await identify(request);
      return identity && viewerOf(identity);
    },
    async session(request, response) {
      try {
        if (request.method === 'POST') return await logIn(request, response);
        if (request.method === 'DELETE') return logOut(request, response);
        return sendJson(response, 200, sessionOf((await identify(request))?.user));
      } catch (error) {
        // What the API server said may have to do with the token.
        if (!(error instanceof TooManyReviews)) log.error({ why: messageOf(error) }, 'token review failed');
        return sendText(response, 503, 'the API server cannot be asked about tokens now; try again');
      }
    },
  };
}

/** Scripts, and proxies that log people in themselves, send the token with each request. */
function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

function cookieOf({ headers }: IncomingMessage): string | undefined {
  return new RegExp(`(?:^|; )${COOKIE}=([\\w-]{1,64})(?:;|$)`).exec(headers.cookie ?? '')?.[1];
}

/** Pages never see it, and other sites cannot have it sent. */
const cookie = (request: IncomingMessage, secret: string) =>
  `${COOKIE}=${secret}; HttpOnly; SameSite=Strict; Path=/${isLoopback(request) ? '' : '; Secure'}`;

/** A token in clear text belongs on no network: whatever ends TLS before us says so, and a port-forward is a name of this machine. */
function isConfidential(request: IncomingMessage): boolean {
  return isLoopback(request) || request.headers['x-forwarded-proto'] === 'https';
}

const isLoopback = ({ headers }: IncomingMessage) =>
  /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(headers.host ?? '');

/** JSON alone: a form of another site could not send that. Its length is said before, so that it has an end. */
async function tokenIn(request: IncomingMessage): Promise<string | undefined> {
  const { 'content-type': type, 'content-length': length = Number.NaN } = request.headers;
  if (!type?.startsWith('application/json') || !(Number(length) <= LONGEST_BODY)) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  try {
    const { token } = JSON.parse(Buffer.concat(chunks).toString()) as { token?: unknown };
    return typeof token === 'string' ? token.trim() : undefined;
  } catch {
    return undefined;
  }
}
