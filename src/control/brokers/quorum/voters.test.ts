/** The change of voters as a model: whatever becomes of requests, and of whoever sends them, a majority can vote, and it ends. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Voter, VoterChange } from '../model/charter.ts';
import { CHANGE_SETTLES_MS, nextVoter, nonVoters } from './voters.ts';
import type { MemberFacts, QuorumMember, VoterInput, VoterStep } from './voters.ts';

const NOW = 1_000_000;
const member = (id: number, behindMs = 0, disk = 'd'): QuorumMember => ({
  id,
  directoryId: `${disk}${id}`,
  lastCaughtUpMs: NOW - behindMs,
});
const quorumOf = (voters: QuorumMember[], observers: QuorumMember[] = [], leader = voters[0]?.id ?? -1): MemberFacts => ({ at: NOW, leader, voters, observers }); // prettier-ignore
const controller = (id: number, more: Partial<VoterInput['controllers'][number]> = {}) => ({ id, leaving: false, ready: true, ...more }); // prettier-ignore
const step = (input: Partial<VoterInput>) =>
  nextVoter({ now: NOW, quorum: undefined, caughtUpWithinMs: 2000, controllers: [], change: undefined, isRefused: false, isRolled: true, ...input }); // prettier-ignore

suite('who votes next', () => {
  const three = [member(0), member(1), member(2)];
  const controllers = [0, 1, 2].map((id) => controller(id));

  test('nothing is decided while nobody can say who votes', () => {
    assert.equal(step({ controllers }).do, 'wait');
    assert.equal(step({ controllers, quorum: quorumOf(three, [], -1) }).do, 'wait');
    assert.equal(step({ controllers, quorum: quorumOf(three) }).do, 'done');
  });

  test('a new one votes when it has caught up and its pod is ready, and not before', () => {
    const all = [...controllers, controller(3)];
    const asked = (observer: QuorumMember[], own = all) => step({ controllers: own, quorum: quorumOf(three, observer) }); // prettier-ignore
    assert.equal(asked([]).do, 'wait');
    assert.equal(asked([member(3, 5000)]).do, 'wait');
    assert.equal(asked([member(3)], [...controllers, controller(3, { ready: false })]).do, 'wait');
    const added = asked([member(3)]);
    assert.deepEqual(added, { do: 'add', voter: { id: 3, directoryId: 'd3' }, change: { do: 'add', id: 3, directoryId: 'd3', since: NOW } }); // prettier-ignore
  });

  test('brokers that only follow are none', () => {
    assert.equal(step({ controllers, quorum: quorumOf(three, [member(7)]) }).do, 'done');
  });

  test('one that is to go leaves after the new ones came, when nothing is to be restarted, the leader last', () => {
    const moving = [controller(0, { leaving: true }), controller(1, { leaving: true }), controller(2), controller(3)]; // prettier-ignore
    const before = step({ controllers: moving, quorum: quorumOf(three, [member(3)]) });
    assert.deepEqual([before.do, before.change?.id], ['add', 3]);
    const four = [...three, member(3)];
    assert.equal(step({ controllers: moving, quorum: quorumOf(four), isRolled: false }).do, 'wait');
    assert.deepEqual(step({ controllers: moving, quorum: quorumOf(four) }).change?.id, 1);
    assert.deepEqual(step({ controllers: moving, quorum: quorumOf([member(0), member(2), member(3)]) }).change?.id, 0); // prettier-ignore
  });

  test('nobody leaves while too few of the others can vote', () => {
    const behind = [member(0), member(1, 60_000), member(2), member(3)];
    const moving = [controller(0, { leaving: true }), ...[1, 2, 3].map((id) => controller(id))];
    assert.equal(step({ controllers: moving, quorum: quorumOf(behind, [], 2) }).do, 'remove');
    const unready = [controller(0, { leaving: true }), controller(1), controller(2), controller(3, { ready: false })]; // prettier-ignore
    assert.equal(step({ controllers: unready, quorum: quorumOf(behind, [], 2) }).do, 'wait');
  });

  test('one that follows with another disk is another voter: the former one leaves first, also during a roll', () => {
    const lost = [member(0), member(1), member(2, 60_000)];
    const quorum = quorumOf(lost, [member(2, 0, 'new')]);
    assert.deepEqual(step({ controllers, quorum, isRolled: false }).change, { do: 'remove', id: 2, directoryId: 'd2', since: NOW }); // prettier-ignore
    const after = step({ controllers, quorum: quorumOf([member(0), member(1)], [member(2, 0, 'new')]), isRolled: false }); // prettier-ignore
    assert.deepEqual([after.do, after.change?.directoryId], ['add', 'new2']);
  });

  test('what a leader remembers of a former disk is neither added nor a reason to remove', () => {
    const former = member(2, 60_000);
    const added = step({
      controllers,
      quorum: quorumOf([member(0), member(1)], [former, member(2, 0, 'new')]),
    });
    assert.deepEqual([added.do, added.change?.directoryId], ['add', 'new2']);
    assert.equal(step({ controllers, quorum: quorumOf([member(0), member(1), member(2, 0, 'new')], [former]) }).do, 'done'); // prettier-ignore
  });

  test('one that is to lose its disk does not vote with it any more, if the others can do without it', () => {
    const asking = [controller(0), controller(1), controller(2, { losesDisk: true })];
    const removed = step({ controllers: asking, quorum: quorumOf(three), isRolled: false });
    assert.deepEqual([removed.do, removed.change?.id], ['remove', 2]);
    assert.equal(
      step({ controllers: asking, quorum: quorumOf([member(0), member(1)], [member(2)]) }).do,
      'done',
    );
    assert.equal(
      step({ controllers: [controller(0, { losesDisk: true })], quorum: quorumOf([member(0)]) }).do,
      'done',
    );
  });

  test('what was asked for is waited for, and nothing else begun until it is over', () => {
    const change: VoterChange = { do: 'add', id: 3, directoryId: 'd3', since: NOW - 5000 };
    const all = [...controllers, controller(3)];
    const quorum = quorumOf(three, [member(3), member(4)]);
    const waits = step({ controllers: all, quorum, change });
    assert.deepEqual([waits.do, waits.change], ['wait', change]);
    assert.deepEqual(step({ controllers: all, quorum, change, isRefused: true }).change, {
      ...change,
      since: NOW,
    });
    const other = [...controllers, controller(3, { leaving: true }), controller(4)];
    assert.equal(step({ controllers: other, quorum, change }).do, 'wait');
    const late = { ...change, since: NOW - CHANGE_SETTLES_MS - 1 };
    assert.equal(step({ controllers: other, quorum, change: late }).change?.id, 4);
    assert.equal(
      step({ controllers: all, quorum: quorumOf([...three, member(3)]), change }).change,
      undefined,
    );
  });

  test('one that is to go is free when it does not vote, and nothing is under way', () => {
    const input: VoterInput = { now: NOW, quorum: quorumOf([member(1)]), caughtUpWithinMs: 2000, controllers: [controller(0, { leaving: true }), controller(1)], change: undefined, isRefused: false, isRolled: true }; // prettier-ignore
    assert.deepEqual(nonVoters(input), [0]);
    assert.deepEqual(nonVoters({ ...input, quorum: quorumOf([member(0), member(1)]) }), []);
    assert.deepEqual(nonVoters({ ...input, quorum: undefined }), []);
    assert.deepEqual(
      nonVoters({ ...input, change: { do: 'add', id: 0, directoryId: 'd0', since: NOW } }),
      [],
    );
  });
});

/** What becomes of a request that a step decides. */
type Fate = 'done' | 'crashed before it' | 'answer lost' | 'late' | 'refused';

