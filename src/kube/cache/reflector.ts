import { messageOf } from '../../ops/errors.ts';
import { inSlices } from '../../ops/time-slice.ts';
import { CONNECTION_BACKOFF, backoffMs } from '../backoff.ts';
import type { Client } from '../http/client.ts';
import type { Clock } from '../clock.ts';
import { ApiError, hasStatus } from '../http/errors.ts';
import type { Selection } from '../http/list.ts';
import type { KubeObject, ResourceType } from '../object.ts';
import { SILENT } from '../http/watch.ts';
import type { WatchEvent } from '../http/watch.ts';

/** Who wants to know what is there and what changes. */
export interface Listener<T> {
  /** A list begins (again); objects that were listed before this do not count. */
  onListStart(): void;
  onListed(object: T): void;
  /** Ends a list, in steps, which are all gone through. */
  onListEnd(): Iterator<undefined, void>;
  onEvent(event: WatchEvent<T>): void;
  /** The server said something. */
  onHeard(): void;
  /** What keeps us from following, and whether it is that we have no right to; undefined when nothing does any more. */
  onProblem(problem: string | undefined, isForbidden?: boolean): void;
}

export interface ReflectorOptions extends Selection {
  type: ResourceType;
  silenceMs?: number | undefined;
  openTimeoutMs?: number | undefined;
}

export interface ReflectorContext<T> {
  client: () => Client;
  clock: Clock;
  random: () => number;
  listener: Listener<T>;
}

export interface Reflector {
  restart(): void;
  stop(): Promise<void>;
}

/** A watch that ended sooner than this, without an event, is a failure: to begin again at once would be a busy loop. */
const SHORT_WATCH_MS = 1000;
/** A watch that held this long was a success, even if nothing happened in it. */
const LONG_WATCH_MS = 30_000;

/**
 * Follows one kind for ever: list, watch from there, and when the watch ends watch again from the last version heard of.
 * Only if the server has forgotten that version (410) is the list read again. Failures wait longer and longer, until
 * something is heard again.
 */
export function runReflector<T extends KubeObject>(
  options: ReflectorOptions,
  context: ReflectorContext<T>,
): Reflector {
  const { clock, random, listener } = context;
  const stopped = new AbortController();
  let round = new AbortController();
  let position: string | undefined;
  let everListed = false;
  let failures = 0;
  let losses = 0;

  function heard(): void {
    failures = 0;
    losses = 0;
    listener.onHeard();
    listener.onProblem(undefined);
  }

  function* listed(objects: readonly T[]): Generator<undefined, void> {
    for (const object of objects) {
      listener.onListed(object);
      yield;
    }
  }

  async function list(client: Client, signal: AbortSignal): Promise<void> {
    // The first time, the server's memory will do. Later it might be older than what we have, and take us back in time.
    const resourceVersion = everListed ? undefined : '0';
    const { namespace, labelSelector, fieldSelector, metadataOnly } = options;
    const selection = { namespace, labelSelector, fieldSelector, metadataOnly, resourceVersion, signal };
    let version = '';
    for await (const page of client.listPages<T>(options.type, selection)) {
      if (page.first) listener.onListStart();
      await inSlices(listed(page.items));
      version = page.resourceVersion;
      listener.onHeard();
    }
    await inSlices(listener.onListEnd());
    everListed = true;
    position = version;
  }

  async function watch(client: Client, signal: AbortSignal): Promise<void> {
    const serverTimeoutSeconds = Math.round(300 + 300 * random());
    let openedAt = Infinity;
    const onOpen = () => {
      openedAt = clock.now();
      listener.onProblem(undefined);
    };
    const watchOptions = {
      ...options,
      resourceVersion: position ?? '',
      serverTimeoutSeconds,
      signal,
      onOpen,
    };
    let events = 0;
    try {
      for await (const event of client.watch<T>(options.type, watchOptions)) {
        events += 1;
        listener.onEvent(event);
        position = event.object.metadata.resourceVersion ?? position;
        heard();
      }
    } finally {
      if (clock.now() - openedAt > LONG_WATCH_MS) failures = 0;
    }
    if (events === 0 && clock.now() - openedAt < SHORT_WATCH_MS)
      throw new Error('the server ended the watch at once');
  }

  /** Says how long to wait before the next round. */
  function pauseAfter(error: unknown): number {
    // Silence is not always a fault (see SILENCE_MS); whether the server is there is shown by the next watch.
    if (error instanceof ApiError && error.reason === SILENT) return 0;
    if (isLost(error)) {
      // The server is there, so there is no need to wait for it; but not to read the list in a loop, there is.
      position = undefined;
      failures = 0;
      losses += 1;
      return backoffMs(losses, CONNECTION_BACKOFF, random());
    }
    listener.onProblem(messageOf(error), hasStatus(error, 403));
    failures += 1;
    const askedMs = (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 0;
    return Math.max(askedMs, backoffMs(failures, CONNECTION_BACKOFF, random()));
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      const signal = AbortSignal.any([stopped.signal, round.signal]);
      try {
        const client = context.client();
        if (position === undefined) await list(client, signal);
        await watch(client, signal);
      } catch (error) {
        if (!signal.aborted) await clock.wait(pauseAfter(error), signal);
      }
      if (round.signal.aborted) {
        round = new AbortController();
        position = undefined;
        failures = 0;
      }
    }
  }

  const done = run();
  return {
    restart: () => round.abort(),
    async stop() {
      stopped.abort();
      await done;
    },
  };
}

/** Whether our position means nothing to the server: forgotten, or (after a restore of etcd) not reached yet. */
function isLost(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 410 || error.message.includes('Too large resource version');
}
