import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { newWorker, poolHealth, step } from './supervision.ts';
import type { Order, WorkerEvent, WorkerState } from './supervision.ts';

/** The state after these events, and the orders given on the way. */
function after(events: readonly WorkerEvent[], from = newWorker()): { state: WorkerState; orders: Order[] } {
  let state = from;
  const orders: Order[] = [];
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    if (next.order) orders.push(next.order);
  }
  return { state, orders };
}

const ticks = (count: number, isStopped = false): WorkerEvent[] =>
  Array.from({ length: count }, () => ({ type: 'tick', isStopped }));
const SERVE: WorkerEvent[] = [{ type: 'applying' }, { type: 'applied', inEffect: true }];
const OWNER = { service: 'bad 1', filter: 'guard' };
const stalled = (forMs: number): WorkerEvent => ({ type: 'stalled', note: { owner: OWNER, forMs } });
const CRASH: WorkerEvent = { type: 'exited', why: 'exit code 1' };

const anyEvent = fc.oneof(
  { weight: 4, arbitrary: fc.constant<WorkerEvent>({ type: 'tick', isStopped: false }) },
  fc.constant<WorkerEvent>({ type: 'tick', isStopped: true }),
  fc.constant<WorkerEvent>({ type: 'heard' }),
  fc.constant<WorkerEvent>({ type: 'applying' }),
  fc.nat({ max: 20_000 }).map(stalled),
  fc.boolean().map((inEffect): WorkerEvent => ({ type: 'applied', inEffect })),
);

