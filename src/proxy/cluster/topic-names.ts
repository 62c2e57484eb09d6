import type { BoundedMap } from '../../ops/bounded-map.ts';

/** Kafka allows no longer names. */
const LONGEST_NAME = 249;
const NO_TOPIC_ID = 'A'.repeat(22);

/** Topics' names by their ids, as brokers gave them. */
export type TopicNames = BoundedMap<string, string>;

/**
 * Takes in that a topic has this id and this name; false if the id is another topic's. A topic keeps both for life and
 * ids are never used again, so that is a lie: filters go by names, and clients may go by ids.
 */
export function learnTopic(names: TopicNames, id: string, name: string | null): boolean {
  if (name === null || name === '' || name.length > LONGEST_NAME || id === NO_TOPIC_ID) return true;
  const known = names.get(id);
  if (known !== undefined && known !== name) return false;
  names.set(id, name);
  return true;
}
