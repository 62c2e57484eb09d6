/** Every kind that this program serves, writes or reads. */
import { dnsEndpoint } from './external-dns/dns-endpoint.ts';
import { gateway } from './gateway/gateway.ts';
import { referenceGrant } from './gateway/reference-grant.ts';
import { tlsRoute } from './gateway/tls-route.ts';
import { kafkaAnchor } from './isthmus/kafka-anchor.ts';
import { namePolicy } from './isthmus/name-policy.ts';
import type { Kind, ResourceOf, Road } from './kind.ts';
import { kafkaClusterRef } from './kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from './kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from './kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from './kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from './kroxylicious/virtual-kafka-cluster.ts';
import { serviceExport } from './multicluster/service-export.ts';
import { serviceImport } from './multicluster/service-import.ts';
import { ingressController } from './openshift/ingress-controller.ts';
import { route } from './openshift/route.ts';
import { redpandaCluster } from './redpanda/cluster.ts';
import { kafkaNodePool } from './strimzi/kafka-node-pool.ts';
import { kafkaTopic } from './strimzi/kafka-topic.ts';
import { kafkaUser } from './strimzi/kafka-user.ts';
import { kafka } from './strimzi/kafka.ts';
import { strimziPodSet } from './strimzi/strimzi-pod-set.ts';

const ALL = [
  kafkaProxy,
  kafkaProxyIngress,
  virtualKafkaCluster,
  kafkaClusterRef,
  kafkaProtocolFilter,
  namePolicy,
  kafkaAnchor,
  kafka,
  kafkaNodePool,
  strimziPodSet,
  kafkaTopic,
  kafkaUser,
  redpandaCluster,
  dnsEndpoint,
  serviceExport,
  serviceImport,
  gateway,
  tlsRoute,
  referenceGrant,
  route,
  ingressController,
] as const;

export const KINDS: readonly Kind[] = ALL;

/** A resource of any kind in the registry; `kind` tells which. */
export type KnownResource = ResourceOf<(typeof ALL)[number]>;

const byName = new Map(
  KINDS.flatMap((kind) =>
    kind.versions.map((version) => [nameOf(`${kind.group}/${version}`, kind.kind), kind]),
  ),
);

function nameOf(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}

/** The kind of a document, if it is one of ours. */
export function findKind(apiVersion: string, kind: string): Kind | undefined {
  return byName.get(nameOf(apiVersion, kind));
}

/** The kinds whose CRDs an installation needs: ours, and on request those that other projects define as well. */
export function kindsToInstall(roads: readonly Road[], { foreign = false } = {}): readonly Kind[] {
  return KINDS.filter(
    ({ install, roads: used }) =>
      used.some((road) => roads.includes(road)) &&
      (install === 'default' || (foreign && install === 'choice')),
  );
}
