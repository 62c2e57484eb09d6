import { messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { createCache } from './cache/cache.ts';
import type { Cache, CacheOptions } from './cache/cache.ts';
import { createClient } from './http/client.ts';
import type { Client } from './http/client.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './http/connection.ts';
import type { Selection } from './http/list.ts';
import { ApiError } from './http/errors.ts';
import { apiVersionOf } from './object.ts';
import type { AnyObject, KubeObject, ResourceType } from './object.ts';

/** Whether a cluster answers. `unknown` until something has been asked. */
export type Reachability =
  | { state: 'unknown' }
  | { state: 'reachable' }
  | { state: 'unreachable'; problem: string };

/**
 * One Kubernetes cluster: a client, and caches shared by all who ask for the same. The same object stays in use when the
 * credentials are replaced; the client within is then another one, so ask for it each time.
 */
export interface Cluster {
  readonly name: string;
  readonly client: Client;
  /** The cache of a kind, started by whoever asks first. All who name the same kind, selection and `trim` share it. */
  cache<T extends KubeObject = AnyObject>(options: CacheOptions<T>): Cache<T>;
  caches(): Cache<KubeObject>[];
  readonly reachability: Reachability;
  /** Asks the server for its version. */
  probe(timeoutMs?: number): Promise<Reachability>;
  /** Goes over to new credentials: new client, caches kept and read again, the old client let finish. */
  reconnect(connection: Connection): void;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  name: string;
  connection: Connection;
  log: Log;
  clock?: Clock;
}

export function createCluster(options: ClusterOptions): Cluster {
  const { name, clock = systemClock } = options;
  const log = options.log.child({ cluster: name });
  /** By selection, then by what is kept of an object: who keeps less must not decide for who needs more. */
  const caches = new Map<string, Map<unknown, Cache<KubeObject>>>();
  const closing = new Set<Promise<void>>();
  let client = createClient(options.connection, { clock });

  function reachability(): Reachability {
    const { lastAnswerAt, problem } = client.reach;
    if (problem !== undefined) return { state: 'unreachable', problem };
    return { state: lastAnswerAt === undefined ? 'unknown' : 'reachable' };
  }

  const all = () => [...caches.values()].flatMap((alike) => [...alike.values()]);

  function close(old: Client): void {
    const done = old.close().finally(() => closing.delete(done));
    closing.add(done);
  }

  return {
    name,
    get client() {
      return client;
    },
    cache<T extends KubeObject>(wanted: CacheOptions<T>) {
      const id = cacheId(wanted);
      const alike = caches.get(id) ?? new Map<unknown, Cache<KubeObject>>();
      caches.set(id, alike);
      const cache =
        (alike.get(wanted.trim) as Cache<T> | undefined) ??
        createCache<T>(wanted, { client: () => client, log, clock });
      alike.set(wanted.trim, cache);
      return cache;
    },
    caches: all,
    get reachability() {
      return reachability();
    },
    async probe(timeoutMs = 10_000) {
      try {
        await client.read('/version', { timeoutMs });
      } catch (error) {
        const isAnswer = error instanceof ApiError && error.status > 0; // a refusal is one, too
        if (!isAnswer) return { state: 'unreachable', problem: messageOf(error) };
      }
      return { state: 'reachable' };
    },
    reconnect(connection) {
      const old = client;
      client = createClient(connection, { clock });
      for (const cache of all()) cache.restart();
      close(old);
    },
    async stop() {
      await Promise.all(all().map((cache) => cache.stop()));
      close(client);
      await Promise.all(closing);
    },
  };
}

function cacheId(wanted: Selection & { type: ResourceType }): string {
  const { type, namespace, labelSelector, fieldSelector, metadataOnly = false } = wanted;
  return JSON.stringify([
    apiVersionOf(type),
    type.kind,
    namespace,
    labelSelector,
    fieldSelector,
    metadataOnly,
  ]);
}
