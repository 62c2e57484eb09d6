import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import type { Cache } from './cache/cache.ts';
import type { Clock } from './clock.ts';
import { createCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { hashOf } from './json.ts';
import { connectionOf, parseKubeconfig } from './http/kubeconfig.ts';
import type { KubeObject } from './object.ts';

export interface Secret extends KubeObject {
  /** In base64. */
  data?: Record<string, string>;
}

/** Many clusters by name. Each lives for itself: one that does not answer holds up nobody else. */
export interface Clusters {
  /** The cluster of this name. One that is not known, or whose kubeconfig is of no use, is an error: there is no default. */
  get(name: string): Cluster;
  names(): string[];
  /** Why a known name cannot be used, or is used with older credentials than the newest. */
  problemOf(name: string): string | undefined;
  /** Adds a cluster under its own name, to which no Secret can lay claim: the one we run in. */
  add(cluster: Cluster): void;
  /** Adds a cluster, or gives it new credentials. A text that cannot be used leaves a cluster as it is; `where` names it then. */
  set(name: string, kubeconfig: string, where?: string): void;
  remove(name: string): void;
  /**
   * Follows Secrets: each that `nameOf` knows a name for holds the kubeconfig of that cluster. Two Secrets with one name: the one
   * that comes first in the alphabet counts.
   */
  follow(secrets: Cache<Secret>, options: FollowOptions): () => void;
  /** Tells the name of each cluster that comes, changes or goes; those that are there already at once. */
  subscribe(notify: (name: string) => void): () => void;
  stop(): Promise<void>;
}

export interface FollowOptions {
  nameOf: (secret: Secret) => string | undefined;
  /** Which entry of the Secret: `kubeconfig` if not given. */
  entry?: string;
  /** What is to be used instead of the text of the entry. */
  rewrite?: ((kubeconfig: string) => string) | undefined;
}

interface Member {
  cluster: Cluster | undefined;
  isFixed: boolean;
  hash: string;
  problem: string | undefined;
}

export function createClusters({ log, clock }: { log: Log; clock?: Clock }): Clusters {
  const members = new Map<string, Member>();
  const subscribers = new Set<(name: string) => void>();
  const stopping = new Set<Promise<void>>();

  function announce(name: string): void {
    for (const subscriber of subscribers) subscriber(name);
  }

  function set(name: string, kubeconfig: string, where = `kubeconfig of cluster "${name}"`): void {
    const member = members.get(name) ?? { cluster: undefined, isFixed: false, hash: '', problem: undefined };
    const hash = hashOf(kubeconfig);
    if (member.hash === hash) return;
    if (member.isFixed) return log.warn({ cluster: name }, 'a kubeconfig claims the name of another cluster');
    member.hash = hash;
    members.set(name, member);
    try {
      const connection = connectionOf(parseKubeconfig(kubeconfig, where));
      if (member.cluster) member.cluster.reconnect(connection);
      else member.cluster = createCluster({ name, connection, log, ...(clock ? { clock } : {}) });
      member.problem = undefined;
      log.info({ cluster: name, server: connection.server }, 'cluster joined');
    } catch (error) {
      member.problem = messageOf(error);
      log.warn({ cluster: name, problem: member.problem }, 'a kubeconfig cannot be used');
    }
    announce(name);
  }

  function remove(name: string): void {
    const member = members.get(name);
    if (!member || member.isFixed) return;
    members.delete(name);
    log.info({ cluster: name }, 'cluster left');
    if (member.cluster) {
      const done = member.cluster.stop().finally(() => stopping.delete(done));
      stopping.add(done);
    }
    announce(name);
  }

  return {
    get(name) {
      const member = members.get(name);
      if (!member) {
        const known = [...members.keys()].join(', ') || 'none';
        throw new IsthmusError('CLUSTER_UNKNOWN', `"${name}" (known: ${known})`);
      }
      if (!member.cluster) throw new IsthmusError('KUBECONFIG_INVALID', member.problem ?? name);
      return member.cluster;
    },
    names: () => [...members.keys()],
    problemOf: (name) => members.get(name)?.problem,
    add(cluster) {
      members.set(cluster.name, { cluster, isFixed: true, hash: '', problem: undefined });
      announce(cluster.name);
    },
    set,
    remove,
    follow: (secrets, options) => followSecrets(secrets, options, { set, remove }),
    subscribe(notify) {
      for (const name of members.keys()) notify(name);
      subscribers.add(notify);
      return () => void subscribers.delete(notify);
    },
    async stop() {
      for (const name of members.keys()) {
        members.get(name)!.isFixed = false;
        remove(name);
      }
      await Promise.all(stopping);
    },
  };
}

/** Looks at all Secrets of a name whenever one of them changes, so that the order of events plays no part. */
function followSecrets(
  secrets: Cache<Secret>,
  { nameOf, entry = 'kubeconfig', rewrite = (text) => text }: FollowOptions,
  { set, remove }: Pick<Clusters, 'set' | 'remove'>,
): () => void {
  const namesOf = (secret: Secret) => [nameOf(secret) ?? []].flat();
  secrets.addIndex('cluster', namesOf);
  const update = (name: string) => {
    const [secret] = secrets
      .find('cluster', name)
      .toSorted((a, b) => (referenceOf(a) < referenceOf(b) ? -1 : 1));
    if (!secret) return remove(name);
    const text = Buffer.from(secret.data?.[entry] ?? '', 'base64').toString('utf8');
    set(name, rewrite(text), `entry "${entry}" of Secret ${referenceOf(secret)}`);
  };
  return secrets.subscribe(update, { keysOf: namesOf });
}

function referenceOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
