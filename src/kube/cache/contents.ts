/**
 * What objects hold of which a cache has the metadata alone: read one by one, for those who refer to them. So the objects of others
 * cost next to nothing, however many and large they are, and what is in them stays where it is.
 */
import { forEachLimit } from '../../ops/for-each-limit.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Client } from '../http/client.ts';
import { hasStatus } from '../http/errors.ts';
import { keyOf, nameOfKey } from '../object.ts';
import type { AnyObject } from '../object.ts';
import type { Cache } from './cache.ts';

export interface Contents {
  /** The object with what it held when it was last read, or its metadata if it was not; undefined if it does not exist. */
  get: (key: string) => AnyObject | undefined;
  /**
   * Reads those of the objects that have not been read in their present version, and forgets what this holder wanted before and
   * nobody wants any more. True if something was read: meanwhile the holder may have come to want something else.
   */
  load(holder: string, keys: Iterable<string>, signal: AbortSignal): Promise<boolean>;
  /** Takes an object as a write has left it, so that it need not be read again. `before`: the version that was written over. */
  wrote(object: AnyObject, before: string | undefined): void;
}

export interface ContentsContext {
  client: () => Client;
  /** What is kept of an object. */
  trim: (object: AnyObject) => AnyObject;
  /** Whether an object that may not be read is as good as none; otherwise that is a failure. */
  isDispensable: boolean;
  log: Log;
}

interface Content {
  /** Those that the metadata had when it was asked for, and that came; none if it was refused, so that it is asked for again. */
  versions: ReadonlySet<string | undefined>;
  /** Undefined if it was gone, or there is no right to it. */
  object: AnyObject | undefined;
}

const READS_AT_ONCE = 8;

export function createContents(
  cache: Pick<Cache, 'type' | 'get'>,
  { client, trim, isDispensable, log }: ContentsContext,
): Contents {
  const contents = new Map<string, Content>();
  const wantedBy = new Map<string, ReadonlySet<string>>();
  const holders = new Map<string, number>();
  const reading = new Map<string, Promise<void>>();

  const versionOf = (key: string) => cache.get(key)?.metadata.resourceVersion;
  const isStale = (key: string) =>
    cache.get(key) !== undefined && !contents.get(key)?.versions.has(versionOf(key));

  function hold(holder: string, keys: ReadonlySet<string>): void {
    for (const key of keys) holders.set(key, (holders.get(key) ?? 0) + 1);
    for (const key of wantedBy.get(holder) ?? []) {
      const left = holders.get(key)! - 1;
      if (left > 0) holders.set(key, left);
      else {
        holders.delete(key);
        contents.delete(key);
      }
    }
    if (keys.size > 0) wantedBy.set(holder, keys);
    else wantedBy.delete(holder);
  }

  async function read(key: string): Promise<void> {
    const asked = versionOf(key);
    const content = await client()
      .get(cache.type, nameOfKey(key))
      .then((object): Content => {
        const versions = new Set([asked, object?.metadata.resourceVersion]);
        return { versions, object: object && trim(object) };
      })
      .catch((error: unknown): Content => {
        // One object that may not be read is the concern of those who refer to it; a server that is away is everybody's.
        if (!isDispensable || !hasStatus(error, 403)) throw error;
        log.warn({ object: key, problem: messageOf(error) }, 'an object that is referred to may not be read');
        return { versions: new Set(), object: undefined };
      });
    if (holders.has(key)) contents.set(key, content);
  }

  /** Whoever comes while an object is being read waits for that. */
  function readOnce(key: string): Promise<void> {
    const current = reading.get(key) ?? read(key).finally(() => reading.delete(key));
    reading.set(key, current);
    return current;
  }

  return {
    get(key) {
      const live = cache.get(key);
      const content = contents.get(key);
      return live && content ? content.object : live;
    },
    async load(holder, keys, signal) {
      const wanted = new Set(keys);
      hold(holder, wanted);
      const stale = [...wanted].filter(isStale);
      await forEachLimit(stale, READS_AT_ONCE, readOnce, () => true);
      signal.throwIfAborted();
      return stale.some((key) => !isStale(key));
    },
    wrote(object, before) {
      const key = keyOf(object.metadata);
      // The version before stands for this one until the cache has heard of it; any other is somebody else's write.
      const versions = new Set([before, object.metadata.resourceVersion]);
      if (holders.has(key)) contents.set(key, { versions, object: trim(object) });
    },
  };
}
