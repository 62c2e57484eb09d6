/**
 * The names of exported services, as the DNS part of the Multi-Cluster Services API (KEP-1645, schema 1.0.0) has them. There is no
 * name for the whole of one cluster: the specification forbids it.
 */
import { CLUSTERSET_ZONE } from '../names.ts';
import { publishedEndpoints } from '../objects.ts';
import type { Endpoint, EndpointSlice, Service, ServiceImport, ServicePort } from '../objects.ts';
import { addressRecord, bounded } from './dns-record.ts';
import type { DnsRecord, Told } from './dns-record.ts';

/** Priority and weight; the specification leaves them open. */
const SRV_PREFERENCE = '0 100';
const VERSION_TTL = 28_800;

/** The record by which clients learn that the names below are of this schema. */
export const VERSION_RECORD: DnsRecord = {
  name: `dns-version.${CLUSTERSET_ZONE}`,
  type: 'TXT',
  data: '"1.0.0"',
  ttl: VERSION_TTL,
};

/** A service of the whole set. */
export interface ServiceName {
  namespace: string;
  name: string;
}

export function clustersetName({ namespace, name }: ServiceName): string {
  return `${name}.${namespace}.svc.${CLUSTERSET_ZONE}`;
}

/** One address for all clusters: that of the import in this one. Without it there is nothing to lead to, and so no name. */
export function clusterSetIpRecords(service: ServiceName, imported: ServiceImport): Told {
  const name = clustersetName(service);
  const addresses = (imported.spec?.ips ?? []).flatMap((ip) => addressRecord(name, ip));
  const ports = addresses.length > 0 ? (imported.spec?.ports ?? []) : [];
  return bounded({
    records: [...addresses, ...ports.flatMap((port) => srvRecord(name, port, port.port, name))],
    problems: [],
  });
}

/** The endpoints of a headless service in one cluster. None ready: no records, and with those of no cluster NXDOMAIN. */
export function headlessRecords(
  service: ServiceName,
  cluster: string,
  slices: readonly EndpointSlice[],
  exported?: Service,
): Told {
  const name = clustersetName(service);
  const records = slices.flatMap((slice) =>
    publishedEndpoints(slice, exported).flatMap((endpoint) => {
      const host = `${hostOf(endpoint)}.${cluster}.${name}`;
      const addresses = [name, host].flatMap((each) =>
        endpoint.addresses.flatMap((address) => addressRecord(each, address)),
      );
      const ports = addresses.length > 0 ? (slice.ports ?? []) : [];
      return [...addresses, ...ports.flatMap((port) => srvRecord(name, port, port.port, host))];
    }),
  );
  return bounded({ records, problems: [] });
}

/** The name of an endpoint within its cluster. Where it has none, its address makes one, as CoreDNS does it. */
export function hostOf({ hostname, addresses }: Endpoint): string {
  return hostname || (addresses[0] ?? '').replaceAll(/[.:]/g, '-');
}

/** A port without a name has no SRV record. */
function srvRecord(
  name: string,
  port: { name?: string | null; protocol?: string | null },
  number: ServicePort['port'] | null | undefined,
  target: string,
): DnsRecord[] {
  if (!port.name || !number) return [];
  const owner = `_${port.name}._${(port.protocol ?? 'TCP').toLowerCase()}.${name}`;
  return [{ name: owner, type: 'SRV', data: `${SRV_PREFERENCE} ${number} ${target}` }];
}
