/** What is seen of exposed brokers from other clusters. */
import { nameOfKey } from '../../../kube/object.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import type { Outcome } from './outcome.ts';

export interface VantageReporter {
  saw(key: string, outcome: Outcome): void;
  /** Nobody looks from there any more. */
  forgot(key: string, from: string): void;
}

export function vantageReporter(metrics: Metrics, kind: 'Kafka' | 'Redpanda'): VantageReporter {
  const up = metrics.gauge(
    'isthmus_kafka_vantage_up',
    '1 if a pod in this joined cluster could look at exposed brokers; a status says why not.',
  );
  const endpoints = metrics.gauge(
    'isthmus_kafka_vantage_endpoints',
    'Names and addresses of exposed brokers, by whether a client gets through from this joined cluster.',
  );
  const seconds = metrics.histogram(
    'isthmus_kafka_vantage_seconds',
    'How long the whole way of a client from this joined cluster to an exposed broker takes.',
  );
  const labelsOf = (key: string, cluster: string) => {
    const { namespace = '', name: kafka } = nameOfKey(key);
    return { namespace, kafka, kind, cluster };
  };
  return {
    saw(key, { seen, reachedMs }) {
      const labels = labelsOf(key, seen.name);
      up.of(labels).value = seen.problem === undefined ? 1 : 0;
      endpoints.of({ ...labels, state: 'reached' }).value = seen.reached;
      endpoints.of({ ...labels, state: 'unreached' }).value = seen.unreached;
      for (const ms of reachedMs) if (ms > 0) seconds.of(labels).observe(ms / 1000);
    },
    forgot(key, from) {
      const labels = labelsOf(key, from);
      up.drop(labels);
      for (const state of ['reached', 'unreached']) endpoints.drop({ ...labels, state });
    },
  };
}
