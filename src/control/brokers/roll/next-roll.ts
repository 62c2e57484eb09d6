/**
 * The roller: one node at a time over the whole Kafka cluster, decided anew at each reconcile from what is seen then.
 * Nothing is forced: what cannot be known blocks, with the reason.
 */
import {
  costsOfRestart,
  isDown,
  lacksAfterRestart,
  obstacleToLoss,
  obstacleToRestart,
  obstacleToRetiring,
} from './checks.ts';
import { withCurrentFacts } from './facts.ts';
import type { InFlight, RollDecision, RollInput, RollNode } from './facts.ts';
import { adviceAtEnd, isPastEnd } from './past-end.ts';

/** How soon something that changes by itself is looked at again, and something that may not. */
const SOON_MS = 5_000;
const LATER_MS = 30_000;
/** After this time what has not come back is told as blocked. It goes on all the same as soon as it can. */
export const PATIENCE_MS = 300_000;
/** A delete that was sent and not answered may still be carried out for so long. */
export const DELETE_SETTLES_MS = 120_000;

/** Something in the way of a restart. */
interface Obstacle {
  do: 'wait' | 'blocked';
  why: string;
  node?: number | undefined;
}

const blocked = (why: string, node?: number): Obstacle => ({ do: 'blocked', why, node });

/** Waits, and says so as blocked when it takes longer than it should. */
function coming(why: string, node: number, since: number | undefined, now: number): Obstacle {
  const late = since !== undefined && now - since > PATIENCE_MS;
  return { do: late ? 'blocked' : 'wait', why, node };
}

function decision({ do: what, why, node }: Obstacle, inFlight: InFlight | undefined): RollDecision {
  return { do: what, why, node, lookAgainInMs: what === 'wait' ? SOON_MS : LATER_MS, inFlight };
}

const isSeen = ({ target }: RollNode, { unreachable }: RollInput) => !unreachable.has(target);
const isReady = ({ pod }: RollNode) => pod?.ready === true;
const isWanted = ({ reasons }: RollNode) => reasons.length === 0;
/** A pod that is there and stays there until we delete it. */
const isDeletable = ({ pod }: RollNode) => pod !== undefined && !pod.deleting;

function unseenObstacle(input: RollInput): Obstacle | undefined {
  const unseen = input.nodes.filter((node) => !isSeen(node, input));
  if (unseen.length === 0) return undefined;
  const targets = [...new Set(unseen.map(({ target }) => target))].toSorted();
  const names = unseen.map(({ name }) => name).join(', ');
  return blocked(`cluster ${targets.join(', ')} cannot be reached, so nobody knows about ${names}`);
}

/** A node as it should be, and stuck: restarting others would take them where it is. */
function stuckObstacle(input: RollInput): Obstacle | undefined {
  const node = input.nodes.find(
    (one) => isSeen(one, input) && isWanted(one) && !isReady(one) && one.pod?.stuck !== undefined,
  );
  if (node === undefined) return undefined;
  const { stuck, lastExit } = node.pod!;
  const exit = lastExit ? ` (exit code ${lastExit.code}${lastExit.message && `: ${lastExit.message}`})` : '';
  return blocked(
    `${node.name} is stuck with the present configuration: ${stuck}${exit}; change it back, or repair it`,
    node.id,
  );
}

/** Another node that is not up, and that we would not restart: one more must not join it. */
function unreadyObstacle(input: RollInput, except?: RollNode): Obstacle | undefined {
  const node = input.nodes.find(
    (one) => one !== except && isSeen(one, input) && !isReady(one) && (isWanted(one) || !isDeletable(one)),
  );
  if (node === undefined) return undefined;
  const { name, id, pod } = node;
  if (pod === undefined) return { do: 'wait', why: `${name} has no pod`, node: id };
  const why = pod.deleting ? `${name} is being deleted` : `${name} is not ready`;
  return coming(why, id, pod.readyChangedAt ?? pod.createdAt, input.now);
}

/** Nobody gains anything by waiting with its restart. */
const isLost = (node: RollNode, input: RollInput) => isDown(node, input) || isPastEnd(node, input);

/** Why a node must not be restarted now, everything considered. */
function obstacleTo(node: RollNode, input: RollInput): Obstacle | undefined {
  const unseen = input.rollWhileUnreachable ? undefined : unseenObstacle(input);
  const loss = node.dropsData ? obstacleToLoss(node, input) : undefined;
  if (loss !== undefined) return blocked(`the disks of ${node.name} cannot be made anew: ${loss}`, node.id);
  const given = obstacleToRetiring(node, input);
  if (given !== undefined) return blocked(`${node.name} cannot be restarted: ${given}`, node.id);
  const first = unseen ?? stuckObstacle(input);
  if (first !== undefined || isLost(node, input)) return first;
  const unready = unreadyObstacle(input, node);
  if (unready !== undefined) return unready;
  const why = obstacleToRestart(node, input);
  if (why === undefined) return undefined;
  return blocked(`${node.name} cannot be restarted: ${why}${adviceAtEnd(node)}`, node.id);
}

