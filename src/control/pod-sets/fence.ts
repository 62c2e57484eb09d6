/** Whether a set may still be obeyed: whoever has lost its Kafka to somebody else may not know it yet. Pure. */
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { Fault } from './faults.ts';
import { EPOCH_ANNOTATION } from './names.ts';

/** The anchors of a set's Kafka in its namespace, or why nobody can say which there are. */
export type Anchors = { found: readonly KafkaAnchor[]; problem?: never } | { problem: string };

/** Why a set is not to be obeyed. Without an anchor there is nobody to lose it to. */
export function fenceOf(annotations: Readonly<Record<string, string>>, anchors: Anchors): Fault | undefined {
  if (anchors.problem !== undefined) return { reason: 'AnchorUnknown', path: [], message: anchors.problem };
  const written = annotations[EPOCH_ANNOTATION];
  const path = ['metadata', 'annotations', EPOCH_ANNOTATION];
  if (written !== undefined && !/^[0-9]{1,15}$/.test(written))
    return { reason: 'Invalid', path, message: `annotation ${EPOCH_ANNOTATION}: write a whole number` };
  const [newest] = anchors.found.toSorted((a, b) => b.spec.epoch - a.spec.epoch);
  if (!newest || Number(written ?? 0) >= newest.spec.epoch) return undefined;
  const { epoch, holder } = newest.spec;
  const message =
    `the set is of epoch ${written ?? 'none'}, and "${holder}" has had the Kafka since epoch ${epoch} ` +
    `(KafkaAnchor "${newest.metadata.name}"): nothing is done until the holder writes the set anew`;
  return { reason: 'Fenced', path, message };
}
