/** Keeps the records of the DNS server as the clusters have them, in every replica; and imports services, in the leader. */
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
import { runController } from '../kernel/run-controller.ts';
import type { Wake } from '../kernel/watches.ts';
import { reportMissingNamespaces } from './imports/missing-namespaces.ts';
import { reconcileImports } from './imports/reconcile.ts';
import { DNS_NAME } from './install.ts';
import { followClusterDns } from './members/cluster-dns.ts';
import { watchClusterHealth } from './members/cluster-health.ts';
import { openClusterSet } from './members/cluster-set.ts';
import type { ClusterSet, ReachModes } from './members/cluster-set.ts';
import type { ReachMode } from './members/nodes.ts';
import { createWaker } from './members/waker.ts';
import { CLUSTERSET_ZONE, isInZone } from './names.ts';
import { observeService } from './observe.ts';
import type { ImportNamespace } from './placement.ts';
import type { RecordSink } from './records/dns-record.ts';
import { exportRecords } from './records/export-records.ts';
import { openGrantBook } from './records/grant-book.ts';
import type { GrantBook } from './records/grant-book.ts';
import { localRecords } from './records/local-names.ts';
import { VERSION_RECORD } from './records/mcs-records.ts';
import { reportUnreadable } from './records/policies.ts';
import { createPublisher } from './records/publisher.ts';
import type { ObjectRecords, Publisher } from './records/publisher.ts';
import { NOTHING_CONFIGURED } from './records/reserved.ts';
import type { Configured } from './records/reserved.ts';

