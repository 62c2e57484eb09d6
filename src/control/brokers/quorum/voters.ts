/**
 * Which controller is made a voter next, or ceases to be one (KIP-853): one at a time, decided anew at each look from what the leader says
 * then. What was begun is written down before Kafka is asked, because an answer may be lost, and nothing else is begun until that is over.
 */
import type { Voter, VoterChange } from '../model/charter.ts';
import type { QuorumFacts } from '../roll/facts.ts';

/** A voter or an observer, as the leader sees it. */
export interface QuorumMember extends Voter {
  lastCaughtUpMs: number;
}

/** What the leader says of all that follow it. */
export interface MemberFacts extends QuorumFacts {
  voters: readonly QuorumMember[];
  observers: readonly QuorumMember[];
}

export interface Controller {
  id: number;
  leaving: boolean;
  ready: boolean;
  /** Whether it is to get a new disk: it must not vote with the present one when it loses that. */
  losesDisk?: boolean;
}

export interface VoterInput {
  now: number;
  /** Undefined where that is not known now. */
  quorum: MemberFacts | undefined;
  /** How far behind the leader one still counts as caught up. */
  caughtUpWithinMs: number;
  /** All controllers of the cluster. One that may be on its way out is not ready. */
  controllers: readonly Controller[];
  /** What was begun, as it is written down. */
  change: VoterChange | undefined;
  /** Whether Kafka has said that it does not do that: then it cannot come any more. */
  isRefused: boolean;
  /** Whether nothing is to be restarted, so that all nodes know those that stay, and those that go have nothing left. */
  isRolled: boolean;
}

/** `change` is to be written down before it is done. */
export type VoterStep = { change: VoterChange | undefined } & (
  | { do: 'add' | 'remove'; voter: Voter }
  | { do: 'wait'; why: string }
  | { do: 'done' }
);

/** A request that was sent and not answered may still be carried out for so long: brokers pass it on for half a minute. */
export const CHANGE_SETTLES_MS = 60_000;

const isSame = (a: Voter, b: Voter) => a.id === b.id && a.directoryId === b.directoryId;

/** Compared by the leader's clock alone. */
function isCaughtUp({ leader, voters }: MemberFacts, one: QuorumMember, withinMs: number): boolean {
  const head = voters.find(({ id }) => id === leader)?.lastCaughtUpMs;
  return head !== undefined && one.lastCaughtUpMs >= 0 && head - one.lastCaughtUpMs <= withinMs;
}

/** What is decided with: the quorum is known, and has a leader. */
interface Known extends VoterInput {
  quorum: MemberFacts;
}

function counts(one: QuorumMember, { quorum, controllers, caughtUpWithinMs }: Known): boolean {
  const isReady = controllers.some(({ id, ready }) => id === one.id && ready);
  return isReady && isCaughtUp(quorum, one, caughtUpWithinMs);
}

/** Whether those of these that can vote now are a majority of them. */
function canVote(voters: readonly QuorumMember[], known: Known): boolean {
  return voters.filter((one) => counts(one, known)).length * 2 > voters.length;
}

const isSafe = (what: VoterChange['do'], one: QuorumMember, known: Known) => {
  const others = known.quorum.voters.filter((voter) => !isSame(voter, one));
  return canVote(what === 'add' ? [...others, one] : others, known);
};

/** Whether it is seen to be done, or can no longer come. */
function isOver({ do: what, since, ...voter }: VoterChange, { quorum, now, isRefused }: Known): boolean {
  const votes = quorum.voters.some((one) => isSame(one, voter));
  return votes === (what === 'add') || isRefused || now - since > CHANGE_SETTLES_MS;
}

/** Controllers that are to vote and do not. */
const missing = ({ quorum, controllers }: Known): Controller[] =>
  controllers.filter(
    ({ id, leaving, losesDisk }) => !leaving && !losesDisk && !quorum.voters.some((one) => one.id === id),
  );

