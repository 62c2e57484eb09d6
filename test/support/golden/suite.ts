/** The tests of one golden folder: each scenario, and that its files are complete and as short as they can be. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { openGolden } from './folder.ts';
import type { InputDocument } from './input.ts';
import type { Outcome } from './outcome.ts';

/** What became of a scenario. */
export interface Planned {
  outcome: Outcome;
  /** What still changes when the plan was applied and observed again, which is to say nothing. */
  changesInTheEnd: number;
}

/** Plans a scenario, in a cluster that held `former` before. */
export type Planner<P extends Planned> = (
  input: readonly InputDocument[],
  former: readonly InputDocument[],
) => Promise<P>;

export function goldenSuite<P extends Planned>(
  title: string,
  root: string,
  plan: Planner<P>,
  check: (planned: P, scenario: string) => void = () => {},
): void {
  let golden = openGolden(root);
  const planned = (name: string) => {
    const input = golden.input(name);
    const after = input[0]?.['after'] as string | undefined;
    return plan(input, after === undefined ? [] : golden.input(after));
  };
  suite(title, () => {
    before(async () => {
      if (process.env['ISTHMUS_GOLDEN'] !== 'write') return;
      const outcomes = new Map<string, Outcome>();
      for (const name of golden.scenarios) outcomes.set(name, (await planned(name)).outcome);
      golden.write(outcomes);
      golden = openGolden(root);
    });
    for (const name of golden.scenarios) {
      test(name, async () => {
        const found = await planned(name);
        golden.check(name, found.outcome);
        check(found, name);
        assert.equal(found.changesInTheEnd, 0);
      });
    }
    test('no file is missing or too many', () => assert.deepEqual(golden.strays(), []));
    test('every file is as short as it would be written', () => {
      const outcomes = golden.scenarios.map((name) => [name, golden.expected(name)] as const);
      assert.deepEqual([...golden.changes(new Map(outcomes)).keys()], []);
    });
  });
}
