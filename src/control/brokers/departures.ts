/**
 * When a node that is to go is none of the cluster any more: only then do its pod and, where its owner wants that, its disks go. And when one
 * that is to be no broker any more is none: only then is it restarted as what it is to be. Pure.
 */
import { rolesOfPod, tracesOfSet } from './anchor.ts';
import { dynamicQuorumOf, mayBeBroker } from './model/charter.ts';
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

export const namesOfReady = (pods: Observed['pods']): ReadonlySet<string> =>
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

/**
 * Brokers that are to be none any more, and are empty, are none from now on: one, and the next when that one was restarted, because until then
 * it runs as a broker. One that was given something until then is one that has to be emptied, as before.
 */
export function withoutRetired(charter: Charter, observed: Observed): Charter {
  const { name, acted, pods } = observed;
  const running = new Set(
    pods.flatMap((pod) => (rolesOfPod(pod).includes('broker') ? [pod.metadata.name] : [])),
  );
  const runsAsOne = ({ pool, id, roles }: CharterNode) =>
    roles.length > 0 && !roles.includes('broker') && running.has(podName(name, pool, id));
  const given = acted?.facts?.partitions?.byNode;
  const nodes = charter.nodes.map((node) =>
    runsAsOne(node) && given?.has(node.id) ? { ...node, roles: [...node.roles, 'broker' as const] } : node,
  );
  if (nodes.some(runsAsOne)) return { ...charter, nodes };
  const isEmpty = emptyBy(observed);
  const next = nodes.find((node) => node.retiring && isEmpty(node) && !given?.has(node.id));
  const without = ({ roles, retiring: _, ...node }: CharterNode) => ({
    ...node,
    roles: roles.filter((role) => role !== 'broker'),
  });
  return { ...charter, nodes: nodes.map((node) => (node === next ? without(node) : node)) };
}

const recent = <T extends { at: number }>(seen: T | undefined, { now }: Observed): T | undefined =>
  seen && now - seen.at < DRAINED_FOR_MS ? seen : undefined;

/** What Kafka has said a moment ago of brokers that are to be none any more. */
function seenBy(observed: Observed) {
  const { name, pods, acted } = observed;
  const { drained = [], down = [], ready: readyThen } = recent(acted?.moved, observed) ?? {};
  const ready = namesOfReady(pods);
  const podOf = ({ id, pool }: CharterNode) => podName(name, pool, id);
  return {
    isDrained: ({ id }: CharterNode) => drained.includes(id),
    /** One that did not run then, and does now, may have been given partitions since. */
    hasComeUp: (node: CharterNode) => down.includes(node.id) && ready.has(podOf(node)),
    wasReady: (node: CharterNode) => readyThen?.has(podOf(node)) ?? false,
  };
}

/** Whether a broker has no partitions. */
function emptyBy(observed: Observed): (node: CharterNode) => boolean {
  const { isDrained, hasComeUp } = seenBy(observed);
  return (node) => isDrained(node) && !hasComeUp(node);
}

/** Whether a node holds nothing that the cluster needs. */
function freeBy(charter: Charter, observed: Observed): (node: CharterNode) => boolean {
  const { isDrained, hasComeUp, wasReady } = seenBy(observed);
  const nonVoters = recent(observed.acted?.voters, observed)?.outside ?? [];
  const isDynamic = dynamicQuorumOf(charter) !== undefined;
  return (node) => {
    const { id, roles, leaving } = node;
    if (!leaving) return false;
    if (!isDynamic || !roles.includes('controller')) return isDrained(node) && !hasComeUp(node);
    // One that has voted may have lost its way to the others with its vote: then it is down for good, though its pod is ready as it was.
    const isEmpty = isDrained(node) && (!hasComeUp(node) || wasReady(node));
    return nonVoters.includes(id) && (!roles.includes('broker') || isEmpty);
  };
}

/** Whether anything is left of brokers that are gone: Kafka still knows them, or their disks are about to go. */
export function hasRemains(observed: Observed, charter: Charter): boolean {
  const known = new Set(charter.nodes.filter(mayBeBroker).map(({ id }) => id));
  const registered = observed.acted?.facts?.brokers?.registered.keys() ?? [];
  return [...registered].some((id) => !known.has(id)) || abandonedClaims(observed, charter).length > 0;
}
