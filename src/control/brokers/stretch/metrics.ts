/** The Kubernetes clusters of stretched Kafkas, for whoever is to be told when one is away. */
import { nameOfKey } from '../../../kube/object.ts';
import type { Labels, Metrics } from '../../../ops/metrics.ts';
import type { TargetStatus } from './target-status.ts';

/** Returns what reports the clusters of the Kafka of a key; one that it has left is no longer reported. */
export function targetReporter(metrics: Metrics): (key: string, targets: readonly TargetStatus[]) => void {
  const reachable = metrics.gauge(
    'isthmus_kafka_cluster_reachable',
    'Whether a Kubernetes cluster that a Kafka has nodes in answers the operator.',
  );
  const nodes = metrics.gauge(
    'isthmus_kafka_cluster_nodes',
    'Nodes that a Kafka has in a Kubernetes cluster, and those of them that are ready.',
  );
  const latency = metrics.gauge(
    'isthmus_kafka_cluster_latency_seconds',
    'Round trips between two Kubernetes clusters of a Kafka, as the one they are from measures them.',
  );
  const reported = new Map<string, readonly Labels[]>();
  const measured = new Map<string, readonly Labels[]>();
  const reportLatencies = (
    key: string,
    namespace: string,
    kafka: string,
    targets: readonly TargetStatus[],
  ) => {
    const all = targets.flatMap(({ name: from, latencies = [] }) =>
      latencies.flatMap(({ name: to, p50Ms, p99Ms }) =>
        Object.entries({ 0.5: p50Ms, 0.99: p99Ms }).map(([quantile, ms]) => ({
          labels: { namespace, kafka, from, to, quantile },
          value: ms / 1000,
        })),
      ),
    );
    for (const { labels, value } of all) latency.of(labels).value = value;
    const isStill = (old: Labels) =>
      all.some(({ labels }) => labels.from === old['from'] && labels.to === old['to']);
    for (const old of measured.get(key) ?? []) if (!isStill(old)) latency.drop(old);
    if (all.length > 0)
      measured.set(
        key,
        all.map(({ labels }) => labels),
      );
    else measured.delete(key);
  };
  return (key, targets) => {
    const { namespace = '', name: kafka } = nameOfKey(key);
    const now = targets.map(({ name: cluster }) => ({ namespace, kafka, cluster }));
    for (const old of reported.get(key) ?? []) {
      if (now.some(({ cluster }) => cluster === old['cluster'])) continue;
      reachable.drop(old);
      for (const state of ['all', 'ready']) nodes.drop({ ...old, state });
    }
    targets.forEach(({ reachable: isReachable, pools }, n) => {
      const labels = now[n]!;
      reachable.of(labels).value = isReachable ? 1 : 0;
      const count = (of: 'nodes' | 'ready') => pools.reduce((sum, pool) => sum + pool[of].length, 0);
      nodes.of({ ...labels, state: 'all' }).value = count('nodes');
      nodes.of({ ...labels, state: 'ready' }).value = count('ready');
    });
    reportLatencies(key, namespace, kafka, targets);
    if (now.length > 0) reported.set(key, now);
    else reported.delete(key);
  };
}
