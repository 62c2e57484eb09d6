import { BOUNDS_MS, totalOf, zoneTotals } from './counters.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Store } from '../zone/store.ts';
import type { Counters } from './counters.ts';
import type { Resolver } from '../resolver/resolver.ts';
import type { Secondaries } from '../secondary/secondaries.ts';
import type { TcpListener } from './tcp.ts';

export interface MetricSources {
  /** The counters of all threads. */
  counters: () => readonly Counters[];
  store: Pick<Store, 'ready' | 'counts'>;
  tcp: readonly Pick<TcpListener, 'connections'>[];
  /** The names of the zones, by id. */
  zones: readonly string[];
  /** Whether the records are those of a snapshot. */
  isStale: () => boolean;
  /** Undefined where there is no resolver. */
  resolver: Pick<Resolver, 'counts'> | undefined;
  secondaries: Pick<Secondaries, 'counts'>;
}

/** Reports the DNS server in the process's metrics. */
export function reportMetrics(metrics: Metrics, sources: MetricSources): void {
  reportResponses(metrics, sources.counters);
  reportLatency(metrics, sources.counters);
  reportZones(metrics, sources);
  reportState(metrics, sources);
  reportSecondaries(metrics, sources.secondaries);
  if (sources.resolver) reportResolver(metrics, sources.resolver);
}

function reportZones(metrics: Metrics, { counters, zones }: MetricSources): void {
  const queries = metrics.counter('isthmus_dns_zone_queries_total', 'Queries answered, by zone.');
  metrics.beforeReport(() => {
    zoneTotals(counters()).forEach((value, id) => (queries.of({ zone: zones[id] ?? '' }).value = value));
  });
}

function reportSecondaries(metrics: Metrics, { counts }: Pick<Secondaries, 'counts'>): void {
  const notified = metrics.counter(
    'isthmus_dns_notifications_total',
    'Changes of zones that secondaries were notified of, by result.',
  );
  metrics.beforeReport(() => {
    for (const result of ['answered', 'failed'] as const) notified.of({ result }).value = counts[result];
  });
}

function reportResolver(metrics: Metrics, resolver: Pick<Resolver, 'counts'>): void {
  const asked = metrics.counter(
    'isthmus_dns_resolver_questions_total',
    'Questions to the resolver about targets of aliases outside of our zones, by result.',
  );
  const outstanding = metrics.gauge(
    'isthmus_dns_resolver_outstanding',
    'Questions the resolver has not answered yet.',
  );
  metrics.beforeReport(() => {
    const { counts } = resolver;
    for (const result of ['answered', 'failed', 'overload'] as const)
      asked.of({ result }).value = counts[result];
    outstanding.of().value = counts.outstanding;
  });
}

function reportResponses(metrics: Metrics, counters: MetricSources['counters']): void {
  const queries = metrics.counter(
    'isthmus_dns_queries_total',
    'Queries answered, by transport, type and response code.',
  );
  const truncated = metrics.counter(
    'isthmus_dns_truncated_total',
    'Responses too large for UDP, sent with TC.',
  );
  const dropped = metrics.counter('isthmus_dns_dropped_total', 'Packets not answered, by reason.');
  const refused = metrics.counter(
    'isthmus_dns_tcp_refused_total',
    'TCP connections above the limits, of all or of one client.',
  );
  const slipped = metrics.counter(
    'isthmus_dns_rate_slipped_total',
    'Responses above the rate limit, sent with TC.',
  );
  metrics.beforeReport(() => {
    const { responses, single } = totalOf(counters());
    for (const { labels, value } of responses) queries.of(labels).value = value;
    truncated.of().value = single.truncated;
    slipped.of().value = single.rateSlipped;
    dropped.of({ reason: 'malformed' }).value = single.dropped;
    dropped.of({ reason: 'rate' }).value = single.rateDropped;
    dropped.of({ reason: 'send' }).value = single.sendErrors;
    refused.of().value = single.tcpRefused;
  });
}

/** A histogram takes single values: each bucket's new ones are reported as so many times their mean. */
function reportLatency(metrics: Metrics, counters: MetricSources['counters']): void {
  const latency = metrics.histogram(
    'isthmus_dns_latency_seconds',
    'Time from receiving a query to having sent its response, of a sample of queries.',
    BOUNDS_MS.map((ms) => ms / 1000),
  );
  let reported = totalOf([]).latencies;
  metrics.beforeReport(() => {
    const { latencies } = totalOf(counters());
    latencies.forEach(({ count, ms }, bucket) => {
      const before = reported[bucket]!;
      const mean = (ms - before.ms) / (count - before.count) / 1000;
      for (let i = before.count; i < count; i++) latency.of().observe(mean);
    });
    reported = latencies;
  });
}

function reportState(metrics: Metrics, { store, tcp, isStale }: MetricSources): void {
  const records = metrics.gauge(
    'isthmus_dns_records',
    'Records served, by the kind of object they came from.',
  );
  const connections = metrics.gauge('isthmus_dns_tcp_connections', 'Open TCP connections.');
  const ready = metrics.gauge(
    'isthmus_dns_ready',
    '1 when the records are complete, 0 while every query gets SERVFAIL.',
  );
  const stale = metrics.gauge(
    'isthmus_dns_stale',
    '1 while records of the last run are served, because the clusters have not been read yet.',
  );
  metrics.beforeReport(() => {
    for (const [kind, number] of store.counts()) records.of({ kind }).value = number;
    connections.of().value = tcp.reduce((sum, listener) => sum + listener.connections, 0);
    ready.of().value = Number(store.ready);
    stale.of().value = Number(isStale());
  });
}
