/**
 * The planner of the proxy road against golden folders, test/golden/proxy/<scenario>. After a change that is meant:
 * `ISTHMUS_GOLDEN=write`, and read the difference.
 */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { before, suite, test } from 'node:test';
import { checkProxyConfig } from '../../src/proxy/config/load.ts';
import { openGolden } from '../support/golden/folder.ts';
import type { Outcome } from '../support/golden/outcome.ts';
import { createAuthority } from '../support/pki.ts';
import type { Authority } from '../support/pki.ts';
import { planScenario } from '../support/control/golden-scenario.ts';

const root = resolve(import.meta.dirname, '../golden/proxy');
let golden = openGolden(root);

suite('golden plans of the proxy road', () => {
  let authority: Authority;
  const planned = (name: string) => {
    const input = golden.input(name);
    const after = input[0]?.['after'] as string | undefined;
    return planScenario(input, authority, after === undefined ? [] : golden.input(after));
  };
  before(async () => {
    authority = await createAuthority('golden');
    if (process.env['ISTHMUS_GOLDEN'] !== 'write') return;
    const outcomes = new Map<string, Outcome>();
    for (const name of golden.scenarios) {
      outcomes.set(name, (await planned(name)).outcome);
    }
    golden.write(outcomes);
    golden = openGolden(root);
  });

  for (const name of golden.scenarios) {
    test(name, async () => {
      const { outcome, config, changesInTheEnd } = await planned(name);
      golden.check(name, outcome);
      checkProxyConfig(JSON.parse(config), name);
      assert.equal(changesInTheEnd, 0);
    });
  }
  test('no file is missing or too many', () => assert.deepEqual(golden.strays(), []));

  test('every file is as short as it would be written', () => {
    const outcomes = golden.scenarios.map((name) => [name, golden.expected(name)] as const);
    assert.deepEqual([...golden.changes(new Map(outcomes)).keys()], []);
  });
});
