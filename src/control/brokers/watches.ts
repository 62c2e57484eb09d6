/** The kinds that the road of Kafka clusters reads and makes, one row each, and which clusters to look at again when an object changes. */
import type { Change } from '../../kube/cache/store.ts';
import { isSameJson } from '../../kube/json.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { dnsEndpoint } from '../../resources/external-dns/dns-endpoint.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { serviceExport } from '../../resources/multicluster/service-export.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafkaTopic } from '../../resources/strimzi/kafka-topic.ts';
import { kafkaUser } from '../../resources/strimzi/kafka-user.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { builtIn, core, ownKey } from '../kernel/watches.ts';
import type { View, WatchTable } from '../kernel/watches.ts';
import { PUBLISHED_SELECTOR } from '../shared/published-names.ts';
import { trimPod } from '../shared/trim-pod.ts';
import { isNews, keysOfKafka } from './entities/home.ts';
import { CLUSTER_LABEL, PART_LABEL, USER_PART, kafkaOf } from './model/names.ts';

/** What can be looked up. Strimzi's kinds are there if someone has installed them. */
export interface KafkaViews {
  kafkas?: View;
  nodePools?: View;
  kafkaTopics?: View;
  kafkaUsers?: View;
  anchors?: View;
  podSets?: View;
  secrets: View;
  configMaps: View;
  services: View;
  serviceAccounts: View;
  disruptionBudgets: View;
  networkPolicies: View;
  claims: View;
  pods: View;
  dnsEndpoints?: View;
  namePolicies?: View;
  namespaces: View;
  /** Where cert-manager is installed. */
  issued?: View;
  /** For Kafkas over several clusters. */
  exports?: View;
  nodes?: View;
}

/** By the cluster that an object is labelled with. */
export const OF_KAFKA = {
  labelSelector: CLUSTER_LABEL,
  indexes: { kafka: kafkaOf },
  wakes: { kafka: kafkaOf },
} as const;

/** What also changes what clients outside meet. */
const PROBED = { kafka: kafkaOf, 'kafka-probe': kafkaOf, 'kafka-vantage': kafkaOf } as const;

export const OWNED = { ...OF_KAFKA, owned: true } as const;
/** One of each, for as long as the Kafka is there; disks for good. */
export const KEPT = { ...OWNED, kept: true } as const;

/** Which addresses pods have; nothing else of nodes is of interest. */
function trimNode({ apiVersion, kind, metadata, spec }: AnyObject): AnyObject {
  const { name, uid, resourceVersion } = metadata;
  const { podCIDRs, podCIDR } = (spec ?? {}) as { podCIDRs?: string[]; podCIDR?: string };
  const kept = { name, uid, resourceVersion } as AnyObject['metadata'];
  return { apiVersion, kind, metadata: kept, spec: { podCIDRs: podCIDRs ?? [podCIDR ?? []].flat() } };
}

/** By which nodes in other clusters find those here. */
export const EXPORTS = { kind: serviceExport, optional: true, ...OWNED } as const;

/** Without the right to them nobody is told which addresses pods have. */
export const NODES = {
  kind: { ...core('Node', 'nodes'), scope: 'Cluster' },
  optional: true,
  dispensable: true,
  trim: trimNode,
  when: ({ before, after }: Change<AnyObject>) => !isSameJson(before?.['spec'], after?.['spec']),
} as const;

