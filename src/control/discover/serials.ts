/**
 * Keeps the serials of zones the same in all replicas. The leader writes down, in a ConfigMap, which serial stands for which content of a zone,
 * and each replica shows what is written there. So one serial never stands for two contents, and none goes back: not over restarts, and
 * not for a secondary that asks one replica after the other.
 */
import { z } from 'zod';
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { hasStatus } from '../../kube/http/errors.ts';
import { keyOf } from '../../kube/object.ts';
import type { KubeObject } from '../../kube/object.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { FIELD_MANAGER, MANAGED_BY } from '../kernel/field-manager.ts';

/** What a zone's serial stands for: the fingerprint of its records. */
export interface ZoneVersion {
  serial: number;
  content: string;
}

/** The DNS server's side. Zones by their names. */
export interface ZoneVersions {
  contents(): ReadonlyMap<string, string>;
  setVersion(zone: string, version: ZoneVersion): void;
  announce(zone: string): void;
}

export interface SerialsOptions {
  cluster: Cluster;
  /** The program's own. */
  namespace: string;
  versions: ZoneVersions;
  log: Log;
  clock?: Clock;
}

export interface Serials {
  /** Resolves when the serials have been read, or may not be. */
  readonly read: Promise<void>;
  /** Writes down the serials of zones that have changed, until the signal is aborted; for the leader only, when all records are known. */
  write(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export const SERIALS_NAME = 'isthmus-dns-serials';
const KEY = 'serials.json';
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const LOOK_AGAIN_MS = 1000;
const RETRY_MS = 30_000;
/** How often a zone that never stands still is looked at all the same. */
const LONGEST_WAIT_MS = 5000;

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const schema = z.record(z.string(), z.strictObject({ serial: z.uint32(), content: z.string() }));

/** Which serials are written down; none if it cannot be read. */
export function readSerials(object: ConfigMap | undefined): Readonly<Record<string, ZoneVersion>> {
  try {
    return schema.parse(JSON.parse(object?.data?.[KEY] ?? '{}'));
  } catch {
    return {};
  }
}

/** The serials of zones whose content is another than the one written down. At least the time, as before there were such notes. */
export function nextSerials(
  written: Readonly<Record<string, ZoneVersion>>,
  contents: ReadonlyMap<string, string>,
  nowSeconds: number,
): Record<string, ZoneVersion> {
  const changed = [...contents].filter(([zone, content]) => written[zone]?.content !== content);
  return Object.fromEntries(
    changed.map(([zone, content]) => {
      const serial = Math.max((written[zone]?.serial ?? 0) + 1, nowSeconds) >>> 0;
      return [zone, { serial, content }];
    }),
  );
}

export function openSerials({
  cluster,
  namespace,
  versions,
  log,
  clock = systemClock,
}: SerialsOptions): Serials {
  const name = { namespace, name: SERIALS_NAME };
  const cache = cluster.cache({
    type: CONFIG_MAP,
    namespace,
    fieldSelector: `metadata.name=${SERIALS_NAME}`,
  });
  const current = () => cache.get(keyOf(name)) as ConfigMap | undefined;
  /** The ConfigMap as last seen, and the latest serials of all that were ever seen. */
  let last: ConfigMap | undefined;
  const known = Object.create(null) as Record<string, ZoneVersion>;

  function take(object: ConfigMap | undefined): void {
    last = object;
    for (const [zone, version] of Object.entries(readSerials(object))) {
      // The watch may be behind what we have written ourselves, and somebody may have put back an old copy.
      if (known[zone] && ((known[zone].serial - version.serial) | 0) > 0) continue;
      known[zone] = version;
      versions.setVersion(zone, version);
    }
  }
  const end = cache.subscribe(() => take(current()));

  /** Returns the zones that have new serials now. */
  async function writeOnce(): Promise<string[]> {
    const next = nextSerials(known, versions.contents(), Math.floor(clock.wallTime() / 1000));
    if (Object.keys(next).length === 0) return [];
    const resourceVersion = last?.metadata.resourceVersion;
    const metadata = {
      ...name,
      labels: MANAGED_BY,
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    const data = { [KEY]: JSON.stringify({ ...known, ...next }) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    const applied = await cluster.client.apply(object, { fieldManager: FIELD_MANAGER, force: true });
    take(applied.object);
    return Object.keys(next);
  }

  async function tryToWrite(): Promise<boolean> {
    try {
      for (const zone of await writeOnce()) versions.announce(zone);
      return true;
    } catch (error) {
      // Somebody else was faster: what they wrote comes by the watch.
      if (hasStatus(error, 409)) return true;
      log.warn({ problem: messageOf(error) }, 'serials of zones could not be written');
      return false;
    }
  }

  return {
    read: cache.answered,
    async write(signal) {
      // The leader before may have written, and told nobody.
      for (const zone of versions.contents().keys()) if (zone in known) versions.announce(zone);
      let before = '';
      let since = clock.now();
      while (!signal.aborted) {
        const contents = JSON.stringify([...versions.contents()]);
        const isStill = contents === before || clock.now() - since >= LONGEST_WAIT_MS;
        before = contents;
        if (isStill) since = clock.now();
        const isDone = !isStill || (await tryToWrite());
        await clock.wait(isDone ? LOOK_AGAIN_MS : RETRY_MS, signal);
      }
    },
    stop: () => end(),
  };
}
