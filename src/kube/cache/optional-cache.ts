/** A cache of a kind that a cluster may not have, or get only later; or may not let be read. */
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Client } from '../http/client.ts';
import { ApiError } from '../http/errors.ts';
import type { AnyObject, KubeObject, ResourceType } from '../object.ts';
import type { Cache } from './cache.ts';

/** A kind by name, with the versions it may be served in, oldest first. */
export interface OptionalKind {
  group: string;
  kind: string;
  versions: readonly string[];
}

export interface OptionalCache<T extends KubeObject = AnyObject> {
  /** Undefined as long as the cluster does not have the kind, or not all of it has been read. */
  readonly current: Cache<T> | undefined;
  /** The same from when the kind was seen, whether it may be read or not. */
  readonly opened: Cache<T> | undefined;
  /** Resolves when it is known that the cluster has none, or all of it has been read. */
  readonly discovered: Promise<void>;
  /** Whether that is known. A kind that comes later is not, from when it is seen until all of it has been read. */
  readonly isDiscovered: boolean;
  stop(): void;
}

export interface OptionalCacheOptions<T extends KubeObject> {
  client: () => Client;
  kind: OptionalKind;
  /** Opens the cache, in the version that the cluster serves. */
  open: (type: ResourceType) => Cache<T>;
  /** Whether one can do without: then to have no right to it is as good as to have none of it. */
  isDispensable: boolean;
  /** Called once, when the kind is there and all of it has been read. */
  onOpen: (cache: Cache<T>) => void;
  log: Log;
  clock?: Clock;
}

/** How often a kind that is not there is asked for again; sooner where nobody could say whether it is. */
const ABSENT_MS = 10_000;
const UNKNOWN_MS = 1000;

export function openOptionalCache<T extends KubeObject>(options: OptionalCacheOptions<T>): OptionalCache<T> {
  const { kind, open, isDispensable, onOpen, log, clock = systemClock } = options;
  const stopped = new AbortController();
  const discovered = Promise.withResolvers<void>();
  let current: Cache<T> | undefined;
  let opened: Cache<T> | undefined;
  let isDiscovered = false;

  function settle(): void {
    isDiscovered = true;
    discovered.resolve();
  }

  /** A kind counts from when all of it has been read: before that, what is not found might well be there. */
  async function follow(type: ResourceType): Promise<void> {
    isDiscovered = false;
    const cache = (opened = open(type));
    await (isDispensable ? cache.answered : cache.synced);
    if (stopped.signal.aborted) return;
    settle();
    // One that may not be read is as good as none, until it may.
    if (!cache.isSynced) await cache.synced;
    if (stopped.signal.aborted) return;
    current = cache;
    log.info({ kind: type.kind, version: type.version }, 'optional kind discovered');
    onOpen(cache);
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      let waitMs = ABSENT_MS;
      try {
        const type = await newestServed(options.client(), kind);
        if (type) return await follow(type);
        settle();
      } catch (error) {
        log.debug({ kind: kind.kind, problem: messageOf(error) }, 'discovery of an optional kind failed');
        waitMs = UNKNOWN_MS;
      }
      await clock.wait(waitMs, stopped.signal);
    }
  }

  void run();
  return {
    get current() {
      return current;
    },
    get opened() {
      return opened;
    },
    discovered: discovered.promise,
    get isDiscovered() {
      return isDiscovered;
    },
    stop: () => stopped.abort(),
  };
}

/** The newest version of a kind that the cluster serves. */
async function newestServed(
  client: Client,
  { group, kind, versions }: OptionalKind,
): Promise<ResourceType | undefined> {
  for (const version of versions.toReversed()) {
    const type = { group, version, kind };
    try {
      await client.resource(type);
      return type;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'KindNotServed')) throw error;
    }
  }
  return undefined;
}