suite('supervision', () => {
  test('a worker that is heard of is left alone', () => {
    const minutes = ticks(300).flatMap((tick): WorkerEvent[] => [tick, { type: 'heard' }]);
    assert.deepEqual(after([...SERVE, ...minutes]).orders, []);
  });

  test('a silent one is killed once, and replaced soon, if it had served for a while', () => {
    const served = after([...SERVE, ...ticks(9), { type: 'heard' }, ...ticks(9)]);
    assert.deepEqual(served.orders, []);
    const killed = after(ticks(5), served.state);
    assert.deepEqual(killed.orders, [{ do: 'kill', why: 'silent for 10 s' }]);
    assert.deepEqual(after([{ type: 'exited', why: 'SIGKILL' }], killed.state).orders, [
      { do: 'restart', inMs: 100 },
    ]);
  });

  test('one that is stopped is killed as soon as it has missed a message, whatever it was doing', () => {
    const kill = { do: 'kill', why: 'stopped by a signal' };
    assert.deepEqual(after([...SERVE, ...ticks(1, true)]).orders, []);
    assert.deepEqual(after([...SERVE, ...ticks(5, true)]).orders, [kill]);
    assert.deepEqual(after([...SERVE, { type: 'applying' }, ...ticks(2, true)]).orders, [kill]);
    assert.deepEqual(after(ticks(2, true)).orders, [kill]);
    const awake = ticks(9, true).flatMap((tick): WorkerEvent[] => [tick, { type: 'heard' }]);
    assert.deepEqual(after([...SERVE, ...awake]).orders, []);
  });

  test('one that changes its configuration has more time', () => {
    assert.deepEqual(after([...SERVE, { type: 'applying' }, ...ticks(59)]).orders, []);
    assert.equal(after([...SERVE, { type: 'applying' }, ...ticks(60)]).orders.length, 1);
  });

  test('one in which a filter computes all the time is killed for that, also while it starts or changes, and the filter is blamed', () => {
    const why = 'filter "guard" of virtual cluster "bad" does not end';
    const kill = { do: 'kill', why, blame: { owner: OWNER, how: 'hung' } };
    for (const [before, most] of [
      [SERVE, 8000],
      // Packages are loaded and filters made then, which may take its time.
      [[], 20_000],
      [[...SERVE, { type: 'applying' } as const], 20_000],
    ] as const) {
      assert.deepEqual(after([...before, stalled(most - 1000), ...ticks(1)]).orders, []);
      const { state, orders } = after([...before, stalled(most), ...ticks(1)]);
      assert.deepEqual(orders, [kill]);
      const [restart] = after([{ type: 'exited', why: 'SIGKILL' }], state).orders;
      assert.ok(restart?.do === 'restart' && restart.blame === undefined);
    }
    const silent = after([...SERVE, ...ticks(9), stalled(5000), ...ticks(1)]).orders;
    assert.deepEqual(silent, [{ do: 'kill', why: 'silent for 10 s', blame: kill.blame }]);
  });

  test('one that has just begun is blamed less: it takes two of those', () => {
    const begun = after([...SERVE, ...ticks(9), stalled(4000), ...ticks(1)]).orders;
    const blame = { owner: OWNER, how: 'ended' };
    assert.deepEqual(begun, [{ do: 'kill', why: 'silent for 10 s', blame }]);
  });

  test('no filter is blamed that has come to its end, or for a worker that somebody stopped', () => {
    const ended: WorkerEvent[] = [...SERVE, stalled(7000), { type: 'stalled', note: { forMs: 0 } }];
    assert.deepEqual(after([...ended, ...ticks(10)]).orders, [{ do: 'kill', why: 'silent for 10 s' }]);
    const stopped = after([...SERVE, stalled(8000), ...ticks(2, true)]).orders;
    assert.deepEqual(stopped, [{ do: 'kill', why: 'stopped by a signal' }]);
  });

  test('the filter is blamed in whose code a worker has ended by itself, and not for the next one', () => {
    const { state, orders } = after([...SERVE, stalled(0), CRASH]);
    assert.deepEqual(orders, [{ do: 'restart', inMs: 200, blame: { owner: OWNER, how: 'ended' } }]);
    const next = after([{ type: 'started' }, ...SERVE, CRASH], state).orders;
    assert.deepEqual(next, [{ do: 'restart', inMs: 400 }]);
  });

  test('crash loops back off up to half a minute, and a worker that lasts ends that', () => {
    let { state } = after([]);
    const delays: number[] = [];
    for (let i = 0; i < 12; i++) {
      const { state: next, orders } = after([...SERVE, CRASH, { type: 'started' }], state);
      state = next;
      for (const order of orders) if (order.do === 'restart') delays.push(order.inMs);
    }
    assert.deepEqual(delays.slice(0, 4), [200, 400, 800, 1600]);
    assert.equal(delays.at(-1), 30_000);
    const lasted = after([...SERVE, ...ticks(9), { type: 'heard' }, ...ticks(1), CRASH], state);
    assert.deepEqual(lasted.orders, [{ do: 'restart', inMs: 100 }]);
  });

  test('whatever happens, a worker either serves, or there is an end to it', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 200, size: 'max' }), (events) => {
        const { state, orders } = after(events);
        assert.equal(orders.length, state.phase === 'killed' ? 1 : 0);
        const silence = after(ticks(60), state);
        assert.equal(silence.state.phase, 'killed');
        assert.equal(orders.length + silence.orders.length, 1);
      }),
    );
  });

  test('the pool is ready while anyone serves, and says what is wrong with the rest', () => {
    const serving = after(SERVE).state;
    const silent = after([...SERVE, ...ticks(6)]).state;
    const crashed = after([CRASH, { type: 'started' }, CRASH]).state;
    assert.deepEqual(poolHealth([serving, silent], 5000), {
      serving: 1,
      problems: ['worker 2 has been silent for 6 s'],
    });
    const none = poolHealth([silent, crashed], 0);
    assert.equal(none.notLive, undefined);
    assert.equal(
      none.notReady,
      'no worker is serving: worker 1 has been silent for 6 s; ' +
        'worker 2 waits to be started again after failing 2 times in a row (exit code 1)',
    );
  });

  test('the supervisor is not live when it has killed and nothing ends, or when nothing has served for minutes', () => {
    const killed = after([...SERVE, ...ticks(10 + 30)]).state;
    assert.match(poolHealth([killed, killed], 0).notLive ?? '', /was killed 30 s ago/);
    assert.match(poolHealth([after([CRASH]).state], 180_000).notLive ?? '', /no worker is serving/);
    assert.equal(poolHealth([after(SERVE).state, killed], 180_000).notLive, undefined);
  });
});
