/** The clusters that share services, and the names of the services they export. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { Clusters } from '../../../kube/clusters.ts';
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { serviceImport } from '../../../resources/multicluster/service-import.ts';
import { claimantsOf } from '../records/export-records.ts';
import type { SeenService } from '../records/export-records.ts';
import { openMember } from './member.ts';
import type { Member } from './member.ts';
import { SOURCE_CLUSTER_LABEL, idAmong } from '../names.ts';
import type { Reach } from './nodes.ts';
import type { ServiceImport } from '../objects.ts';
import { openOptional } from './optional-cache.ts';
import type { OptionalCache } from './optional-cache.ts';
import type { Publisher } from '../records/publisher.ts';
import { trimOther } from './trim.ts';

/** How clusters are reached from here. */
export interface Reaches {
  of(cluster: string): Reach;
  /** Tells the name of each cluster that is to be reached in another way. */
  subscribe(notify: (cluster: string) => void): () => void;
}

export interface ClusterSetOptions {
  local: Cluster;
  clusters: Clusters;
  reaches: Reaches;
  publisher: Publisher;
  /** Gets the key of each exported service of which something changed. */
  wake: (key: string) => void;
  log: Log;
}

export interface ClusterSet {
  readonly local: Member;
  readonly members: ReadonlyMap<string, Member>;
  /** All services that are exported or imported. */
  keys(): Iterable<string>;
  /** What is known of an exported service. */
  seen(key: string): SeenService;
  readonly imports: OptionalCache<ServiceImport>;
  /** The id of the local cluster. */
  readonly localId: string;
  /** Whether every cluster of the set has been read. */
  readonly isComplete: boolean;
  /** Those of some ids of clusters of which nothing is known at the moment, though they may be in the set. */
  unknown(ids: Iterable<string>): string[];
  /** Makes the names of an exported service what is known of it. */
  publish(key: string): void;
  /** Resolves when the local cluster has been read. */
  readonly settled: Promise<unknown>;
  close(): void;
}

export function openClusterSet(options: ClusterSetOptions): ClusterSet {
  const { local, clusters, reaches, publisher, wake, log } = options;
  const members = new Map<string, Member>();
  /** The sources that a service's names came from, to be taken back. */
  const sources = new Map<string, Set<string>>();
  let isClosed = false;

  function follow(cluster: Cluster): Member {
    const reach = cluster === local ? 'pods' : reaches.of(cluster.name);
    const member = openMember({ cluster, log, reach, wake, wakeAll });
    members.set(cluster.name, member);
    void member.settled.then(wakeAll);
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
      ends.push(cache.subscribe(wake));
      // What was exported before the kind was there has been waiting for it.
      void cache.synced.then(wakeAll);
    },
  });
  ends.push(
    clusters.subscribe(update),
    reaches.subscribe((name) => name !== local.name && members.get(name)?.reachBy(reaches.of(name))),
  );

  function keys(): Set<string> {
    const exports = [...members.values()].flatMap((member) => member.exports.current?.list() ?? []);
    const objects = [...exports, ...(imports.current?.list() ?? [])];
    return new Set([...sources.keys(), ...objects.map(({ metadata }) => keyOf(metadata))]);
  }

  /** A cluster that has been read, or has gone, may concern every exported service. */
  function wakeAll(): void {
    if (!isClosed) for (const key of keys()) wake(key);
  }

  function update(name: string): void {
    if (name === local.name) return;
    if (!clusters.names().includes(name)) {
      members.get(name)?.close();
      if (members.delete(name)) wakeAll();
    } else if (!members.has(name)) {
      try {
        follow(clusters.get(name));
      } catch (error) {
        log.warn({ cluster: name, problem: messageOf(error) }, 'cluster cannot be followed');
      }
    }
  }

  /** Clusters that call themselves the same are told apart by the names they were joined under. */
  function idOf(member: Member): string {
    const namesOf = ({ cluster: { name }, id }: Member) => ({ name, id });
    const others = [...members.values()].filter((other) => other !== member);
    return idAmong(namesOf(member), others.map(namesOf));
  }

  function settledMembers(): Map<string, Member> {
    const settled = [...members.values()].filter(({ isSettled }) => isSettled);
    return new Map(settled.map((member) => [idOf(member), member]));
  }

  const isComplete = () => clusters.names().every((name) => members.get(name)?.isSettled);

  function seen(key: string): SeenService {
    const settled = settledMembers();
    return {
      exported: [...settled].flatMap(([id, member]) => member.exportedAs(key, id)),
      imported: imports.current?.get(key),
      importedSlices: localMember
        .importedSlicesOf(key)
        .filter(({ metadata }) => !settled.has(metadata.labels?.[SOURCE_CLUSTER_LABEL] ?? '')),
    };
  }

  return {
    local: localMember,
    members,
    keys,
    seen,
    imports,
    get localId() {
      return idOf(localMember);
    },
    get isComplete() {
      return isComplete();
    },
    unknown(ids) {
      const settled = settledMembers();
      return isComplete() ? [] : [...ids].filter((id) => !settled.has(id));
    },
    publish(key) {
      const { namespace = '', name } = nameOfKey(key);
      const claimants = claimantsOf({ namespace, name }, seen(key), idOf(localMember));
      const now = new Set(claimants.map(({ source }) => source));
      for (const claimant of claimants) publisher.set(claimant);
      for (const source of sources.get(key) ?? []) if (!now.has(source)) publisher.remove(source);
      if (now.size > 0) sources.set(key, now);
      else sources.delete(key);
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