function restart(node: RollNode, input: RollInput, earlier?: InFlight['earlier']): RollDecision {
  const { id, reasons } = node;
  const podUid = node.pod!.uid;
  const why = [
    ...reasons.map(({ name, note }) => `${name}: ${note}`),
    ...(isPastEnd(node, input) ? ['its certificate has ended, so nobody can be asked or waited for'] : []),
    ...costsOfRestart(node, input),
  ].join('; ');
  const inFlight = { node: id, podUid, since: input.now, why, ...(earlier && { earlier }) };
  return { do: 'restart', node: id, podUid, why, reasons, inFlight };
}

/** Nodes that may be restarted for their own good although another restart is not over: they are down already, or as good as that. */
function restartOfDown(input: RollInput, earlier?: InFlight['earlier']): RollDecision | undefined {
  const down = inOrder(
    input.nodes.filter((one) => needsRestart(one, input) && isLost(one, input)),
    input,
  );
  const node = down.find((one) => obstacleTo(one, input) === undefined);
  return node && restart(node, input, earlier);
}

function needsRestart(node: RollNode, input: RollInput): boolean {
  return isSeen(node, input) && !isWanted(node) && isDeletable(node);
}

/** Controllers first, the active one last of them, then brokers; of each those that are not ready first. */
function rankOf(node: RollNode, { quorum }: RollInput): number {
  if (!node.roles.includes('controller')) return isReady(node) ? 4 : 3;
  if (!isReady(node)) return 0;
  return quorum?.leader === node.id ? 2 : 1;
}

function inOrder(nodes: readonly RollNode[], input: RollInput): RollNode[] {
  return nodes.toSorted((a, b) => rankOf(a, input) - rankOf(b, input) || a.id - b.id);
}

/** The begun restart, as far as it has come; undefined: it is over. */
function follow(flight: InFlight, input: RollInput): RollDecision | undefined {
  const node = input.nodes.find(({ id }) => id === flight.node);
  if (node === undefined) return undefined; // scaled away
  const wait = (why: string) =>
    decision(coming(`${node.name} was restarted: ${why}`, node.id, flight.since, input.now), flight);
  const settled = input.now - flight.since > DELETE_SETTLES_MS;
  if (!isSeen(node, input)) {
    // The user gave the cluster up, and the node with it; Kafka's facts still say what the others can do without.
    return input.rollWhileUnreachable && settled
      ? undefined
      : wait(`cluster ${node.target} cannot be reached`);
  }
  if (node.pod === undefined) return wait('it has no pod yet');
  if (node.pod.deleting) return wait('its pod is being deleted');
  if (needsRestart(node, input) && obstacleTo(node, input) === undefined)
    return restart(node, input, flight.earlier);
  if (node.pod.uid === flight.podUid) {
    // Not deleted: never asked for, or not answered. Without an answer the node counts as down until it surely is not.
    return settled ? undefined : wait('its pod may still be deleted');
  }
  const stuck = stuckObstacle(input);
  if (stuck !== undefined) return decision(stuck, flight);
  const lacks = lacksAfterRestart(node, input);
  if (lacks === undefined) return undefined;
  // What it waits for may be nodes that are down, and wait for their own restart.
  const down = node.pod.running ? restartOfDown(input, flight.earlier ?? flight) : undefined;
  const other = unreadyObstacle(input, node);
  return down ?? wait(other === undefined ? lacks : `${lacks}; ${other.why}`);
}

/** What comes next when no restart is under way. */
function next(input: RollInput): RollDecision {
  const stuck = stuckObstacle(input);
  if (stuck !== undefined) return decision(stuck, undefined);
  const down = restartOfDown(input);
  if (down !== undefined) return down;
  const changeable = input.nodes.find(
    (node) => isSeen(node, input) && isReady(node) && isWanted(node) && node.change !== undefined,
  );
  if (changeable !== undefined)
    return { do: 'reconfigure', node: changeable.id, change: changeable.change!, inFlight: undefined };

  const waiting = inOrder(
    input.nodes.filter((node) => needsRestart(node, input)),
    input,
  );
  // Within a rank any may go; a later rank waits for the one before.
  const rank = waiting.filter((node) => rankOf(node, input) === rankOf(waiting[0]!, input));
  const free = rank.find((node) => obstacleTo(node, input) === undefined);
  if (free !== undefined) return restart(free, input);
  const obstacle = (rank[0] && obstacleTo(rank[0], input)) ?? unreadyObstacle(input) ?? unseenObstacle(input);
  return obstacle === undefined ? { do: 'done', inFlight: undefined } : decision(obstacle, undefined);
}

/** Decides the one thing to do now. Pure: no clock, no network, no cluster. */
export function nextRoll(given: RollInput): RollDecision {
  const input = withCurrentFacts(given);
  const { inFlight } = input;
  if (input.paused) return { do: 'wait', why: 'the reconciliation is paused', inFlight };
  const earlier = inFlight?.earlier;
  return (inFlight && follow(inFlight, input)) ?? (earlier && follow(earlier, input)) ?? next(input);
}
