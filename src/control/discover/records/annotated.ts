/** Names that objects of this cluster claim for themselves: annotated Services and EndpointSlices, DNSEndpoints. */
import { CLUSTERSET_ZONE, FQDN_ANNOTATION, HOSTNAME_ANNOTATION, isInZone, readHostName } from '../names.ts';
import type { Read } from '../names.ts';
import { isHeadless, publishedEndpoints } from '../objects.ts';
import type { DnsEndpoint, EndpointSlice, Service } from '../objects.ts';
import { addressRecord, aliasRecord, bounded, problem } from './dns-record.ts';
import type { DnsRecord, Told } from './dns-record.ts';

/** The records of a Service that asks for a name; `slices` are those that belong to it. */
export function serviceRecords(service: Service, slices: readonly EndpointSlice[]): Told {
  const written = service.metadata.annotations?.[FQDN_ANNOTATION];
  if (written === undefined) return { records: [], problems: [] };
  const name = readClaim(written);
  if ('problem' in name) return problem(name.problem);
  return bounded({ records: serviceTargets(name.value, service, slices), problems: [] });
}

function serviceTargets(name: string, service: Service, slices: readonly EndpointSlice[]): DnsRecord[] {
  const { type, externalName, clusterIP, clusterIPs } = service.spec ?? {};
  if (type === 'ExternalName') return aliasRecord(name, externalName ? [externalName] : []);
  if (type === 'LoadBalancer') return balancerRecords(name, service);
  if (isHeadless(service)) return slices.flatMap((slice) => endpointRecords(name, slice, service));
  const addresses = clusterIPs ?? (clusterIP === undefined ? [] : [clusterIP]);
  return addresses.flatMap((address) => addressRecord(name, address));
}

/** A load balancer has addresses or a name; where it has both, addresses serve better, and no alias stands beside them. */
function balancerRecords(name: string, { status }: Service): DnsRecord[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const addresses = ingress.flatMap(({ ip }) => (ip === undefined ? [] : addressRecord(name, ip)));
  if (addresses.length > 0) return addresses;
  return aliasRecord(
    name,
    ingress.flatMap(({ hostname }) => hostname || []),
  );
}

/** The endpoints of a headless Service under its name, and those with a host name of their own also under that. */
function endpointRecords(name: string, slice: EndpointSlice, service: Service): DnsRecord[] {
  return publishedEndpoints(slice, service).flatMap(({ addresses, hostname }) => {
    const own = hostname && !name.startsWith('*') ? [`${hostname}.${name}`] : [];
    return [name, ...own].flatMap((each) => addresses.flatMap((address) => addressRecord(each, address)));
  });
}

/** The records of an EndpointSlice that asks for a name. */
export function sliceRecords(slice: EndpointSlice): Told {
  const written = slice.metadata.annotations?.[HOSTNAME_ANNOTATION];
  if (written === undefined) return { records: [], problems: [] };
  const name = readClaim(written);
  if ('problem' in name) return problem(name.problem);
  const addresses = publishedEndpoints(slice).flatMap((endpoint) => endpoint.addresses);
  const records =
    slice.addressType === 'FQDN'
      ? aliasRecord(name.value, addresses)
      : addresses.flatMap((address) => addressRecord(name.value, address));
  return bounded({ records, problems: [] });
}

const SERVED = new Set(['A', 'AAAA', 'CNAME', 'SRV', 'TXT', 'PTR', 'NS']);

/** The records of a DNSEndpoint. What is wrong with one of them does not take the others down. */
export function endpointObjectRecords({ spec }: DnsEndpoint): Told {
  const told: Told = { records: [], problems: [] };
  for (const { dnsName = '', recordType = '', targets, recordTTL } of spec?.endpoints ?? []) {
    const name = readClaim(dnsName);
    if ('problem' in name) told.problems.push(name.problem);
    else if (!SERVED.has(recordType)) told.problems.push(`${name.value}: ${recordType} is not served here`);
    else {
      const type = recordType as DnsRecord['type'];
      // external-dns takes 0 for "not given".
      const ttl = recordTTL ? { ttl: recordTTL } : {};
      for (const data of targets ?? []) told.records.push({ name: name.value, type, data, ...ttl });
    }
  }
  return bounded(told);
}

/** Nobody gets a name among those of exported services by asking for it: whoever could, could take over any of them. */
function readClaim(text: string): Read<string> {
  const name = readHostName(text);
  if ('value' in name && isInZone(name.value, CLUSTERSET_ZONE))
    return { problem: `${name.value}: names in ${CLUSTERSET_ZONE} are given to exported services only` };
  return name;
}
