import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FilterProblem } from '../filter.ts';
import { filterProblems } from './filter-problems.ts';

const PROBLEM: FilterProblem = { reason: 'KeyServiceUnavailable', message: 'no keys' };

function problemsOf(...asked: ((() => unknown) | undefined)[]) {
  const config = {
    name: 'vc',
    filters: asked.map((_, i) => ({ name: `f${i}`, type: 't', config: {} })),
  };
  const filters = asked.map((problem) => (problem ? { problem: problem as () => FilterProblem } : {}));
  return filterProblems({ config, filters }).map(({ reason, problem }) => [reason, problem]);
}

suite('what filters lack', () => {
  test('is told with the name of each, and nothing of those that are well', () => {
    const found = problemsOf(
      undefined,
      () => undefined,
      () => PROBLEM,
    );
    assert.deepEqual(found, [['KeyServiceUnavailable', 'filter "f2": no keys']]);
  });

  test('is bounded, and told of the others when one fails to say it', () => {
    const found = problemsOf(
      () => {
        throw new Error('the secret');
      },
      () => 7,
      () => ({ reason: 'odd', message: 'x'.repeat(5000) }),
      () => PROBLEM,
    );
    assert.deepEqual(found, [
      ['FilterProblem', 'filter "f0": it fails to say whether it is well'],
      ['FilterProblem', 'filter "f1": it fails to say whether it is well'],
      ['FilterProblem', `filter "f2": ${'x'.repeat(256)}`],
      ['KeyServiceUnavailable', 'filter "f3": no keys'],
    ]);
  });
});
