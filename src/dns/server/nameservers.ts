import { isIPv4 } from 'node:net';
import { formatName } from '../wire/name.ts';
import { zoneSpecOf } from './config.ts';
import type { NetworkInterfaceInfo } from 'node:os';
import type { DnsRecord } from '../wire/record.ts';
import type { DnsConfig } from './config.ts';

/**
 * The addresses of the name server that a zone has by default, `ns.<zone>`: those that are listened on; in a pod that listens
 * on all, that of the Service; else those of this machine. Zones that name their own servers have records for them.
 */
export function nameserverRecords(
  { listen, zones }: DnsConfig,
  env: Readonly<Record<string, string | undefined>>,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>,
): DnsRecord[] {
  const named = listen.map(({ address }) => address).filter((address) => !/^[0:.]*$/.test(address));
  const service = env['ISTHMUS_DNS_SERVICE_HOST'];
  const own = Object.values(interfaces).flatMap((all) => all ?? []);
  const addresses = [
    named,
    service === undefined ? [] : [service],
    own.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
  ].find((list) => list.length > 0);
  return zones
    .filter(({ nameservers }) => nameservers.length === 0)
    .flatMap((zone) => zoneSpecOf(zone).nameservers.map(formatName))
    .flatMap((name) =>
      [...new Set(addresses)].map((data) => ({ name, type: isIPv4(data) ? 'A' : 'AAAA', data }) as const),
    );
}
