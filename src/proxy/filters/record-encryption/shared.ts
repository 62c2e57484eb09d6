import type { KeyRing } from '../../../crypto/key-ring.ts';
import type { BoundedMap } from '../../../ops/bounded-map.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Cell, Family, Metrics } from '../../../ops/metrics.ts';
import type { RecordEncryptionConfig } from './config.ts';

/** What the connections of one virtual cluster share. */
export interface Shared {
  config: RecordEncryptionConfig;
  ring: KeyRing;
  counters: { sealed: Family<Cell>; plain: Family<Cell>; unopened: Family<Cell> };
  virtualCluster: string;
  /** Those that have counters of their own. */
  topics: Set<string>;
  /** By alias: the key-encryption key that it was last found to stand for, good for opening also when nobody can be asked. */
  keks: BoundedMap<string, string>;
}

/** Requests may name topics that nobody has: past so many, they are counted as one. */
export const MOST_TOPICS = 1000;
const OTHER_TOPICS = '(others)';

export function labelsFor({ topics, virtualCluster }: Shared, name: string) {
  if (topics.size < MOST_TOPICS) topics.add(name);
  return { virtual_cluster: virtualCluster, topic: topics.has(name) ? name : OTHER_TOPICS };
}

export function createCounters(metrics: Metrics): Shared['counters'] {
  const prefix = 'isthmus_filter_record_encryption_';
  return {
    sealed: metrics.counter(`${prefix}sealed_records_total`, 'Records sealed, by topic'),
    plain: metrics.counter(
      `${prefix}plain_writes_total`,
      'Partitions of produce requests passed in the clear for want of a key, by topic',
    ),
    unopened: metrics.counter(
      `${prefix}unopened_batches_total`,
      'Fetched batches that could not be opened, by topic and by what became of them',
    ),
  };
}

/** What is behind an error, where that is known. */
export function causeOf(error: unknown): string | undefined {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : undefined;
}
