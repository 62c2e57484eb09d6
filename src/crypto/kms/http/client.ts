/**
 * The one way in which key services are asked. An answer is bounded in size and in time, redirects are not followed, and
 * the address that is dialled is the one that was allowed. Nothing of a request or an answer is in an error but its status.
 */
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { lookupOf } from '../../../ops/outbound.ts';
import type { Outbound, OutboundPurpose } from '../../../ops/outbound.ts';
import { KmsRefused, KmsThrottled } from '../../kms.ts';
import { readTrust } from './settings.ts';
import type { Tls } from './settings.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT';
  url: URL;
  headers?: Record<string, string>;
  body?: string;
}

export interface HttpAnswer {
  status: number;
  header(name: string): string | undefined;
  /** The body as text, in which nothing has been looked for yet. */
  text: string;
  /** The body as JSON of a certain shape; throws without quoting it. */
  json<S extends z.ZodType>(schema: S): z.output<S>;
  /** The same, where it may be something else: what a proxy says on the way, for example. */
  jsonIfAny<S extends z.ZodType>(schema: S): z.output<S> | undefined;
}

export interface HttpClient {
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export interface HttpOptions {
  outbound: Outbound;
  purpose?: OutboundPurpose;
  /** Whom to trust; the platform's authorities if left out. */
  tls?: Tls | undefined;
  /** How long a request may take in all. */
  timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 8000;
const CONNECT_TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 4;
/** Longer than this, load balancers tend to have forgotten a connection. */
const IDLE_MS = 30_000;

export function createHttpClient(options: HttpOptions): HttpClient {
  const { timeoutMs = TIMEOUT_MS } = options;
  let agent: Promise<Dispatcher> | undefined;
  let closed = false;
  return {
    async send({ method, url, headers = {}, body }) {
      if (closed) throw new Error('this client has been closed');
      // Loaded late: a process that carries traffic without a key service needs none of it.
      agent ??= openAgent(options).catch((error: unknown) => {
        agent = undefined; // its authorities may be readable the next time
        throw error;
      });
      try {
        const answer = await (
          await agent
        ).request({
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers,
          body: body ?? null,
          signal: AbortSignal.timeout(timeoutMs),
        });
        const text = await answer.body.text();
        const header = (name: string) => [answer.headers[name]].flat()[0];
        return { status: answer.statusCode, header, text, ...readers(text, url) };
      } catch (cause) {
        throw new Error(`${url.host} did not answer: ${reasonOf(cause)}`, { cause });
      }
    },
    close() {
      closed = true;
      agent?.then((opened) => opened.destroy()).catch(() => {});
    },
  };
}

async function openAgent({ outbound, purpose = 'service', tls }: HttpOptions): Promise<Dispatcher> {
  const ca = await readTrust(tls);
  const { Agent, buildConnector } = await import('undici');
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    // In a list: Node takes an empty text for none given, and would trust the whole world's authorities.
    ...(ca === undefined ? {} : { ca: [ca] }),
    lookup(host, options, callback) {
      outbound.resolve(host, purpose).then(
        (checked) => lookupOf(checked)(host, options, callback),
        (error: Error) => callback(error, []),
      );
    },
  });
  return new Agent({
    connections: MAX_CONNECTIONS,
    keepAliveTimeout: IDLE_MS,
    maxResponseSize: MAX_ANSWER_BYTES,
    connect(options, callback) {
      // Node looks up names only: an address would be dialled unseen.
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      const checked = isIP(host) ? outbound.resolve(host, purpose) : Promise.resolve();
      checked.then(
        () => connect(options, callback),
        (error: Error) => callback(error, null),
      );
    },
  });
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the connection failed';
  if (cause.name === 'TimeoutError') return 'it took too long';
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

function readers(text: string, url: URL): Pick<HttpAnswer, 'json' | 'jsonIfAny'> {
  function jsonIfAny<S extends z.ZodType>(schema: S): z.output<S> | undefined {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      return undefined; // without the cause, which quotes what it could not read
    }
  }
  return {
    jsonIfAny,
    json(schema) {
      const found = jsonIfAny(schema);
      if (found === undefined) throw new Error(`${url.host} gave an answer of another form than documented`);
      return found;
    },
  };
}

/** The statuses by which services say something about a key, or about what it sealed. */
export const ABOUT_KEYS: ReadonlySet<number> = new Set([200, 400, 404]);

/** What a status other than 200 means to whoever asked: wait, do not ask again at once, or try again. */
export function failureOf(answer: HttpAnswer, who: string): Error {
  const { status } = answer;
  const message = `${who} answered ${status}`;
  if (status === 429) return new KmsThrottled(message, retryAfterMs(answer));
  return status < 500 && status !== 408 ? new KmsRefused(message) : new Error(message);
}

/** How long a service wants to be left alone, by its Retry-After in seconds. */
function retryAfterMs(answer: HttpAnswer): number {
  const seconds = Number(answer.header('retry-after'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
