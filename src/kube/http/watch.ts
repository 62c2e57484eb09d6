import { pathOf } from './discovery.ts';
import type { Resource } from './discovery.ts';
import { ApiError, localError } from './errors.ts';
import type { StatusBody } from './errors.ts';
import { createLineSplitter } from './lines.ts';
import { acceptMetadata } from './list.ts';
import type { Selection } from './list.ts';
import { apiVersionOf } from '../object.ts';
import type { KubeObject } from '../object.ts';
import type { Requests } from './requests.ts';

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** Nothing happened, and the next watch may begin here. */
  | { type: 'BOOKMARK'; object: Pick<KubeObject, 'metadata'> };

export interface WatchOptions extends Selection {
  /** Only what happens after this version. */
  resourceVersion: string;
  signal?: AbortSignal | undefined;
  /** How long the server may take to begin. A connection on which it takes longer is given up. */
  openTimeoutMs?: number | undefined;
  /** How long nothing may come, not even a bookmark, before the watch is ended. */
  silenceMs?: number | undefined;
  /** After this the server ends the watch, so that watches get spread over servers again. */
  serverTimeoutSeconds?: number | undefined;
  /** Called when the server has accepted the watch. */
  onOpen?: () => void;
}

const OPEN_TIMEOUT_MS = 10_000;
/** Servers send a bookmark about each minute, but none for a kind of which they have not seen a change since they started. */
export const SILENCE_MS = 90_000;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** The reason of the error that ends a watch in which nothing came for too long. */
export const SILENT = 'Silent';

type RawEvent<T> = WatchEvent<T> | { type: 'ERROR'; object: StatusBody };

/** Watches once, from a version on, until the server ends it. An ERROR event is thrown as `ApiError`. */
export async function* openWatch<T extends KubeObject>(
  requests: Requests,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { silenceMs = SILENCE_MS, signal } = options;
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const signals = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  try {
    const body = await begin(requests, resource, options, signals);
    const split = createLineSplitter(MAX_LINE_BYTES);
    timer = setTimeout(() => silence.abort(), silenceMs);
    options.onOpen?.();
    for await (const chunk of body) {
      timer.refresh();
      for (const line of split(chunk)) {
        const event = parseEvent<T>(line);
        yield options.metadataOnly ? named(event, resource) : event;
      }
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (silence.signal.aborted) throw new ApiError(0, SILENT, `nothing came for ${silenceMs / 1000} s`);
    if (error instanceof ApiError) throw error;
    throw localError('Unreachable', `the watch of ${resource.plural} broke off`, error);
  } finally {
    clearTimeout(timer);
  }
}

async function begin(
  requests: Requests,
  resource: Resource,
  options: WatchOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { namespace, labelSelector, fieldSelector, metadataOnly, resourceVersion, serverTimeoutSeconds } =
    options;
  const answer = await requests.open({
    verb: 'watch',
    method: 'GET',
    path: pathOf(resource, { namespace }),
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion,
      labelSelector,
      fieldSelector,
      timeoutSeconds: serverTimeoutSeconds === undefined ? undefined : String(serverTimeoutSeconds),
    },
    accept: metadataOnly ? acceptMetadata('PartialObjectMetadata') : undefined,
    timeoutMs: options.openTimeoutMs ?? OPEN_TIMEOUT_MS,
    signal,
  });
  return answer.body;
}

/** Metadata comes under a kind of its own. */
function named<T extends KubeObject>(event: WatchEvent<T>, resource: Resource): WatchEvent<T> {
  if (event.type === 'BOOKMARK') return event;
  return { ...event, object: { ...event.object, apiVersion: apiVersionOf(resource), kind: resource.kind } };
}

function parseEvent<T>(line: string): WatchEvent<T> {
  let event: RawEvent<T>;
  try {
    event = JSON.parse(line) as RawEvent<T>;
  } catch (cause) {
    throw localError('Malformed', 'a line of the watch is not JSON', cause);
  }
  if (event.type !== 'ERROR') return event;
  const { code = 500, reason = 'Unknown', message = 'the watch failed', details } = event.object;
  const seconds = details?.retryAfterSeconds;
  throw new ApiError(code, reason, message, {
    retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
  });
}
