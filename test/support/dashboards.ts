/** Dashboards of deploy/dashboards, and the metrics that they are made of. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Dashboard {
  templating: { list: { query: string | { query: string } }[] };
  panels: { title: string; targets: { expr: string }[] }[];
}

export const dashboard = (name: string): Dashboard =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../deploy/dashboards', `${name}.json`), 'utf8'),
  ) as Dashboard;

/** Names of metrics that stand in expressions; those of a histogram's buckets are the histogram's. */
export function metricsIn({ templating, panels }: Dashboard): string[] {
  const queries = templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
  const texts = [...queries, ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];
  const names = texts.flatMap(
    (text) => text.match(/\b(?:isthmus|kafka|vectorized|node|jvm|external|container)_\w+/g) ?? [],
  );
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, (end) => (name.endsWith(`connection${end}`) ? end : ''))))].toSorted(); // prettier-ignore
}

/** What brokers tell themselves, by the metrics reporter. */
export const KAFKA_METRICS: readonly string[] = [
  'kafka_server_socket_server_metrics_connection_close_rate',
  'kafka_server_socket_server_metrics_connection_count',
  'kafka_server_socket_server_metrics_failed_authentication_rate',
  'kafka_server_socket_server_metrics_incoming_byte_rate',
  'kafka_server_socket_server_metrics_outgoing_byte_rate',
];

/** What Redpanda's brokers tell themselves, of all their Kafka listeners together. */
export const REDPANDA_METRICS: readonly string[] = [
  'vectorized_kafka_rpc_active_connections',
  'vectorized_kafka_rpc_received_bytes',
  'vectorized_kafka_rpc_sent_bytes',
];

/** What nodes tell by the same reporter, once each. */
export const BROKER_METRICS: readonly string[] = [
  'jvm_memory_used_bytes',
  'kafka_controller_kafkacontroller_offlinepartitionscount',
  'kafka_server_replicamanager_leadercount',
  'kafka_server_replicamanager_underreplicatedpartitions',
];

/** What kubelets tell of the network of pods, as the kernel counts there. */
export const POD_METRICS: readonly string[] = [
  'container_network_receive_bytes_total',
  'container_network_receive_packets_dropped_total',
  'container_network_transmit_bytes_total',
  'container_network_transmit_packets_dropped_total',
];

/** What Prometheus' node exporter tells of nodes. */
export const NODE_METRICS: readonly string[] = [
  'node_netstat_TcpExt_ListenDrops',
  'node_nf_conntrack_entries',
  'node_nf_conntrack_entries_limit',
  'node_nf_conntrack_stat_drop',
];
