/** The controller beside the DNS server: keeps its records what the clusters say. */
import { once } from 'node:events';
import { setImmediate as breathe } from 'node:timers/promises';
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { Clusters } from '../../kube/clusters.ts';
import { SUCCESS, createController } from '../../kube/controller/controller.ts';
import { createEventRecorder } from '../../kube/write/events.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { openClusterSet } from './members/cluster-set.ts';
import type { ClusterSet, Reaches } from './members/cluster-set.ts';
import { VERSION_RECORD } from './records/mcs-records.ts';
import { createImporter } from './imports/importer.ts';
import type { Importer } from './imports/importer.ts';
import type { Reach } from './members/nodes.ts';
import { OWN_KINDS, openOwnNames } from './records/local-names.ts';
import type { OwnKind } from './records/local-names.ts';
import { createPublisher } from './records/publisher.ts';
import type { Publisher } from './records/publisher.ts';
import { watchReach } from './members/cluster-health.ts';
import type { RecordSink } from './records/dns-record.ts';

export interface DiscoveryOptions {
  /** The cluster that the DNS server serves; its name is its id in the set. */
  local: Cluster;
  /** All clusters of the set, the local one too. */
  clusters: Clusters;
  /** How the others are reached from here; by pod addresses if left out. */
  reaches?: Reaches;
  /** How the others reach this one; by pod addresses if left out. */
  reach?: Reach;
  /** Resolves when `clusters` has everyone who has joined so far. */
  joined?: Promise<unknown>;
  /** The object that stands for a joined cluster in the local one, for events about it. */
  objectOf?: (cluster: string) => KubeObject | undefined;
  sink: RecordSink;
  /** Where to tell what is wrong; in events of the local cluster if left out. */
  events?: EventRecorder;
  log: Log;
  metrics: Metrics;
  clock?: Clock;
  /** How long the first answer waits for clusters that do not answer. */
  joinWaitMs?: number;
}

export interface Discovery {
  /** Resolves when the first answers may be given. */
  readonly ready: Promise<void>;
  /** Imports what other clusters export, until the signal is aborted; for one replica at a time. */
  importServices(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

const JOIN_WAIT_MS = 15_000;
const BY_PODS: Reaches = { of: () => 'pods', subscribe: () => () => {} };
const EXPORTED = 'Exported';
const VERSION_SOURCE = 'clusterset version';

/** Follows the clusters, and gives the sink their names. It says that the sink is ready when all that can be read has been. */
export function startDiscovery(options: DiscoveryOptions): Discovery {
  const { local, clusters, sink, log, metrics, clock = systemClock } = options;
  const { reaches = BY_PODS, reach: ownReach = 'pods' } = options;
  const stopped = new AbortController();
  const events = options.events ?? recorder(local, log);
  const publisher = createPublisher({ sink, events, log });
  const controller = createController({
    name: 'discover',
    log,
    clock,
    reconcile: async (task) => {
      const space = task.indexOf(' ');
      const [kind, key] = [task.slice(0, space), task.slice(space + 1)];
      if (kind === EXPORTED) set.publish(key);
      else if (isOwnKind(kind)) publishOwn(kind, key);
      return SUCCESS;
    },
  });
  const wake = (key: string) => {
    controller.enqueue(`${EXPORTED} ${key}`);
    importer?.wake(key);
  };
  let importer: Importer | undefined;
  const set = openClusterSet({ local, clusters, reaches, publisher, wake, log });
  importer = createImporter({ local, set, reach: ownReach, log });
  const own = openOwnNames(set.local, log, (kind, key) => controller.enqueue(`${kind} ${key}`));
  const objectOf = options.objectOf ?? (() => undefined);
  const reach = watchReach({ members: set.members, objectOf, events, log, metrics, clock }, stopped.signal);
  reportRefused(metrics, publisher);

  function publishOwn(kind: OwnKind, key: string): void {
    const claimant = own.claimantOf(kind, key);
    if (claimant) publisher.set(claimant);
    else publisher.remove(`${kind} ${key}`);
  }

  async function begin(): Promise<void> {
    await Promise.all([set.settled, own.settled]);
    const patience = clock.wait(options.joinWaitMs ?? JOIN_WAIT_MS, stopped.signal);
    await waitForOthers(set, options.joined, patience, log);
    sink.upsert(VERSION_SOURCE, [VERSION_RECORD]);
    controller.start();
    while (controller.waiting + controller.active > 0 && !stopped.signal.aborted) await breathe();
    if (stopped.signal.aborted) return;
    log.info({ clusters: set.members.size }, 'names are complete');
    sink.setReady(true);
  }

  return {
    ready: begin(),
    async importServices(signal) {
      // Who has joined must be known for certain: what belongs to nobody is taken out.
      await Promise.race([Promise.all([set.settled, options.joined]), once(signal, 'abort')]);
      if (!signal.aborted) await importer.work(signal);
    },
    async stop() {
      stopped.abort();
      own.close();
      set.close();
      await controller.stop();
      await reach;
      await events.stop();
    },
  };
}

function recorder(local: Cluster, log: Log): EventRecorder {
  return createEventRecorder({ client: () => local.client, reportingController: 'isthmus.dns', log });
}

/** A cluster that does not answer must not keep the others' names from being served for ever. */
async function waitForOthers(
  { members }: ClusterSet,
  joined: Promise<unknown> | undefined,
  patience: Promise<void>,
  log: Log,
): Promise<void> {
  const all = async () => {
    await joined;
    await Promise.all([...members.values()].map(({ settled }) => settled));
  };
  await Promise.race([all(), patience]);
  const late = [...members.values()].filter(({ isSettled }) => !isSettled).map(({ cluster }) => cluster.name);
  if (late.length > 0) log.warn({ clusters: late }, 'answers begin without what these clusters have');
}

function reportRefused(metrics: Metrics, publisher: Publisher): void {
  const refused = metrics.gauge('isthmus_dns_objects_refused', 'Objects of which a name is not served.').of();
  metrics.beforeReport(() => (refused.value = publisher.troubled));
}

function isOwnKind(kind: string): kind is OwnKind {
  return (OWN_KINDS as readonly string[]).includes(kind);
}
