/** Kafka clusters that are run here. */
import { daysLeft, panel, rate } from '../panel.ts';
import type { Dashboard } from '../panel.ts';

const OF_KAFKA = '{namespace=~"$namespace",kafka=~"$kafka"}';
const OF_NODES = '{namespace=~"$namespace",strimzi_io_cluster=~"$kafka"}';

export const BROKERS: Dashboard = {
  title: 'brokers',
  variables: { namespace: 'isthmus_kafka_roll_state', kafka: 'isthmus_kafka_roll_state' },
  panels: [
    panel('Brokers', 'short', [
      `sum by (kafka, state) (isthmus_kafka_brokers${OF_KAFKA})`,
      '{{kafka}} {{state}}',
    ]),
    panel('Partitions in trouble', 'short', [
      `sum by (kafka, state) (isthmus_kafka_partitions${OF_KAFKA})`,
      '{{kafka}} {{state}}',
    ]),
    panel(
      'Controllers',
      'short',
      [`sum by (kafka, state) (isthmus_kafka_quorum_voters${OF_KAFKA})`, '{{kafka}} {{state}}'],
      [`max by (kafka) (isthmus_kafka_quorum_leader${OF_KAFKA})`, '{{kafka}}: the id of the leader'],
    ),
    panel(
      'What the operator is at',
      'short',
      [`max by (kafka, state) (isthmus_kafka_roll_state${OF_KAFKA}) == 1`, '{{kafka}} {{state}}'],
      [`sum by (kafka) (isthmus_kafka_nodes_to_restart${OF_KAFKA})`, '{{kafka}}: nodes to be restarted'],
    ),
    panel('Partitions that move', 'short', [
      `sum by (kafka, state) (isthmus_kafka_partitions_to_move${OF_KAFKA})`,
      '{{kafka}} {{state}}',
    ]),
    panel('Days that certificates have left', 'd', [
      daysLeft('isthmus_kafka_certificate_not_after_seconds', 'kafka, certificate', OF_KAFKA),
      '{{kafka}} {{certificate}}',
    ]),
    panel('Questions of the operator to Kafka', 'reqps', [
      rate('isthmus_operator_kafka_requests_total', 'api'),
      '{{api}}',
    ]),
    panel(
      'Bytes in and out',
      'Bps',
      [
        `sum by (strimzi_io_cluster, listener) (kafka_server_socket_server_metrics_incoming_byte_rate${OF_NODES})`,
        '{{strimzi_io_cluster}} {{listener}} in',
      ],
      [
        `sum by (strimzi_io_cluster, listener) (kafka_server_socket_server_metrics_outgoing_byte_rate${OF_NODES})`,
        '{{strimzi_io_cluster}} {{listener}} out',
      ],
    ),
    panel('Connections', 'short', [
      `sum by (strimzi_io_cluster, listener) (kafka_server_socket_server_metrics_connection_count${OF_NODES})`,
      '{{strimzi_io_cluster}} {{listener}}',
    ]),
    panel('Logins that failed', 'ops', [
      `sum by (strimzi_io_cluster, listener) (kafka_server_socket_server_metrics_failed_authentication_rate${OF_NODES})`,
      '{{strimzi_io_cluster}} {{listener}}',
    ]),
    panel('Partitions that a broker leads', 'short', [
      `kafka_server_replicamanager_leadercount${OF_NODES}`,
      '{{kubernetes_pod_name}}',
    ]),
    panel(
      'Partitions that brokers miss replicas of',
      'short',
      [`kafka_server_replicamanager_underreplicatedpartitions${OF_NODES}`, '{{kubernetes_pod_name}}'],
      [
        `kafka_controller_kafkacontroller_offlinepartitionscount${OF_NODES}`,
        '{{kubernetes_pod_name}} offline',
      ],
    ),
    panel('Memory of Java', 'bytes', [
      `sum by (kubernetes_pod_name) (jvm_memory_used_bytes${OF_NODES})`,
      '{{kubernetes_pod_name}}',
    ]),
  ],
};
