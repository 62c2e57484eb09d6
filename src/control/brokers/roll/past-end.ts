/**
 * Nodes that run on certificates that have ended, because nobody renewed them in time (an operator that was away, a CA that was brought
 * and not replaced). What is new refuses them and they refuse what is new, so they can neither be asked nor be waited for: who was
 * restarted already cannot catch up with those that were not. Waiting protects nobody, and every connection that breaks stays broken.
 */
import { isSilent, lacksAfterRestart } from './checks.ts';
import type { RollInput, RollNode } from './facts.ts';

/** Until then whoever can still be asked is asked, and what was signed anew is loaded without a restart. */
export const END_SETTLES_MS = 30_000;
/** A process that a bad configuration ends does not live so long; one that can catch up has done so, or is about to. */
export const RUNS_MS = 30_000;

const hasRun = ({ pod }: RollNode, { now }: RollInput) =>
  pod?.running === true && !pod.deleting && now - (pod.runningSince ?? now) >= RUNS_MS;

/** Whether what would have to be known before this node is taken away is not known. */
function isUnknown({ roles }: RollNode, { nodes, quorum, partitions }: RollInput): boolean {
  const hasControllers = nodes.some((one) => one.roles.includes('controller'));
  const noQuorum = hasControllers && (quorum === undefined || quorum.leader < 0);
  return noQuorum || (roles.includes('broker') && partitions === undefined);
}

/**
 * Whether a node may be restarted without knowing what the others can do without: what it was started with has ended, its data outlives
 * its pod, and the processes of all others have run for a while. That takes at most one process away at a time; what clients could still do
 * by connections of before stops until a majority is restarted.
 */
export function isPastEnd(node: RollNode, input: RollInput): boolean {
  const { ended, keepsData, pod } = node;
  if (ended === undefined || input.now - ended.at < END_SETTLES_MS || !keepsData) return false;
  if (pod === undefined || pod.deleting) return false;
  const others = input.nodes.filter((one) => one !== node);
  if (!others.every((one) => hasRun(one, input))) return false;
  const waitsInVain = (one: RollNode) =>
    one.ended === undefined && hasRun(one, input) && lacksAfterRestart(one, input) !== undefined;
  // Others do get through to listeners that are up to date, so there what they lack has other reasons.
  const isInTheWay = !ended.listens && others.some(waitsInVain);
  return isUnknown(node, input) || isSilent(node, input) || isInTheWay;
}

/** What else there is to say of a node that is past its end and is not restarted for it. */
export function adviceAtEnd({ ended, keepsData, name }: RollNode): string {
  if (ended === undefined) return '';
  const since = `the certificate that it was started with ended at ${new Date(ended.at).toISOString()}`;
  if (keepsData) return `; ${since}`;
  return `; ${since}, and its data goes with its pod: save what is needed, then delete the pod ${name} by hand`;
}
