/** Several processes and one server, all made of numbers: each schedule of delays, failures and pauses can be tried. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkTimes, granted, leadsFor, nextStep, observe } from './lease-machine.ts';
import type { ElectionState, Instant, SeenLease } from './lease-machine.ts';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
const END = 200_000;

/** How one try goes: delays of the four messages, and which of them are lost. */
interface Try {
  delays: [number, number, number, number];
  lost: 'none' | 'read' | 'write' | 'answer';
  pause: number;
}

interface Process {
  name: string;
  /** Of its clocks: where they start, and how fast they go. */
  offset: number;
  rate: number;
  tries: Try[];
  startAt: number;
}

const delay = fc.oneof(fc.nat(50), fc.nat(3000), fc.nat(40_000));
const oneTry: fc.Arbitrary<Try> = fc.record({
  delays: fc.tuple(delay, delay, delay, delay),
  lost: fc.oneof(
    { weight: 5, arbitrary: fc.constant('none' as const) },
    fc.constantFrom('read', 'write', 'answer'),
  ),
  // Never none: a process that pauses for no time at all would try for ever in the same moment.
  pause: fc.oneof({ weight: 5, arbitrary: fc.constant(2000) }, fc.integer({ min: 100, max: 30_000 })),
});
const processes: fc.Arbitrary<Process[]> = fc
  .array(
    fc.record({
      offset: fc.integer({ min: -1e9, max: 1e9 }),
      rate: fc.double({ min: 0.9, max: 1.1, noNaN: true }),
      tries: fc.array(oneTry, { minLength: 1, maxLength: 60 }),
      startAt: fc.nat(5000),
    }),
    { minLength: 2, maxLength: 4 },
  )
  .map((list) => list.map((one, i) => ({ ...one, name: `p${i}` })));

interface Simulation {
  /** Who leads at a time, by each one's own reckoning. */
  leadersAt(time: number): string[];
  run(): number[];
}

function simulate(members: Process[]): Simulation {
  let lease: SeenLease | undefined;
  let version = 0;
  const states = new Map<string, ElectionState>(members.map(({ name }) => [name, {}]));
  const agenda: { at: number; order: number; act: () => void }[] = [];
  let time = 0;
  let order = 0;
  const at = (when: number, act: () => void) => void agenda.push({ at: when, order: order++, act });
  const clockOf = ({ offset, rate }: Process): Instant => ({ mono: offset + time * rate, wall: time * rate });

  /** One try; each `yield` is a message on its way. */
  function* attempt(member: Process, { delays, lost }: Try): Generator<number, void> {
    if (lost === 'read') return;
    yield delays[0];
    const found = lease; // the moment at which the server reads
    yield delays[1];
    const state = observe(states.get(member.name)!, member.name, found, clockOf(member));
    states.set(member.name, state);
    const step = nextStep(state, member.name, clockOf(member), TIMES);
    if (step.do === 'wait') return;
    const begun = clockOf(member);
    yield delays[2];
    const expected = step.do === 'create' ? undefined : step.resourceVersion;
    if (lost === 'write' || lease?.resourceVersion !== expected) return;
    version += 1;
    const transitions = step.do === 'create' ? 0 : step.transitions;
    lease = { resourceVersion: String(version), holder: member.name, durationMs: 15_000, transitions };
    const written = lease;
    if (lost === 'answer') return;
    yield delays[3];
    states.set(member.name, granted(written, begun, clockOf(member)));
  }

  function proceed(member: Process, index: number, current: Generator<number, void>): void {
    const { value, done } = current.next();
    if (!done) return at(time + value, () => proceed(member, index, current));
    const plan = member.tries[index % member.tries.length]!;
    return at(time + plan.pause, () => begin(member, index + 1));
  }

  function begin(member: Process, index: number): void {
    proceed(member, index, attempt(member, member.tries[index % member.tries.length]!));
  }

  for (const member of members) at(member.startAt, () => begin(member, 0));
  const leadersAt = (when: number) => {
    time = when;
    return members
      .filter((one) => leadsFor(states.get(one.name)!, clockOf(one), TIMES) > 0)
      .map(({ name }) => name);
  };
  return {
    leadersAt,
    /** Runs to the end; returns how many led, looked at before and after everything that happens. */
    run() {
      const leaders: number[] = [];
      while (agenda.length > 0) {
        agenda.sort((a, b) => a.at - b.at || a.order - b.order);
        const next = agenda.shift()!;
        if (next.at > END) break;
        leaders.push(leadersAt(next.at).length);
        next.act();
        leaders.push(leadersAt(next.at).length);
      }
      return leaders;
    },
  };
}

