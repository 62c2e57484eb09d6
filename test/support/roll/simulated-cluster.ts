/**
 * A Kafka cluster in memory, for the roller's model: pods, a quorum and ISRs that move when time does. It stands for a
 * real one because hours of lost answers, dead leaders and vanishing clusters have to pass in a second.
 */
import type { NodePartitions, Partition } from '../../../src/control/brokers/roll/partitions.ts';
import { partitionsByNode } from '../../../src/control/brokers/roll/partitions.ts';
import type { PodFacts } from '../../../src/control/brokers/roll/pod-facts.ts';
import type { Role } from '../../../src/control/brokers/model/cluster.ts';
import type { BrokerFacts, PartitionFacts, QuorumFacts } from '../../../src/control/brokers/roll/facts.ts';

/** A pod template: what becomes of pods that are made from it. */
export interface Revision {
  name: string;
  kind: 'good' | 'crashes' | 'hangs';
}

export interface SimulatedPod {
  uid: string;
  revision: Revision;
  bornAt: number;
  state: 'creating' | 'running' | 'crashed' | 'restarting';
  goneAt: number | undefined;
  /** For how many ticks its process has run: it catches up, is unfenced, and is in sync one after the other. */
  ticks: number;
}

export interface SimulatedNode {
  id: number;
  target: string;
  roles: readonly Role[];
  pod: SimulatedPod | undefined;
  caughtUp: boolean;
  unfenced: boolean;
}

export type SimulatedPartition = Partition & { isr: number[] };

export interface Shape {
  nodes: readonly { target: string; roles: readonly Role[] }[];
  /** Replicas and min ISR. */
  partitions: readonly [replicas: readonly number[], minIsr: number][];
}

const BOTH = ['broker', 'controller'] as const;
const combined = (...targets: string[]) => targets.map((target) => ({ target, roles: BOTH }));

/** Clusters of all kinds, with partitions that can be kept and that cannot. */
export const SHAPES: Record<string, Shape> = {
  one: { nodes: combined('a'), partitions: [[[0], 1]] },
  two: { nodes: combined('a', 'b'), partitions: [[[0, 1], 1]] },
  three: {
    nodes: combined('a', 'a', 'a'),
    partitions: [
      [[0, 1, 2], 2],
      [[0, 1], 1],
      [[2], 1],
      [[0, 1, 2], 3],
    ],
  },
  'five stretched': {
    nodes: combined('a', 'a', 'b', 'b', 'c'),
    partitions: [
      [[0, 2, 4], 2],
      [[1, 3, 4], 2],
      [[0, 1, 2, 3, 4], 3],
    ],
  },
  apart: {
    nodes: [
      ...['a', 'b', 'c'].map((target) => ({ target, roles: ['controller'] as const })),
      ...['a', 'b', 'c'].map((target) => ({ target, roles: ['broker'] as const })),
    ],
    partitions: [
      [[3, 4, 5], 2],
      [[4, 5], 1],
      [[5, 3], 2],
    ],
  },
};

const START_MS = 2_000;
const GRACE_MS = 3_000;
const UNFENCED = 2;
const IN_SYNC = 3;

export interface Facts {
  quorum: QuorumFacts | undefined;
  brokers: BrokerFacts | undefined;
  partitions: PartitionFacts | undefined;
}

export type SimulatedCluster = ReturnType<typeof simulatedCluster>;

