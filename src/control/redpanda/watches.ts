/** The kinds that the road of Redpanda clusters reads and makes, one row each, and which clusters to look at again when an object changes. */
import { keyOf } from '../../kube/object.ts';
import { dnsEndpoint } from '../../resources/external-dns/dns-endpoint.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { redpandaAnchor } from '../../resources/isthmus/redpanda-anchor.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import { builtIn, core, ownKey } from '../kernel/watches.ts';
import type { View, WatchTable } from '../kernel/watches.ts';
import { PUBLISHED_SELECTOR } from '../shared/published-names.ts';
import { trimPod } from '../shared/trim-pod.ts';
import { OBJECT_SELECTOR, clusterOf } from './names.ts';

/** What can be looked up. Redpanda's kind is there if someone has installed it. */
export interface RedpandaViews {
  clusters?: View;
  statefulSets: View;
  configMaps: View;
  services: View;
  serviceAccounts: View;
  disruptionBudgets: View;
  networkPolicies: View;
  pods: View;
  anchors?: View;
  dnsEndpoints?: View;
  namePolicies?: View;
  namespaces: View;
}

/** By the cluster that an object is labelled with. */
const OF_CLUSTER = {
  labelSelector: OBJECT_SELECTOR,
  indexes: { cluster: clusterOf },
  wakes: { redpanda: clusterOf },
} as const;

/** What also changes what clients outside meet. */
const PROBED = { redpanda: clusterOf, 'redpanda-probe': clusterOf } as const;

/** One of each, for as long as the Cluster is there. */
const KEPT = { ...OF_CLUSTER, owned: true, kept: true } as const;

export const REDPANDA_WATCHES: WatchTable<RedpandaViews> = {
  clusters: { kind: redpandaCluster, optional: true, writesStatus: true, wakes: { redpanda: ownKey } },
  statefulSets: { kind: builtIn('apps', 'StatefulSet', 'statefulsets'), ...KEPT },
  configMaps: { kind: core('ConfigMap', 'configmaps'), ...KEPT, metadataOnly: true },
  services: { kind: core('Service', 'services'), ...KEPT },
  serviceAccounts: { kind: core('ServiceAccount', 'serviceaccounts'), ...KEPT },
  networkPolicies: { kind: builtIn('networking.k8s.io', 'NetworkPolicy', 'networkpolicies'), ...KEPT },
  // Its owner may do without.
  disruptionBudgets: {
    kind: builtIn('policy', 'PodDisruptionBudget', 'poddisruptionbudgets'),
    ...OF_CLUSTER,
    owned: true,
  },
  // Emptied rather than deleted where names go: whoever publishes them takes its records away. Those of other roads have names, too.
  dnsEndpoints: {
    kind: dnsEndpoint,
    optional: true,
    ...KEPT,
    labelSelector: PUBLISHED_SELECTOR,
    wakes: PROBED,
  },
  // Written whole, over just what was seen, and never applied: ports stay a cluster's when it is deleted.
  anchors: {
    kind: redpandaAnchor,
    optional: true,
    writesStatus: true,
    indexes: { cluster: clusterOf },
    wakes: PROBED,
    verbs: ['create', 'update'],
  },
  // Who may have which names.
  namePolicies: {
    kind: namePolicy,
    optional: true,
    everywhere: true,
    wakes: { redpanda: (_, views) => everyCluster(views) },
  },
  namespaces: {
    kind: { ...core('Namespace', 'namespaces'), scope: 'Cluster' },
    wakes: {
      redpanda: ({ metadata }, { clusters }) =>
        (clusters?.list(metadata.name) ?? []).map((one) => keyOf(one.metadata)),
    },
  },
  // Made by Kubernetes; here one is tried without being made, or deleted to be restarted.
  pods: {
    kind: core('Pod', 'pods'),
    ...OF_CLUSTER,
    wakes: PROBED,
    trim: trimPod,
    verbs: ['create', 'delete'],
  },
};

/** Every Cluster there is. */
export const everyCluster = ({ clusters }: RedpandaViews): string[] =>
  (clusters?.list() ?? []).map(({ metadata }) => keyOf(metadata));
