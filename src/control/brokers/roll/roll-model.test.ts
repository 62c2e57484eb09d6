/** The roller as a model: whatever happens around it, it takes away one node at most, breaks nothing, and ends. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { SHAPES, simulatedCluster } from '../../../../test/support/roll/simulated-cluster.ts';
import type {
  Facts,
  Revision,
  Shape,
  SimulatedCluster,
  SimulatedNode,
} from '../../../../test/support/roll/simulated-cluster.ts';
import type { InFlight, RollDecision, RollNode } from './facts.ts';
import { DELETE_SETTLES_MS, nextRoll } from './next-roll.ts';
import type { RestartReason } from './restart-reasons.ts';

/** What becomes of the delete that a reconcile decides. */
type Fate = 'done' | 'crashed before it' | 'lost' | 'late';

interface World {
  cluster: SimulatedCluster;
  wanted: Revision;
  lastGood: Revision;
  unreachable: Set<string>;
  paused: boolean;
  /** What the operator has written down; all that outlives it. */
  inFlight: InFlight | undefined;
  changes: Set<number>;
  manualUids: readonly string[];
  /** The uids of pods whose disks somebody wants made anew. */
  newDisks: Set<string>;
  /** Nodes that were up when we deleted their pods, and since when. */
  ours: Map<number, { uid: string; at: number }>;
  before: Facts;
}

const FACTS = ['quorum', 'brokers', 'partitions'] as const;
function newWorld(shape: Shape): World {
  const wanted: Revision = { name: 'r0', kind: 'good' };
  const cluster = simulatedCluster(shape, wanted);
  return {
    cluster,
    wanted,
    lastGood: wanted,
    unreachable: new Set(),
    paused: false,
    inFlight: undefined,
    changes: new Set(),
    manualUids: [],
    newDisks: new Set(),
    ours: new Map(),
    before: cluster.facts(),
  };
}

const CHANGE = { perBroker: { set: { 'log.retention.ms': '1' }, delete: [] }, clusterWide: { set: {} } };

function nodeOf(world: World, node: SimulatedNode): RollNode {
  const { cluster, wanted } = world;
  const seen = !world.unreachable.has(node.target);
  const pod = seen ? cluster.podFacts(node) : undefined;
  const reasons: RestartReason[] = [];
  if (pod !== undefined && node.pod!.revision.name !== wanted.name)
    reasons.push({ name: 'POD_HAS_OLD_REVISION', note: wanted.name });
  if (pod !== undefined && world.manualUids.includes(pod.uid))
    reasons.push({ name: 'MANUAL_ROLLING_UPDATE', note: '' });
  const dropsData = pod !== undefined && world.newDisks.has(pod.uid);
  if (dropsData) reasons.push({ name: 'POD_AND_PVC_DELETION', note: '' });
  const change = world.changes.has(node.id) ? CHANGE : undefined;
  const { id, target, roles } = node;
  return { id, name: `pod-${id}`, target, roles, reasons, change, pod, keepsData: !dropsData, dropsData };
}

function inSyncEverywhere({ cluster }: World, { id }: SimulatedNode): boolean {
  return cluster.partitions.every(({ replicas, isr }) => !replicas.includes(id) || isr.includes(id));
}

const isVoter = ({ roles }: SimulatedNode) => roles.includes('controller');

/** Whether somebody relies on the node: as a voter, as a member of an ISR, or because its pod is ready. */
function counts(world: World, node: SimulatedNode): boolean {
  const { cluster } = world;
  if (!cluster.takesPart(node)) return false;
  const inIsr = node.unfenced && cluster.partitions.some(({ isr }) => isr.includes(node.id));
  return cluster.isReady(node) || (isVoter(node) && node.caughtUp) || inIsr;
}

/** Restarts of ours that are over: the node is back, or the delete was lost for good. */
function settleOurs(world: World): void {
  const { cluster, ours } = world;
  for (const [id, { uid, at }] of ours) {
    const node = cluster.nodes[id]!;
    const back = cluster.isReady(node) && node.caughtUp && inSyncEverywhere(world, node);
    const replaced = node.pod !== undefined && node.pod.uid !== uid;
    const lost = node.pod?.uid === uid && cluster.now() - at > DELETE_SETTLES_MS;
    if ((replaced && back) || lost) ours.delete(id);
  }
}

