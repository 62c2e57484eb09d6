/** The clusters that share services: the local one, and those that it has been joined with. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { Clusters } from '../../../kube/clusters.ts';
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { openWatches, wakeOnChange } from '../../kernel/watches.ts';
import type { Wake } from '../../kernel/watches.ts';
import { readNamePolicies } from '../../shared/name-policy.ts';
import type { NamePolicies } from '../../shared/name-policy.ts';
import { idAmong } from '../names.ts';
import type { DnsEndpoint, EndpointSlice, ServiceImport } from '../objects.ts';
import { placeOf, serviceOfImport } from '../placement.ts';
import type { ImportNamespace } from '../placement.ts';
import { LOCAL_WATCHES } from '../watches.ts';
import { openMember } from './member.ts';
import type { Member } from './member.ts';
import type { ReachMode } from './nodes.ts';
import { createWaker } from './waker.ts';

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
  importNamespace?: ImportNamespace;
  /** Gets the key of each exported service of which something changed. */
  wakeExported: Wake;
  /** Gets `<kind> <key>` of each local object that has a name of its own. */
  wakeNamed: Wake;
  /** Called when NamePolicies have changed. */
  wakePolicies: Wake;
  /** Gets the names of namespaces whose labels have changed. */
  wakeNamespace: Wake;
  log: Log;
}

export interface ClusterSet {
  readonly local: Member;
  /** By the name under which each cluster was joined. */
  readonly members: ReadonlyMap<string, Member>;
  /** The members that have been read and are not forgotten, by cluster id. */
  syncedMembers(): ReadonlyMap<string, Member>;
  /** All services that are exported or imported, each once or more. */
  keys(): Iterable<string>;
  /** How many ServiceImports there are. */
  readonly importCount: number;
  /** Whether some of the exported services that may be affected by a change have yet to be woken. */
  readonly isWaking: boolean;
  /** The version of ServiceImport in the local cluster; undefined if it does not have the kind. */
  importVersion(): string | undefined;
  /** The namespace of all imports, if they have one. */
  readonly importNamespace: ImportNamespace;
  /** The ServiceImport of a service; and the one with a key of its own. */
  importOf(key: string): ServiceImport | undefined;
  importAt(key: string): ServiceImport | undefined;
  /** The slices that were imported for a service, from any cluster. */
  importedSlicesOf(key: string): EndpointSlice[];
  dnsEndpointOf(key: string): DnsEndpoint | undefined;
  policies(): NamePolicies;
  /** The labels of a namespace of the local cluster. */
  labelsOf(namespace: string): Readonly<Record<string, string>> | undefined;
  hasNamespace(name: string): boolean;
  /** The ids of other clusters that do not have a namespace. */
  lackNamespace(name: string): string[];
  /** The id of the local cluster. */
  readonly localId: string;
  /** Whether every cluster of the set has been read, or is forgotten. */
  readonly isComplete: boolean;
  /** Takes a cluster for one that exports nothing, or no longer; by the name under which it was joined. */
  readonly forget: (cluster: string, isForgotten: boolean) => void;
  /** The ids of clusters that are forgotten. */
  forgotten(): ReadonlySet<string>;
  /** Those of some cluster ids that may be in the set, but have not been read. */
  unknown(ids: Iterable<string>): string[];
  /** Resolves when the local cluster has been read. */
  readonly settled: Promise<unknown>;
  close(): void;
}

