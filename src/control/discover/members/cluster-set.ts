/** The clusters that share services: the local one, and those that it has been joined with. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { Clusters } from '../../../kube/clusters.ts';
import { keyOf } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { serviceImport } from '../../../resources/multicluster/service-import.ts';
import { idAmong } from '../names.ts';
import type { ServiceImport } from '../objects.ts';
import { openMember } from './member.ts';
import type { Member } from './member.ts';
import type { ReachMode } from './nodes.ts';
import { openOptional } from './optional-cache.ts';
import type { OptionalCache } from './optional-cache.ts';
import { trimOther } from './trim.ts';

/** How the pods of each joined cluster are reached from here. */
export interface ReachModes {
  of(cluster: string): ReachMode;
  /** Reports the name of each cluster whose mode may have changed. */
  subscribe(notify: (cluster: string) => void): () => void;
}

export interface ClusterSetOptions {
  local: Cluster;
  clusters: Clusters;
  reachModes: ReachModes;
  /** Gets the key of each exported service of which something changed. */
  enqueue: (key: string) => void;
  log: Log;
}

export interface ClusterSet {
  readonly local: Member;
  /** By the name under which each cluster was joined. */
  readonly members: ReadonlyMap<string, Member>;
  /** The members that have been read, by cluster id. */
  syncedMembers(): ReadonlyMap<string, Member>;
  /** All services that are exported or imported. */
  keys(): Iterable<string>;
  /** The ServiceImports of the local cluster. */
  readonly imports: OptionalCache<ServiceImport>;
  /** The id of the local cluster. */
  readonly localId: string;
  /** Whether every cluster of the set has been read. */
  readonly isComplete: boolean;
  /** Those of some cluster ids that may be in the set, but have not been read. */
  unknown(ids: Iterable<string>): string[];
  /** Resolves when the local cluster has been read. */
  readonly settled: Promise<unknown>;
  close(): void;
}

export function openClusterSet(options: ClusterSetOptions): ClusterSet {
  const { local, clusters, reachModes, enqueue, log } = options;
  const members = new Map<string, Member>();
  let isClosed = false;

  function follow(cluster: Cluster): Member {
    const reach = cluster === local ? 'pods' : reachModes.of(cluster.name);
    const member = openMember({ cluster, log, reach, enqueue, enqueueAll });
    members.set(cluster.name, member);
    void member.settled.then(() => enqueueAll());
    return member;
  }

  const localMember = follow(local);
  const ends: (() => void)[] = [];
  const imports = openOptional<ServiceImport>({
    cluster: local,
    kind: serviceImport,
    trim: trimOther,
    log,
    onOpen(cache) {
      ends.push(cache.subscribe(enqueue));
      // Services that were exported before the kind was installed can be imported now.
      void cache.synced.then(() => enqueueAll());
    },
  });
  ends.push(
    clusters.subscribe(update),
    reachModes.subscribe(
      (name) => name !== local.name && members.get(name)?.setReachMode(reachModes.of(name)),
    ),
  );

  function keys(): Set<string> {
    const exports = [...members.values()].flatMap((member) => member.exports.current?.list() ?? []);
    const objects = [...exports, ...(imports.current?.list() ?? [])];
    return new Set(objects.map(({ metadata }) => keyOf(metadata)));
  }

  /** A cluster that has been read or removed may affect every exported service. */
  function enqueueAll(known = keys()): void {
    if (!isClosed) for (const key of known) enqueue(key);
  }

  function update(name: string): void {
    if (name === local.name) return;
    if (!clusters.names().includes(name)) {
      const known = keys(); // while its exports are still among them
      members.get(name)?.close();
      if (members.delete(name)) enqueueAll(known);
    } else if (!members.has(name)) {
      try {
        follow(clusters.get(name));
      } catch (error) {
        log.warn({ cluster: name, problem: messageOf(error) }, 'cluster cannot be watched');
      }
    }
  }

  /** Clusters with the same ClusterProperty id are distinguished by the names under which they were joined. */
  function idOf(member: Member): string {
    const namesOf = ({ cluster: { name }, id }: Member) => ({ name, id });
    const others = [...members.values()].filter((other) => other !== member);
    return idAmong(namesOf(member), others.map(namesOf));
  }

  function syncedMembers(): Map<string, Member> {
    const synced = [...members.values()].filter(({ isSettled }) => isSettled);
    return new Map(synced.map((member) => [idOf(member), member]));
  }

  const isComplete = () => clusters.names().every((name) => members.get(name)?.isSettled);

  return {
    local: localMember,
    members,
    syncedMembers,
    keys,
    imports,
    get localId() {
      return idOf(localMember);
    },
    get isComplete() {
      return isComplete();
    },
    unknown(ids) {
      const synced = syncedMembers();
      return isComplete() ? [] : [...ids].filter((id) => !synced.has(id));
    },
    settled: Promise.all([localMember.settled, imports.settled]),
    close() {
      isClosed = true;
      imports.stop();
      for (const end of ends) end();
      for (const member of members.values()) member.close();
    },
  };
}
