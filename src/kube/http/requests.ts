import { messageOf } from '../../ops/errors.ts';
import { CONNECTION_BACKOFF, backoffMs } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import { createCredentials } from './credentials.ts';
import type { Connection } from './connection.ts';
import { ApiError, apiErrorOf, localError } from './errors.ts';
import { SendError, createTransport } from './transport.ts';
import type { HttpAnswer, HttpRequest, LaneName } from './transport.ts';

export const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

/** How many requests were sent, retries included. */
export type RequestCounts = Record<Verb, number>;

/** What was last heard of the server. */
export interface Reach {
  /** `clock.now()` of the last answer, of whatever status. */
  lastAnswerAt: number | undefined;
  /** Why the last request got no answer; undefined after one that did. */
  problem: string | undefined;
}

export interface RequestOptions {
  /** For everything: retries, waiting because the server says so, reading the answer. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface Call extends RequestOptions {
  verb: Verb;
  method: HttpRequest['method'];
  path: string;
  query?: Record<string, string | undefined>;
  body?: unknown;
  contentType?: string;
  /** In which form the answer is wanted; as JSON if left out. */
  accept?: string | undefined;
  /** Reads the answer, which has at most so many bytes; as one JSON text if left out. */
  read?: (body: AsyncIterable<Uint8Array>, maxBytes: number) => Promise<unknown>;
}

export interface Answer {
  status: number;
  body: unknown;
}

/** Requests to one API server: who we are, deadlines, and the retries that are always right. */
export interface Requests {
  readonly counts: RequestCounts;
  readonly reach: Reach;
  /** Sends a request and reads the answer, whole. Throws `ApiError` unless it is a success. */
  call(call: Call): Promise<Answer>;
  /** Sends a request and hands out the body as it comes; the deadline is for its beginning only. */
  open(call: Call): Promise<HttpAnswer>;
  close(graceMs?: number): Promise<void>;
}

export interface RequestsOptions {
  clock: Clock;
  random?: () => number;
  maxResponseBytes?: number;
}

export const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ATTEMPTS = 10;

interface Attempt {
  lane: LaneName;
  signal: AbortSignal;
  deadline: number;
}

export function createRequests(connection: Connection, options: RequestsOptions): Requests {
  const { clock, random = Math.random, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
  const credentials = createCredentials(connection.user, clock);
  const transport = createTransport(connection);
  const counts = Object.fromEntries(VERBS.map((verb) => [verb, 0])) as RequestCounts;
  const reach: Reach = { lastAnswerAt: undefined, problem: undefined };

  async function sendOnce(
    call: Call,
    { lane, signal }: Attempt,
  ): Promise<{ answer: HttpAnswer; refused: Refused }> {
    const identity = await orAborted(credentials.current(), signal);
    counts[call.verb] += 1;
    const answer = await transport.send(lane, identity, { ...httpRequestOf(call), signal });
    reach.lastAnswerAt = clock.now();
    reach.problem = undefined;
    return { answer, refused: () => credentials.renew(identity) };
  }

  /** A server that was not reached, or took too long, is told apart from a caller who gave up. */
  function failureOf(thrown: unknown, call: Call, signal: AbortSignal): unknown {
    if (call.signal?.aborted) return call.signal.reason;
    const failure = thrown instanceof SendError ? thrown.cause : thrown;
    if (!(thrown instanceof SendError) && !signal.aborted) {
      if (!(failure instanceof ApiError)) reach.problem = messageOf(failure); // e.g. a credential plugin that fails
      return failure;
    }
    const what = `${call.method} ${connection.server}${call.path}`;
    // A connection on which an answer is overdue may be dead at the other end without our knowing.
    if (signal.aborted && thrown instanceof SendError) thrown.suspect();
    reach.problem = signal.aborted ? 'no answer in time' : messageOf(failure);
    return signal.aborted
      ? localError('Timeout', `${what}: no answer in time`, failure)
      : localError('Unreachable', `${what}: ${messageOf(failure)}`, failure);
  }

  /** Sends until there is a success, an error that no repetition cures, or no time left. */
  async function attempt(call: Call, context: Attempt): Promise<HttpAnswer> {
    let renewed = false;
    for (let attempts = 1; ; attempts++) {
      const { answer, refused } = await sendOnce(call, context);
      if (answer.status < 400) return answer;
      const body = await readBody(answer.body, MAX_ERROR_BYTES).catch(() => '');
      const error = apiErrorOf(answer.status, body, answer.header('retry-after'));
      if (answer.status === 401 && !renewed && (await orAborted(refused(), context.signal))) {
        renewed = true;
        continue;
      }
      // Whoever opens a watch goes on for ever anyway, and had better know at once.
      const waitMs = context.lane === 'requests' ? waitBefore(error, attempts, random()) : undefined;
      if (waitMs === undefined || clock.now() + waitMs >= context.deadline) throw error;
      await clock.wait(waitMs, context.signal);
      context.signal.throwIfAborted();
    }
  }

  async function withDeadline<T>(
    call: Call,
    lane: LaneName,
    use: (context: Attempt) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = call;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const signal = call.signal ? AbortSignal.any([call.signal, late.signal]) : late.signal;
    try {
      return await use({ lane, signal, deadline: clock.now() + timeoutMs });
    } catch (thrown) {
      throw failureOf(thrown, call, late.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    counts,
    reach,
    call: (call) =>
      withDeadline(call, 'requests', async (context) => {
        const answer = await attempt(call, context).catch((thrown: unknown) => {
          // A read that met a connection just as the server closed it is simply asked again.
          const again = call.method === 'GET' && thrown instanceof SendError && !context.signal.aborted;
          if (!again) throw thrown;
          return attempt(call, context);
        });
        try {
          const { read = readJson } = call;
          return { status: answer.status, body: await read(answer.body, maxResponseBytes) };
        } catch (cause) {
          throw cause instanceof ApiError ? cause : new SendError(cause, answer.suspect);
        }
      }),
    open: (call) => withDeadline(call, 'watches', (context) => attempt(call, context)),
    close: (graceMs) => transport.close(graceMs),
  };
}

type Refused = () => Promise<boolean>;

/** A credential plugin has a minute; whoever makes a request may have less. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}

/** Only what the server itself asks to repeat is repeated: it has not done anything then. */
function waitBefore(error: ApiError, attempts: number, random: number): number | undefined {
  const asked = (error.status === 429 || error.status === 503) && error.retryAfterMs !== undefined;
  if (!asked || attempts >= MAX_ATTEMPTS) return undefined;
  return Math.max(error.retryAfterMs ?? 0, backoffMs(attempts, CONNECTION_BACKOFF, random));
}

function httpRequestOf(call: Call): Omit<HttpRequest, 'signal'> {
  const { method, path, query = {}, body, contentType, accept = 'application/json' } = call;
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const search = pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : '';
  const headers: Record<string, string> = { accept, 'user-agent': 'isthmus' };
  if (body === undefined) return { method, path: path + search, headers };
  headers['content-type'] = contentType ?? 'application/json';
  return { method, path: path + search, headers, body: JSON.stringify(body) };
}

async function readJson(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<unknown> {
  return parseJson(await readBody(body, maxBytes));
}

async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop ends the stream.
    if (size > maxBytes) throw localError('TooLarge', `the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    throw localError('Malformed', 'the answer is not JSON', cause);
  }
}