/** What a restart by our hand must not do, held against the truth instead of what the roller was told. */
function assertHarmless(world: World, id: number): void {
  const { cluster, ours } = world;
  const node = cluster.nodes[id]!;
  assert.ok(!world.unreachable.has(node.target), 'deletes a pod that it cannot see');
  if (!counts(world, node)) return;
  assert.deepEqual(
    [...ours.keys()].filter((other) => other !== id),
    [],
    'takes away a second node',
  );
  const others = cluster.voters.filter(
    (voter) => voter !== node && cluster.takesPart(voter) && voter.caughtUp,
  );
  const all = cluster.voters.length;
  if (isVoter(node) && all > 2) assert.ok(others.length > all / 2, 'breaks the quorum');
  if (isVoter(node) && all === 2) assert.equal(others.length, 1, 'takes the last of two controllers');
  for (const { partition, replicas, isr, minIsr } of cluster.partitions) {
    if (replicas.length <= minIsr || !isr.includes(id)) continue;
    const left = isr.filter((other) => other !== id && cluster.takesPart(cluster.nodes[other]!));
    assert.ok(left.length >= minIsr, `partition ${partition} goes below its min ISR`);
  }
}

/** What else must not be where the data of a node goes with its restart. */
function assertNothingLost({ cluster }: World, id: number, { quorum }: Facts): void {
  const node = cluster.nodes[id]!;
  const isThere = (other: SimulatedNode) => other !== node && cluster.takesPart(other);
  for (const { partition, replicas, isr } of cluster.partitions)
    if (replicas.includes(id))
      assert.ok(
        isr.some((other) => isThere(cluster.nodes[other]!)),
        `the only data of partition ${partition} is lost`,
      );
  if (!isVoter(node)) return;
  const others = cluster.voters.filter((voter) => voter !== node);
  assert.ok(others.length > 0, 'the only controller forgets everything');
  assert.ok(others.every((voter) => isThere(voter) && voter.caughtUp), 'nobody else knows all'); // prettier-ignore
  assert.notEqual(quorum?.leader, id, 'the leader forgets');
}

function reconcile(world: World, fate: Fate = 'done', facts = world.cluster.facts()): RollDecision {
  const { cluster, unreachable } = world;
  for (const target of cluster.applied.keys())
    if (!unreachable.has(target)) cluster.applied.set(target, world.wanted);
  settleOurs(world);
  const now = cluster.now();
  const decision = nextRoll({
    now,
    nodes: cluster.nodes.map((node) => nodeOf(world, node)),
    podsSeenAt: now,
    unreachable,
    rollWhileUnreachable: false,
    ...facts,
    caughtUpWithinMs: 2_000,
    neverReady: false,
    inFlight: world.inFlight,
    paused: world.paused,
  });
  world.inFlight = decision.inFlight;
  if (decision.do === 'reconfigure') world.changes.delete(decision.node);
  if (decision.do !== 'restart') return decision;

  assert.deepEqual(decision.inFlight?.podUid, decision.podUid, 'deletes what it has not written down');
  assert.ok(!world.paused, 'restarts although it is paused');
  assertHarmless(world, decision.node);
  if (world.newDisks.has(decision.podUid)) assertNothingLost(world, decision.node, facts);
  if (counts(world, cluster.nodes[decision.node]!))
    world.ours.set(decision.node, { uid: decision.podUid, at: now });
  if (fate === 'done') cluster.deletePod(decision.podUid);
  if (fate === 'late') cluster.deleteLater(decision.podUid, 60_000);
  return decision;
}

type Command = fc.Command<object, World>;
const command = (label: string, run: (world: World) => void): Command => ({
  check: () => true,
  run: (_model, world) => run(world),
  toString: () => label,
});

let revisions = 0;
const nth = fc.nat(10);
const node = (world: World, index: number) => world.cluster.nodes[index % world.cluster.nodes.length]!;

function want(world: World, kind: Revision['kind']): void {
  revisions += 1;
  world.wanted = { name: `r${revisions}`, kind };
  if (kind === 'good') world.lastGood = world.wanted;
}

