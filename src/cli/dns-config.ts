import { discoverSettings } from '../control/discover/settings.ts';
import type { DiscoverSettings } from '../control/discover/settings.ts';
import { CLUSTERSET_ZONE } from '../control/discover/names.ts';
import type { Configured } from '../control/discover/records/reserved.ts';
import { dnsConfigSchema, zoneSpecOf } from '../dns/server/config.ts';
import type { DnsConfig } from '../dns/server/config.ts';
import { formatName, parseName } from '../dns/wire/name.ts';
import type { Name } from '../dns/wire/name.ts';
import type { DnsRecord } from '../dns/wire/record.ts';
import { parseRecord } from '../dns/zone/source-record.ts';
import { loadConfig } from '../ops/config.ts';
import { inSlices } from '../ops/time-slice.ts';

/** The document that `isthmus dns` reads: the DNS server's, and which clusters to follow. */
export const dnsCommandSchema = dnsConfigSchema.extend({ kubernetes: discoverSettings.optional() });

/** The names of the configuration, and how the DNS server says which. */
export interface ConfiguredNames extends Configured {
  readonly set: (source: string, records: readonly DnsRecord[]) => Promise<void>;
}

export interface DnsCommandConfig {
  dns: DnsConfig;
  kubernetes: DiscoverSettings | undefined;
}

/** Reads and checks it. Where clusters are followed, the zone of their exported services is served too. */
export function loadDnsCommandConfig(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): DnsCommandConfig {
  const { kubernetes, ...dns } = loadConfig(dnsCommandSchema, { file, env, envPrefix: 'ISTHMUS_DNS' });
  const hasZone = dns.zones.some(({ name }) => name === parseName(CLUSTERSET_ZONE));
  const more = kubernetes && !hasZone ? dnsConfigSchema.shape.zones.parse([{ name: CLUSTERSET_ZONE }]) : [];
  // Services with a host name instead of an address, and load balancers of some clouds, lead outside.
  const resolver = dns.resolver ?? (kubernetes ? 'system' : 'none');
  return { dns: { ...dns, resolver, zones: [...dns.zones, ...more] }, kubernetes };
}

/** Names of zones as they are written in other programs' configuration. */
export function zoneTexts(zones: DnsConfig['zones']): string[] {
  return zones.map(({ name }) => nameText(name)).toSorted();
}

function nameText(name: Name): string {
  return formatName(name).replace(/(?<=.)\.$/, '');
}

/** Collects what the DNS server is configured with, for those who decide whose a name is. */
export function collectConfigured(zones: DnsConfig['zones']): ConfiguredNames {
  const nameservers = zones.flatMap((zone) => zoneSpecOf(zone).nameservers.map(nameText));
  const sources = new Map<string, readonly string[]>([['zones', nameservers]]);
  const listeners = new Set<() => void>();
  return {
    zones: zoneTexts(zones),
    *names() {
      for (const names of sources.values()) yield* names;
    },
    subscribe(notify) {
      listeners.add(notify);
      return () => void listeners.delete(notify);
    },
    async set(source, records) {
      sources.set(source, await inSlices(ownerNames(source, records)));
      for (const notify of listeners) notify();
    },
  };
}

/** The names of records, each once or more. */
function* ownerNames(source: string, records: readonly DnsRecord[]): Generator<undefined, string[]> {
  const names: string[] = [];
  for (const record of records) {
    const parsed = parseRecord(source, record);
    for (const { name } of 'value' in parsed ? parsed.value : []) names.push(nameText(name));
    yield;
  }
  return names;
}
