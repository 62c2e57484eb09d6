/** Objects for the tests of this folder. */
import { FQDN_ANNOTATION, SERVICE_NAME_LABEL } from '../../../src/control/discover/names.ts';
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
  Service,
  ServiceExport,
} from '../../../src/control/discover/objects.ts';
import type { DnsRecord } from '../../../src/control/discover/records/dns-record.ts';

export function service(
  spec: Service['spec'],
  { fqdn, status, name = 'web' }: { fqdn?: string; status?: Service['status']; name?: string } = {},
): Service {
  const annotations = fqdn === undefined ? {} : { [FQDN_ANNOTATION]: fqdn };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', annotations },
    ...(spec && { spec }),
    ...(status && { status }),
  };
}

export function slice(
  endpoints: Endpoint[],
  {
    addressType = 'IPv4',
    annotations = {},
    ports = [],
    of = 'web',
    name = 'web-1',
  }: {
    addressType?: string;
    annotations?: Record<string, string>;
    ports?: EndpointPort[];
    of?: string;
    name?: string;
  } = {},
): EndpointSlice {
  const metadata = { name, namespace: 'default', annotations, labels: { [SERVICE_NAME_LABEL]: of } };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType,
    endpoints,
    ports,
  };
}

export function serviceExport(creationTimestamp: string, spec: ServiceExport['spec'] = {}): ServiceExport {
  const metadata = { name: 'web', namespace: 'default', uid: 'export-1', creationTimestamp };
  return { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata, spec };
}

/** Records as lines of a zone file, for reading. */
export function lines(records: readonly DnsRecord[]): string[] {
  return records.map(({ name, type, data }) => `${name} ${type} ${data}`);
}