const commands = [
  fc
    .constantFrom<Fate>('done', 'crashed before it', 'lost', 'late')
    .map((fate) => command(`reconcile, delete ${fate}`, (world) => void reconcile(world, fate))),
  fc.constant(command('reconcile', (world) => void reconcile(world))),
  fc.constant(
    command('reconcile with facts of before', (world) => void reconcile(world, 'done', world.before)),
  ),
  fc.constantFrom(...FACTS).map((lost) =>
    command(`reconcile without ${lost}`, (world) => {
      reconcile(world, 'done', { ...world.cluster.facts(), [lost]: undefined });
    }),
  ),
  fc.constant(command('remember facts', (world) => void (world.before = world.cluster.facts()))),
  fc
    .constantFrom(1_000, 5_000, 20_000, 150_000)
    .map((ms) => command(`tick ${ms}`, (world) => world.cluster.tick(ms))),
  fc
    .constantFrom<Revision['kind']>('good', 'crashes', 'hangs')
    .map((kind) => command(`want ${kind}`, (world) => want(world, kind))),
  fc.constant(command('want the last good', (world) => void (world.wanted = world.lastGood))),
  fc.constant(
    command('dynamic change', (world) => {
      for (const { id } of world.cluster.nodes) world.changes.add(id);
    }),
  ),
  fc.constant(
    command('manual roll', (world) => {
      world.manualUids = world.cluster.nodes.flatMap(({ pod }) => pod?.uid ?? []);
    }),
  ),
  nth.map((index) =>
    command(`new disks for ${index}`, (world) => {
      const { pod } = node(world, index);
      if (pod !== undefined) world.newDisks.add(pod.uid);
    }),
  ),
  nth.map((index) =>
    command(`somebody deletes ${index}`, (world) => {
      const { pod } = node(world, index);
      if (pod !== undefined) world.cluster.deletePod(pod.uid);
    }),
  ),
  nth.map((index) => command(`kill ${index}`, (world) => world.cluster.kill(node(world, index)))),
  nth.map((index) => command(`elect ${index}`, (world) => world.cluster.elect(node(world, index)))),
  nth.map((index) =>
    command(`target of ${index} vanishes`, (world) => void world.unreachable.add(node(world, index).target)),
  ),
  fc.constant(command('targets return', (world) => world.unreachable.clear())),
  fc.boolean().map((paused) => command(`paused ${paused}`, (world) => void (world.paused = paused))),
];

/** Lets the world rest and the operator work until nothing changes any more. */
function calm(world: World): RollDecision {
  world.unreachable.clear();
  world.paused = false;
  // What cannot be done without a loss blocks until it is taken back.
  world.newDisks.clear();
  let blockedFor = 0;
  for (let round = 0; round < 500; round++) {
    const decision = reconcile(world);
    if (decision.do === 'done') return decision;
    blockedFor = decision.do === 'blocked' ? blockedFor + 1 : 0;
    // Longer than anything takes to pass by itself.
    if (blockedFor > 100) return decision;
    world.cluster.tick(5_000);
  }
  throw new Error('it never ends');
}

/** A process that runs and does nothing may be a voter for all that anybody knows; without a quorum nobody can tell. */
function isBeyondUs(world: World, decision: RollDecision): boolean {
  const hanging = world.cluster.nodes.some(({ pod }) => pod?.revision.kind === 'hangs');
  return hanging && decision.do === 'blocked' && world.cluster.facts().partitions === undefined;
}

function assertEnded(world: World, decision: RollDecision): void {
  if (isBeyondUs(world, decision)) return;
  const { cluster, wanted } = world;
  const done = cluster.nodes.every((one) => one.pod?.revision === wanted && cluster.isReady(one));
  assert.equal(decision.do, done ? 'done' : 'blocked');
  if (wanted.kind === 'good') assert.equal(decision.do, 'done', JSON.stringify(decision));
  else
    assert.match(
      decision.do === 'blocked' ? decision.why : '',
      /stuck with the present configuration|not ready/,
    );
}

suite('the roller as a model', () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    test(`a cluster of ${name}: one node down at most by our hand, quorum and min ISR kept, and an end`, () => {
      fc.assert(
        fc.property(fc.commands(commands, { size: '+1', maxCommands: 60 }), (script) => {
          const world = newWorld(shape);
          fc.modelRun(() => ({ model: {}, real: world }), script);
          assertEnded(world, calm(world));
          // Going back heals.
          world.wanted = world.lastGood;
          assertEnded(world, calm(world));
        }),
        { numRuns: 400 },
      );
    });
  }
});
