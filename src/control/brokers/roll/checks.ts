/** What a restart of one node would do to the others, by what Kafka and the pods say now. */
import type { QuorumFacts, RollInput, RollNode } from './facts.ts';
import { NO_PARTITIONS, namesOf } from './partitions.ts';
import type { NodePartitions } from './partitions.ts';

const isController = ({ roles }: RollNode) => roles.includes('controller');
const isBroker = ({ roles }: RollNode) => roles.includes('broker');

/** Compared by the leader's clock alone, so clocks of other machines do not matter. */
function isCaughtUp({ leader, voters }: QuorumFacts, id: number, withinMs: number): boolean {
  const head = voters.find((voter) => voter.id === leader)?.lastCaughtUpMs;
  const own = voters.find((voter) => voter.id === id)?.lastCaughtUpMs;
  return head !== undefined && own !== undefined && own >= 0 && head - own <= withinMs;
}

function partitionsOf({ id }: RollNode, { partitions }: RollInput): NodePartitions | undefined {
  return partitions && (partitions.byNode.get(id) ?? NO_PARTITIONS);
}

/** Kafka needs seconds to see that a node died; its pod may say so before. */
function isUnready(id: number, { nodes, unreachable }: RollInput): boolean {
  return nodes.some((node) => node.id === id && !unreachable.has(node.target) && !node.pod?.ready);
}

/** After the restart of one voter the others must still be a majority, without it and without those that lag. */
function quorumObstacle(node: RollNode, input: RollInput): string | undefined {
  const { quorum } = input;
  if (quorum === undefined) return 'the state of the KRaft quorum is unknown';
  if (quorum.leader < 0) return 'the KRaft quorum has no leader';
  const { voters } = quorum;
  if (!isController(node) || !voters.some(({ id }) => id === node.id)) return undefined;
  const others = voters.filter(({ id }) => id !== node.id);
  const caughtUp = others.filter(
    ({ id }) => isCaughtUp(quorum, id, input.caughtUpWithinMs) && !isUnready(id, input),
  );
  // Of one or two voters no majority can be left; the second must at least be able to take over afterwards.
  const needed = voters.length <= 2 ? others.length : Math.floor(voters.length / 2) + 1;
  if (caughtUp.length >= needed) return undefined;
  const lagging = others.filter((voter) => !caughtUp.includes(voter)).map(({ id }) => id);
  return `without it ${caughtUp.length} of ${voters.length} controllers are caught up, ${needed} are needed (behind: ${lagging.join(', ')})`;
}

function partitionObstacle(node: RollNode, input: RollInput): string | undefined {
  if (!isBroker(node)) return undefined;
  const its = partitionsOf(node, input);
  if (its === undefined) return 'which partitions are in sync is unknown';
  if (its.needed.count === 0) return undefined;
  return `partitions would be below min.insync.replicas: ${namesOf(its.needed)}`;
}

/** Why a broker cannot be none after its restart; undefined: it has no partitions, or nobody knows. */
export function obstacleToRetiring(node: RollNode, input: RollInput): string | undefined {
  const its = node.retires ? input.partitions?.byNode.get(node.id) : undefined;
  if (its === undefined) return undefined;
  const some = its.inSync.count > 0 ? its.inSync : its.outOfSync;
  return `it is to be no broker any more, and was given partitions: ${namesOf(some)}`;
}

/** Why this node must not be taken away now; undefined: it may. What is not known forbids it. */
export function obstacleToRestart(node: RollNode, input: RollInput): string | undefined {
  // Flavours without KRaft have no controllers, and nobody to ask about them.
  const quorum = input.nodes.some(isController) ? quorumObstacle(node, input) : undefined;
  return quorum ?? partitionObstacle(node, input);
}

/**
 * Why the data of a node must not be thrown away; undefined: others have all of it. A voter that has forgotten its vote, and what it had
 * acknowledged, is harmless only while another one leads and all others have caught up with that one.
 */
export function obstacleToLoss(node: RollNode, input: RollInput): string | undefined {
  if (input.neverReady) return undefined;
  const voters = isController(node) ? lossToVoters(node, input) : undefined;
  if (voters !== undefined || !isBroker(node)) return voters;
  const its = partitionsOf(node, input);
  if (its === undefined) return 'which partitions are in sync is unknown';
  if (its.only.count === 0) return undefined;
  return `no other broker has all the data of ${namesOf(its.only)}; move these partitions, or delete their topics`;
}

