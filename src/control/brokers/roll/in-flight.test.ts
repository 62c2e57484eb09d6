import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  CRASHING,
  NOW,
  OLD,
  UNREADY,
  allOld,
  flight,
  input,
  node,
  partitions,
  pod,
  quorum,
  short,
  why,
} from '../../../../test/support/roll/roll-input.ts';
import type { RollInput } from './facts.ts';
import { DELETE_SETTLES_MS, PATIENCE_MS, nextRoll } from './next-roll.ts';
import type { PodFacts } from './pod-facts.ts';

suite('a restart under way', () => {
  const rest = () => allOld().slice(1);
  const after = (change: Partial<PodFacts>, given: Partial<RollInput> = {}) =>
    input([node(0, { pod: pod(0, { uid: 'new', ...change }) }), ...rest()], {
      inFlight: flight(0),
      ...given,
    });

  test('is over when the new pod is ready, caught up, and in all its ISRs', () => {
    assert.equal(short(after({})), 'restart 1');
  });

  const unfinished: Record<string, [Partial<PodFacts>, Partial<RollInput>, RegExp]> = {
    'the pod is not ready': [UNREADY, {}, /its pod is not ready/],
    'the voter lags': [{}, { quorum: quorum(2, [0, 1, 2], [0]) }, /not caught up/],
    'nobody knows the quorum': [{}, { quorum: undefined }, /quorum is unknown/],
    'nobody knows the partitions': [{}, { partitions: undefined }, /in sync is unknown/],
    'the broker is fenced': [
      {},
      { brokers: { at: NOW, registered: new Map([[0, { fenced: true }]]) } },
      /not registered, or fenced/,
    ],
    'a replica is not in sync': [
      {},
      { partitions: partitions(allOld(), [{ replicas: [0, 1, 2], isr: [1, 2], minIsr: 1 }]) },
      /not in the ISR of t-0/,
    ],
  };
  for (const [name, [change, given, expected]] of Object.entries(unfinished)) {
    test(`is not over while ${name}`, () => {
      const decision = nextRoll(after(change, given));
      assert.equal(decision.do, 'wait');
      assert.match(decision.do === 'wait' ? decision.why : '', expected);
      assert.deepEqual(decision.inFlight, flight(0), 'it stays written down');
      const late = flight(0, NOW - PATIENCE_MS - 1);
      assert.equal(short(after(change, { ...given, inFlight: late })), 'blocked 0');
    });
  }

  test('is not forgotten for a node that is down and is restarted meanwhile', () => {
    const crashing = node(1, { reasons: OLD, pod: pod(1, CRASHING) });
    const waiting = [node(0, { pod: pod(0, { uid: 'new', ...UNREADY, running: true }) })];
    const down = nextRoll(input([...waiting, crashing, ...rest().slice(1)], { inFlight: flight(0) }));
    assert.equal(down.do === 'restart' && down.node, 1);
    assert.deepEqual(down.inFlight?.earlier, flight(0));
    const isBack = input([...waiting, node(1, { pod: pod(1, { uid: 'newer' }) }), ...rest().slice(1)], {
      inFlight: down.inFlight,
    });
    assert.equal(short(isBack), 'wait 0');
    assert.deepEqual(nextRoll(isBack).inFlight, flight(0));
  });

  test('the pod is away, or on its way out: waits', () => {
    const away = (of: PodFacts | undefined) =>
      input([node(0, { pod: of }), ...rest()], { inFlight: flight(0) });
    assert.match(why(away(undefined)), /it has no pod yet/);
    assert.match(why(away(pod(0, { ...UNREADY, deleting: true }))), /is being deleted/);
  });

  test('a new pod that is stuck stops the roll; the old form of it heals', () => {
    assert.match(why(after(CRASHING)), /stuck with the present configuration/);
    const back = [node(0, { reasons: OLD, pod: pod(0, { uid: 'new', ...CRASHING }) }), node(1), node(2)];
    const decision = nextRoll(input(back, { inFlight: flight(0) }));
    assert.equal(decision.do === 'restart' && decision.podUid, 'new');
  });

  test('a delete that never arrived is repeated after all checks', () => {
    assert.equal(short(input(allOld(), { inFlight: flight(0) })), 'restart 0');
    const fell = [...allOld().slice(0, 2), node(2, { pod: pod(2, UNREADY) })];
    assert.match(why(input(fell, { inFlight: flight(0) })), /its pod may still be deleted/);
  });

  test('a delete without an answer counts as down until it cannot be carried out any more', () => {
    const back = [node(0), ...rest()];
    assert.match(why(input(back, { inFlight: flight(0) })), /its pod may still be deleted/);
    assert.equal(short(input(back, { inFlight: flight(0, NOW - DELETE_SETTLES_MS - 1) })), 'restart 1');
  });

  test('of a node that was scaled away is over', () => {
    assert.equal(short(input(allOld(), { inFlight: flight(7) })), 'restart 0');
  });
});

suite('clusters that do not answer', () => {
  const stretched = () => [node(0, { reasons: OLD }), node(1), node(2, { target: 'east', pod: undefined })];
  const away = { unreachable: new Set(['east']) };

  test('nothing is restarted elsewhere, not even what is down', () => {
    assert.match(
      why(input(stretched(), away)),
      /cluster east cannot be reached, so nobody knows about events-nodes-2/,
    );
    const [, ...others] = stretched();
    const down = [node(0, { reasons: OLD, pod: pod(0, CRASHING) }), ...others];
    assert.equal(short(input(down, away)), 'blocked');
  });

  test('it is never done while nodes cannot be seen', () => {
    assert.equal(short(input([node(0), node(1), stretched()[2]!], away)), 'blocked');
  });

  test('the user may have the rest rolled; the nodes there are still left alone', () => {
    const override = { ...away, rollWhileUnreachable: true };
    assert.equal(short(input(stretched(), override)), 'restart 0');
    const [, ...others] = stretched();
    assert.equal(short(input([node(0), ...others], override)), 'blocked');
    const lost = { ...override, inFlight: flight(2) };
    assert.equal(short(input(stretched(), lost)), 'wait 2');
    const given = { ...lost, inFlight: flight(2, NOW - DELETE_SETTLES_MS - 1) };
    assert.equal(short(input(stretched(), given)), 'restart 0');
  });
});
