/** What is worth waking somebody for, or looking at in the morning; with series that show when each fires and when not. */

export interface Alert {
  name: string;
  expr: string;
  /** How long it has to last, in minutes. */
  minutes: number;
  severity: 'critical' | 'warning';
  /** One sentence; `{{ $labels.x }}` is filled in by Prometheus. */
  summary: string;
  /** What to do. */
  cure: string;
  /** A series, its value where all is well, and one that fires; `+n` is a counter that grows by n a minute. */
  example: { series: string; well: string; wrong: string };
}

const DAY = 86_400;
const alert = (
  name: string,
  [severity, minutes]: [Alert['severity'], number],
  expr: string,
  text: Pick<Alert, 'summary' | 'cure'>,
  [series, well, wrong]: [string, string, string],
): Alert => ({ name, severity, minutes, expr, ...text, example: { series, well, wrong } });

const OPERATOR: Alert[] = [
  alert(
    'IsthmusOperatorWithoutLeader',
    ['critical', 5],
    'sum(isthmus_operator_leader) == 0',
    {
      summary: 'No operator leads, so no change takes effect; what runs goes on.',
      cure: 'Look at the logs of the operator’s pods and at the Lease isthmus-operator: they cannot write it.',
    },
    ['isthmus_operator_leader{pod="a"}', '1', '0'],
  ),
  alert(
    'IsthmusReconcilesFail',
    ['warning', 30],
    'sum by (controller) (isthmus_controller_queue_keys{state="failing"}) > 0',
    {
      summary: 'The controller {{ $labels.controller }} has failed for half an hour with the same resources.',
      cure: '`isthmus status` says which; the operator’s log has the error.',
    },
    ['isthmus_controller_queue_keys{controller="kafka",state="failing"}', '0', '2'],
  ),
  alert(
    'IsthmusOperatorBehind',
    ['warning', 10],
    'max by (controller) (isthmus_controller_queue_age_seconds) > 300',
    {
      summary: 'Changes wait for more than five minutes for the controller {{ $labels.controller }}.',
      cure: 'Look at the CPU limit of the operator and at how fast its API server answers.',
    },
    ['isthmus_controller_queue_age_seconds{controller="kafka"}', '1', '900'],
  ),
  alert(
    'IsthmusClusterUnreachable',
    ['critical', 5],
    'min by (cluster) (isthmus_cluster_reachable) == 0',
    {
      summary: 'The joined cluster {{ $labels.cluster }} does not answer the operator.',
      cure: '`isthmus clusters` says why. Brokers there go on; nothing there is changed until it answers.',
    },
    ['isthmus_cluster_reachable{cluster="b"}', '1', '0'],
  ),
  alert(
    'IsthmusClusterCredentialEnds',
    ['critical', 15],
    'min by (cluster) (isthmus_cluster_credential_not_after_seconds) - time() < 21600',
    {
      summary:
        'The token for the joined cluster {{ $labels.cluster }} was not renewed and ends within six hours.',
      cure: 'Run `isthmus join` for it again; the operator’s log says why the renewal failed.',
    },
    ['isthmus_cluster_credential_not_after_seconds{cluster="b"}', '99999999', '0'],
  ),
];