interface World {
  now: number;
  voters: Voter[];
  /** The disk that each node has. */
  disks: Map<number, string>;
  up: Set<number>;
  leaving: Set<number>;
  /** Those that are to get new disks. */
  asking: Set<number>;
  ids: Set<number>;
  /** All that outlives the operator. */
  change: VoterChange | undefined;
  /** Whether the operator remembers that Kafka refused it. */
  isRefused: boolean;
  /** Requests on their way, and until when they may arrive. */
  late: { step: Extract<VoterStep, { do: 'add' | 'remove' }>; until: number }[];
}

const votersUp = ({ voters, up, disks }: Pick<World, 'voters' | 'up' | 'disks'>) =>
  voters.filter(({ id, directoryId }) => up.has(id) && disks.get(id) === directoryId);
const canVote = (world: Pick<World, 'voters' | 'up' | 'disks'>) =>
  votersUp(world).length * 2 > world.voters.length;

function factsOf(world: World): MemberFacts | undefined {
  if (!canVote(world)) return undefined;
  const memberOf = ({ id, directoryId }: Voter, isUp: boolean): QuorumMember => ({ id, directoryId, lastCaughtUpMs: world.now - (isUp ? 0 : 60_000) }); // prettier-ignore
  const able = votersUp(world);
  const observers = [...world.ids]
    .filter((id) => world.up.has(id))
    .map((id) => ({ id, directoryId: world.disks.get(id)! }))
    .filter(
      (one) => !world.voters.some((voter) => voter.id === one.id && voter.directoryId === one.directoryId),
    );
  return {
    at: world.now,
    leader: able[0]!.id,
    voters: world.voters.map((one) => memberOf(one, able.includes(one))),
    observers: observers.map((one) => memberOf(one, true)),
  };
}