suite('lease machine', () => {
  test('never two leaders, whatever is delayed, lost, paused or off', () => {
    let reigns = 0;
    fc.assert(
      fc.property(processes, (members) => {
        const leaders = simulate(members).run();
        assert.ok(Math.max(0, ...leaders) <= 1, 'two leaders');
        if (leaders.includes(1)) reigns += 1;
      }),
      { numRuns: 400 },
    );
    assert.ok(reigns > 200, `the test would show nothing if hardly anybody ever led (${reigns})`);
  });

  test('when all goes well there is a leader, and after its death another one within the lease time', () => {
    const well: Try = { delays: [5, 5, 5, 5], lost: 'none', pause: 2000 };
    const member = (name: string, startAt: number): Process => ({
      name,
      offset: startAt * 77,
      rate: 1,
      tries: [well],
      startAt,
    });
    const dead: Try = { ...well, pause: 10 * END };
    const simulation = simulate([
      { ...member('first', 0), tries: [well, well, dead] },
      member('second', 1000),
    ]);
    simulation.run();
    assert.deepEqual(simulation.leadersAt(END), ['second']);
  });

  test('after a suspension the time of day ends a term, and a time of day set back prolongs none', () => {
    const lease = { resourceVersion: '1', holder: 'me', durationMs: 15_000, transitions: 0 };
    const state = granted(lease, { mono: 0, wall: 0 }, { mono: 10, wall: 10 });
    assert.ok(leadsFor(state, { mono: 5000, wall: 5000 }, TIMES) > 0);
    assert.ok(leadsFor(state, { mono: 5000, wall: 60_000 }, TIMES) <= 0);
    assert.ok(leadsFor(state, { mono: 10_000, wall: -99_000 }, TIMES) <= 0);
  });

  test('a follower does not believe in a time of day set forward', () => {
    const lease = { resourceVersion: '1', holder: 'other', durationMs: 15_000, transitions: 3 };
    const state = observe({}, 'me', lease, { mono: 0, wall: 0 });
    assert.deepEqual(nextStep(state, 'me', { mono: 14_000, wall: 1e12 }, TIMES), { do: 'wait' });
    assert.deepEqual(nextStep(state, 'me', { mono: 15_001, wall: 0 }, TIMES), {
      do: 'take',
      resourceVersion: '1',
      transitions: 4,
    });
    const longer = observe({}, 'me', { ...lease, durationMs: 60_000 }, { mono: 0, wall: 0 });
    assert.deepEqual(nextStep(longer, 'me', { mono: 15_001, wall: 0 }, TIMES), { do: 'wait' });
  });

  test('a leader that finds its lease taken or deleted, by hand, leads no more', () => {
    const lease = { resourceVersion: '1', holder: 'me', durationMs: 15_000, transitions: 0 };
    const now = { mono: 10, wall: 10 };
    const leading = granted(lease, { mono: 0, wall: 0 }, now);
    assert.ok(leadsFor(observe(leading, 'me', { ...lease, resourceVersion: '2' }, now), now, TIMES) > 0);
    const stolen = { ...lease, resourceVersion: '2', holder: 'thief' };
    assert.ok(leadsFor(observe(leading, 'me', stolen, now), now, TIMES) <= 0);
    assert.ok(leadsFor(observe(leading, 'me', undefined, now), now, TIMES) <= 0);
  });

  test('a lease given back is free at once', () => {
    const state = observe(
      {},
      'me',
      { resourceVersion: '1', holder: '', durationMs: 15_000, transitions: 0 },
      { mono: 0, wall: 0 },
    );
    assert.equal(nextStep(state, 'me', { mono: 1, wall: 1 }, TIMES).do, 'take');
  });

  test('times that allow two leaders are refused', () => {
    assert.throws(() => checkTimes({ ...TIMES, renewDeadlineMs: 15_000 }), RangeError);
    assert.throws(() => checkTimes({ ...TIMES, retryPeriodMs: 10_000 }), RangeError);
  });
});
