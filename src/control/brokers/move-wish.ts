/** Where partitions are to be, by what is written down of nodes and what the Kafka's owner says. Pure. */
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import type { Fault } from './faults.ts';
import type { MoveWish } from './look/move.ts';
import { isEmptied, mayBeBroker } from './model/charter.ts';
import type { Charter } from './model/charter.ts';
import { cordons } from './roll/versions.ts';

const REBALANCE_ANNOTATION = 'isthmus.dev/rebalance';
const ON_SCALE = 'on-scale';
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
  const rebalance = annotations[REBALANCE_ANNOTATION] === ON_SCALE;
  const rate = rateIn(annotations[THROTTLE_ANNOTATION]) ?? MOVE_BYTES_PER_SECOND;
  return {
    leaving,
    staying,
    cordons: cordons(metadataVersion),
    rebalance,
    bytesPerSecond: rate > 0 ? rate : undefined,
    maxInFlight: MOVES_AT_ONCE,
  };
}

/** 0 is all of the network; undefined is nothing that says how much. */
const rateIn = (text = ''): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** Annotations that are written, and say nothing that is understood. */
export function moveWishFaults({ metadata: { annotations } }: Kafka): Fault[] {
  const fault = (annotation: string, advice: string): Fault => ({
    reason: 'ConfigIgnored',
    path: ['metadata', 'annotations', annotation],
    message: `the annotation ${annotation} is "${(annotations[annotation] ?? '').slice(0, 100)}", which is not used: ${advice}`,
  });
  const rebalance = annotations[REBALANCE_ANNOTATION] ?? ON_SCALE;
  const rate = annotations[THROTTLE_ANNOTATION];
  return [
    ...(rebalance === ON_SCALE ? [] : [fault(REBALANCE_ANNOTATION, `write ${ON_SCALE}, or remove it`)]),
    ...(rate === undefined || rateIn(rate) !== undefined ? [] : [fault(THROTTLE_ANNOTATION, `write a number of bytes, or 0 for no limit; until then it is ${MOVE_BYTES_PER_SECOND}`)]), // prettier-ignore
  ];
}
