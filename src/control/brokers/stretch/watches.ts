/** The kinds that a Kafka over several Kubernetes clusters has to do with in each of them, one row each. */
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import { strimziPodSet } from '../../../resources/strimzi/strimzi-pod-set.ts';
import { builtIn, core } from '../../kernel/watches.ts';
import type { View, WatchTable } from '../../kernel/watches.ts';
import { trimPod } from '../../shared/trim-pod.ts';
import { kafkaOf } from '../model/names.ts';
import { EXPORTS, KEPT, NODES, OF_KAFKA, OWNED } from '../watches.ts';

/** What can be looked up in another cluster. */
export interface TargetViews {
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
  exports?: View;
  nodes?: View;
}

/** In a cluster that was joined. What only wakes here is the Kafka, which is in the central one. */
export const TARGET_WATCHES: WatchTable<TargetViews> = {
  // Written whole, over just what was seen; deleted with the Kafka, and all that hangs off it goes then.
  anchors: {
    kind: kafkaAnchor,
    optional: true,
    indexes: { kafka: kafkaOf },
    wakes: { kafka: kafkaOf },
    verbs: ['get', 'create', 'update', 'delete'],
  },
  podSets: { kind: strimziPodSet, optional: true, ...OWNED },
  secrets: { kind: core('Secret', 'secrets'), ...OWNED, metadataOnly: true },
  configMaps: { kind: core('ConfigMap', 'configmaps'), ...OWNED, metadataOnly: true },
  services: { kind: core('Service', 'services'), ...OWNED },
  serviceAccounts: { kind: core('ServiceAccount', 'serviceaccounts'), ...KEPT },
  disruptionBudgets: { kind: builtIn('policy', 'PodDisruptionBudget', 'poddisruptionbudgets'), ...KEPT },
  networkPolicies: { kind: builtIn('networking.k8s.io', 'NetworkPolicy', 'networkpolicies'), ...KEPT },
  claims: { kind: core('PersistentVolumeClaim', 'persistentvolumeclaims'), ...KEPT, verbs: ['delete'] },
  // Made by the pod-set controller there; tried without being made, deleted to be restarted, told of what they have loaded.
  pods: {
    kind: core('Pod', 'pods'),
    ...OF_KAFKA,
    trim: trimPod,
    verbs: ['create', 'delete', 'patch'],
  },
  exports: EXPORTS,
  nodes: NODES,
};
