/**
 * The DNS records of exported services, by the DNS specification of the Multi-Cluster Services API (KEP-1645, schema 1.0.0). No name
 * stands for all endpoints of one cluster: the specification forbids it.
 */
import { CLUSTERSET_ZONE } from '../names.ts';
import { publishedEndpoints } from '../objects.ts';
import type {
  Endpoint,
  EndpointSlice,
  Service,
  ServiceImport,
  ServiceName,
  ServicePort,
} from '../objects.ts';
import { addressRecord, limitRecords } from './dns-record.ts';
import type { DnsRecord, RecordResult } from './dns-record.ts';

/** Priority and weight, which the specification leaves open. */
const SRV_PREFERENCE = '0 100';
const VERSION_TTL = 28_800;

/** The version of the DNS schema, as the specification asks for it. */
export const VERSION_RECORD: DnsRecord = {
  name: `dns-version.${CLUSTERSET_ZONE}`,
  type: 'TXT',
  data: '"1.0.0"',
  ttl: VERSION_TTL,
};

export function clustersetName({ namespace, name }: ServiceName): string {
  return `${name}.${namespace}.svc.${CLUSTERSET_ZONE}`;
}

/** The clusterset IPs of the ServiceImport in this cluster; as long as it has none, there are no records. */
export function clusterSetIpRecords(service: ServiceName, imported: ServiceImport): RecordResult {
  const name = clustersetName(service);
  const addresses = (imported.spec?.ips ?? []).flatMap((ip) => addressRecord(name, ip));
  const ports = addresses.length > 0 ? (imported.spec?.ports ?? []) : [];
  return limitRecords({
    records: [...addresses, ...ports.flatMap((port) => srvRecord(name, port, port.port, name))],
    problems: [],
  });
}

/** The endpoints of a headless service in one cluster. */
export interface HeadlessEndpoints {
  cluster: string;
  slices: readonly EndpointSlice[];
  /** The exported Service, as far as it is known. */
  exported?: Service | undefined;
  /** Whether only the endpoints have names, and the service as a whole leads to another cluster. */
  hostsOnly?: boolean;
}

/** The records of a headless service in one cluster; if no cluster has a ready endpoint, the name is NXDOMAIN. */
export function headlessRecords(service: ServiceName, endpoints: HeadlessEndpoints): RecordResult {
  const { cluster, slices, exported, hostsOnly = false } = endpoints;
  const name = clustersetName(service);
  const records = slices.flatMap((slice) =>
    publishedEndpoints(slice, exported).flatMap((endpoint) => {
      const host = `${hostOf(endpoint)}.${cluster}.${name}`;
      const addresses = (hostsOnly ? [host] : [name, host]).flatMap((each) =>
        endpoint.addresses.flatMap((address) => addressRecord(each, address)),
      );
      const ports = addresses.length > 0 && !hostsOnly ? (slice.ports ?? []) : [];
      return [...addresses, ...ports.flatMap((port) => srvRecord(name, port, port.port, host))];
    }),
  );
  return limitRecords({ records, problems: [] });
}

/** The host label of an endpoint: its hostname, or its address with hyphens, as in CoreDNS. */
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
