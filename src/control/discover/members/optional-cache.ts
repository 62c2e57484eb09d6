/** A cache of a kind that a cluster may not have, or get only later; or may not let be read. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cache } from '../../../kube/cache/cache.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { ApiError } from '../../../kube/http/errors.ts';
import type { KubeObject, ResourceType } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Kind } from '../../../resources/kind.ts';

export interface OptionalCache<T extends KubeObject> {
  /** Undefined as long as the cluster does not have the kind. */
  readonly current: Cache<T> | undefined;
  /** Resolves when it is known that there is none, or all of it has been read; once settled, it stays so. */
  readonly settled: Promise<void>;
  readonly isSettled: boolean;
  stop(): void;
}

/** A kind by name, with the versions it may be served in, oldest first. */
export type OptionalKind = Pick<Kind, 'group' | 'kind' | 'versions'>;

export interface OptionalCacheOptions<T extends KubeObject> {
  cluster: Cluster;
  kind: OptionalKind;
  trim: (object: T) => T;
  log: Log;
  /** Whether one can do without: then to have no right to it is as good as to have none of it. */
  isDispensable?: boolean;
  /** Called once, when the kind is there. */
  onOpen: (cache: Cache<T>) => void;
}

/** How often a kind that was not there is asked for again. */
const ASK_AGAIN_MS = 5000;

export function openOptional<T extends KubeObject>(options: OptionalCacheOptions<T>): OptionalCache<T> {
  const { cluster, kind, trim, log, isDispensable = false, onOpen } = options;
  const stopped = new AbortController();
  const settled = Promise.withResolvers<void>();
  let current: Cache<T> | undefined;
  let isSettled = false;

  function settle(): void {
    isSettled = true;
    settled.resolve();
  }

  async function look(): Promise<void> {
    const type = await newestServed(cluster, kind);
    if (!type) return settle();
    if (stopped.signal.aborted) return;
    log.info({ cluster: cluster.name, kind: type.kind, version: type.version }, 'kind is watched');
    current = cluster.cache<T>({ type, trim });
    onOpen(current);
    void (isDispensable ? current.answered : current.synced).then(settle);
  }

  async function run(): Promise<void> {
    while (!current && !stopped.signal.aborted) {
      try {
        await look();
      } catch (error) {
        log.debug(
          { cluster: cluster.name, kind: kind.kind, problem: messageOf(error) },
          'kind cannot be asked for',
        );
      }
      if (!current) await delay(ASK_AGAIN_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  void run();
  return {
    get current() {
      return current;
    },
    settled: settled.promise,
    get isSettled() {
      return isSettled;
    },
    stop: () => stopped.abort(),
  };
}

/** The newest version of a kind that the cluster serves. */
async function newestServed(
  cluster: Cluster,
  { group, kind, versions }: OptionalKind,
): Promise<ResourceType | undefined> {
  for (const version of versions.toReversed()) {
    try {
      await cluster.client.resource({ group, version, kind });
      return { group, version, kind };
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'KindNotServed')) throw error;
    }
  }
  return undefined;
}
