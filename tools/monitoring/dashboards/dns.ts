/** The DNS server. */
import { panel, rate } from '../panel.ts';
import type { Dashboard } from '../panel.ts';

export const DNS: Dashboard = {
  title: 'DNS',
  variables: {},
  panels: [
    panel('Queries by answer', 'reqps', [rate('isthmus_dns_queries_total', 'rcode'), '{{rcode}}']),
    panel('Queries by type and transport', 'reqps', [
      rate('isthmus_dns_queries_total', 'type, transport'),
      '{{type}} {{transport}}',
    ]),
    panel('Queries by zone', 'reqps', [rate('isthmus_dns_zone_queries_total', 'zone'), '{{zone}}']),
    panel(
      'Time to answer',
      's',
      [
        'histogram_quantile(0.5, sum by (le) (rate(isthmus_dns_latency_seconds_bucket[$__rate_interval])))',
        'p50',
      ],
      [
        'histogram_quantile(0.99, sum by (le) (rate(isthmus_dns_latency_seconds_bucket[$__rate_interval])))',
        'p99',
      ],
    ),
    panel(
      'Not answered',
      'ops',
      [rate('isthmus_dns_dropped_total', 'reason'), '{{reason}}'],
      ['sum(rate(isthmus_dns_rate_slipped_total[$__rate_interval]))', 'above the rate, told to use TCP'],
      ['sum(rate(isthmus_dns_tcp_refused_total[$__rate_interval]))', 'TCP connections above the limit'],
    ),
    panel(
      'Too large for UDP',
      'ops',
      ['sum(rate(isthmus_dns_truncated_total[$__rate_interval]))', 'truncated'],
      ['sum(isthmus_dns_tcp_connections)', 'TCP connections'],
    ),
    panel('Records', 'short', ['max by (kind) (isthmus_dns_records)', '{{kind}}']),
    panel(
      'Ready',
      'short',
      ['sum(isthmus_dns_ready)', 'ready'],
      ['sum(isthmus_dns_stale)', 'with records of their last run'],
      ['sum(isthmus_dns_leader)', 'leads'],
    ),
    panel(
      'Names not served',
      'short',
      ['max(isthmus_dns_objects_refused)', 'objects with a refused name'],
      ['max(isthmus_dns_grants_unwritten)', 'grants to be written'],
    ),
    panel(
      'Aliases to elsewhere',
      'reqps',
      [rate('isthmus_dns_resolver_questions_total', 'result'), '{{result}}'],
      ['sum(isthmus_dns_resolver_outstanding)', 'under way'],
    ),
    panel('Secondaries notified', 'ops', [rate('isthmus_dns_notifications_total', 'result'), '{{result}}']),
    panel('Delegation', 'short', [
      'max by (zone, platform, state) (isthmus_dns_delegation)',
      '{{zone}} {{platform}} {{state}}',
    ]),
  ],
};
