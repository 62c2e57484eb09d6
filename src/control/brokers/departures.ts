/** When a node that is to go is none of the cluster any more: only then do its pod and, where its owner wants that, its disks go. Pure. */
import { tracesOfSet } from './anchor.ts';
import { dynamicQuorumOf } from './model/charter.ts';
import type { Charter, CharterNode } from './model/charter.ts';
import { podName } from './model/names.ts';
import type { Observed } from './observe.ts';
import { abandonedClaims } from './requests.ts';
import { isPodReady } from './status.ts';
import { placeOf } from './stretch/sight.ts';

/** An empty broker may be given partitions again: what was seen longer ago does not count. */
const DRAINED_FOR_MS = 60_000;

/**
 * An operator that ended after it had written down that a broker is gone, and before it took it off its set, has left one behind that runs:
 * it may have been given partitions since. For the next operator it is a node that is to go, so it is looked at once more.
 */
export function withListed(charter: Charter, { name, acted, podSets, pods, targets }: Observed): Charter {
  if (acted !== undefined) return charter;
  const known = new Set(charter.nodes.map(({ id }) => id));
  const ready = namesOfReady(pods);
  const left = podSets.flatMap((set) =>
    tracesOfSet(set).flatMap(({ clusterId, id, pool, roles }): CharterNode[] => {
      const isLeft = clusterId === charter.clusterId && !known.has(id) && ready.has(podName(name, pool, id));
      return isLeft ? [{ id, pool, target: placeOf(targets, set), roles, leaving: true, formatted: [] }] : [];
    }),
  );
  if (left.length === 0) return charter;
  return { ...charter, nodes: [...charter.nodes, ...left].toSorted((a, b) => a.id - b.id) };
}

const namesOfReady = (pods: Observed['pods']): ReadonlySet<string> =>
  new Set(pods.filter(isPodReady).map(({ metadata }) => metadata.name));

/**
 * Nodes that are to go, are empty and do not vote, are gone from now on: their pods go, and their ids are free. Those whose pools were
 * deleted go at once, because their pods do: one that went before the others would run on with nobody in charge of it.
 */
export function withoutDrained(charter: Charter, observed: Observed): Charter {
  const isFree = freeBy(charter, observed);
  const hasPool = ({ pool }: CharterNode) => observed.pools.some(({ metadata }) => metadata.name === pool);
  const waiting = charter.nodes.filter((node) => !hasPool(node) && !isFree(node));
  const waits = (node: CharterNode) => !hasPool(node) && waiting.some(({ target }) => target === node.target);
  return { ...charter, nodes: charter.nodes.filter((node) => !isFree(node) || waits(node)) };
}

/** Whether a node holds nothing that the cluster needs, as Kafka has said a moment ago. */
function freeBy(charter: Charter, { name, acted, pods, now }: Observed): (node: CharterNode) => boolean {
  const isRecent = <T extends { at: number }>(seen: T | undefined) =>
    seen && now - seen.at < DRAINED_FOR_MS ? seen : undefined;
  const { drained = [], down = [] } = isRecent(acted?.moved) ?? {};
  const nonVoters = isRecent(acted?.voters)?.outside ?? [];
  const ready = namesOfReady(pods);
  // One that did not run then, and does now, may have been given partitions since.
  const hasComeUp = ({ id, pool }: CharterNode) => down.includes(id) && ready.has(podName(name, pool, id));
  const isDynamic = dynamicQuorumOf(charter) !== undefined;
  return (node) => {
    const { id, roles, leaving } = node;
    if (!leaving) return false;
    if (!isDynamic || !roles.includes('controller')) return drained.includes(id) && !hasComeUp(node);
    // It was empty before it ceased to vote, and may have lost its way to the others with that: then it is down for good, ready or not.
    return nonVoters.includes(id) && (!roles.includes('broker') || drained.includes(id));
  };
}

/** Whether anything is left of nodes that are gone: Kafka still knows them, or their disks are about to go. */
export function hasRemains(observed: Observed, charter: Charter): boolean {
  const known = new Set(charter.nodes.map(({ id }) => id));
  const registered = observed.acted?.facts?.brokers?.registered.keys() ?? [];
  return [...registered].some((id) => !known.has(id)) || abandonedClaims(observed, charter).length > 0;
}
