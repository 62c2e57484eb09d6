import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { deadlineOf, farewell, isGreen, longestFirst, mayRepeat, together, totals } from './test-report.ts';

const result = (file: string, ms: number, failed = 0) => ({ file, passed: 2, failed, skipped: 1, ms });

suite('the report of a test run', () => {
  test('counts what all files had', () => {
    assert.equal(totals([result('a', 1), result('b', 1, 3)]), '4 passed, 3 failed, 2 skipped');
    assert.equal(totals([]), '0 passed, 0 failed, 0 skipped');
  });

  test('is green if nothing failed and something ran', () => {
    assert.equal(isGreen([result('a', 1)]), true);
    assert.equal(isGreen([result('a', 1), result('b', 1, 1)]), false);
    assert.equal(isGreen([]), false);
    assert.equal(isGreen([{ ...result('a', 1), passed: 0 }]), false);
  });

  test('ends with the ten slowest, and a line for each that is unsteady', () => {
    const results = Array.from({ length: 12 }, (_, i) => result(`${i}.test.ts`, i * 1000));
    const lines = farewell({ results, unsteady: ['3.test.ts', '5.test.ts'] });
    assert.deepEqual(lines.slice(0, 4), [
      '',
      'slowest files:',
      '   11.0 s  11.test.ts',
      '   10.0 s  10.test.ts',
    ]);
    assert.equal(lines.filter((line) => / s {2}/.test(line)).length, 10);
    assert.deepEqual(lines.slice(-2), ['unsteady: 3.test.ts', 'unsteady: 5.test.ts']);
    assert.deepEqual(farewell({ results: [], unsteady: [] }), []);
  });

  test('is one for several steps', () => {
    const one = { green: true, results: [result('a', 1)], unsteady: ['a'] };
    const other = { green: false, results: [result('b', 1, 1)], unsteady: [] };
    const results = [...one.results, ...other.results];
    assert.deepEqual(together([one, other]), { green: false, results, unsteady: ['a'] });
  });
});

suite('a second look', () => {
  test('is had if the file would end in time', () => {
    assert.equal(mayRepeat(result('a', 5000), 100_000, 105_000), true);
    assert.equal(mayRepeat(result('a', 5000), 100_001, 105_000), false);
    assert.equal(mayRepeat(result('a', 5000), 100_000, deadlineOf(undefined)), true);
  });

  test('has a deadline in seconds, or none', () => {
    assert.equal(deadlineOf('1800000000'), 1_800_000_000_000);
    assert.equal(deadlineOf(''), Number.POSITIVE_INFINITY);
    assert.throws(() => deadlineOf('soon'), /ISTHMUS_TEST_DEADLINE is "soon"/);
  });
});

test('long files run first, unknown ones before short ones, and equals keep their order', () => {
  const known = { short: 1000, long: 60_000, alike: 1000 };
  assert.deepEqual(longestFirst(['short', 'new', 'alike', 'long'], known), ['long', 'new', 'short', 'alike']);
});
