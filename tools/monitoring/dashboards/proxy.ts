/** Virtual clusters: traffic, latency, what is cut or refused, encryption. */
import { daysLeft, p99, panel, rate } from '../panel.ts';
import type { Dashboard } from '../panel.ts';

const OF_CLUSTER = '{virtual_cluster=~"$virtual_cluster"}';
const proxied = (name: string, by: string) => rate(`isthmus_proxy_${name}`, by, OF_CLUSTER);
const filtered = (name: string, by: string) => rate(`isthmus_filter_${name}`, by, OF_CLUSTER);

export const PROXY: Dashboard = {
  title: 'proxy',
  variables: { virtual_cluster: 'isthmus_proxy_connections_total' },
  panels: [
    panel('Requests', 'reqps', [proxied('requests_total', 'virtual_cluster'), '{{virtual_cluster}}']),
    panel('Requests by API', 'reqps', [proxied('requests_total', 'api'), '{{api}}']),
    panel('Time to the first byte of a response, p99', 's', [
      p99('isthmus_proxy_request_seconds', 'api', OF_CLUSTER),
      '{{api}}',
    ]),
    panel('Bytes', 'Bps', [
      proxied('bytes_total', 'virtual_cluster, direction'),
      '{{virtual_cluster}} {{direction}}',
    ]),
    panel('Connections of clients', 'short', [
      `sum by (virtual_cluster) (isthmus_proxy_connections_active${OF_CLUSTER})`,
      '{{virtual_cluster}}',
    ]),
    panel(
      'New connections',
      'ops',
      [proxied('connections_total', 'virtual_cluster'), '{{virtual_cluster}}'],
      [proxied('upstream_connects_total', 'virtual_cluster'), '{{virtual_cluster}} to brokers'],
    ),
    panel(
      'Connections cut',
      'ops',
      ['sum by (reason) (rate(isthmus_proxy_connections_cut_total[$__rate_interval]))', '{{reason}}'],
      ['sum by (code) (rate(isthmus_proxy_accept_errors_total[$__rate_interval]))', 'not accepted: {{code}}'],
    ),
    panel(
      'Brokers not reached',
      'ops',
      [proxied('upstream_errors_total', 'virtual_cluster'), '{{virtual_cluster}}'],
      [proxied('unadvertised_brokers_total', 'virtual_cluster'), '{{virtual_cluster}}: without an address'],
    ),
    panel(
      'Target reached, newest configuration loaded',
      'short',
      [
        `min by (virtual_cluster) (isthmus_proxy_target_reachable${OF_CLUSTER})`,
        '{{virtual_cluster}} reached',
      ],
      [
        `min by (virtual_cluster) (isthmus_proxy_virtual_cluster_loaded${OF_CLUSTER})`,
        '{{virtual_cluster}} loaded',
      ],
    ),
    panel(
      'Back pressure',
      'ops',
      [proxied('paused_reads_total', 'virtual_cluster, direction'), '{{virtual_cluster}} {{direction}}'],
      [proxied('buffer_waits_total', 'virtual_cluster'), '{{virtual_cluster}} waits for memory'],
    ),
    panel('Frames held in memory', 'bytes', [
      `sum by (virtual_cluster) (isthmus_proxy_buffered_bytes${OF_CLUSTER})`,
      '{{virtual_cluster}}',
    ]),
    panel(
      'Addresses in responses',
      'ops',
      [proxied('node_endpoints_rewritten_total', 'virtual_cluster'), '{{virtual_cluster}} rewritten'],
      [proxied('node_endpoints_neutralised_total', 'virtual_cluster'), '{{virtual_cluster}} hidden'],
    ),
    panel(
      'Workers',
      'short',
      ['sum by (state) (isthmus_proxy_workers)', '{{state}}'],
      [
        'sum by (reason) (increase(isthmus_proxy_worker_exits_total[1h]))',
        'ended within an hour: {{reason}}',
      ],
    ),
    panel(
      'Configurations',
      'short',
      ['count by (hash) (isthmus_proxy_config_info)', '{{hash}}'],
      ['sum by (outcome) (increase(isthmus_proxy_reloads_total[1h]))', 'reloads within an hour: {{outcome}}'],
    ),
    panel('Days that certificates have left', 'd', [
      daysLeft(
        'isthmus_proxy_certificate_expiry_timestamp_seconds',
        'virtual_cluster, used_by, subject',
        OF_CLUSTER,
      ),
      '{{virtual_cluster}} {{used_by}} {{subject}}',
    ]),
    panel('Records sealed', 'ops', [
      filtered('record_encryption_sealed_records_total', 'topic'),
      '{{topic}}',
    ]),
    panel(
      'In the clear, or not to be opened',
      'ops',
      [filtered('record_encryption_plain_writes_total', 'topic'), '{{topic}} in the clear'],
      [
        filtered('record_encryption_unopened_batches_total', 'topic, outcome'),
        '{{topic}} not opened: {{outcome}}',
      ],
    ),
    panel('Requests to key services', 'reqps', [
      filtered('record_encryption_kms_requests_total', 'key, operation, outcome'),
      '{{key}} {{operation}} {{outcome}}',
    ]),
    panel(
      'Key services, p99',
      's',
      [p99('isthmus_filter_record_encryption_kms_request_seconds', 'key', OF_CLUSTER), '{{key}}'],
      [
        `sum by (filter) (isthmus_filter_record_encryption_kms_breaker_open${OF_CLUSTER})`,
        '{{filter}}: left alone after failures',
      ],
    ),
    panel(
      'Refused by filters',
      'ops',
      [
        filtered('authorization_denied_total', 'virtual_cluster, api, dry_run'),
        '{{virtual_cluster}} {{api}} denied, dry run {{dry_run}}',
      ],
      [filtered('record_validation_refused_total', 'virtual_cluster'), '{{virtual_cluster}} not valid'],
      [filtered('audit_entries_total', 'virtual_cluster, api'), '{{virtual_cluster}} {{api}} audited'],
    ),
    panel(
      'Clients slowed down by quotas',
      'ops',
      [filtered('quota_throttles_total', 'virtual_cluster, per'), '{{virtual_cluster}} by {{per}}'],
      [
        filtered('quota_throttle_milliseconds_total', 'virtual_cluster, per'),
        '{{virtual_cluster}} by {{per}}, milliseconds a second',
      ],
    ),
    panel(
      'Logins at the proxy, and what could not be masked',
      'ops',
      [
        filtered('sasl_termination_logins_total', 'virtual_cluster, mechanism, outcome'),
        '{{virtual_cluster}} {{mechanism}} {{outcome}}',
      ],
      [filtered('masking_refused_total', 'virtual_cluster'), '{{virtual_cluster}} not shown'],
      [
        filtered('oauth_bearer_validation_tokens_total', 'virtual_cluster, outcome'),
        '{{virtual_cluster}} tokens {{outcome}}',
      ],
    ),
  ],
};
