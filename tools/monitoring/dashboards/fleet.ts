/** What is wrong anywhere, and how the operator is. */
import { daysLeft, p99, panel, rate } from '../panel.ts';
import type { Dashboard } from '../panel.ts';

export const FLEET: Dashboard = {
  title: 'fleet',
  variables: {},
  panels: [
    panel('Virtual clusters without their Kafka', 'short', [
      'count(max by (namespace, virtual_cluster) (isthmus_proxy_target_reachable) == 0) or vector(0)',
      'not reached',
    ]),
    panel('Partitions in trouble', 'short', [
      'sum by (kafka, state) (isthmus_kafka_partitions)',
      '{{kafka}} {{state}}',
    ]),
    panel('Joined clusters that answer', 'short', [
      'min by (cluster) (isthmus_cluster_reachable)',
      '{{cluster}}',
    ]),
    panel(
      'DNS servers that are ready',
      'short',
      ['sum(isthmus_dns_ready)', 'ready'],
      ['sum(isthmus_dns_stale)', 'with records of their last run'],
    ),
    panel('Requests of clients', 'reqps', [
      rate('isthmus_proxy_requests_total', 'virtual_cluster'),
      '{{virtual_cluster}}',
    ]),
    panel('Bytes carried', 'Bps', [rate('isthmus_proxy_bytes_total', 'direction'), '{{direction}}']),
    panel(
      'Days that certificates have left',
      'd',
      [
        daysLeft('isthmus_proxy_certificate_expiry_timestamp_seconds', 'virtual_cluster, subject'),
        '{{virtual_cluster}} {{subject}}',
      ],
      [
        daysLeft('isthmus_kafka_certificate_not_after_seconds', 'kafka, certificate'),
        '{{kafka}} {{certificate}}',
      ],
    ),
    panel(
      'Who leads',
      'short',
      ['sum(isthmus_operator_leader)', 'operator'],
      ['sum(isthmus_dns_leader)', 'dns'],
    ),
    panel('Reconciles by how they ended', 'ops', [
      rate('isthmus_controller_reconciles_total', 'controller, outcome'),
      '{{controller}} {{outcome}}',
    ]),
    panel('Reconciles, p99', 's', [
      p99('isthmus_controller_reconcile_seconds', 'controller'),
      '{{controller}}',
    ]),
    panel('Oldest change that waits', 's', [
      'max by (controller) (isthmus_controller_queue_age_seconds)',
      '{{controller}}',
    ]),
    panel('Resources that fail', 'short', [
      'sum by (controller) (isthmus_controller_queue_keys{state="failing"})',
      '{{controller}}',
    ]),
    panel('Requests to API servers', 'reqps', [
      rate('isthmus_operator_api_requests_total', 'verb'),
      '{{verb}}',
    ]),
    panel('Objects written', 'ops', [rate('isthmus_road_writes_total', 'road, what'), '{{road}} {{what}}']),
    panel('Objects planned', 'short', ['sum by (road) (isthmus_road_planned_objects)', '{{road}}']),
  ],
};
