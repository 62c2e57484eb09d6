/** What makes brokers reachable from outside: a Service that keeps a port number, and DNS records. */
import type { AnyObject } from '../../../kube/object.ts';
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

/** Has no selector and sends nobody anywhere: while it is there, no other Service of the cluster is given its port. */
export function hostPortService(
  cluster: BrokerCluster,
  { name, port }: { name: string; port: number },
  nodePort: number | undefined,
): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...withLabel(metadataOf(cluster, hostPortServiceName(cluster.name, name)), KEPT_PORT),
      ownerReferences: ownedByKafka(cluster),
    },
    spec: {
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'reserved', port, targetPort: port, protocol: 'TCP', ...(nodePort && { nodePort }) }],
    },
  };
}

export function dnsEndpoint(cluster: BrokerCluster, name: string, endpoints: readonly Endpoint[]): AnyObject {
  return {
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    kind: 'DNSEndpoint',
    metadata: {
      ...metadataOf(cluster, name),
      ownerReferences: ownedByKafka(cluster),
    },
    spec: { endpoints },
  };
}