function lossToVoters(node: RollNode, input: RollInput): string | undefined {
  const { quorum } = input;
  if (quorum === undefined || quorum.leader < 0) return 'the KRaft quorum is unknown, or has no leader';
  const others = quorum.voters.filter(({ id }) => id !== node.id);
  if (node.votesWithDisk)
    return others.length === quorum.voters.length
      ? undefined
      : 'it votes with the disk that it has, until the other controllers can do without it';
  if (others.length === 0) return 'it is the only controller, so all that the cluster knows would be lost';
  if (quorum.leader === node.id)
    return 'it is the active controller; delete its pod, so that another takes over';
  const behind = others.filter(
    ({ id }) => !isCaughtUp(quorum, id, input.caughtUpWithinMs) || isUnready(id, input),
  );
  return behind.length === 0 ? undefined : `controllers are behind: ${behind.map(({ id }) => id).join(', ')}`;
}

/** What a restart costs although it is allowed. */
export function costsOfRestart(node: RollNode, input: RollInput): string[] {
  const voters = input.quorum?.voters ?? [];
  const costs: string[] = [];
  if (isController(node) && voters.length <= 2 && voters.some(({ id }) => id === node.id))
    costs.push(
      `with ${voters.length === 1 ? 'one controller' : 'two controllers'} there is no quorum while it restarts`,
    );
  const unkept = partitionsOf(node, input)?.unkept;
  if (isBroker(node) && unkept !== undefined && unkept.count > 0)
    costs.push(
      `partitions with no more replicas than min.insync.replicas cannot be kept: ${namesOf(unkept)}`,
    );
  return costs;
}

function isSilentInQuorum(node: RollNode, { quorum, caughtUpWithinMs }: RollInput): boolean {
  if (!isController(node)) return true;
  if (quorum === undefined || quorum.leader < 0 || quorum.leader === node.id) return false;
  return !isCaughtUp(quorum, node.id, caughtUpWithinMs);
}

function isOutOfSync(node: RollNode, input: RollInput): boolean {
  const its = partitionsOf(node, input);
  return !isBroker(node) || its?.inSync.count === 0;
}

function isSilentAsBroker(node: RollNode, input: RollInput): boolean {
  if (!isBroker(node) || isOutOfSync(node, input)) return true;
  // The last member of an ISR stays in it when it dies. Its data is safe only on a disk that outlives the pod.
  const broker = input.brokers?.registered.get(node.id);
  return node.keepsData && input.brokers !== undefined && broker?.fenced !== false;
}

/** Whether Kafka counts a node nowhere: not caught up (nor leader) in the quorum, in no ISR or fenced. What is not known is no proof. */
export const isSilent = (node: RollNode, input: RollInput): boolean =>
  isSilentInQuorum(node, input) && isSilentAsBroker(node, input);

/**
 * Whether a node is down already, so that deleting its pod takes nothing away. One of these has to be certain:
 * - Its pod is not ready and Kafka's process does not run: it can neither vote nor hold a place in an ISR, whatever
 *   others still believe. This needs no facts from Kafka, which may be silent just because of this node. On a disk
 *   that goes with the pod it must not be the one that has the data.
 * - Its pod is not ready, its process runs, and Kafka counts it nowhere. Facts that are unknown are no proof of it,
 *   since an unready process may well be a voter.
 * - It is not ready and is the only node: there is nobody to whom it could matter.
 * - The cluster has never been ready: there are no clients and no data yet, only a first configuration to correct.
 */
export function isDown(node: RollNode, input: RollInput): boolean {
  const { pod } = node;
  if (pod === undefined || pod.deleting) return false;
  if (input.neverReady) return true;
  if (pod.ready) return false;
  if (input.nodes.length === 1) return true;
  if (!pod.running && (node.keepsData || isOutOfSync(node, input))) return true;
  return isSilent(node, input);
}

/** What a restarted node still lacks; undefined: it does all that it did before. */
export function lacksAfterRestart(node: RollNode, input: RollInput): string | undefined {
  if (!node.pod?.ready) return 'its pod is not ready';
  if (isController(node)) {
    const { quorum } = input;
    if (quorum === undefined || quorum.leader < 0) return 'the state of the KRaft quorum is unknown';
    const isVoter = quorum.voters.some(({ id }) => id === node.id);
    if (!isVoter && node.isToVote) return 'it does not vote yet';
    if (isVoter && !isCaughtUp(quorum, node.id, input.caughtUpWithinMs))
      return 'it has not caught up with the KRaft quorum';
  }
  if (!isBroker(node)) return undefined;
  const its = partitionsOf(node, input);
  if (input.brokers === undefined || its === undefined) return 'which partitions are in sync is unknown';
  if (input.brokers.registered.get(node.id)?.fenced !== false) return 'it is not registered, or fenced';
  return its.outOfSync.count > 0 ? `it is not in the ISR of ${namesOf(its.outOfSync)}` : undefined;
}
