/** What external-dns says of itself, read now and then where its address is given: its errors are why names do not change. */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { boundedText, httpGet } from '../../shared/http-get.ts';

export interface ExternalDnsOptions {
  /** Of its /metrics, by HTTP. */
  url: string;
  metrics: Metrics;
  log: Log;
  everyMs?: number;
}

/** As much of its metrics as matters here. */
export interface ExternalDnsFacts {
  /** How often it failed, by what failed. */
  errors: ReadonlyMap<string, number>;
  /** In seconds since 1970; undefined if it has never been in step with its provider. */
  lastSync: number | undefined;
}

const EVERY_MS = 30_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4_000_000;
const ERRORS =
  /^external_dns_(registry|source|webhook_provider_[a-z]+)_(?:[a-z]+_)?errors_total(?:\{[^}]*\})? (\S+)$/gm;
const LAST_SYNC = /^external_dns_controller_last_sync_timestamp_seconds(?:\{[^}]*\})? (\S+)$/m;

/** Pure. Undefined for what is not the metrics of an external-dns. */
export function externalDnsFacts(text: string): ExternalDnsFacts | undefined {
  if (!/^external_dns_/m.test(text)) return undefined;
  const errors = new Map<string, number>();
  for (const [, part = '', value] of text.matchAll(ERRORS)) {
    const count = Number(value);
    if (Number.isFinite(count)) errors.set(part, (errors.get(part) ?? 0) + count);
  }
  const lastSync = Number(LAST_SYNC.exec(text)?.[1] ?? 0);
  return { errors, lastSync: lastSync > 0 ? lastSync : undefined };
}

/** Returns what reports facts, or that there are none. */
export function externalDnsReporter(metrics: Metrics): (facts: ExternalDnsFacts | undefined) => void {
  const up = metrics.gauge('isthmus_external_dns_up', '1 if external-dns answers with its metrics.');
  const errors = metrics.counter(
    'isthmus_external_dns_errors_total',
    'Errors that external-dns counts, by where: its registry (the DNS provider), or its sources.',
  );
  const synced = metrics.gauge(
    'isthmus_external_dns_last_sync_timestamp_seconds',
    'When external-dns was last in step with its DNS provider.',
  );
  return (facts) => {
    up.of().value = facts ? 1 : 0;
    for (const [part, count] of facts?.errors ?? []) errors.of({ part }).value = count;
    if (facts?.lastSync !== undefined) synced.of().value = facts.lastSync;
  };
}

/** Works until it is told to end. */
export function followExternalDns(options: ExternalDnsOptions): (signal: AbortSignal) => Promise<void> {
  const { url, metrics, log, everyMs = EVERY_MS } = options;
  const report = externalDnsReporter(metrics);
  return async (signal) => {
    let before: string | undefined;
    while (!signal.aborted) {
      const { facts, problem } = await look(url, signal);
      if (problem !== before && problem !== undefined)
        log.warn({ url, problem }, 'metrics of external-dns cannot be read');
      before = problem;
      report(facts);
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
}

async function look(
  url: string,
  signal: AbortSignal,
): Promise<{ facts?: ExternalDnsFacts | undefined; problem?: string }> {
  try {
    const { hostname, port, pathname, search } = new URL(url);
    const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await httpGet({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 80 : Number(port),
      path: `${pathname}${search}`,
      signal: within,
    });
    const text = await boundedText(answer, MAX_BYTES);
    const facts = answer.statusCode === 200 && text !== undefined ? externalDnsFacts(text) : undefined;
    return facts ? { facts } : { problem: `no metrics of external-dns (status ${answer.statusCode})` };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
