/**
 * The clusters that an operator works in: its own, and those that it has been joined with.
 *
 *     const targets = openTargets({ local, namespace, settings, needs: { stretch }, log });
 *     targets.clusters.get('east').client          // a Cluster of src/kube, by the id that node pools name
 *     targets.stateOf('east').reach                // whether it answers, and since when
 *     targets.namespacesOf('east')                 // where its account may work; everywhere if empty
 *     targets.subscribe((id) => wakeAll(id))       // comes, goes, is reachable or not, has other warnings
 *
 * The local cluster is there under `central`. An id that nobody has joined is an error, never the local cluster. Clusters come
 * from Secrets in the operator's namespace: those with the label `connectivity.tanzu.vmware.com/cluster-name`, which `isthmus join`
 * writes and the DNS server reads as well, and those that the environment names (`settings.remotes`). Secrets are followed, so
 * that a cluster can be joined, leave, or get other credentials while the operator runs. `watch` asks clusters how they are
 * and renews their tokens; it is for the leader, and elsewhere every state is `unknown`.
 */
import type { Cache } from '../../kube/cache/cache.ts';
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { createClusters } from '../../kube/clusters.ts';
import type { Clusters, Secret } from '../../kube/clusters.ts';
import type { Log } from '../../ops/log.ts';
import type { Right } from '../kernel/rights.ts';
import { openWatches } from '../kernel/watches.ts';
import { UNKNOWN, watchHealth } from './health.ts';
import type { Health, Reach } from './health.ts';
import { clusterOf, readJoinedSecret, roadsOf, withServer } from './joined-secret.ts';
import type { JoinedSecret } from './joined-secret.ts';
import { CLUSTER_ID } from './names.ts';
import type { JoinRoad } from './names.ts';
import { renewTokens } from './renew.ts';
import type { RemoteSetting, TargetSettings } from './settings.ts';
import { stateWarnings } from './warnings.ts';
import type { TargetWarning } from './warnings.ts';
import { JOIN_WATCHES } from './watches.ts';
import { writeReports } from './write-report.ts';

export interface TargetsOptions {
  /** The cluster that the operator runs in, under its id. */
  local: Cluster;
  /** Where the Secrets are. */
  namespace: string;
  settings: Pick<TargetSettings, 'remotes' | 'isStretching'>;
  /** What clusters are joined for, and what is done in them for that; what an account may not is told. Other Secrets are not looked at. */
  needs: Needs;
  /** Those to look at exposed brokers from; others are not used for that, whatever their Secrets say. */
  probeFrom?: readonly string[];
  log: Log;
  clock?: Clock;
}

export type Needs = Readonly<Partial<Record<JoinRoad, readonly Right[]>>>;

/** All that is known of one cluster. */
export interface TargetState {
  name: string;
  isCentral: boolean;
  server: string | undefined;
  reach: Reach;
  version: string | undefined;
  /** When its credential ends, in milliseconds since 1970; never, or unknown, if undefined. */
  credentialExpiresAt: number | undefined;
  warnings: readonly TargetWarning[];
}

export interface JoinedTargets {
  readonly clusters: Clusters;
  /** The id of the local cluster. */
  readonly central: string;
  /** All that are known, the local one first. */
  states(): TargetState[];
  stateOf(name: string): TargetState;
  /** The only namespaces of a cluster to work in; all of them if there are none. */
  namespacesOf(name: string): readonly string[];
  /** What a cluster is used for. */
  roadsOf(name: string): readonly JoinRoad[];
  /** The namespace of a cluster that is for nothing but us. */
  homeOf(name: string): string;
  /** The local cluster, and those that are used for a road. */
  clustersFor(road: JoinRoad): Clusters;
  /** The Secret of a joined cluster. */
  secretOf(name: string): Secret | undefined;
  /** Tells the name of each cluster of which something has changed; those that are there already at once. */
  subscribe(notify: (name: string) => void): () => void;
  /** Resolves when all Secrets have been read. */
  readonly synced: Promise<void>;
  /** Asks clusters how they are, renews their tokens and reports of both, until the signal is aborted. */
  watch(signal: AbortSignal): Promise<void>;
  /** Disconnects from all of them, the local one too. */
  stop(): Promise<void>;
}

