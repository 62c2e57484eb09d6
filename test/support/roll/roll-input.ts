/** What the roller is asked, and what it answers, in short: for its tests. */
import type { InFlight, RollInput, RollNode } from '../../../src/control/brokers/roll/facts.ts';
import { nextRoll } from '../../../src/control/brokers/roll/next-roll.ts';
import { partitionsByNode } from '../../../src/control/brokers/roll/partitions.ts';
import type { Partition } from '../../../src/control/brokers/roll/partitions.ts';
import type { PodFacts } from '../../../src/control/brokers/roll/pod-facts.ts';
import type { RestartReason } from '../../../src/control/brokers/roll/restart-reasons.ts';

/** The moment of all facts. */
export const NOW = 10_000_000;
/** A reason to restart a node. */
export const OLD: RestartReason[] = [{ name: 'POD_HAS_OLD_REVISION', note: 'a → b' }];

/** A pod that is up. */
export function pod(id: number, change: Partial<PodFacts> = {}): PodFacts {
  return {
    uid: `uid-${id}`,
    ready: true,
    readyChangedAt: NOW - 60_000,
    phase: 'Running',
    running: true,
    runningSince: NOW - 60_000,
    deleting: false,
    stuck: undefined,
    unplaced: undefined,
    restarts: 0,
    lastExit: undefined,
    nodeName: 'worker',
    createdAt: NOW - 60_000,
    annotations: {},
    ...change,
  };
}

/** Runs, and is not ready. */
export const UNREADY = { ready: false };
/** Does not run, and will not. */
export const CRASHING = { ready: false, running: false, stuck: 'CrashLoopBackOff' } as const;

/** A node that is as it should be. */
export function node(id: number, change: Partial<RollNode> = {}): RollNode {
  return {
    id,
    name: `events-nodes-${id}`,
    target: 'central',
    roles: ['broker', 'controller'],
    reasons: [],
    pod: pod(id),
    keepsData: true,
    ...change,
  };
}

/** Nodes 0, 1, 2 that all do all they should; partition 0 is on all of them. */
export function input(nodes: RollNode[], change: Partial<RollInput> = {}): RollInput {
  const ids = nodes.map(({ id }) => id);
  return {
    now: NOW,
    nodes,
    podsSeenAt: NOW,
    unreachable: new Set(),
    rollWhileUnreachable: false,
    quorum: quorum(2, ids),
    brokers: { at: NOW, registered: new Map(ids.map((id) => [id, { fenced: false }])) },
    partitions: partitions(nodes, [{ replicas: ids, isr: ids, minIsr: Math.min(2, ids.length) }]),
    caughtUpWithinMs: 2_000,
    neverReady: false,
    inFlight: undefined,
    paused: false,
    ...change,
  };
}

/** The quorum, and who is behind. */
export function quorum(leader: number, ids: number[], behind: number[] = []): RollInput['quorum'] {
  const voters = ids.map((id) => ({ id, lastCaughtUpMs: behind.includes(id) ? NOW - 2_500 : NOW }));
  return { at: NOW, leader, voters };
}

/** Facts about these partitions. */
export function partitions(nodes: RollNode[], of: Pick<Partition, 'replicas' | 'isr' | 'minIsr'>[]) {
  const seen = nodes.filter(({ target }) => target === 'central');
  const unready = new Set(seen.filter((one) => !one.pod?.ready).map(({ id }) => id));
  const all = of.map((one, partition) => ({ topic: 't', partition, ...one }));
  return { at: NOW, unready, byNode: partitionsByNode(all, unready) };
}

/** A restart that was written down. */
export const flight = (of: number, since = NOW - 1_000): InFlight => ({
  node: of,
  podUid: `uid-${of}`,
  since,
  why: '',
});

/** The decision in short: what is done, to which node. */
export function short(given: RollInput): string {
  const decision = nextRoll(given);
  return 'node' in decision && decision.node !== undefined ? `${decision.do} ${decision.node}` : decision.do;
}

/** What the decision says. */
export function why(given: RollInput): string {
  const decision = nextRoll(given);
  return 'why' in decision ? decision.why : '';
}

/** Three nodes that all wait for a restart. */
export const allOld = () => [0, 1, 2].map((id) => node(id, { reasons: OLD }));
