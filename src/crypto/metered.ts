import type { Labels, Metrics } from '../ops/metrics.ts';
import { BoundedMap } from '../ops/bounded-map.ts';
import type { Breaker } from './breaker.ts';
import { BadEnvelope, KmsRefused, KmsThrottled, UnknownKey } from './kms.ts';
import type { Kms } from './kms.ts';

/** Keys with metrics of their own; what is asked of others is counted as one. */
const MOST_KEYS = 100;
const OTHER_KEYS = '(others)';
const PREFIX = 'isthmus_filter_record_encryption_kms_';

/** A key service whose requests are counted by key: each attempt, how it ended, and how long it took. */
export function meteredKms(kms: Kms, metrics: Metrics, labels: Labels): Kms {
  const requests = metrics.counter(
    `${PREFIX}requests_total`,
    'Requests to the key service, by key, operation and outcome',
  );
  const seconds = metrics.histogram(
    `${PREFIX}request_seconds`,
    'Time that the key service took to answer, by key',
  );
  const shown = new Set<string>();
  /** By id: the alias that it was found by, which is what people know it by. */
  const aliases = new BoundedMap<string, string>(1000);

  async function meter<T>(key: string, operation: string, call: () => Promise<T>): Promise<T> {
    const name = aliases.get(key) ?? key;
    if (shown.size < MOST_KEYS) shown.add(name);
    const about = { ...labels, key: shown.has(name) ? name : OTHER_KEYS };
    const since = performance.now();
    const count = (outcome: string) => {
      requests.of({ ...about, operation, outcome }).value += 1;
      seconds.of(about).observe((performance.now() - since) / 1000);
    };
    try {
      const result = await call();
      count('ok');
      return result;
    } catch (error) {
      count(outcomeOf(error));
      throw error;
    }
  }

  return {
    async resolveAlias(alias) {
      const kekId = await meter(alias, 'resolve', () => kms.resolveAlias(alias));
      if (kekId !== undefined) aliases.set(kekId, alias);
      return kekId;
    },
    generateDek: (kekId) => meter(kekId, 'generate', () => kms.generateDek(kekId)),
    kekOf: (edek) => kms.kekOf(edek),
    decryptEdek: async (edek) => meter(kms.kekOf(edek), 'unwrap', () => kms.decryptEdek(edek)),
    close: () => kms.close(),
  };
}

function outcomeOf(error: unknown): string {
  if (error instanceof UnknownKey) return 'unknown_key';
  if (error instanceof BadEnvelope) return 'bad_envelope';
  if (error instanceof KmsRefused) return 'refused';
  return error instanceof KmsThrottled ? 'throttled' : 'failed';
}

/** Reports whether a key service is left alone after many failures. Returns the way to end that. */
export function reportBreaker(breaker: Breaker, metrics: Metrics, labels: Labels): () => void {
  const open = metrics.gauge(
    `${PREFIX}breaker_open`,
    'Workers that leave the key service alone after many failures',
  );
  const stop = metrics.beforeReport(() => {
    open.of(labels).value = Number(breaker.isOpen());
  });
  return () => {
    stop();
    open.drop(labels);
  };
}
