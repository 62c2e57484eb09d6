/** Keeps the grants of names in ConfigMaps of the program's own namespace: every replica reads them, and the leader writes. */
import { systemClock } from '../../../kube/clock.ts';
import type { Clock } from '../../../kube/clock.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import { MANAGED_BY } from '../../kernel/field-manager.ts';
import { openWatches } from '../../kernel/watches.ts';
import { GRANTS_LABEL, grantMapName } from '../names.ts';
import { GRANT_WATCHES } from '../watches.ts';
import {
  GRANT_MAPS,
  changedNames,
  grantMapOf,
  keyOfName,
  nameOfKey,
  readGrants,
  writeGrants,
} from './grants.ts';
import type { Data, Grant, GrantsAt } from './grants.ts';

export interface GrantBookOptions {
  cluster: Cluster;
  /** The program's own. */
  namespace: string;
  /** Whether grants of a name are written down: not where names cannot conflict, nor where they are not served. */
  isKept: (name: string) => boolean;
  log: Log;
  clock?: Clock;
}

export interface GrantBook {
  readonly grantsAt: GrantsAt;
  /** Resolves when the grants have been read, or may not be. */
  readonly read: Promise<void>;
  /** Reports the keys of ConfigMaps that have changed; `changesOf` then has the names. */
  subscribe(notify: (key: string) => void): void;
  changesOf(key: string): Iterable<string>;
  /** Says that the grants of a name may have changed. */
  readonly note: (name: string) => void;
  /** How many names have grants that are not written down; only the leader knows. */
  readonly unwritten: number;
  /** Writes the grants down, until the signal is aborted; for the leader only, when all claims are known. */
  write(granted: Granted, signal: AbortSignal): Promise<void>;
  stop(): void;
}

/** What has been granted here. */
export interface Granted {
  names(): Iterable<string>;
  grantsOf(name: string): Grant[];
}

interface ConfigMap extends KubeObject {
  data?: Data;
}

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
/** How long further changes are waited for, so that many names need few requests. */
const BATCH_MS = 200;
const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000];
const NO_DATA: Data = {};

export function openGrantBook(options: GrantBookOptions): GrantBook {
  const { cluster, namespace, isKept, log, clock = systemClock } = options;
  const watched = openWatches(GRANT_WATCHES, { cluster, namespaces: [namespace], log });
  const cache = watched.caches().get('grants')!;
  const mapKeyOf = (map: number) => keyOf({ namespace, name: grantMapName(map) });
  const mapOf = (map: number) => cache.get(mapKeyOf(map)) as ConfigMap | undefined;
  const textAt = (name: string) => mapOf(grantMapOf(name))?.data?.[keyOfName(name)];
  /** What `changesOf` has reported. */
  const reported = new Map<string, Data>();
  /** Names to be compared with what is written down; only while this replica leads. */
  let noted: Set<string> | undefined;
  let wake = () => {};

  function note(name: string): void {
    if (!noted || !isKept(name)) return;
    noted.add(name);
    wake();
  }

  /** Changes of the ConfigMaps that make them say what has been granted. */
  function* changesFrom(
    names: Iterable<string>,
    granted: Granted,
  ): Generator<undefined, Map<number, Changes>> {
    const changes = new Map<number, Changes>();
    for (const name of names) {
      const text = writeGrants(granted.grantsOf(name));
      if (text !== (textAt(name) ?? null)) {
        const map = grantMapOf(name);
        const before = changes.get(map) ?? (Object.create(null) as Changes);
        before[keyOfName(name)] = text;
        changes.set(map, before);
      }
      yield;
    }
    return changes;
  }

  /** Fails if somebody else has changed it: a leader that has been replaced must not undo what its successor wrote. */
  async function writeMap(map: number, data: Changes, signal: AbortSignal): Promise<void> {
    const name = grantMapName(map);
    const { resourceVersion } = mapOf(map)?.metadata ?? {};
    const metadata = { name, namespace, labels: { ...MANAGED_BY, [GRANTS_LABEL]: 'true' } };
    if (resourceVersion === undefined) {
      const present = Object.fromEntries(Object.entries(data).filter(([, text]) => text !== null));
      await cluster.client.create(
        { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: present },
        { signal },
      );
    } else {
      const patch = { metadata: { resourceVersion }, data };
      await cluster.client.mergePatch(CONFIG_MAP, { name, namespace }, patch, { signal });
    }
  }

  async function writeAll(
    granted: Granted,
    names: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const changes = await inSlices(changesFrom(names, granted));
    let isDone = true;
    for (const [map, data] of changes) {
      if (signal.aborted) return false;
      try {
        await writeMap(map, data, signal);
      } catch (error) {
        isDone = false;
        for (const key of Object.keys(data)) noted?.add(nameOfKey(key));
        if (signal.aborted || hasStatus(error, 409)) continue;
        log.warn({ map: grantMapName(map), problem: messageOf(error) }, 'grants of DNS names not written');
      }
    }
    return isDone;
  }

  function* keptNames(granted: Granted): Generator<undefined, Set<string>> {
    const names = new Set<string>();
    for (const name of granted.names()) {
      if (isKept(name)) names.add(name);
      yield;
    }
    for (let map = 0; map < GRANT_MAPS; map++) {
      for (const key of Object.keys(mapOf(map)?.data ?? NO_DATA)) names.add(nameOfKey(key));
      yield;
    }
    return names;
  }

  return {
    grantsAt: (name) => readGrants(textAt(name)),
    read: cache.answered,
    subscribe: (notify) => void cache.subscribe(notify),
    changesOf(key) {
      const data = (cache.get(key) as ConfigMap | undefined)?.data ?? NO_DATA;
      const before = reported.get(key) ?? NO_DATA;
      if (data === NO_DATA) reported.delete(key);
      else reported.set(key, data);
      return changedNames(before, data);
    },
    note,
    get unwritten() {
      return noted?.size ?? 0;
    },
    async write(granted, signal) {
      const meanwhile = (noted = new Set<string>());
      const kept = await inSlices(keptNames(granted));
      for (const name of meanwhile) kept.add(name);
      noted = kept;
      for (let failures = 0; !signal.aborted;) {
        if (noted.size === 0) await nextNote(signal);
        await clock.wait(
          failures > 0 ? RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]! : BATCH_MS,
          signal,
        );
        if (signal.aborted) break;
        const names = noted;
        noted = new Set();
        failures = (await writeAll(granted, names, signal)) ? 0 : failures + 1;
      }
      noted = undefined;
    },
    stop: () => watched.stop(),
  };

  async function nextNote(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
    wake = () => {};
  }
}

/** Texts by key; null removes one. */
type Changes = Record<string, string | null>;
