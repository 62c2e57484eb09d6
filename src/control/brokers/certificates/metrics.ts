/** When certificates end, for whoever is to be told in time. */
import { nameOfKey } from '../../../kube/object.ts';
import type { Metrics } from '../../../ops/metrics.ts';

/** By name of a CA, a node or the operator: when the certificate ends. */
export type CertificateEnds = ReadonlyMap<string, Date>;

/** Returns what reports the ends of a Kafka's certificates, by its key; those that it no longer has are forgotten. */
export function certificateEndReporter(metrics: Metrics): (key: string, ends: CertificateEnds) => void {
  const gauge = metrics.gauge(
    'isthmus_kafka_certificate_not_after_seconds',
    'When a certificate of a Kafka cluster ends (Unix time): of a CA, or the first to end of those that a node uses.',
  );
  const known = new Map<string, readonly string[]>();
  return (key, ends) => {
    const { namespace = '', name: kafka } = nameOfKey(key);
    for (const certificate of known.get(key) ?? [])
      if (!ends.has(certificate)) gauge.drop({ namespace, kafka, certificate });
    for (const [certificate, end] of ends)
      gauge.of({ namespace, kafka, certificate }).value = Math.floor(end.getTime() / 1000);
    if (ends.size === 0) known.delete(key);
    else known.set(key, [...ends.keys()]);
  };
}
