/** The charter that a decision begins with: what was written down, and what has become of its nodes since. Pure. */
import { isBeingDeleted } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { adopt, charterOf } from './anchor.ts';
import type { Adoption } from './anchor.ts';
import type { Charter } from './model/charter.ts';
import { CLUSTER_ID_ANNOTATION, VOLUMES_ANNOTATION, podName } from './model/names.ts';
import type { Observed } from './observe.ts';
import { asksForNewDisks } from './requests.ts';
import { isPodReady } from './status.ts';

export function charterBefore(observed: Observed): Adoption {
  const begun = observed.anchor ? afterRemake(observed, charterOf(observed.anchor)) : adopt(observed);
  if (!begun.charter) return begun;
  return { charter: withoutDrained(withFormatted(begun.charter, observed), observed) };
}

/**
 * A Kafka that was deleted and made again finds its disks. Where they were deleted with it (`deleteClaim`), new ones are empty because
 * their owner wanted that, and may be formatted; those that are still on their way out are waited for.
 */
function afterRemake({ anchor, kafka, claims }: Observed, written: Charter): Adoption {
  const uid = kafka?.metadata.uid;
  if (anchor?.spec.kafka.uid === uid) return { charter: written };
  // Names are whose who claims them, and meanwhile nobody did.
  const charter = { ...written, names: {} };
  const disks = claims.filter(({ metadata }) => metadata.annotations?.[CLUSTER_ID_ANNOTATION] !== undefined);
  const isGoing = (claim: AnyObject) =>
    isBeingDeleted(claim) ||
    (claim.metadata.ownerReferences ?? []).some((owner) => owner.kind === 'Kafka' && owner.uid !== uid);
  const going = disks.filter(isGoing).map(({ metadata }) => metadata.name);
  if (going.length > 0)
    return {
      problem: `PersistentVolumeClaims of a deleted Kafka of this name are still being deleted: ${going.join(', ')}`,
    };
  if (disks.length > 0) return { charter };
  const nodes = charter.nodes.map((node) => ({ ...node, formatted: [] }));
  return { charter: { ...charter, nodes, inFlight: undefined } };
}

/** Names of volumes as `volumeName` makes them. */
const VOLUME = /^data(-\d{1,10})?$/;

/** A node that is ready has formatted the volumes that its pod was made with; unless they are about to be made anew. */
function withFormatted(charter: Charter, { name, pods }: Observed): Charter {
  const volumesOf = new Map(
    pods
      .filter((pod) => isPodReady(pod) && !asksForNewDisks(pod))
      .map(({ metadata }) => [metadata.name, metadata.annotations?.[VOLUMES_ANNOTATION] ?? '']),
  );
  const nodes = charter.nodes.map((node) => {
    const volumes = (volumesOf.get(podName(name, node.pool, node.id)) ?? '').split(',');
    const formatted = new Set([...node.formatted, ...volumes.filter((volume) => VOLUME.test(volume))]);
    return formatted.size === node.formatted.length
      ? node
      : { ...node, formatted: [...formatted].toSorted() };
  });
  return { ...charter, nodes };
}

/** An empty broker may be given partitions again: what was seen longer ago does not count. */
const DRAINED_FOR_MS = 60_000;

/** Nodes that are to go, and are empty, are gone from now on: their pods go, and their ids are free. */
function withoutDrained(charter: Charter, { acted, now }: Observed): Charter {
  const moved = acted?.moved;
  const drained = new Set(moved && now - moved.at < DRAINED_FOR_MS ? moved.drained : []);
  return { ...charter, nodes: charter.nodes.filter(({ id, leaving }) => !leaving || !drained.has(id)) };
}