const PROXY: Alert[] = [
  alert(
    'IsthmusTargetUnreachable',
    ['critical', 5],
    'max by (namespace, virtual_cluster) (isthmus_proxy_target_reachable) == 0',
    {
      summary: 'No proxy reaches the Kafka cluster behind {{ $labels.virtual_cluster }}.',
      cure: '`isthmus describe virtualkafkacluster` shows the target; look at its brokers, and at network policies between.',
    },
    ['isthmus_proxy_target_reachable{namespace="n",virtual_cluster="v"}', '1', '0'],
  ),
  alert(
    'IsthmusConfigurationNotLoaded',
    ['warning', 10],
    'min by (namespace, virtual_cluster) (isthmus_proxy_virtual_cluster_loaded) == 0',
    {
      summary:
        'A proxy serves {{ $labels.virtual_cluster }} with a former configuration or not at all: the newest cannot be loaded, or a filter of it has stopped the proxy.',
      cure: 'Its condition and the log of the proxy say what is wrong with it.',
    },
    ['isthmus_proxy_virtual_cluster_loaded{namespace="n",virtual_cluster="v"}', '1', '0'],
  ),
  alert(
    'IsthmusProxyWorkersLost',
    ['warning', 5],
    'sum by (namespace, pod) (isthmus_proxy_workers{state="not_serving"}) > 0',
    {
      summary: 'Workers of the proxy pod {{ $labels.pod }} carry no connections.',
      cure: 'Its log says why they ended or stand still; too little memory is the usual reason.',
    },
    ['isthmus_proxy_workers{namespace="n",pod="p",state="not_serving"}', '0', '1'],
  ),
  alert(
    'IsthmusBrokerConnectionsFail',
    ['warning', 15],
    'sum by (namespace, virtual_cluster) (rate(isthmus_proxy_upstream_errors_total[5m])) > 0.1',
    {
      summary: 'Connections from {{ $labels.virtual_cluster }} to its brokers fail again and again.',
      cure: '`isthmus tap` shows which brokers; look at their certificates and at network policies.',
    },
    ['isthmus_proxy_upstream_errors_total{namespace="n",virtual_cluster="v"}', '+0', '+60'],
  ),
  alert(
    'IsthmusKeyServiceDown',
    ['critical', 2],
    'sum by (namespace, virtual_cluster, filter) (isthmus_filter_record_encryption_kms_breaker_open) > 0',
    {
      summary:
        'The key service of {{ $labels.virtual_cluster }} fails: encrypted topics cannot be written, nor read where a key is not in memory.',
      cure: 'Look at the key service and at the credentials for it; the log of the proxy has its answers.',
    },
    [
      'isthmus_filter_record_encryption_kms_breaker_open{namespace="n",virtual_cluster="v",filter="f"}',
      '0',
      '1',
    ],
  ),
  alert(
    'IsthmusWritesInTheClear',
    ['warning', 0],
    'sum by (namespace, virtual_cluster, topic) (increase(isthmus_filter_record_encryption_plain_writes_total[15m])) > 0',
    {
      summary:
        'Records of {{ $labels.topic }} pass {{ $labels.virtual_cluster }} unencrypted, for want of a key.',
      cure: 'Make the key, or say in the rules of the filter that the topic is to be refused or plain.',
    },
    [
      'isthmus_filter_record_encryption_plain_writes_total{namespace="n",virtual_cluster="v",topic="t"}',
      '+0',
      '+5',
    ],
  ),
  alert(
    'IsthmusBatchesUnopened',
    ['warning', 0],
    'sum by (namespace, virtual_cluster, topic) (increase(isthmus_filter_record_encryption_unopened_batches_total[15m])) > 0',
    {
      summary:
        'Batches of {{ $labels.topic }} cannot be opened for consumers of {{ $labels.virtual_cluster }}.',
      cure: 'A key is gone or may not be used, or somebody wrote to the topic past the proxy.',
    },
    [
      'isthmus_filter_record_encryption_unopened_batches_total{namespace="n",virtual_cluster="v",topic="t",outcome="refused"}',
      '+0',
      '+5',
    ],
  ),
  alert(
    'IsthmusProxyCertificateEnds',
    ['critical', 0],
    `min by (namespace, virtual_cluster, used_by, subject) (isthmus_proxy_certificate_expiry_timestamp_seconds) - time() < ${7 * DAY}`,
    {
      summary: 'The certificate {{ $labels.subject }} of {{ $labels.virtual_cluster }} ends within a week.',
      cure: 'Whoever makes the Secret has to renew it (cert-manager: `kubectl get certificates`); the proxy takes the new one without a restart.',
    },
    [
      'isthmus_proxy_certificate_expiry_timestamp_seconds{namespace="n",virtual_cluster="v",used_by="gateway",subject="s"}',
      '99999999',
      '1000',
    ],
  ),
];

