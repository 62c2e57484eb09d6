/** What makes brokers reachable from outside: a Service that keeps a port number, and DNS records. */
import type { AnyObject, ObjectMeta, OwnerReference } from '../../../kube/object.ts';
import { hostPortServiceName } from '../expose/names.ts';
import type { Endpoint } from '../expose/records.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { anchorName } from '../model/names.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

/** On Services that stay when their listener goes: the number that they keep is the cluster's. */
export const KEPT_PORT = { 'isthmus.dev/keeps': 'host-port' };

const withLabel = (metadata: ReturnType<typeof metadataOf>, label: Readonly<Record<string, string>>) => ({
  ...metadata,
  labels: { ...metadata.labels, ...label },
});

/** It goes when all of these have: the number is the cluster's as long as a Kafka uses it, or an anchor says so. */
const keptBy = (cluster: BrokerCluster, anchorUid: string): OwnerReference[] => [
  ...ownedByKafka(cluster),
  {
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    name: anchorName(cluster.name),
    uid: anchorUid,
    controller: false,
    blockOwnerDeletion: false,
  },
];

interface Kept {
  name: string;
  port: number;
  hostPort: number | undefined;
  /** Whether it is without a number for once, so that the API server gives it another. */
  isReturned: boolean;
}

export function hostPortService(
  cluster: BrokerCluster,
  { name, port, hostPort: nodePort, isReturned }: Kept,
  anchorUid: string,
): AnyObject {
  const metadata = withLabel(metadataOf(cluster, hostPortServiceName(cluster.name, name)), KEPT_PORT);
  return portKeeper({ ...metadata, ownerReferences: keptBy(cluster, anchorUid) }, port, nodePort, isReturned);
}

/**
 * Has no selector and sends nobody anywhere: while it is there, no other Service of the cluster is given its port. One that is to
 * give its number back has none for once.
 */
export function portKeeper(
  metadata: ObjectMeta,
  port: number,
  nodePort: number | undefined,
  isReturned = false,
): AnyObject {
  const reserved = { name: 'reserved', port, targetPort: port, protocol: 'TCP' };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: isReturned
      ? { type: 'ClusterIP', ports: [reserved] }
      : {
          type: 'NodePort',
          externalTrafficPolicy: 'Local',
          ports: [{ ...reserved, ...(nodePort && { nodePort }) }],
        },
  };
}

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
