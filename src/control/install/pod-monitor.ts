/** Has the Prometheus operator collect what the operator tells, and the nodes of all Kafka clusters that tell anything. */
import { KIND_LABEL, METRICS_PORT_NAME } from '../brokers/model/names.ts';
import { MANAGED_BY } from '../kernel/field-manager.ts';
import { OPERATOR_COMPONENT, OPERATOR_NAME, labelsOf, managementVolume, selectorOf } from './objects.ts';
import type { Manifest } from './objects.ts';

/** Labels of a pod that tell its metrics from those of other nodes. */
const KEPT_LABELS = ['strimzi_io_cluster', 'strimzi_io_pool_name'];

export const podMonitors = (namespace: string, watchNamespaces: readonly string[]): Manifest[] => [
  partMonitor(OPERATOR_COMPONENT, OPERATOR_NAME, namespace),
  kafkaMonitor(namespace, watchNamespaces),
];

/** Of a part of the installation: with the token of its management port, in the Secret that whoever wants its metrics makes. */
export function partMonitor(component: string, name: string, namespace: string): Manifest {
  const { secretName } = managementVolume(name).secret;
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: { name, namespace, labels: labelsOf(component) },
    spec: {
      selector: { matchLabels: selectorOf(component) },
      podMetricsEndpoints: [
        {
          port: 'management',
          path: '/metrics',
          authorization: { type: 'Bearer', credentials: { name: secretName, key: 'metrics-token' } },
        },
      ],
    },
  };
}

function kafkaMonitor(namespace: string, watchNamespaces: readonly string[]): Manifest {
  const keep = (label: string) => ({
    sourceLabels: [`__meta_kubernetes_pod_label_${label}`],
    targetLabel: label,
  });
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: { name: 'isthmus-kafka', namespace, labels: labelsOf(OPERATOR_COMPONENT) },
    spec: {
      selector: { matchLabels: { [KIND_LABEL]: 'Kafka', ...MANAGED_BY } },
      namespaceSelector: watchNamespaces.length > 0 ? { matchNames: [...watchNamespaces] } : { any: true },
      podMetricsEndpoints: [
        {
          port: METRICS_PORT_NAME,
          path: '/metrics',
          relabelings: [
            ...KEPT_LABELS.map(keep),
            { sourceLabels: ['__meta_kubernetes_namespace'], targetLabel: 'namespace' },
            { sourceLabels: ['__meta_kubernetes_pod_name'], targetLabel: 'kubernetes_pod_name' },
          ],
        },
      ],
    },
  };
}
