/** Which kinds each road needs, which it can use, and of which its resources are looked at. */
import { dnsEndpoint } from '../../resources/external-dns/dns-endpoint.ts';
import { gateway } from '../../resources/gateway/gateway.ts';
import { referenceGrant } from '../../resources/gateway/reference-grant.ts';
import { tlsRoute } from '../../resources/gateway/tls-route.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { redpandaAnchor } from '../../resources/isthmus/redpanda-anchor.ts';
import type { Kind } from '../../resources/kind.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { serviceExport } from '../../resources/multicluster/service-export.ts';
import { serviceImport } from '../../resources/multicluster/service-import.ts';
import { route } from '../../resources/openshift/route.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafkaTopic } from '../../resources/strimzi/kafka-topic.ts';
import { kafkaUser } from '../../resources/strimzi/kafka-user.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import type { CheckedRoad } from './facts.ts';

/** Without one of these a road cannot work. */
export const NEEDED_KINDS: Readonly<Record<CheckedRoad, readonly Kind[]>> = {
  proxy: [
    kafkaProxy,
    kafkaProxyIngress,
    virtualKafkaCluster,
    kafkaClusterRef,
    kafkaProtocolFilter,
    namePolicy,
  ],
  kafka: [kafka, kafkaNodePool, kafkaTopic, kafkaUser, kafkaAnchor, strimziPodSet],
  expose: [kafka, kafkaNodePool, kafkaAnchor, namePolicy],
  redpanda: [redpandaCluster, redpandaAnchor],
  'pod-sets': [strimziPodSet, kafkaAnchor],
  dns: [namePolicy],
};

interface OptionalKind extends Kind {
  /** What cannot be used without it. */
  serves: string;
  road: CheckedRoad;
}

const optional = (kind: Kind, road: CheckedRoad, serves: string): OptionalKind => ({ ...kind, road, serves });

/** What a road can do without. */
export const OPTIONAL_KINDS: readonly OptionalKind[] = [
  optional(gateway, 'proxy', 'ingresses of type gateway'),
  optional(tlsRoute, 'proxy', 'ingresses of type gateway'),
  optional(referenceGrant, 'proxy', 'references into other namespaces'),
  optional(route, 'proxy', 'ingresses of type route (OpenShift)'),
  optional(dnsEndpoint, 'proxy', 'DNS records of virtual clusters'),
  optional(serviceExport, 'dns', 'exported services'),
  optional(serviceImport, 'dns', 'imported services'),
];

/** Of these, resources are read and their conditions looked at. */
export const RESOURCE_ROADS = [
  { kind: kafkaProxy, road: 'proxy' },
  { kind: kafkaProxyIngress, road: 'proxy' },
  { kind: virtualKafkaCluster, road: 'proxy' },
  { kind: kafka, road: 'kafka' },
  { kind: kafkaTopic, road: 'kafka' },
  { kind: kafkaUser, road: 'kafka' },
  { kind: redpandaCluster, road: 'redpanda' },
  { kind: strimziPodSet, road: 'pod-sets' },
  { kind: serviceExport, road: 'dns' },
] as const satisfies readonly { kind: Kind; road: CheckedRoad }[];

/** All that are read: those, and what some checks compare them with. */
export const RESOURCE_KINDS = [
  ...RESOURCE_ROADS.map(({ kind }) => kind),
  namePolicy,
  kafkaAnchor,
  redpandaAnchor,
] as const;

/** A check of any other kind would never say anything. */
export type GatheredKind = (typeof RESOURCE_KINDS)[number]['kind'];
