import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createLog } from '../../ops/log.ts';
import { createMetrics, metricsText } from '../../ops/metrics.ts';
import { GRACE_MS, createController } from './controller.ts';
import type { Outcome } from './controller.ts';
import { ApiError } from '../http/errors.ts';
import { TIMES } from './lease.ts';
import { createManualClock, settle } from '../../../test/support/manual-clock.ts';

const log = createLog('silent');

function setUp(reconcile: (key: string, signal: AbortSignal) => Promise<Outcome>, concurrency = 2) {
  const clock = createManualClock();
  const controller = createController({
    name: 'test',
    reconcile,
    log,
    clock,
    concurrency,
    random: () => 0.5,
  });
  return { clock, controller };
}

suite('controller', () => {
  test('each outcome is counted, and followed by what it promises', async () => {
    const calls: string[] = [];
    const outcomes: Record<string, Outcome> = {
      fine: { outcome: 'success' },
      later: { outcome: 'lookAgain', afterMs: 60_000 },
      broken: { outcome: 'error', error: new Error('no') },
      wrong: { outcome: 'terminal', error: new Error('never') },
    };
    const { clock, controller } = setUp(async (key) => {
      calls.push(key);
      if (key === 'thrown') throw new Error('oops');
      return outcomes[key]!;
    });
    for (const key of [...Object.keys(outcomes), 'thrown']) controller.enqueue(key);
    await settle();
    assert.equal(calls.length, 0, 'not before it is started');
    controller.start();
    await clock.advance(0);
    assert.deepEqual(calls, ['fine', 'later', 'broken', 'wrong', 'thrown']);
    assert.deepEqual(controller.outcomes, { success: 1, lookAgain: 1, error: 2, terminal: 1 });
    assert.equal(controller.failing, 2);

    calls.length = 0;
    await clock.advance(3600);
    assert.deepEqual(
      calls,
      ['broken', 'thrown', 'broken', 'thrown', 'broken', 'thrown'],
      'after 0.5, 1 and 2 s',
    );
    calls.length = 0;
    await clock.advance(57_000);
    assert.equal(calls.filter((key) => key === 'later').length, 1);
    assert.ok(!calls.includes('wrong') && !calls.includes('fine'));
    controller.enqueue('wrong');
    await clock.advance(0);
    assert.ok(calls.includes('wrong'), 'a change makes a terminal one be looked at again');
    await controller.stop();
  });

  test('success ends the row of failures, and the server’s wish to wait is honoured', async () => {
    let result: Outcome = {
      outcome: 'error',
      error: new ApiError(429, 'Busy', 'busy', { retryAfterMs: 20_000 }),
    };
    let calls = 0;
    const { clock, controller } = setUp(async () => {
      calls += 1;
      return result;
    });
    controller.start();
    controller.enqueue('a');
    await clock.advance(19_000);
    assert.equal(calls, 1);
    result = { outcome: 'success' };
    await clock.advance(2000);
    assert.equal(calls, 2);
    assert.equal(controller.failing, 0);
    await clock.advance(1_000_000);
    assert.equal(calls, 2);
    await controller.stop();
  });

  test('one key is never worked on twice at once, and no more keys than allowed', async () => {
    const running = new Map<string, number>();
    let most = 0;
    let mostOfOne = 0;
    const { clock, controller } = setUp(async (key) => {
      running.set(key, (running.get(key) ?? 0) + 1);
      mostOfOne = Math.max(mostOfOne, ...running.values());
      most = Math.max(most, [...running.values()].filter((count) => count > 0).length);
      controller.enqueue(key === 'a' ? 'b' : 'c');
      await clock.wait(100);
      running.set(key, running.get(key)! - 1);
      return { outcome: 'lookAgain', afterMs: 10 };
    }, 2);
    controller.start();
    for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) controller.enqueue(key);
    await clock.advance(2000);
    assert.deepEqual([most, mostOfOne], [2, 1]);
    assert.equal(controller.active, 2);
    const stopped = controller.stop();
    await clock.advance(1000);
    await stopped;
    assert.equal(controller.active, 0);
  });

  test('stop waits for the work, and aborts it when it takes too long', async () => {
    const { controller } = setUp(async (_key, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new Error('aborted');
    });
    controller.start();
    controller.enqueue('slow');
    await settle();
    assert.equal(controller.active, 1);
    await controller.stop(10);
    assert.equal(controller.active, 0);
    controller.enqueue('late');
    await settle();
    assert.equal(controller.active, 0);
  });

  test('who has lost the lead has stopped before another one may begin', () => {
    assert.ok(GRACE_MS < TIMES.leaseDurationMs - TIMES.renewDeadlineMs);
  });

  test('reports what it does, beside other controllers of the same process', async () => {
    const metrics = createMetrics();
    const clock = createManualClock();
    const started = Promise.withResolvers<void>();
    const make = (name: string, reconcile: () => Promise<Outcome>) =>
      createController({ name, log, clock, metrics, concurrency: 1, reconcile });
    const quick = make('quick', async () => ({ outcome: 'success' }));
    const stuck = make('stuck', async () => {
      await started.promise;
      return { outcome: 'terminal', error: new Error('no') };
    });
    for (const key of ['a', 'b', 'c']) for (const one of [quick, stuck]) one.enqueue(key);
    quick.start();
    stuck.start();
    await clock.advance(0);
    await clock.advance(5000);
    const text = await metricsText([await metrics.snapshot()]);
    for (const line of [
      'isthmus_controller_reconciles_total{controller="quick",outcome="success"} 3',
      'isthmus_controller_reconcile_seconds_count{controller="quick"} 3',
      'isthmus_controller_queue_keys{controller="quick",state="waiting"} 0',
      'isthmus_controller_queue_keys{controller="stuck",state="waiting"} 2',
      'isthmus_controller_queue_keys{controller="stuck",state="active"} 1',
      'isthmus_controller_queue_age_seconds{controller="stuck"} 5',
    ])
      assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
    started.resolve();
    await Promise.all([quick.stop(), stuck.stop()]);
    const after = await metricsText([await metrics.snapshot()]);
    assert.ok(after.includes('isthmus_controller_queue_keys{controller="stuck",state="waiting"} 0\n'), after);
  });
});