export interface DiscoveryOptions {
  /** The cluster that the DNS server serves; its name is its id in the set. */
  local: Cluster;
  /** All clusters of the set, including the local one. */
  clusters: Clusters;
  /** How the other clusters are reached from here; by pod addresses if left out. */
  reachModes?: ReachModes;
  /** How the other clusters reach this one; by pod addresses if left out. */
  reach?: ReachMode;
  /** Where services are imported to; into their own namespaces if left out. */
  importNamespace?: ImportNamespace;
  /** How long the names of a cluster that cannot be read are kept; for ever if left out. */
  forgetAfterMs?: number | undefined;
  /** Whether clients here are led to this cluster alone where it has ready endpoints of a service. */
  preferLocal?: boolean;
  /** Resolves when `clusters` has all clusters that have joined so far. */
  joined?: Promise<unknown>;
  /** The Secret of a joined cluster, for events about it. */
  objectOf?: (cluster: string) => KubeObject | undefined;
  sink: RecordSink;
  /** Gets the addresses of the cluster's own DNS servers whenever they have changed. */
  trust?: ((addresses: readonly string[]) => void) | undefined;
  /** What the configuration of the DNS server has, which is no object's; nothing if left out. */
  configured?: Configured;
  /** The program's namespace in the local cluster, where the grants of names are kept; they are not if left out. */
  namespace?: string;
  /** What else has to be known before the first answer. */
  beforeReady?: Promise<unknown>;
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
  /** Writes down which names have been granted, until the signal is aborted; for the leader only. */
  writeGrants(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

const JOIN_WAIT_MS = 15_000;
const BY_PODS: ReachModes = { of: () => 'pods', subscribe: () => () => {} };
const EXPORTED = 'Exported';
/** The task after a change of grants that are written down begins so. */
const GRANTS = 'Grants ';
/** The task after a change of the DNS server's configuration, or of policies; and after one of a namespace's labels. */
const RULES = 'Rules';
const NAMESPACE = 'Namespace ';
const VERSION_SOURCE = 'clusterset version';

/** Watches the clusters and gives the sink their records. The sink is set ready when everything that can be read has been read. */
export function startDiscovery(options: DiscoveryOptions): Discovery {
  const { local, clusters, sink, log, metrics, clock = systemClock } = options;
  const { reachModes = BY_PODS, reach = 'pods', objectOf = () => undefined } = options;
  const stopped = new AbortController();
  const events = options.events ?? recorder(local, log);
  const { configured = NOTHING_CONFIGURED, preferLocal = false } = options;
  const grants = options.namespace === undefined ? undefined : grantBook(options.namespace, options);
  const publisher = createPublisher({
    sink,
    configured,
    policies: reportUnreadable(() => set.policies(), { events, log }),
    labelsOf: (namespace) => set.labelsOf(namespace),
    events,
    log,
    ...(grants && { grants }),
  });
  const records = createController({
    name: 'dns-records',
    concurrency: 1,
    log,
    metrics,
    clock,
    reconcile: async (task) => {
      if (task === RULES) await publisher.reconsider();
      else if (task.startsWith(NAMESPACE)) await publisher.reconsider(task.slice(NAMESPACE.length));
      else if (grants && task.startsWith(GRANTS))
        await publisher.regrant(grants.changesOf(task.slice(GRANTS.length)));
      else await publisher.publish(task, recordsOf(task, set, preferLocal));
      return SUCCESS;
    },
  });
  const endConfigured = configured.subscribe(() => records.enqueue(RULES));
  /** Set while this replica leads. */
  let wakeImports: Wake | undefined;
  const wakeExported = (key: string) => {
    records.enqueue(`${EXPORTED} ${key}`);
    wakeImports?.(key);
  };
  const wakeNamed = records.enqueue;
  const wakePolicies = () => records.enqueue(RULES);
  const wakeNamespace = (name: string) => records.enqueue(NAMESPACE + name);
  const wakes = { wakeExported, wakeNamed, wakePolicies, wakeNamespace };
  const { importNamespace } = options;
  const set = openClusterSet({ local, clusters, reachModes, importNamespace, ...wakes, log });
  const { members } = set;
  const { forgetAfterMs } = options;
  const reports = { objectOf, events, log, metrics, clock };
  const health = watchClusterHealth(
    { members, local: local.name, forgetAfterMs, forget: set.forget, ...reports },
    stopped.signal,
  );
  measureRefused(metrics, publisher, grants);
  measureServices(metrics, set);
  const { trust } = options;
  const followed =
    trust && followClusterDns({ slicesOf: (key) => set.local.slicesOf(key), trust, clock }, stopped.signal);

  async function begin(): Promise<void> {
    await set.settled;
    const timeout = clock.wait(options.joinWaitMs ?? JOIN_WAIT_MS, stopped.signal);
    await waitForOthers(set, options.joined, timeout, log);
    await unlessAborted(Promise.all([grants?.read, options.beforeReady]), stopped.signal);
    grants?.subscribe((key) => records.enqueue(GRANTS + key));
    sink.upsert(VERSION_SOURCE, [VERSION_RECORD]);
    await publisher.reconsider();
    records.start();
    const isBusy = () => set.isWaking || records.waiting + records.active > 0;
    while (isBusy() && !stopped.signal.aborted) await yieldToOthers();
    if (stopped.signal.aborted) return;
    log.info({ clusters: members.size }, 'DNS records complete');
    sink.setReady(true);
  }

  const ready = begin();
  return {
    ready,
    async writeGrants(signal) {
      // What is not known yet would be taken for given up.
      if (await unlessAborted(Promise.all([ready, options.joined]), signal))
        await grants?.write(publisher.granted, signal);
    },
    async importServices(signal) {
      // Imports of clusters that are not in the set are deleted, so the set must be known.
      if (!(await unlessAborted(Promise.all([set.settled, options.joined]), signal))) return;
      const { namespace } = options;
      const service = namespace === undefined ? undefined : { namespace, name: DNS_NAME };
      const common = { log, metrics, clock };
      const given = { local, set, installation: namespace, preferLocal, reach, events, metrics, clock };
      const reconcile = reconcileImports(given);
      const report = reportMissingNamespaces({ local, set, service, events, metrics });
      const wakes = new Set<Wake>();
      wakeImports = (key) => wakes.forEach((wake) => wake(key));
      const connect = (keyOf: (key: string) => string) => (enqueue: Wake) => {
        const wake = (key: string) => enqueue(keyOf(key));
        wakes.add(wake);
        const waker = createWaker(wake);
        waker.wakeAll(set.keys());
        return () => {
          waker.stop();
          wakes.delete(wake);
        };
      };
      await Promise.all([
        runController({ name: 'service-import', ...common, reconcile }, connect(String), signal),
        // It looks at all of them at once.
        runController(
          { name: 'import-namespaces', ...common, reconcile: report },
          connect(() => 'all'),
          signal,
        ),
      ]);
    },
    async stop() {
      stopped.abort();
      endConfigured();
      grants?.stop();
      set.close();
      await records.stop();
      await health;
      await followed;
      await events.stop();
    },
  };
}

function measureServices(metrics: Metrics, set: ClusterSet): void {
  const exported = metrics.gauge('isthmus_dns_exports', 'ServiceExports, by cluster.');
  const imported = metrics.gauge('isthmus_dns_imports', 'ServiceImports in the local cluster.');
  let reported: readonly string[] = [];
  metrics.beforeReport(() => {
    // One may have gone, or be called otherwise by now.
    for (const cluster of reported) exported.drop({ cluster });
    const members = [...set.members.values()];
    for (const { id, exports } of members) exported.of({ cluster: id }).value = exports?.list().length ?? 0;
    reported = members.map(({ id }) => id);
    imported.of().value = set.importCount;
  });
}

/** The records of a task of the controller: `Exported <key>` or `<kind> <key>`. */
function recordsOf(task: string, set: ClusterSet, preferLocal: boolean): ObjectRecords[] {
  const space = task.indexOf(' ');
  const [kind, key] = [task.slice(0, space), task.slice(space + 1)];
  if (kind !== EXPORTED) return localRecords(set, kind, key);
  const { namespace = '', name } = nameOfKey(key);
  return exportRecords({ namespace, name }, observeService(set, key), { local: set.localId, preferLocal });
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

/** Names of exported services cannot conflict, and names outside of the zones are not served. */
function grantBook(namespace: string, options: DiscoveryOptions): GrantBook {
  const { local: cluster, configured = NOTHING_CONFIGURED, log } = options;
  const zones = configured.zones.filter((zone) => zone !== CLUSTERSET_ZONE);
  const isKept = (name: string) => zones.some((zone) => isInZone(name, zone));
  return openGrantBook({ cluster, namespace, isKept, log });
}

function measureRefused(metrics: Metrics, publisher: Publisher, grants: GrantBook | undefined): void {
  const unwritten = metrics
    .gauge('isthmus_dns_grants_unwritten', 'Names with grants that the leader has yet to write down.')
    .of();
  metrics.beforeReport(() => (unwritten.value = grants?.unwritten ?? 0));
  const refused = metrics.gauge('isthmus_dns_objects_refused', 'Objects of which a name is not served.').of();
  metrics.beforeReport(() => (refused.value = publisher.refusedObjects));
}