/** As Kafka does it; `isOurs` where nothing else has happened since it was decided. */
function arrive(world: World, { do: what, voter }: World['late'][number]['step'], isOurs: boolean): void {
  const before = canVote(world);
  // Kafka changes voters only with a leader, one at a time, and knows them with their disks.
  if (!before) return;
  const { id, directoryId } = voter;
  if (what === 'add' && !world.voters.some((one) => one.id === id)) world.voters.push({ id, directoryId });
  if (what === 'remove') {
    const left = world.voters.filter((one) => one.id !== id || one.directoryId !== directoryId);
    if (left.length > 0) world.voters = left;
  }
  if (isOurs) assert.ok(canVote(world), `${what} ${id} leaves no majority`);
}

function look(world: World, fate: Fate, isRolled: boolean): VoterStep {
  const controllers = [...world.ids].map((id) => ({
    id,
    leaving: world.leaving.has(id),
    ready: world.up.has(id),
    losesDisk: world.asking.has(id),
  }));
  const input: VoterInput = { now: world.now, quorum: factsOf(world), caughtUpWithinMs: 2000, controllers, change: world.change, isRefused: world.isRefused, isRolled }; // prettier-ignore
  const decided = nextVoter(input);
  for (const id of nonVoters(input)) {
    assert.ok(!world.voters.some((voter) => voter.id === id), `${id} goes and votes`);
    assert.equal(world.late.length, 0, `${id} goes while something may still come`);
    world.ids.delete(id);
    world.up.delete(id);
    world.leaving.delete(id);
  }
  world.change = decided.change;
  world.isRefused = false;
  if (decided.do !== 'add' && decided.do !== 'remove') return decided;
  assert.ok(decided.change, 'what is done is written down');
  world.isRefused = fate === 'refused';
  assert.equal(world.late.length, 0, 'two requests are under way');
  if (fate === 'late') world.late.push({ step: decided, until: decided.change.since + CHANGE_SETTLES_MS });
  else if (fate === 'done' || fate === 'answer lost') arrive(world, decided, true);
  return decided;
}

