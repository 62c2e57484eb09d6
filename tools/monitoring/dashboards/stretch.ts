/** Joined clusters, and Kafkas over several of them. */
import { daysLeft, panel } from '../panel.ts';
import type { Dashboard } from '../panel.ts';

export const STRETCH: Dashboard = {
  title: 'clusters',
  variables: {},
  panels: [
    panel('Clusters that answer the operator', 'short', [
      'min by (cluster) (isthmus_cluster_reachable)',
      '{{cluster}}',
    ]),
    panel('Clusters that the DNS servers see', 'short', [
      'min by (cluster) (isthmus_dns_cluster_reachable)',
      '{{cluster}}',
    ]),
    panel('Days that credentials have left', 'd', [
      daysLeft('isthmus_cluster_credential_not_after_seconds', 'cluster'),
      '{{cluster}}',
    ]),
    panel('Not as it should be', 'short', ['max by (cluster) (isthmus_cluster_warnings)', '{{cluster}}']),
    panel('Time since the last event of a cluster', 's', [
      'max by (cluster) (isthmus_dns_cluster_age_seconds)',
      '{{cluster}}',
    ]),
    panel(
      'Services exported and imported',
      'short',
      ['max by (cluster) (isthmus_dns_exports)', '{{cluster}} exports'],
      ['max(isthmus_dns_imports)', 'imported here'],
      ['max(isthmus_dns_imports_without_namespace)', 'wait for a namespace'],
    ),
    panel(
      'Controllers',
      'short',
      ['sum by (kafka, state) (isthmus_kafka_quorum_voters)', '{{kafka}} {{state}}'],
      ['max by (kafka) (isthmus_kafka_quorum_leader)', '{{kafka}}: the id of the leader'],
    ),
    panel('Brokers', 'short', ['sum by (kafka, state) (isthmus_kafka_brokers)', '{{kafka}} {{state}}']),
    panel('Partitions in trouble', 'short', [
      'sum by (kafka, state) (isthmus_kafka_partitions)',
      '{{kafka}} {{state}}',
    ]),
    panel('Partitions that move', 'short', [
      'sum by (kafka, state) (isthmus_kafka_partitions_to_move)',
      '{{kafka}} {{state}}',
    ]),
    panel('Round trips between clusters, p99', 's', [
      'max by (kafka, from, to) (isthmus_kafka_cluster_latency_seconds{quantile="0.99"})',
      '{{kafka}} {{from}} to {{to}}',
    ]),
    panel(
      'Nodes of a Kafka by cluster',
      'short',
      ['sum by (kafka, cluster, state) (isthmus_kafka_cluster_nodes)', '{{kafka}} {{cluster}} {{state}}'],
      ['min by (kafka, cluster) (isthmus_kafka_cluster_reachable)', '{{kafka}} {{cluster}} answers'],
    ),
  ],
};
