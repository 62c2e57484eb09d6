/** The names of what a folder serves, answered by a DNS server on this machine. */
import type { DnsEndpoint } from '../control/discover/objects.ts';
import { endpointObjectRecords } from '../control/discover/records/annotated.ts';
import type { ServedCluster } from '../control/proxy/config/document.ts';
import { nodeHost } from '../control/proxy/names.ts';
import { dnsConfigSchema } from '../dns/server/config.ts';
import { startDns } from '../dns/server/server.ts';
import type { DnsServer } from '../dns/server/server.ts';
import type { DnsRecord } from '../dns/wire/record.ts';
import type { Explanation } from '../dns/zone/explain.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { nodeIdsOf } from '../resources/common/node-ids.ts';
import { BIND_ADDRESS } from './machine.ts';

/** Records, and the object that they come from (`Kind namespace/name`). */
export interface NamedSource {
  source: string;
  records: DnsRecord[];
}

export interface LocalNames {
  /** Where it answers; undefined while there is no name to answer for. */
  endpoint(): { address: string; port: number } | undefined;
  zones(): readonly string[];
  sources(): readonly NamedSource[];
  set(sources: readonly NamedSource[]): Promise<void>;
  /** What a question would be answered with, and from which objects; undefined if it is none. */
  explain(name: string, type: string): Explanation | undefined;
  close(): Promise<void>;
}

/** Whose names lead where. On this machine everything listens on one address. Pure. */
export function localNames(
  clusters: readonly (ServedCluster & { namespace: string })[],
  endpoints: readonly DnsEndpoint[],
): NamedSource[] {
  const ofClusters = clusters.map(({ name, namespace, ingresses, target }) => ({
    source: `VirtualKafkaCluster ${namespace}/${name}`,
    records: ingresses.flatMap(({ address }): DnsRecord[] => {
      if (address.by !== 'sni') return [];
      const nodes = nodeIdsOf(target.nodeIdRanges).map((node) => nodeHost(address.brokerPattern, node));
      return [address.bootstrapHost, ...nodes].map((host) => ({ name: host, type: 'A', data: BIND_ADDRESS }));
    }),
  }));
  const ofEndpoints = endpoints.map((endpoint) => ({
    source: `DNSEndpoint ${endpoint.metadata.namespace}/${endpoint.metadata.name}`,
    records: endpointObjectRecords(endpoint).records,
  }));
  return [...ofClusters, ...ofEndpoints].filter(({ records }) => records.length > 0);
}

/** The zones that names are in: one label less each, and none within another. Pure. */
export function zonesOf(sources: readonly NamedSource[]): string[] {
  const parents = sources.flatMap(({ records }) =>
    records.map(({ name }) => name.replace(/\.$/, '').toLowerCase().split('.').slice(1).join('.')),
  );
  const all = [...new Set(parents)].filter((zone) => zone !== '').toSorted();
  return all.filter((zone) => !all.some((other) => zone !== other && zone.endsWith(`.${other}`)));
}

/** Starts to answer as soon as there is a name. The zones of a server are fixed, so other ones take another server. */
export function createLocalNames(port: number, parts: { log: Log; metrics: () => Metrics }): LocalNames {
  let server: DnsServer | undefined;
  let zones: string[] = [];
  let known: readonly NamedSource[] = [];

  async function serve(wanted: string[]): Promise<void> {
    if (wanted.join() === zones.join()) return;
    await server?.close();
    server = undefined;
    zones = wanted;
    if (wanted.length === 0) return;
    const settings = { zones: wanted.map((name) => ({ name })), resolver: 'none', drainSeconds: 0 };
    const start = (at: number) =>
      startDns(dnsConfigSchema.parse({ ...settings, listen: [`${BIND_ADDRESS}:${at}`] }), {
        log: parts.log,
        metrics: parts.metrics(),
      });
    // Another program may have the port: names are a help here, and no reason not to start.
    server = await start(port).catch(() => start(0));
  }

  return {
    endpoint: () => server?.endpoints[0],
    zones: () => zones,
    sources: () => known,
    async set(sources) {
      await serve(zonesOf(sources));
      const gone = known.filter(({ source }) => !sources.some((one) => one.source === source));
      for (const { source } of gone) server?.upsert(source, []);
      for (const { source, records } of sources) server?.upsert(source, records);
      known = sources;
      await server?.settled();
    },
    explain: (name, type) => server?.explain(name, type),
    async close() {
      await server?.close();
    },
  };
}
