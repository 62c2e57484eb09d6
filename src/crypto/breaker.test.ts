import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createBreaker } from './breaker.ts';

function setUp() {
  const clock = { ms: 0 };
  const breaker = createBreaker({ failures: 3, firstPauseMs: 100, maxPauseMs: 300, now: () => clock.ms });
  const fail = (times: number) => {
    for (let i = 0; i < times; i++) breaker.failed();
  };
  return { clock, breaker, fail };
}

suite('circuit breaker', () => {
  test('it opens after so many failures in a row, and a success begins anew', () => {
    const { breaker, fail } = setUp();
    fail(2);
    breaker.succeeded();
    fail(2);
    assert.ok(breaker.admits());
    fail(1);
    assert.equal(breaker.admits(), false);
    assert.ok(breaker.isOpen());
  });

  test('after a while one may try, and no other until that one is done', () => {
    const { breaker, clock, fail } = setUp();
    fail(3);
    clock.ms = 100;
    assert.deepEqual([breaker.admits(), breaker.admits()], [true, false]);
    breaker.succeeded();
    assert.deepEqual([breaker.admits(), breaker.admits(), breaker.isOpen()], [true, true, false]);
  });

  test('it says that the service fails for as long as somebody finds it so', () => {
    const { breaker, clock, fail } = setUp();
    fail(2);
    assert.equal(breaker.isFailing(), false);
    fail(1);
    assert.equal(breaker.isFailing(), true);
    clock.ms = 599;
    assert.equal(breaker.isFailing(), true);
    breaker.admits();
    fail(1);
    clock.ms += 599;
    assert.equal(breaker.isFailing(), true);
    clock.ms += 1;
    assert.deepEqual([breaker.isFailing(), breaker.isOpen()], [false, true], 'nobody has asked');
    breaker.admits();
    breaker.succeeded();
    assert.equal(breaker.isFailing(), false);
  });

  test('each try that fails makes the pause longer, up to a limit', () => {
    const { breaker, clock, fail } = setUp();
    fail(3);
    for (const pause of [100, 200, 300, 300]) {
      clock.ms += pause - 1;
      assert.equal(breaker.admits(), false);
      clock.ms += 1;
      assert.ok(breaker.admits());
      breaker.failed();
    }
  });

  test('late failures of before do not lengthen the pause', () => {
    const { breaker, clock, fail } = setUp();
    fail(10);
    clock.ms = 100;
    assert.ok(breaker.admits());
  });

  test('whatever happens, it is asked again some time', () => {
    let opened = 0;
    const step = fc.constantFrom('admits', 'admits', 'succeeded', 'failed', 'failed', 'wait');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const { breaker, clock } = setUp();
        let asking = 0;
        for (const step of steps) {
          if (step === 'wait') clock.ms += 50;
          else if (step === 'admits') asking += Number(breaker.admits());
          else if (asking > 0) {
            asking -= 1;
            breaker[step]();
          }
        }
        while (asking-- > 0) breaker.failed();
        opened += Number(breaker.isOpen());
        clock.ms += 300;
        assert.ok(breaker.admits());
      }),
    );
    assert.ok(opened > 10, `open ${opened} times`);
  });
});