const id = fc.integer({ min: 0, max: 6 });
type Happening =
  | { what: 'look'; fate: Fate; isRolled: boolean }
  | { what: 'time'; ms: number }
  | { what: 'up' | 'down' | 'new disk' | 'leave' | 'stay' | 'come'; id: number }
  | { what: 'arrive' };
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant('look' as const), fate: fc.constantFrom<Fate>('done', 'crashed before it', 'answer lost', 'late', 'refused'), isRolled: fc.boolean() }) }, // prettier-ignore
  { weight: 2, arbitrary: fc.record({ what: fc.constant('time' as const), ms: fc.constantFrom(2000, 60_000, CHANGE_SETTLES_MS + 1) }) }, // prettier-ignore
  { weight: 3, arbitrary: fc.record({ what: fc.constantFrom('up' as const, 'down' as const, 'new disk' as const, 'leave' as const, 'stay' as const, 'come' as const), id }) }, // prettier-ignore
  { weight: 1, arbitrary: fc.record({ what: fc.constant('arrive' as const) }) },
);

function renew({ asking, disks }: World, id: number): void {
  asking.delete(id);
  disks.set(id, `${disks.get(id)!}+`);
}

function happen(world: World, one: Happening): void {
  const { ids, up, disks, leaving } = world;
  if (one.what === 'look') look(world, one.fate, one.isRolled);
  else if (one.what === 'time') world.now += one.ms;
  else if (one.what === 'arrive')
    world.late.splice(0, 1).forEach(({ step: late }) => arrive(world, late, false));
  else if (one.what === 'come' && !ids.has(one.id)) {
    ids.add(one.id);
    disks.set(one.id, `disk-${one.id}-${world.now}`);
  } else if (!ids.has(one.id)) return;
  else if (one.what === 'up') up.add(one.id);
  else if (one.what === 'down') up.delete(one.id);
  else if (one.what === 'stay') leaving.delete(one.id);
  else if (one.what === 'leave' && [...ids].some((other) => other !== one.id && !leaving.has(other)))
    leaving.add(one.id); // prettier-ignore
  else if (one.what === 'new disk') {
    // As the roller does it: not while it votes with the one it has.
    if (!world.asking.has(one.id)) world.asking.add(one.id);
    else if (!world.voters.some((voter) => voter.id === one.id) && world.late.length === 0)
      renew(world, one.id);
  }
  // What was sent long ago does not arrive any more.
  world.late = world.late.filter(({ until }) => until >= world.now);
}

function newWorld(size: number): World {
  const all = Array.from({ length: size }, (_, each) => each);
  const disks = new Map(all.map((each) => [each, `disk-${each}`]));
  return {
    now: NOW,
    voters: all.map((each) => ({ id: each, directoryId: disks.get(each)! })),
    disks,
    up: new Set(all),
    leaving: new Set(),
    asking: new Set(),
    ids: new Set(all),
    change: undefined,
    isRefused: false,
    late: [],
  };
}

test('never takes the majority away, and ends with just those that stay', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(happening, { maxLength: 120, size: 'max' }),
      (size, all) => {
        const world = newWorld(size);
        for (const one of all) happen(world, one);
        // All is well again.
        world.now += CHANGE_SETTLES_MS + 1;
        world.late = [];
        for (const each of world.ids) world.up.add(each);
        assert.ok(canVote(world), 'a majority is lost for good');
        const staying = () =>
          [...world.ids].filter((each) => !world.leaving.has(each)).toSorted((a, b) => a - b);
        for (let looks = 0; looks < 60; looks++) {
          const wasAsking = world.asking.size > 0;
          const { do: what } = look(world, 'done', true);
          for (const each of world.asking)
            if (!world.voters.some((voter) => voter.id === each)) renew(world, each);
          if (what === 'done' && !wasAsking) break;
          world.now += 2000;
        }
        look(world, 'done', true);
        assert.deepEqual(
          world.voters.map((voter) => voter.id).toSorted((a, b) => a - b),
          staying(),
        );
        assert.deepEqual(
          [...world.ids].toSorted((a, b) => a - b),
          staying(),
        );
        for (const voter of world.voters) assert.equal(voter.directoryId, world.disks.get(voter.id));
      },
    ),
    { numRuns: 500 },
  );
});