const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** Begins to follow the Secrets of joined clusters. */
export function openTargets(options: TargetsOptions): JoinedTargets {
  const { local, needs, log, clock = systemClock } = options;
  const clusters = createClusters({ log, clock });
  const central = local.name;
  const healths = new Map<string, Health>();
  const renewalProblems = new Map<string, string>();
  const subscribers = new Set<(name: string) => void>();
  const secrets = followSecrets(options, clusters);
  const announce = (name: string) => {
    for (const subscriber of subscribers) subscriber(name);
  };
  clusters.add(local);
  clusters.subscribe((name) => {
    if (!clusters.names().includes(name)) {
      healths.delete(name);
      renewalProblems.delete(name);
    }
    announce(name);
  });

  function stateOf(name: string): TargetState {
    const isCentral = name === central;
    const { reach, ...health } = isCentral ? centralHealth(local) : (healths.get(name) ?? UNKNOWN);
    const joined = isCentral ? undefined : secrets.read(name);
    const problem = clusters.problemOf(name);
    const renewal = renewalProblems.get(name);
    return {
      name,
      isCentral,
      server: isCentral ? local.client.server : joined?.server,
      reach,
      version: health.version,
      credentialExpiresAt: joined?.credential.expiresAt,
      warnings: isCentral ? [] : stateWarnings({ problem, joined, health, renewal, now: clock.wallTime() }),
    };
  }

  const states = () => clusters.names().map(stateOf);
  const homeOf = (name: string) => secrets.read(name)?.account?.namespace ?? options.namespace;

  return {
    clusters,
    central,
    stateOf,
    states,
    namespacesOf: (name) => secrets.read(name)?.namespaces ?? [],
    roadsOf: secrets.roadsOf,
    homeOf,
    clustersFor: (road) => ({
      ...clusters,
      names: () =>
        clusters.names().filter((name) => name === central || secrets.roadsOf(name).includes(road)),
      subscribe(notify) {
        const ends = [clusters.subscribe(notify), secrets.subscribe(notify)];
        return () => ends.forEach((end) => end());
      },
    }),
    secretOf: (name) => secrets.of(name),
    synced: secrets.synced,
    subscribe(notify) {
      for (const name of clusters.names()) notify(name);
      subscribers.add(notify);
      return () => void subscribers.delete(notify);
    },
    async watch(signal) {
      const change = (name: string, make: () => void) => {
        const before = JSON.stringify(stateOf(name));
        make();
        if (JSON.stringify(stateOf(name)) !== before) announce(name);
      };
      const needsOf = (name: string) =>
        secrets.roadsOf(name).map((road) => ({
          rights: needs[road] ?? [],
          namespaces: road === 'probe' ? [homeOf(name)] : (secrets.read(name)?.namespaces ?? []),
        }));
      const onHealth = (name: string, health: Health) => change(name, () => healths.set(name, health));
      const onRenewal = (name: string, problem: string | undefined) =>
        change(name, () =>
          problem === undefined ? renewalProblems.delete(name) : renewalProblems.set(name, problem),
        );
      const client = () => local.client;
      await Promise.all([
        watchHealth({ clusters, central, clock, needsOf, onHealth }, signal),
        renewTokens({ clusters, secretOf: secrets.of, client, onRenewal, log, clock }, signal),
        writeReports({ targets: { states }, client, namespace: options.namespace, log, clock }, signal),
      ]);
      // What is not looked after is not known.
      healths.clear();
      renewalProblems.clear();
    },
    async stop() {
      secrets.stop();
      await clusters.stop();
    },
  };
}

function centralHealth({ reachability }: Cluster): Health {
  const { state } = reachability;
  if (state === 'reachable') return { ...UNKNOWN, reach: { state, since: 0 } };
  if (state === 'unreachable')
    return { ...UNKNOWN, reach: { state, since: 0, problem: reachability.problem } };
  return UNKNOWN;
}

interface FollowedSecrets {
  of: (name: string) => Secret | undefined;
  read: (name: string) => JoinedSecret | undefined;
  roadsOf: (name: string) => readonly JoinRoad[];
  /** Tells the name of a cluster whose Secret has changed. */
  subscribe: (notify: (name: string) => void) => () => void;
  synced: Promise<void>;
  stop: () => void;
}

const NO_SECRETS: FollowedSecrets = {
  of: () => undefined,
  read: () => undefined,
  roadsOf: () => [],
  subscribe: () => () => {},
  synced: Promise.resolve(),
  stop: () => {},
};

/** Follows the Secrets with the label, and those that are known by name. A name that the environment gives is not for others. */
function followSecrets(
  { local, namespace, settings, needs, probeFrom = [], log }: TargetsOptions,
  clusters: Clusters,
): FollowedSecrets {
  if (!settings.isStretching) return NO_SECRETS;
  const usesOf = (id: string, secret: Secret) =>
    roadsOf(secret).filter((road) => needs[road] && (road !== 'probe' || probeFrom.includes(id)));
  const named = new Map(settings.remotes.map((remote) => [remote.id, remote]));
  const watched = openWatches(JOIN_WATCHES, { cluster: local, namespaces: [namespace], log });
  const labelled = watched.caches().get('secrets') as unknown as Cache<Secret>;
  const nameOf = (secret: Secret) => {
    const id = clusterOf(secret);
    return id === undefined || named.has(id) || usesOf(id, secret).length === 0 ? undefined : id;
  };
  const caches = [...named.values()].map(
    (remote) => [remote, followNamed(local, namespace, remote, clusters)] as const,
  );
  clusters.follow(labelled, { nameOf });
  const facts = new WeakMap<Secret, JoinedSecret | { problem: string }>();
  const of = (name: string) => {
    const cache = caches.find(([remote]) => remote.id === name)?.[1];
    if (cache) return cache.list()[0];
    return labelled.find('cluster', name).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
  };
  return {
    of,
    read(name) {
      const secret = CLUSTER_ID.test(name) ? of(name) : undefined;
      if (!secret) return undefined;
      const found = facts.get(secret) ?? readJoinedSecret(secret, named.get(name)?.url);
      facts.set(secret, found);
      return 'problem' in found ? undefined : found;
    },
    roadsOf(name) {
      const secret = of(name);
      return secret ? usesOf(name, secret) : [];
    },
    subscribe: (notify) =>
      labelled.subscribe(notify, { keysOf: (secret) => [clusterOf(secret) ?? []].flat() }),
    synced: Promise.all([labelled.synced, ...caches.map(([, { synced }]) => synced)]).then(() => undefined),
    stop: () => watched.stop(),
  };
}

/** The Secret of one name, whatever its labels. */
function followNamed(
  local: Cluster,
  namespace: string,
  { id, url, secret }: RemoteSetting,
  clusters: Clusters,
): Cache<Secret> {
  const cache = local.cache<Secret>({ type: SECRET, namespace, fieldSelector: `metadata.name=${secret}` });
  const rewrite = url === undefined ? undefined : (text: string) => withServer(text, url);
  clusters.follow(cache, { nameOf: () => id, rewrite });
  return cache;
}