/** As it follows the leader: leaders remember for minutes who followed them with a former disk. */
const latest = ({ quorum }: Known, id: number): QuorumMember[] =>
  quorum.observers
    .filter((one) => one.id === id)
    .toSorted((a, b) => b.lastCaughtUpMs - a.lastCaughtUpMs)
    .slice(0, 1);

/** Those that follow the leader, with the disk that they have. */
const candidates = (known: Known): QuorumMember[] => missing(known).flatMap(({ id }) => latest(known, id));

/** Voters with disks that their nodes are to lose, or no longer have: these follow the leader with another one. */
const outdated = (known: Known): QuorumMember[] =>
  known.quorum.voters.filter(
    (voter) =>
      known.controllers.some(({ id, losesDisk }) => id === voter.id && losesDisk) ||
      latest(known, voter.id).some(
        (one) => one.directoryId !== voter.directoryId && one.lastCaughtUpMs > voter.lastCaughtUpMs,
      ),
  );

/** Voters that are to go, the leader last. */
function unwanted({ quorum, controllers }: Known): QuorumMember[] {
  const staying = new Set(controllers.flatMap(({ id, leaving }) => (leaving ? [] : [id])));
  const rank = ({ id }: QuorumMember) => (id === quorum.leader ? 1 : 0);
  return quorum.voters
    .filter(({ id }) => !staying.has(id))
    .toSorted((a, b) => rank(a) - rank(b) || a.id - b.id);
}

/** What would be begun now, if nothing is under way. */
function wanted(known: Known): { do: VoterChange['do']; voter: QuorumMember } | { why: string } | undefined {
  const lost = outdated(known).find((one) => isSafe('remove', one, known));
  if (lost) return { do: 'remove', voter: lost };
  const added = candidates(known).find((one) => counts(one, known) && isSafe('add', one, known));
  if (added) return { do: 'add', voter: added };
  const waiting = missing(known);
  if (waiting.length > 0)
    return { why: `controllers ${named(waiting)} are to vote, and have to catch up with the others before` };
  const going = unwanted(known);
  if (going.length === 0) return undefined;
  if (!known.isRolled)
    return {
      why: `controllers ${named(going)} vote until no node has to be restarted, and brokers that go are empty`,
    };
  const removed = going.find((one) => isSafe('remove', one, known));
  if (removed) return { do: 'remove', voter: removed };
  return { why: `controllers ${named(going)} are to go, and too few of the others have caught up` };
}

const named = (some: readonly { id: number }[]) => some.map(({ id }) => id).join(', ');

/** Decides the one thing to do now. Pure: no clock, no network, no cluster. */
export function nextVoter(input: VoterInput): VoterStep {
  const { quorum, change, now } = input;
  if (!quorum || quorum.leader < 0)
    return { do: 'wait', why: 'who votes is unknown, or nobody leads the controllers', change };
  const known: Known = { ...input, quorum };
  // Not even the same is asked for again meanwhile: of two the later could undo what was decided in between.
  if (change && !isOver(change, known)) {
    const what = change.do === 'add' ? 'become a voter' : 'cease to be one';
    return { do: 'wait', why: `controller ${change.id} may still ${what}, as was asked for`, change };
  }
  const next = wanted(known);
  if (!next) return { do: 'done', change: undefined };
  if ('why' in next) return { do: 'wait', why: next.why, change: undefined };
  const { id, directoryId } = next.voter;
  const voter = { id, directoryId };
  return { do: next.do, voter, change: { do: next.do, ...voter, since: now } };
}

/** Controllers that are to go and do not vote: nothing keeps them. None while a change may still come. */
export function nonVoters({ quorum, controllers, change }: VoterInput): number[] {
  if (!quorum || quorum.leader < 0 || change) return [];
  return controllers
    .filter(({ id, leaving }) => leaving && !quorum.voters.some((one) => one.id === id))
    .map(({ id }) => id);
}