const KAFKA: Alert[] = [
  alert(
    'IsthmusPartitionsOffline',
    ['critical', 2],
    'isthmus_kafka_partitions{state="offline"} > 0',
    {
      summary: 'Partitions of {{ $labels.kafka }} are offline: nobody can write or read them.',
      cure: '`isthmus describe kafka` says which brokers are missing; bring one back that was in sync.',
    },
    ['isthmus_kafka_partitions{namespace="n",kafka="k",state="offline"}', '0', '3'],
  ),
  alert(
    'IsthmusPartitionsUnderReplicated',
    ['warning', 30],
    'isthmus_kafka_partitions{state="under_replicated"} > 0',
    {
      summary: 'Partitions of {{ $labels.kafka }} have lacked replicas for half an hour.',
      cure: 'Look for a broker that is down, or a disk or network that is too slow for it to catch up.',
    },
    ['isthmus_kafka_partitions{namespace="n",kafka="k",state="under_replicated"}', '0', '3'],
  ),
  alert(
    'IsthmusQuorumWithoutLeader',
    ['critical', 2],
    'isthmus_kafka_quorum_leader == -1',
    {
      summary: 'The controllers of {{ $labels.kafka }} have no leader: no leader of a partition can change.',
      cure: 'A majority of controllers must run and reach each other; `isthmus tree kafka/NAME` shows them.',
    },
    ['isthmus_kafka_quorum_leader{namespace="n",kafka="k"}', '2', '-1'],
  ),
  alert(
    'IsthmusQuorumBehind',
    ['warning', 15],
    'isthmus_kafka_quorum_voters{state="behind"} > 0',
    {
      summary: 'Controllers of {{ $labels.kafka }} do not keep up: the loss of another may cost the quorum.',
      cure: 'Look at their pods, their disks, and at the network between their clusters.',
    },
    ['isthmus_kafka_quorum_voters{namespace="n",kafka="k",state="behind"}', '0', '1'],
  ),
  alert(
    'IsthmusBrokersFenced',
    ['warning', 15],
    'isthmus_kafka_brokers{state="fenced"} > 0',
    {
      summary: 'Brokers of {{ $labels.kafka }} are down or not let in.',
      cure: '`isthmus tree kafka/NAME` shows which pods are not ready.',
    },
    ['isthmus_kafka_brokers{namespace="n",kafka="k",state="fenced"}', '0', '1'],
  ),
  alert(
    'IsthmusRollBlocked',
    ['warning', 30],
    'isthmus_kafka_roll_state{state="blocked"} == 1',
    {
      summary: 'Restarts of {{ $labels.kafka }} wait: taking a node away would cost availability or data.',
      cure: 'The condition RollBlocked says what stands against it.',
    },
    ['isthmus_kafka_roll_state{namespace="n",kafka="k",state="blocked"}', '0', '1'],
  ),
  alert(
    'IsthmusKafkaCertificateEnds',
    ['critical', 60],
    `min by (namespace, kafka, certificate) (isthmus_kafka_certificate_not_after_seconds) - time() < ${3 * DAY}`,
    {
      summary:
        'The certificate {{ $labels.certificate }} of {{ $labels.kafka }} ends within three days; it should have been renewed.',
      cure: 'Conditions of the Kafka say what keeps it: a restart that is blocked, a CA of your own, a maintenance window.',
    },
    [
      'isthmus_kafka_certificate_not_after_seconds{namespace="n",kafka="k",certificate="c"}',
      '99999999',
      '1000',
    ],
  ),
  alert(
    'IsthmusBrokerNotReached',
    ['critical', 10],
    'isthmus_kafka_probe_reached == 0',
    {
      summary: 'A client from outside does not get through to {{ $labels.endpoint }} of {{ $labels.kafka }}.',
      cure: 'The conditions DNSPropagated and Reachable say at which step; `isthmus probe` takes the same way from where you are.',
    },
    ['isthmus_kafka_probe_reached{namespace="n",kafka="k",kind="Kafka",endpoint="e"}', '1', '0'],
  ),
  alert(
    'IsthmusExternalDnsFails',
    ['warning', 15],
    'increase(isthmus_external_dns_errors_total[15m]) > 0',
    {
      summary: 'external-dns reports errors of its {{ $labels.part }}: names of brokers may be out of date.',
      cure: 'Its log says what the DNS provider refuses; `isthmus check expose` looks at its flags.',
    },
    ['isthmus_external_dns_errors_total{part="registry"}', '+0', '+5'],
  ),
];

const DNS: Alert[] = [
  alert(
    'IsthmusDnsNotReady',
    ['critical', 2],
    'isthmus_dns_ready == 0',
    {
      summary: 'A DNS server has no records yet and answers every query with SERVFAIL.',
      cure: 'Its log says which cluster or file it waits for.',
    },
    ['isthmus_dns_ready{pod="p"}', '1', '0'],
  ),
  alert(
    'IsthmusDnsStale',
    ['warning', 15],
    'isthmus_dns_stale == 1',
    {
      summary: 'A DNS server still answers with the records of its last run: a cluster has not been read.',
      cure: 'isthmus_dns_cluster_reachable says which cluster; its log says why.',
    },
    ['isthmus_dns_stale{pod="p"}', '0', '1'],
  ),
  alert(
    'IsthmusDnsClusterUnreachable',
    ['warning', 10],
    'min by (cluster) (isthmus_dns_cluster_reachable) == 0',
    {
      summary:
        'The DNS server does not see changes of the cluster {{ $labels.cluster }}; names there stay as they were.',
      cure: '`isthmus clusters` says how it is reached.',
    },
    ['isthmus_dns_cluster_reachable{cluster="b"}', '1', '0'],
  ),
  alert(
    'IsthmusDnsNamesRefused',
    ['warning', 30],
    'max(isthmus_dns_objects_refused) > 0',
    {
      summary: 'Objects ask for names that are not served: somebody else has them, or a policy forbids them.',
      cure: 'Events of these objects say why.',
    },
    ['isthmus_dns_objects_refused{pod="p"}', '0', '1'],
  ),
];

/** By the part of the system that they are about. */
export const ALERTS: Readonly<Record<string, readonly Alert[]>> = {
  operator: OPERATOR,
  proxy: PROXY,
  kafka: KAFKA,
  dns: DNS,
};
