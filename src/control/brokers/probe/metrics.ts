/** What probes see, as clients would: how long each step takes, who is reached, and how long names take to change. */
import { nameOfKey } from '../../../kube/object.ts';
import type { Labels, Metrics } from '../../../ops/metrics.ts';
import { wayMs } from '../../../probe/probed.ts';
import type { ProbedEndpoint } from '../../../probe/probed.ts';
import type { Verdict } from './verdict.ts';

/** What was probed, and how it was found. */
export interface Reported {
  /** Whether it is a name that somebody has to publish. */
  isNamed: boolean;
  verdict: Verdict;
  probed: ProbedEndpoint;
}

/** What clients are told, what it should lead to, and since when. */
interface Record {
  isNamed: boolean;
  host: string;
  expected: string;
  since: number;
  isVisible: boolean;
}

/** Up to what a resolver that keeps records for too long takes. */
const VISIBLE_BUCKETS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400];

/** Reports a probe of the cluster of a key; endpoints that it no longer has are no longer reported. */
export type ProbeReporter = (key: string, reported: readonly Reported[], now: number) => void;

/** `kind`: what the clusters are, of which two may have the same name. */
export function probeReporter(metrics: Metrics, kind: 'Kafka' | 'Redpanda'): ProbeReporter {
  const seconds = metrics.histogram(
    'isthmus_kafka_probe_seconds',
    'How long each step of a client from outside takes, as the operator probes it.',
  );
  const reached = metrics.gauge(
    'isthmus_kafka_probe_reached',
    '1 if a client from outside gets through to this endpoint; a condition says why not.',
  );
  const whole = metrics.gauge(
    'isthmus_kafka_probe_endpoint_seconds',
    'How long the whole way of a client from outside to this endpoint took last; none while it does not get through.',
  );
  const changes = metrics.counter(
    'isthmus_kafka_dns_changes_total',
    'Names of exposed brokers that came, went, or were given other addresses.',
  );
  const visible = metrics.histogram(
    'isthmus_kafka_dns_visible_seconds',
    'From the change of a name of an exposed broker until the operator resolves it so.',
    VISIBLE_BUCKETS,
  );
  const known = new Map<string, Map<string, Record>>();

  /** `isFirst`: no name of its cluster was seen before, which says nothing about when they came to be. */
  function follow(
    records: Map<string, Record>,
    isFirst: boolean,
    labels: Labels,
    { isNamed, verdict, probed: { host } }: Reported,
    now: number,
  ): void {
    const expected = verdict.expected.join();
    const before = records.get(verdict.name);
    const isSame = before?.host === host && before.expected === expected;
    const record = isSame ? before : { isNamed, host, expected, since: now, isVisible: false };
    const isNews = !isFirst && !record.isVisible;
    if (!isFirst && !isSame && (isNamed || before?.isNamed)) changes.of(labels).value += 1;
    if (isNews && isNamed && verdict.isPropagated) visible.of(labels).observe((now - record.since) / 1000);
    records.set(verdict.name, { ...record, isVisible: record.isVisible || verdict.isPropagated });
  }

  return (key, reported, now) => {
    const { namespace = '', name: kafka } = nameOfKey(key);
    const labels = { namespace, kafka, kind };
    const isFirst = !known.has(key);
    const records = known.get(key) ?? new Map<string, Record>();
    const names = new Set(reported.map(({ verdict }) => verdict.name));
    for (const [name, { isNamed }] of Array.from(records))
      if (!names.has(name)) {
        for (const family of [reached, whole]) family.drop({ ...labels, endpoint: name });
        records.delete(name);
        if (isNamed) changes.of(labels).value += 1;
      }
    for (const one of reported) {
      const { verdict, probed } = one;
      const endpoint = { ...labels, endpoint: verdict.name };
      reached.of(endpoint).value = verdict.isReached ? 1 : 0;
      if (verdict.isReached) whole.of(endpoint).value = wayMs(probed) / 1000;
      else whole.drop(endpoint);
      if (probed.unresolved === undefined)
        seconds.of({ ...labels, step: 'resolve' }).observe(probed.resolveMs / 1000);
      for (const { step, ms } of probed.addresses.flatMap(({ passed }) => passed))
        seconds.of({ ...labels, step }).observe(ms / 1000);
      follow(records, isFirst, labels, one, now);
    }
    if (records.size > 0) known.set(key, records);
    else known.delete(key);
  };
}
