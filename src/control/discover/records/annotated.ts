/** The DNS records of objects that name them: annotated Services and EndpointSlices, and DNSEndpoints. */
import { CLUSTERSET_ZONE, FQDN_ANNOTATION, HOSTNAME_ANNOTATION, isInZone, readHostName } from '../names.ts';
import type { NameResult } from '../names.ts';
import { isHeadless, publishedEndpoints } from '../objects.ts';
import type { DnsEndpoint, EndpointSlice, Service } from '../objects.ts';
import { NO_RECORDS, addressRecord, aliasRecord, limitRecords, onlyProblem } from './dns-record.ts';
import type { DnsRecord, RecordResult } from './dns-record.ts';

/** The records of an annotated Service; `slices` are its own. */
export function serviceRecords(service: Service, slices: readonly EndpointSlice[]): RecordResult {
  const annotation = service.metadata.annotations?.[FQDN_ANNOTATION];
  if (annotation === undefined) return NO_RECORDS;
  const name = readRequestedName(annotation);
  if ('problem' in name) return onlyProblem(name.problem);
  const records = serviceTargets(name.value, service, slices);
  return limitRecords({ records, problems: [], names: [name.value] });
}

function serviceTargets(name: string, service: Service, slices: readonly EndpointSlice[]): DnsRecord[] {
  const { type, externalName, clusterIP, clusterIPs } = service.spec ?? {};
  if (type === 'ExternalName') return aliasRecord(name, externalName ? [externalName] : []);
  // Until there is one, clients in the cluster can use the cluster IPs all the same.
  const balanced = type === 'LoadBalancer' ? loadBalancerRecords(name, service) : [];
  if (balanced.length > 0) return balanced;
  if (isHeadless(service)) return slices.flatMap((slice) => endpointRecords(name, slice, service));
  const addresses = clusterIPs ?? (clusterIP === undefined ? [] : [clusterIP]);
  return addresses.flatMap((address) => addressRecord(name, address));
}

/** A load balancer has addresses or a host name, once it has been set up; if both, the addresses: a CNAME cannot stand beside them. */
function loadBalancerRecords(name: string, { status }: Service): DnsRecord[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const addresses = ingress.flatMap(({ ip }) => (ip === undefined ? [] : addressRecord(name, ip)));
  if (addresses.length > 0) return addresses;
  return aliasRecord(
    name,
    ingress.flatMap(({ hostname }) => hostname || []),
  );
}

/** The endpoints of a headless Service: under its name, and those with a hostname also under `<hostname>.<name>`. */
function endpointRecords(name: string, slice: EndpointSlice, service: Service): DnsRecord[] {
  return publishedEndpoints(slice, service).flatMap(({ addresses, hostname }) => {
    const ownName = hostname && !name.startsWith('*') ? [`${hostname}.${name}`] : [];
    return [name, ...ownName].flatMap((each) => addresses.flatMap((address) => addressRecord(each, address)));
  });
}

/** The records of an annotated EndpointSlice. */
export function sliceRecords(slice: EndpointSlice): RecordResult {
  const annotation = slice.metadata.annotations?.[HOSTNAME_ANNOTATION];
  if (annotation === undefined) return NO_RECORDS;
  const name = readRequestedName(annotation);
  if ('problem' in name) return onlyProblem(name.problem);
  const addresses = publishedEndpoints(slice).flatMap((endpoint) => endpoint.addresses);
  const records =
    slice.addressType === 'FQDN'
      ? aliasRecord(name.value, addresses)
      : addresses.flatMap((address) => addressRecord(name.value, address));
  return limitRecords({ records, problems: [], names: [name.value] });
}

const SERVED_TYPES = new Set(['A', 'AAAA', 'CNAME', 'SRV', 'TXT', 'PTR', 'NS']);

/** The records of a DNSEndpoint. An invalid endpoint does not affect the others. */
export function endpointObjectRecords({ spec }: DnsEndpoint): RecordResult {
  const result: RecordResult = { records: [], problems: [] };
  for (const { dnsName = '', recordType = '', targets, recordTTL } of spec?.endpoints ?? []) {
    const name = readRequestedName(dnsName);
    if ('problem' in name) result.problems.push(name.problem);
    else if (!SERVED_TYPES.has(recordType))
      result.problems.push(`${name.value}: record type ${recordType} is not served`);
    else {
      const type = recordType as DnsRecord['type'];
      // external-dns takes 0 for "not given".
      const ttl = recordTTL ? { ttl: recordTTL } : {};
      for (const data of targets ?? []) result.records.push({ name: name.value, type, data, ...ttl });
    }
  }
  return limitRecords(result);
}

/** No object may ask for a name of an exported service: it could take over any of them. */
function readRequestedName(text: string): NameResult<string> {
  const name = readHostName(text);
  if ('value' in name && isInZone(name.value, CLUSTERSET_ZONE))
    return { problem: `${name.value}: names in ${CLUSTERSET_ZONE} are reserved for exported services` };
  return name;
}