export const KAFKA_WATCHES: WatchTable<KafkaViews> = {
  // Patched: a finalizer keeps one until all other clusters are clean.
  kafkas: {
    kind: kafka,
    optional: true,
    writesStatus: true,
    verbs: ['patch'],
    wakes: {
      kafka: ownKey,
      'kafka-topic': keysOfKafka('topicOperator'),
      'kafka-user': keysOfKafka('userOperator'),
    },
  },
  nodePools: {
    kind: kafkaNodePool,
    optional: true,
    writesStatus: true,
    indexes: { kafka: kafkaOf },
    wakes: { kafka: kafkaOf },
  },
  // Patched: their finalizers, and what is remembered of them.
  kafkaTopics: {
    kind: kafkaTopic,
    optional: true,
    writesStatus: true,
    indexes: { kafka: kafkaOf },
    wakes: { 'kafka-topic': kafkaOf },
    when: isNews,
    verbs: ['patch'],
  },
  kafkaUsers: {
    kind: kafkaUser,
    optional: true,
    writesStatus: true,
    indexes: { kafka: kafkaOf },
    wakes: { 'kafka-user': kafkaOf },
    when: isNews,
    verbs: ['patch'],
  },
  // Written whole, over just what was seen, and never applied: it is what must not be forgotten.
  anchors: {
    kind: kafkaAnchor,
    optional: true,
    writesStatus: true,
    indexes: { kafka: kafkaOf },
    wakes: PROBED,
    verbs: ['create', 'update'],
  },
  podSets: { kind: strimziPodSet, optional: true, ...OWNED },
  // Authorities that users bring are among them. Of what else has the label only metadata is followed.
  secrets: {
    kind: core('Secret', 'secrets'),
    ...OWNED,
    metadataOnly: true,
    wakes: {
      kafka: (secret) => (isOfUser(secret) ? [] : kafkaOf(secret)),
      'kafka-user': (secret) => (isOfUser(secret) ? kafkaOf(secret) : []),
    },
  },
  configMaps: { kind: core('ConfigMap', 'configmaps'), ...OWNED, metadataOnly: true },
  // Load balancers go with their broker, or their listener.
  services: { kind: core('Service', 'services'), ...OWNED },
  serviceAccounts: { kind: core('ServiceAccount', 'serviceaccounts'), ...KEPT },
  disruptionBudgets: { kind: builtIn('policy', 'PodDisruptionBudget', 'poddisruptionbudgets'), ...KEPT },
  networkPolicies: { kind: builtIn('networking.k8s.io', 'NetworkPolicy', 'networkpolicies'), ...KEPT },
  // Deleted only where somebody asked for it: with the broker that had them, or to be made anew.
  claims: { kind: core('PersistentVolumeClaim', 'persistentvolumeclaims'), ...KEPT, verbs: ['delete'] },
  // CAs that cert-manager is asked for.
  issued: {
    kind: builtIn('cert-manager.io', 'Certificate', 'certificates'),
    optional: true,
    dispensable: true,
    ...OWNED,
  },
  // Emptied rather than deleted where a listener goes: whoever publishes them takes its records away. Those of other roads have names, too.
  dnsEndpoints: {
    kind: dnsEndpoint,
    optional: true,
    ...KEPT,
    labelSelector: PUBLISHED_SELECTOR,
    wakes: PROBED,
  },
  // Who may have which names.
  namePolicies: {
    kind: namePolicy,
    optional: true,
    everywhere: true,
    wakes: { kafka: (_, views) => everyKafka(views) },
  },
  namespaces: {
    kind: { ...core('Namespace', 'namespaces'), scope: 'Cluster' },
    wakes: {
      kafka: ({ metadata }, { kafkas }) =>
        (kafkas?.list(metadata.name) ?? []).map((one) => keyOf(one.metadata)),
    },
  },
  exports: EXPORTS,
  nodes: { ...NODES, wakes: { kafka: (_, views) => everyKafka(views) } },
  // Made by the pod-set controller; here one is tried without being made, deleted to be restarted, or told that it has loaded new certificates.
  pods: {
    kind: core('Pod', 'pods'),
    ...OF_KAFKA,
    wakes: PROBED,
    trim: trimPod,
    verbs: ['create', 'delete', 'patch'],
  },
};

/** Every Kafka there is. */
export const everyKafka = ({ kafkas }: KafkaViews): string[] =>
  (kafkas?.list() ?? []).map(({ metadata }) => keyOf(metadata));

/** All names by which topics, or users, are labelled. */
export const everyLabelled =
  (view: 'kafkaTopics' | 'kafkaUsers') =>
  (views: KafkaViews): Iterable<string> =>
    new Set((views[view]?.list() ?? []).flatMap(kafkaOf));

/** Whether a Secret is that of a user, and of no concern to the cluster. */
export const isOfUser = ({ metadata }: AnyObject): boolean => metadata.labels?.[PART_LABEL] === USER_PART;
