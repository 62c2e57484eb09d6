/** What makes brokers reachable from outside: a Service that keeps a port number, and DNS records. */
import type { AnyObject, ObjectMeta } from '../../../kube/object.ts';
import { hostPortServiceName } from '../expose/names.ts';
import type { Endpoint } from '../expose/records.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

/** On Services that stay when their listener goes: the number that they keep is the cluster's. */
export const KEPT_PORT = { 'isthmus.dev/keeps': 'host-port' };

const withLabel = (metadata: ReturnType<typeof metadataOf>, label: Readonly<Record<string, string>>) => ({
  ...metadata,
  labels: { ...metadata.labels, ...label },
});

export function hostPortService(
  cluster: BrokerCluster,
  { name, port }: { name: string; port: number },
  nodePort: number | undefined,
): AnyObject {
  const metadata = withLabel(metadataOf(cluster, hostPortServiceName(cluster.name, name)), KEPT_PORT);
  return portKeeper({ ...metadata, ownerReferences: ownedByKafka(cluster) }, port, nodePort);
}

/** Has no selector and sends nobody anywhere: while it is there, no other Service of the cluster is given its port. */
export const portKeeper = (metadata: ObjectMeta, port: number, nodePort: number | undefined): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec: {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    ports: [{ name: 'reserved', port, targetPort: port, protocol: 'TCP', ...(nodePort && { nodePort }) }],
  },
});

/** The number that such a Service was given. */
export function keptPort(service: AnyObject | undefined): number | undefined {
  const { ports } = (service?.['spec'] ?? {}) as { ports?: { nodePort?: number }[] };
  return ports?.[0]?.nodePort || undefined;
}

export const dnsEndpoint = (
  cluster: BrokerCluster,
  name: string,
  endpoints: readonly Endpoint[],
): AnyObject =>
  publishedRecords({ ...metadataOf(cluster, name), ownerReferences: ownedByKafka(cluster) }, endpoints);

export const publishedRecords = (metadata: ObjectMeta, endpoints: readonly Endpoint[]): AnyObject => ({
  apiVersion: 'externaldns.k8s.io/v1alpha1',
  kind: 'DNSEndpoint',
  metadata,
  spec: { endpoints },
});
