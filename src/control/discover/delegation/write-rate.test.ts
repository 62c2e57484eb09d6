import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { NEW_WRITE_RATE, afterFailure, afterSuccess, afterWrite, waitBeforeWrite } from './write-rate.ts';

const MINUTE = 60_000;

suite('write rate', () => {
  test('is slower after each failure, and as before after a success', () => {
    let rate = afterFailure(NEW_WRITE_RATE, 0);
    assert.equal(waitBeforeWrite(rate, 0), MINUTE);
    assert.equal(waitBeforeWrite(rate, MINUTE), 0);
    rate = afterFailure(rate, MINUTE);
    assert.equal(waitBeforeWrite(rate, MINUTE), 2 * MINUTE);
    for (let i = 0; i < 20; i++) rate = afterFailure(rate, 0);
    assert.equal(waitBeforeWrite(rate, 0), 60 * MINUTE);
    assert.equal(waitBeforeWrite(afterSuccess(rate), 0), 0);
  });

  test('is never fast for long, whoever else writes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 50 }), (steps) => {
        let rate = NEW_WRITE_RATE;
        let now = 0;
        const writes: number[] = [];
        for (const step of steps) {
          now += step;
          if (waitBeforeWrite(rate, now) > 0) continue;
          rate = afterWrite(rate, now);
          writes.push(now);
        }
        for (const at of writes) {
          const within = writes.filter((other) => other >= at && other < at + 10 * MINUTE).length;
          assert.ok(within <= 15, `${within} writes in ten minutes`);
        }
      }),
    );
  });
});
