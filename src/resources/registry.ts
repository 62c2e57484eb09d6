/** Every kind that this program serves, writes or reads. */
import { dnsEndpoint } from './external-dns/dns-endpoint.ts';
import { gateway } from './gateway/gateway.ts';
import { referenceGrant } from './gateway/reference-grant.ts';
import { tlsRoute } from './gateway/tls-route.ts';
import { kafkaAnchor } from './isthmus/kafka-anchor.ts';
import { namePolicy } from './isthmus/name-policy.ts';
import { redpandaAnchor } from './isthmus/redpanda-anchor.ts';
import type { ForeignProject, Kind, ResourceOf, Road } from './kind.ts';
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
  redpandaAnchor,
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

/** The kinds whose CRDs an installation needs: ours, and those of other projects that are asked for. */
export function kindsToInstall(
  roads: readonly Road[],
  projects: readonly ForeignProject[] = [],
): readonly Kind[] {
  return KINDS.filter(
    ({ install, roads: used, group }) =>
      used.some((road) => roads.includes(road)) &&
      (install === 'default' ||
        (install === 'choice' && projects.some((project) => isOfProject(group, project)))),
  );
}

/** The domain of each project's groups. */
const PROJECT_DOMAINS: Record<ForeignProject, string> = {
  strimzi: 'strimzi.io',
  redpanda: 'redpanda.vectorized.io',
  'external-dns': 'externaldns.k8s.io',
  mcs: 'multicluster.x-k8s.io',
};

export const FOREIGN_PROJECTS = Object.keys(PROJECT_DOMAINS) as ForeignProject[];

function isOfProject(group: string, project: ForeignProject): boolean {
  const domain = PROJECT_DOMAINS[project];
  return group === domain || group.endsWith(`.${domain}`);
}
