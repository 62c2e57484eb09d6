import { createDelegator } from '../control/discover/delegation/delegator.ts';
import { probeRecords } from '../control/discover/delegation/probe.ts';
import { optionsOf } from '../control/discover/delegation/settings.ts';
import { DNS_NAME } from '../control/discover/install.ts';
import type { JoinedClusters } from '../control/discover/members/join.ts';
import type { RecordSink } from '../control/discover/records/dns-record.ts';
import type { DiscoverSettings } from '../control/discover/settings.ts';
import type { DnsConfig } from '../dns/config.ts';
import { formatName } from '../dns/name.ts';
import { createEventRecorder } from '../kube/write/events.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';

export interface DelegationParts {
  settings: DiscoverSettings;
  zones: DnsConfig['zones'];
  joined: JoinedClusters;
  /** Resolves when the DNS server answers. */
  ready: Promise<unknown>;
  sink: RecordSink;
  log: Log;
  metrics: Metrics;
}

/** Names of zones as they are written in other programs' configuration. */
export function zoneTexts(zones: DnsConfig['zones']): string[] {
  return zones.map(({ name }) => formatName(name).replace(/(?<=.)\.$/, '')).toSorted();
}

/** The leader's work on delegation; undefined if the settings do not mention it. */
export function openDelegation(parts: DelegationParts): ((signal: AbortSignal) => Promise<void>) | undefined {
  const { settings, joined, ready, sink, log, metrics } = parts;
  if (settings.delegation === undefined) return undefined;
  const zones = settings.delegation === false ? [] : zoneTexts(parts.zones);
  const { local: cluster, namespace } = joined;
  // Every replica serves the probe records, since any of them may be asked.
  sink.upsert('delegation', probeRecords(zones, cluster.name));
  return async (signal) => {
    const client = () => cluster.client;
    const events = createEventRecorder({ client, reportingController: 'isthmus.dns', log });
    const options = optionsOf(settings.delegation ?? false);
    const place = { cluster, namespace, serviceName: DNS_NAME };
    await createDelegator({ ...place, zones, options, ready, events, log, metrics }).work(signal);
    await events.stop();
  };
}
