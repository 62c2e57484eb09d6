import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  CRASHING,
  NOW,
  UNREADY,
  flight,
  input,
  node,
  pod,
  quorum,
  short,
  why,
} from '../../../../test/support/roll/roll-input.ts';
import { partitionsByNode } from './partitions.ts';
import type { InFlight, RollInput, RollNode } from './facts.ts';
import { DELETE_SETTLES_MS, nextRoll } from './next-roll.ts';
import { END_SETTLES_MS, RUNS_MS } from './past-end.ts';
import type { RestartReason } from './restart-reasons.ts';

const RENEWED: RestartReason[] = [{ name: 'CA_CERT_HAS_OLD_GENERATION', note: 'the cluster CA was renewed' }];
const ENDED = { reasons: RENEWED, ended: { at: NOW - END_SETTLES_MS, listens: false } };
const SILENT: Partial<RollInput> = { quorum: undefined, brokers: undefined, partitions: undefined };
const ended = (id: number, change: Partial<RollNode> = {}) => node(id, { ...ENDED, ...change });

suite('nodes past the end of their certificates', () => {
  test('are restarted although nobody can be asked, once there was time to load what is new', () => {
    const three = [ended(0), ended(1), ended(2)];
    assert.equal(short(input(three, SILENT)), 'restart 0');
    assert.match(why(input(three, SILENT)), /its certificate has ended, so nobody can be asked/);
    const early = three.map((one) => ({ ...one, ended: { at: NOW - END_SETTLES_MS + 1, listens: false } }));
    assert.match(why(input(early, SILENT)), /quorum is unknown; .* ended at 1970-/);
    const valid = three.map((one) => ({ ...one, ended: undefined }));
    assert.equal(short(input(valid, SILENT)), 'blocked 0');
  });

  test('while others can be asked, what these say counts', () => {
    const three = [ended(0), ended(1), ended(2)];
    assert.equal(short(input(three, { quorum: quorum(2, [0, 1, 2], [1]) })), 'restart 1');
    const two = [ended(0), node(1), ended(2)];
    const lagging = { quorum: quorum(2, [0, 1, 2], [1]) };
    const starting = [two[0]!, node(1, { pod: pod(1, { runningSince: NOW - RUNS_MS + 1 }) }), two[2]!];
    assert.equal(short(input(starting, lagging)), 'blocked 0', 'it may be about to catch up');
    assert.equal(short(input(two, lagging)), 'restart 0', 'who was restarted cannot catch up with them');
    const listening = two.map((one) => ({ ...one, ended: one.ended && { ...one.ended, listens: true } }));
    assert.equal(short(input(listening, lagging)), 'blocked 0', 'with these it could');
    assert.equal(short(input(listening, SILENT)), 'restart 0', 'their own connections are as they were');
  });

  test('a second process is not taken away while the first does not run, or has only begun to', () => {
    const after = (change: object) =>
      input([node(0, { pod: pod(0, { uid: 'new', ...UNREADY, ...change }) }), ended(1), ended(2)], {
        ...SILENT,
        inFlight: flight(0, NOW - 40_000),
      });
    assert.equal(short(after({ running: false, phase: 'Pending' })), 'wait 0');
    assert.equal(short(after({ runningSince: NOW - RUNS_MS + 1 })), 'wait 0');
    assert.equal(short(after({ runningSince: undefined })), 'wait 0');
    assert.equal(short(after(CRASHING)), 'blocked 0', 'a bad configuration stops there');
    assert.equal(short(after({ runningSince: NOW - RUNS_MS })), 'restart 1');
    const decision = nextRoll(after({ runningSince: NOW - RUNS_MS }));
    assert.equal(decision.inFlight?.earlier?.node, 0);
  });

  test('one whose data goes with its pod is never, and it is said what to do', () => {
    const three = [0, 1, 2].map((id) => ended(id, { keepsData: false }));
    assert.match(
      why(input(three, SILENT)),
      /data goes with its pod: save .* delete the pod events-nodes-0 by/,
    );
  });

  test('one that cannot be seen keeps all from it', () => {
    const three = [ended(0), ended(1), ended(2, { target: 'away' })];
    assert.match(why(input(three, { ...SILENT, unreachable: new Set(['away']) })), /cannot be reached/);
  });
});

interface Member {
  id: number;
  roles: RollNode['roles'];
  uid: number;
  isNew: boolean;
  /** When its process began, or will begin. */
  startsAt: number;
}

