/** The charter that a decision begins with: what was written down, and what has become of its nodes since. Pure. */
import { isBeingDeleted } from '../../kube/object.ts';
import type { AnyObject, OwnerReference } from '../../kube/object.ts';
import { adopt, charterOf } from './anchor.ts';
import type { Adoption } from './anchor.ts';
import { LOCAL } from '../kernel/plan.ts';
import { withListed, withoutDrained, withoutRetired } from './departures.ts';
import { withUsed } from './model/charter.ts';
import type { Charter } from './model/charter.ts';
import { CLUSTER_ID_ANNOTATION, VOLUMES_ANNOTATION, podName } from './model/names.ts';
import type { Observed } from './observe.ts';
import { listed } from './refusals.ts';
import { asksForNewDisks } from './requests.ts';
import { isPodReady } from './status.ts';
import { adoptedCharter } from './stretch/adoption.ts';
import { isClean, unseenAmong } from './stretch/sight.ts';

export function charterBefore(observed: Observed, centralId?: string): Adoption {
  const isWritten = observed.kafka && observed.anchor?.spec.kafka.uid === observed.kafka.metadata.uid;
  const going = isWritten ? [] : leftByFormer(observed);
  if (going.length > 0)
    return { problem: `what a deleted Kafka of this name has left is still being deleted: ${listed(going)}` };
  const begun = observed.anchor
    ? afterRemake(observed, charterOf(observed.anchor))
    : firstCharter(observed, centralId);
  if (!begun.charter) return begun;
  const seen = withFormatted(withListed(begun.charter, observed), observed);
  const drained = withoutDrained(withoutRetired(seen, observed), observed);
  return { charter: withUsedDisks(withoutLeft(drained, observed)) };
}

/** Nothing is written down here: a former central may have left it, or else disks. */
function firstCharter(observed: Observed, centralId: string | undefined): Adoption {
  const charter = adoptedCharter(observed, centralId);
  return charter ? { charter } : adopt(observed);
}

/**
 * What Kubernetes is about to delete, as its owner is gone. Nothing begins with a half of it: nodes would be made with certificates of an
 * authority that is gone a moment later, and could not be restarted by the next one, which they do not trust.
 */
function leftByFormer({ kafka, claims, podSets, pods, services, secrets }: Observed): string[] {
  const sets = new Set(podSets.map(({ metadata }) => metadata.uid));
  const isGone = ({ kind, uid }: OwnerReference) =>
    kind === 'Kafka' ? uid !== kafka?.metadata.uid : kind === 'StrimziPodSet' && !sets.has(uid);
  const isLeft = ({ metadata: { ownerReferences: owners = [] } }: AnyObject) =>
    owners.length > 0 && owners.every(isGone);
  const going = [...podSets, ...pods, ...services, ...secrets.values()].filter(isLeft);
  const disks = claims.filter((claim) => isDisk(claim) && (isBeingDeleted(claim) || isLeft(claim)));
  return [...disks, ...going].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

const isDisk = ({ metadata }: AnyObject) => metadata.annotations?.[CLUSTER_ID_ANNOTATION] !== undefined;

/**
 * A Kafka that was deleted and made again finds its disks. Where they were deleted with it (`deleteClaim`), new ones are empty because
 * their owner wanted that, and may be formatted.
 */
function afterRemake({ anchor, kafka, claims, targets }: Observed, written: Charter): Adoption {
  const uid = kafka?.metadata.uid;
  if (anchor?.spec.kafka.uid === uid) return { charter: written };
  const unseen = unseenAmong(targets, Object.keys(written.targets));
  if (unseen.length > 0)
    return { problem: `clusters of a deleted Kafka of this name cannot be seen: ${unseen.join(', ')}` };
  // What the former one has left in other clusters is its own until somebody takes it over.
  const isElsewhere = [...(targets?.values() ?? [])].some((seen) => seen.anchor !== undefined);
  // Names are whose who claims them, and meanwhile nobody did.
  const charter = { ...written, names: {}, epoch: written.epoch + (isElsewhere ? 1 : 0) };
  if (claims.some(isDisk)) return { charter };
  const nodes = charter.nodes.map((node) => ({ ...node, formatted: [] }));
  return { charter: { ...charter, nodes, inFlight: undefined, quorum: undefined } };
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

/** First voters whose disks were in use, or whose nodes are gone: another node of that id is another voter. */
function withUsedDisks(charter: Charter): Charter {
  const isUsed = (id: number) => charter.nodes.every((node) => node.id !== id || node.formatted.length > 0);
  return { ...charter, quorum: withUsed(charter.quorum, isUsed) };
}

/** Clusters that have nodes no more, and are seen to have nothing else either, are none of the Kafka's any more. */
function withoutLeft(charter: Charter, { targets, isLeaving }: Observed): Charter {
  if (isLeaving) return charter;
  const stays = (name: string) =>
    name === LOCAL || charter.nodes.some(({ target }) => target === name) || !isClean(targets?.get(name));
  const left = Object.entries(charter.targets).filter(([name]) => stays(name));
  return left.length === Object.keys(charter.targets).length
    ? charter
    : { ...charter, targets: Object.fromEntries(left) };
}