/** A cluster that is up, with all pods made from the first revision. */
export function simulatedCluster(shape: Shape, first: Revision) {
  let now = 1_000_000;
  let made = 0;
  let leader = -1;
  const newPod = (revision: Revision): SimulatedPod => {
    made += 1;
    return { uid: `uid-${made}`, revision, bornAt: now, state: 'creating', goneAt: undefined, ticks: 0 };
  };
  const nodes: SimulatedNode[] = shape.nodes.map(({ target, roles }, id) => {
    const pod: SimulatedPod = { ...newPod(first), state: 'running', ticks: IN_SYNC };
    return { id, target, roles, pod, caughtUp: true, unfenced: true };
  });
  const partitions: SimulatedPartition[] = shape.partitions.map(([replicas, minIsr], partition) => {
    return { topic: 'topic', partition, replicas, isr: [...replicas], minIsr };
  });
  const voters = nodes.filter(({ roles }) => roles.includes('controller'));
  const isVoter = (node: SimulatedNode) => voters.includes(node);
  const brokers = nodes.filter(({ roles }) => roles.includes('broker'));
  /** What the pod-set controller of each target was told last. */
  const applied = new Map(nodes.map(({ target }) => [target, first]));
  let late: { uid: string; at: number }[] = [];

  /** Whether its process runs and does what it should. */
  const takesPart = ({ pod }: SimulatedNode) =>
    pod?.state === 'running' && pod.goneAt === undefined && pod.revision.kind === 'good';
  const hasQuorum = () => voters.filter(takesPart).length > voters.length / 2;
  const isReady = (node: SimulatedNode) =>
    takesPart(node) && (!node.roles.includes('broker') || node.unfenced);

  function movePod(node: SimulatedNode): void {
    const { pod } = node;
    if (pod === undefined) node.pod = newPod(applied.get(node.target)!);
    else if (pod.goneAt !== undefined) {
      if (pod.goneAt <= now) node.pod = undefined;
    } else if (pod.state === 'restarting') pod.state = 'running';
    else if (pod.state === 'creating' && now - pod.bornAt >= START_MS)
      pod.state = pod.revision.kind === 'crashes' ? 'crashed' : 'running';
  }

  function moveKafka(): void {
    if (!hasQuorum()) {
      leader = -1;
      return;
    }
    if (!voters.some((node) => node.id === leader && takesPart(node))) {
      const first = voters.find((node) => takesPart(node) && node.caughtUp) ?? voters.find(takesPart)!;
      leader = first.id;
    }
    for (const node of nodes) {
      if (takesPart(node)) node.pod!.ticks += 1;
      node.caughtUp = takesPart(node) && (node.pod!.ticks > 1 || node.id === leader);
      node.unfenced = takesPart(node) && node.pod!.ticks >= UNFENCED;
    }
    const ticksOf = (id: number) => (nodes[id]!.unfenced ? nodes[id]!.pod!.ticks : 0);
    for (const partition of partitions) {
      const { replicas, isr } = partition;
      // The last one stays in it, dead or not, and without it nobody can join.
      if (!isr.some((id) => ticksOf(id) > 0)) partition.isr = isr.slice(0, 1);
      else partition.isr = replicas.filter((id) => ticksOf(id) >= (isr.includes(id) ? 1 : IN_SYNC));
    }
  }

  function deletePod(uid: string): void {
    const pod = nodes.find((node) => node.pod?.uid === uid)?.pod;
    if (pod !== undefined && pod.goneAt === undefined) pod.goneAt = now + GRACE_MS;
  }

  moveKafka();
  return {
    nodes,
    partitions,
    voters,
    applied,
    takesPart,
    isReady,
    deletePod,
    now: () => now,
    deleteLater: (uid: string, inMs: number) => void late.push({ uid, at: now + inMs }),
    /** The process ends, and the kubelet starts it again. */
    kill({ pod }: SimulatedNode): void {
      if (pod?.state !== 'running') return;
      pod.state = 'restarting';
      pod.ticks = 0;
    },
    elect(node: SimulatedNode): void {
      if (hasQuorum() && isVoter(node) && takesPart(node) && node.caughtUp) leader = node.id;
    },
    tick(ms: number): void {
      now += ms;
      const [due = [], waiting = []] = [true, false].map((is) => late.filter(({ at }) => at <= now === is));
      for (const { uid } of due) deletePod(uid);
      late = waiting;
      for (const node of nodes) movePod(node);
      moveKafka();
    },
    podFacts(node: SimulatedNode): PodFacts | undefined {
      const { pod } = node;
      return pod && factsOf(pod, isReady(node));
    },
    /** What an admin client would learn now; nothing where nobody answers. */
    facts(): Facts {
      const quorumKnown = hasQuorum() && leader >= 0;
      const known = quorumKnown && brokers.some((node) => takesPart(node) && node.unfenced);
      const registered = new Map(brokers.map(({ id, unfenced }) => [id, { fenced: !unfenced }]));
      const unready = new Set(nodes.filter((node) => !isReady(node)).map(({ id }) => id));
      const byNode: Map<number, NodePartitions> = partitionsByNode(partitions, unready);
      const seen = voters.map(({ id, caughtUp }) => {
        return { id, lastCaughtUpMs: now - (id === leader ? 0 : caughtUp ? 300 : 60_000) };
      });
      return {
        quorum: quorumKnown ? { at: now, leader, voters: seen } : undefined,
        brokers: known ? { at: now, registered } : undefined,
        partitions: known ? { at: now, unready, byNode } : undefined,
      };
    },
  };
}

function factsOf(pod: SimulatedPod, ready: boolean): PodFacts {
  return {
    uid: pod.uid,
    ready,
    readyChangedAt: pod.bornAt,
    phase: pod.state === 'creating' ? 'Pending' : 'Running',
    running: pod.state === 'running',
    runningSince: pod.bornAt,
    deleting: pod.goneAt !== undefined,
    stuck: pod.state === 'crashed' ? 'CrashLoopBackOff' : undefined,
    unplaced: undefined,
    restarts: 0,
    lastExit: pod.state === 'crashed' ? { code: 1, message: 'bad configuration' } : undefined,
    nodeName: undefined,
    createdAt: pod.bornAt,
    annotations: {},
  };
}
