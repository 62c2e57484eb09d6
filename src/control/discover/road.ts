/** The discover road, which runs in `isthmus dns`: every replica serves the records of the clusters, and the leader writes. */
import { systemClock } from '../../kube/clock.ts';
import { createEventRecorder } from '../../kube/write/events.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { unlessAborted } from '../../ops/abort.ts';
import { renewTokens } from '../targets/renew.ts';
import { workAsLeader } from '../kernel/leader.ts';
import type { Work } from '../kernel/leader.ts';
import { createDelegator } from './delegation/delegator.ts';
import { probeRecords } from './delegation/probe.ts';
import { optionsOf } from './delegation/settings.ts';
import { startDiscovery } from './discovery.ts';
import type { Discovery } from './discovery.ts';
import { removeImportsOnce } from './imports/removal.ts';
import { DNS_NAME } from './install.ts';
import { joinClusters } from './members/join.ts';
import type { JoinedClusters } from './members/join.ts';
import type { RecordSink } from './records/dns-record.ts';
import type { Configured } from './records/reserved.ts';
import { openSerials } from './serials.ts';
import type { ZoneVersions } from './serials.ts';
import type { DiscoverSettings } from './settings.ts';

export interface DiscoverRoadOptions {
  settings: DiscoverSettings;
  /** The zones of the DNS server, and what else its configuration has. */
  configured: Configured;
  sink: RecordSink & { trust(addresses: readonly string[]): void; readonly versions: ZoneVersions };
  log: Log;
  metrics: Metrics;
}

export interface DiscoverRoad {
  stop(): Promise<void>;
}

/** Joins the clusters, serves their records, and takes part in the election of the leader. */
export function startDiscoverRoad(options: DiscoverRoadOptions): DiscoverRoad {
  const { settings, configured, sink, log, metrics } = options;
  const joined = joinClusters(settings, log);
  const { local: cluster, namespace } = joined;
  const joinWaitMs = settings.joinWaitSeconds * 1000;
  const serials = openSerials({ cluster, namespace, versions: sink.versions, log });
  const discovery = startDiscovery({
    ...joined,
    beforeReady: serials.read,
    reach: settings.reach,
    importNamespace: settings.importNamespace,
    preferLocal: settings.preferLocal,
    forgetAfterMs: settings.forgetAfterSeconds && settings.forgetAfterSeconds * 1000,
    configured,
    sink,
    trust: (addresses) => sink.trust(addresses),
    log,
    metrics,
    joinWaitMs,
  });
  const work: Work[] = [
    (signal) => discovery.writeGrants(signal),
    async (signal) => {
      // A zone that is not complete would take names from secondaries.
      if (await unlessAborted(Promise.all([discovery.ready, joined.joined]), signal))
        await serials.write(signal);
    },
    ...importWork(settings, joined, discovery, log),
    // An operator may do it, too: who is second finds that it has been done.
    (signal) => renewTokens({ ...renewing(joined), log, clock: systemClock }, signal),
    ...delegationWork(options, joined, discovery.ready),
  ];
  const election = workAsLeader({ cluster, namespace, name: DNS_NAME, work, log });
  const leader = metrics.gauge('isthmus_dns_leader', '1 on the replica that writes.').of();
  metrics.beforeReport(() => (leader.value = Number(election.isLeader())));
  return {
    async stop() {
      await election.stop();
      serials.stop();
      await discovery.stop();
      await joined.clusters.stop();
    },
  };
}

/** What it takes to renew the tokens of joined clusters. */
const renewing = ({ clusters, local, objectOf }: JoinedClusters) => ({
  clusters,
  secretOf: objectOf,
  client: () => local.client,
});

/** The leader's work on imports: to keep them, or to take them out again; none if the settings do not mention them. */
function importWork(
  settings: DiscoverSettings,
  { local, namespace }: JoinedClusters,
  discovery: Discovery,
  log: Log,
): Work[] {
  if (settings.import === undefined) return [];
  if (settings.import) return [(signal) => discovery.importServices(signal)];
  const options = { client: () => local.client, installation: namespace, log, clock: systemClock };
  return [(signal) => removeImportsOnce(options, signal)];
}

/** The leader's work on delegation; none if the settings do not mention it. */
function delegationWork(
  { settings, sink, log, metrics, ...options }: DiscoverRoadOptions,
  { local: cluster, namespace }: JoinedClusters,
  ready: Promise<unknown>,
): Work[] {
  const { delegation } = settings;
  if (delegation === undefined) return [];
  const zones = delegation === false ? [] : options.configured.zones;
  // Every replica serves the probe records, since any of them may be asked.
  sink.upsert('delegation', probeRecords(zones, cluster.name));
  return [
    async (signal) => {
      const client = () => cluster.client;
      const events = createEventRecorder({ client, reportingController: 'isthmus.dns', log });
      const place = { cluster, namespace, serviceName: DNS_NAME };
      const given = { ...place, zones, options: optionsOf(delegation), ready, events, log, metrics };
      await createDelegator(given).work(signal);
      await events.stop();
    },
  ];
}
