import { discoverSettings } from '../control/discover/settings.ts';
import type { DiscoverSettings } from '../control/discover/settings.ts';
import { CLUSTERSET_ZONE } from '../control/discover/names.ts';
import { dnsConfigSchema } from '../dns/server/config.ts';
import type { DnsConfig } from '../dns/server/config.ts';
import { formatName, parseName } from '../dns/wire/name.ts';
import { loadConfig } from '../ops/config.ts';

/** The document that `isthmus dns` reads: the DNS server's, and which clusters to follow. */
export const dnsCommandSchema = dnsConfigSchema.extend({ kubernetes: discoverSettings.optional() });

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
  return { dns: { ...dns, zones: [...dns.zones, ...more] }, kubernetes };
}

/** Names of zones as they are written in other programs' configuration. */
export function zoneTexts(zones: DnsConfig['zones']): string[] {
  return zones.map(({ name }) => formatName(name).replace(/(?<=.)\.$/, '')).toSorted();
}