const shapes = fc
  .record({
    voters: fc.integer({ min: 1, max: 5 }),
    brokers: fc.nat(3),
    combined: fc.boolean(),
    startMs: fc.integer({ min: 1000, max: 90_000 }),
    losses: fc.array(fc.boolean(), { maxLength: 6 }),
  })
  .map(({ voters, brokers, combined, ...rest }) => {
    const both = ['broker', 'controller'] as const;
    const rolesOf = (id: number): RollNode['roles'] =>
      id >= voters ? ['broker'] : combined ? both : ['controller'];
    return { roles: Array.from({ length: voters + brokers }, (_, id) => rolesOf(id)), ...rest };
  });

/**
 * A cluster whose certificates have ended: nodes of before get through to nobody who is new, nor does the operator to them. New ones
 * are a quorum as soon as they are a majority, and then answer.
 */
function roll({
  roles,
  startMs,
  losses,
}: {
  roles: RollNode['roles'][];
  startMs: number;
  losses: boolean[];
}) {
  let [now, uids] = [NOW, 100];
  const begun = { isNew: false, startsAt: NOW - 3_600_000 };
  const members = roles.map((own, id): Member => ({ id, roles: own, uid: id, ...begun }));
  const lost = [...losses];
  let inFlight: InFlight | undefined;
  const isUp = ({ startsAt }: Member) => startsAt <= now;
  const voters = members.filter((one) => one.roles.includes('controller'));
  const isWorking = (one: Member) => one.isNew && isUp(one);
  for (let round = 0; round < 2000; round++) {
    const leader = voters.filter(isWorking).length * 2 > voters.length ? voters.find(isWorking) : undefined;
    const isReady = (one: Member) => isUp(one) && (!one.isNew || leader !== undefined);
    const nodes = members.map((one) =>
      node(one.id, {
        roles: one.roles,
        reasons: one.isNew ? [] : RENEWED,
        ended: one.isNew ? undefined : ENDED.ended,
        pod: pod(one.id, {
          uid: String(one.uid),
          ready: isReady(one),
          running: isUp(one),
          runningSince: isUp(one) ? one.startsAt : undefined,
        }),
      }),
    );
    const brokers = members.filter((one) => one.roles.includes('broker'));
    const working = brokers.filter(isWorking).map(({ id }) => id);
    const unready = new Set(members.filter((one) => !isReady(one)).map(({ id }) => id));
    const partition = { topic: 't', partition: 0, replicas: brokers.map(({ id }) => id), minIsr: 2 };
    // The last one stays in the ISR, whoever can still reach it.
    const isr = working.length > 0 ? working : [brokers.at(-1)?.id ?? 0];
    const canAsk = leader !== undefined && working.length > 0;
    const decision = nextRoll(
      input(nodes, {
        now,
        podsSeenAt: now,
        quorum: leader && {
          at: now,
          leader: leader.id,
          voters: voters.map((one) => ({ id: one.id, lastCaughtUpMs: isWorking(one) ? now : -1 })),
        },
        brokers: canAsk
          ? { at: now, registered: new Map(brokers.map((one) => [one.id, { fenced: !isWorking(one) }])) }
          : undefined,
        partitions: canAsk
          ? { at: now, unready, byNode: partitionsByNode([{ ...partition, isr }], unready) }
          : undefined,
        inFlight,
      }),
    );
    inFlight = decision.inFlight;
    if (decision.do === 'done') return members;
    if (decision.do === 'restart') {
      const down = members.filter((one) => !isUp(one)).map(({ id }) => id);
      assert.deepEqual(down, [], `takes node ${decision.node} while others do not run`);
      const member = members[decision.node]!;
      assert.equal(member.isNew, false, 'restarts what was restarted');
      // A delete that was written down and never sent, or not carried out.
      if (!lost.shift()) Object.assign(member, { isNew: true, uid: (uids += 1), startsAt: now + startMs });
    }
    now += decision.do === 'restart' ? 1000 : 5000;
  }
  throw new Error(`never ends: ${JSON.stringify({ members, inFlight })}`);
}

suite('a cluster past the end of its certificates', () => {
  test('is restarted as a whole, one process at a time, whatever its shape and whatever deletes are lost', () => {
    assert.ok(DELETE_SETTLES_MS < 2000 * 5000);
    fc.assert(
      fc.property(shapes, (shape) => assert.ok(roll(shape).every(({ isNew }) => isNew))),
      { numRuns: 500 },
    );
  });
});
