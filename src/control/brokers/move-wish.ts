/** Where partitions are to be, by what is written down of nodes and what the Kafka's owner says. Pure. */
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import type { MoveWish } from './look/move.ts';
import { isEmptied, mayBeBroker } from './model/charter.ts';
import type { Charter } from './model/charter.ts';
import { cordons } from './roll/versions.ts';

const REBALANCE_ANNOTATION = 'isthmus.dev/rebalance';
const THROTTLE_ANNOTATION = 'isthmus.dev/move-bytes-per-second';
/** A tenth of what a small machine's network has. */
const MOVE_BYTES_PER_SECOND = 50_000_000;
const MOVES_AT_ONCE = 20;

export function moveWishOf(
  { metadata: { annotations } }: Kafka,
  { nodes }: Charter,
  metadataVersion: string,
): MoveWish {
  const brokers = nodes.filter(mayBeBroker);
  const staying = brokers.flatMap((node) => (isEmptied(node) ? [] : [node.id]));
  const leaving = brokers.flatMap((node) => (isEmptied(node) ? [node.id] : []));
  const rebalance = annotations[REBALANCE_ANNOTATION] === 'on-scale';
  const rate = Number(annotations[THROTTLE_ANNOTATION] ?? MOVE_BYTES_PER_SECOND);
  return {
    leaving,
    staying,
    cordons: cordons(metadataVersion),
    rebalance,
    bytesPerSecond: Number.isFinite(rate) && rate > 0 ? rate : undefined,
    maxInFlight: MOVES_AT_ONCE,
  };
}
