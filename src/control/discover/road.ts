/** The discover road: keeps the records of the DNS server as the clusters have them, and imports services. Runs in `isthmus dns`. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { Clusters } from '../../kube/clusters.ts';
import { SUCCESS, createController } from '../../kube/controller/controller.ts';
import { nameOfKey } from '../../kube/object.ts';
import type { KubeObject } from '../../kube/object.ts';
import { createEventRecorder } from '../../kube/write/events.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import { unlessAborted } from '../../ops/abort.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createImporter } from './imports/importer.ts';
import type { Importer } from './imports/importer.ts';
import { watchClusterHealth } from './members/cluster-health.ts';
import { openClusterSet } from './members/cluster-set.ts';
import type { ClusterSet, ReachModes } from './members/cluster-set.ts';
import type { ReachMode } from './members/nodes.ts';
import { observeService } from './observe.ts';
import type { ObjectRecords } from './records/publisher.ts';
import type { RecordSink } from './records/dns-record.ts';
import { exportRecords } from './records/export-records.ts';
import { LOCAL_KINDS, openLocalNames } from './records/local-names.ts';
import type { LocalKind, LocalNames } from './records/local-names.ts';
import { VERSION_RECORD } from './records/mcs-records.ts';
import { createPublisher } from './records/publisher.ts';
import type { Publisher } from './records/publisher.ts';

export interface DiscoveryOptions {
  /** The cluster that the DNS server serves; its name is its id in the set. */
  local: Cluster;
  /** All clusters of the set, including the local one. */
  clusters: Clusters;
  /** How the other clusters are reached from here; by pod addresses if left out. */
  reachModes?: ReachModes;
  /** How the other clusters reach this one; by pod addresses if left out. */
  reach?: ReachMode;
  /** Resolves when `clusters` has all clusters that have joined so far. */
  joined?: Promise<unknown>;
  /** The Secret of a joined cluster, for events about it. */
  objectOf?: (cluster: string) => KubeObject | undefined;
  sink: RecordSink;
  /** Where problems are reported; as Events in the local cluster if left out. */
  events?: EventRecorder;
  log: Log;
  metrics: Metrics;
  clock?: Clock;
  /** How long the first answer waits for clusters that do not answer. */
  joinWaitMs?: number;
}

export interface Discovery {
  /** Resolves when the DNS server may answer. */
  readonly ready: Promise<void>;
  /** Imports what other clusters export, until the signal is aborted; for the leader only. */
  importServices(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

const JOIN_WAIT_MS = 15_000;
const BY_PODS: ReachModes = { of: () => 'pods', subscribe: () => () => {} };
const EXPORTED = 'Exported';
const VERSION_SOURCE = 'clusterset version';

/** Watches the clusters and gives the sink their records. The sink is set ready when everything that can be read has been read. */
export function startDiscovery(options: DiscoveryOptions): Discovery {
  const { local, clusters, sink, log, metrics, clock = systemClock } = options;
  const { reachModes = BY_PODS, reach = 'pods', objectOf = () => undefined } = options;
  const stopped = new AbortController();
  const events = options.events ?? recorder(local, log);
  const publisher = createPublisher({ sink, events, log });
  let importer: Importer | undefined;
  const enqueue = (key: string) => {
    controller.enqueue(`${EXPORTED} ${key}`);
    importer?.enqueue(key);
  };
  const controller = createController({
    name: 'discover',
    log,
    clock,
    reconcile: async (task) => {
      publisher.publish(task, recordsOf(task, set, localNames));
      return SUCCESS;
    },
  });
  const set = openClusterSet({ local, clusters, reachModes, enqueue, log });
  importer = createImporter({ local, set, reach, log });
  const localNames = openLocalNames(set.local, log, (kind, key) => controller.enqueue(`${kind} ${key}`));
  const { members } = set;
  const health = watchClusterHealth({ members, objectOf, events, log, metrics, clock }, stopped.signal);
  measureRefused(metrics, publisher);

  async function begin(): Promise<void> {
    await Promise.all([set.settled, localNames.settled]);
    const timeout = clock.wait(options.joinWaitMs ?? JOIN_WAIT_MS, stopped.signal);
    await waitForOthers(set, options.joined, timeout, log);
    sink.upsert(VERSION_SOURCE, [VERSION_RECORD]);
    controller.start();
    while (controller.waiting + controller.active > 0 && !stopped.signal.aborted) await yieldToOthers();
    if (stopped.signal.aborted) return;
    log.info({ clusters: members.size }, 'DNS records complete');
    sink.setReady(true);
  }

  return {
    ready: begin(),
    async importServices(signal) {
      // Imports of clusters that are not in the set are deleted, so the set must be known.
      if (await unlessAborted(Promise.all([set.settled, options.joined]), signal))
        await importer.work(signal);
    },
    async stop() {
      stopped.abort();
      localNames.close();
      set.close();
      await controller.stop();
      await health;
      await events.stop();
    },
  };
}

/** The records of a task of the controller: `Exported <key>` or `<kind> <key>`. */
function recordsOf(task: string, set: ClusterSet, localNames: LocalNames): ObjectRecords[] {
  const space = task.indexOf(' ');
  const [kind, key] = [task.slice(0, space), task.slice(space + 1)];
  if (isLocalKind(kind)) return [localNames.recordsOf(kind, key) ?? []].flat();
  const { namespace = '', name } = nameOfKey(key);
  return exportRecords({ namespace, name }, observeService(set, key), set.localId);
}

function recorder(local: Cluster, log: Log): EventRecorder {
  return createEventRecorder({ client: () => local.client, reportingController: 'isthmus.dns', log });
}

/** A cluster that does not answer must not keep the names of the others from being served for ever. */
async function waitForOthers(
  { members }: ClusterSet,
  joined: Promise<unknown> | undefined,
  timeout: Promise<void>,
  log: Log,
): Promise<void> {
  const all = async () => {
    await joined;
    await Promise.all([...members.values()].map(({ settled }) => settled));
  };
  await Promise.race([all(), timeout]);
  const late = [...members.values()].filter(({ isSettled }) => !isSettled).map(({ cluster }) => cluster.name);
  if (late.length > 0) log.warn({ clusters: late }, 'DNS server starts without the records of some clusters');
}

function measureRefused(metrics: Metrics, publisher: Publisher): void {
  const refused = metrics.gauge('isthmus_dns_objects_refused', 'Objects of which a name is not served.').of();
  metrics.beforeReport(() => (refused.value = publisher.refusedObjects));
}

function isLocalKind(kind: string): kind is LocalKind {
  return (LOCAL_KINDS as readonly string[]).includes(kind);
}