export function openClusterSet(options: ClusterSetOptions): ClusterSet {
  const { local, clusters, reachModes, importNamespace, wakeExported, wakeNamed, log } = options;
  const members = new Map<string, Member>();
  const forgotten = new Set<string>();
  const waker = createWaker(wakeExported);
  const localWatches = openWatches(LOCAL_WATCHES, { cluster: local, log });
  const imports = () => localWatches.views.imports;
  const placeOfKey = (key: string) => {
    const { namespace = '', name } = nameOfKey(key);
    return placeOf({ namespace, name }, importNamespace);
  };

  function follow(cluster: Cluster): Member {
    const isLocal = cluster === local;
    const reach = isLocal ? 'pods' : reachModes.of(cluster.name);
    const wakes = {
      exported: wakeExported,
      all: () => wakeAll(),
      // Before it has been read, each of its namespaces comes.
      namespaces: (name: string) => member.isSettled && wakeAll(exportsIn(name)),
      named: isLocal ? wakeNamed : undefined,
    };
    const member: Member = openMember({ cluster, log, reach, wakes });
    members.set(cluster.name, member);
    void member.settled.then(() => wakeAll());
    return member;
  }

  const localMember = follow(local);
  wakeOnChange(LOCAL_WATCHES, localWatches, {
    exported: wakeExported,
    named: wakeNamed,
    policies: options.wakePolicies,
    namespaces: options.wakeNamespace,
  });
  localWatches.onOpen((name) => {
    // Services that were exported before the kind was installed can be imported now.
    if (name === 'imports') wakeAll();
    return () => {};
  });
  const ends = [
    clusters.subscribe(update),
    reachModes.subscribe(
      (name) => name !== local.name && members.get(name)?.setReachMode(reachModes.of(name)),
    ),
  ];

  /** Of the objects that are there now; each key is made when it is asked for. */
  function keys(): Iterable<string> {
    const exports = [...members.values()].map((member) => member.exports?.list() ?? []);
    return keysOf(exports, imports()?.list() ?? [], importNamespace);
  }

  /** A cluster that has been read or removed may affect every exported service. */
  function wakeAll(known = keys()): void {
    waker.wakeAll(known);
  }

  function* exportsIn(namespace: string): Generator<string> {
    const isThere = (key: string) =>
      [nameOfKey(key), placeOfKey(key)].some((one) => one.namespace === namespace);
    for (const key of keys()) if (isThere(key)) yield key;
  }

  function update(name: string): void {
    if (name === local.name) return;
    if (!clusters.names().includes(name)) {
      const known = keys(); // while its exports are still among them
      forgotten.delete(name);
      members.get(name)?.close();
      if (members.delete(name)) wakeAll(known);
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
    const synced = [...members].filter(([name, { isSettled }]) => isSettled && !forgotten.has(name));
    return new Map(synced.map(([, member]) => [idOf(member), member]));
  }

  const forgottenIds = () =>
    new Set([...members].flatMap(([name, member]) => (forgotten.has(name) ? idOf(member) : [])));
  const isComplete = () =>
    clusters.names().every((name) => forgotten.has(name) || members.get(name)?.isSettled);

  return {
    local: localMember,
    members,
    syncedMembers,
    keys,
    importVersion: () => localWatches.versionOf('imports'),
    importNamespace,
    importOf: (key) => imports()?.get(keyOf(placeOfKey(key))),
    importAt: (key) => imports()?.get(key),
    importedSlicesOf(key) {
      const { namespace } = placeOfKey(key);
      const labelled = localMember.slices.find('imported', key);
      return labelled.filter(({ metadata }) => metadata.namespace === namespace);
    },
    policies: () => readNamePolicies(localWatches.views.policies?.list() ?? []),
    labelsOf: (namespace) => localWatches.views.namespaces.get(namespace)?.metadata.labels,
    hasNamespace: (name) => localWatches.views.namespaces.get(name) !== undefined,
    lackNamespace(name) {
      const others = [...syncedMembers()].filter(([, member]) => member !== localMember);
      return others.flatMap(([id, member]) => (member.hasNamespace(name) === false ? [id] : []));
    },
    dnsEndpointOf: (key) => localWatches.views.dnsEndpoints?.get(key),
    get localId() {
      return idOf(localMember);
    },
    get isComplete() {
      return isComplete();
    },
    forget(cluster, isForgotten) {
      if (isForgotten) forgotten.add(cluster);
      else forgotten.delete(cluster);
      wakeAll();
    },
    forgotten: forgottenIds,
    unknown(ids) {
      const [synced, gone] = [syncedMembers(), forgottenIds()];
      return isComplete() ? [] : [...ids].filter((id) => !synced.has(id) && !gone.has(id));
    },
    settled: Promise.all([localMember.settled, localWatches.discovered]),
    get importCount() {
      return imports()?.list().length ?? 0;
    },
    get isWaking() {
      return waker.isWaking;
    },
    close() {
      waker.stop();
      localWatches.stop();
      for (const end of ends) end();
      for (const member of members.values()) member.close();
    },
  };
}

function* keysOf(
  exports: readonly (readonly KubeObject[])[],
  imported: readonly ServiceImport[],
  importNamespace: ImportNamespace,
): Generator<string> {
  for (const list of exports) for (const { metadata } of list) yield keyOf(metadata);
  for (const one of imported) {
    const service = serviceOfImport(one, importNamespace);
    if (service) yield keyOf(service);
  }
}
