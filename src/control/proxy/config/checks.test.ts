import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createChecker } from './checks.ts';
import type { PlannedConfig } from './planned-config.ts';

function configOf(parts: Record<string, string[]>): PlannedConfig {
  const entries = Object.entries(parts).map(([name, filters]) => {
    const filterDefinitions = filters.map((filter) => ({ name: filter, type: filter, config: {} }));
    return [name, { document: { filterDefinitions, virtualClusters: [], name }, hash: name }] as const;
  });
  return { text: '', hash: '', parts: new Map(entries) };
}

suite('the proxy’s own checks', () => {
  test('are asked once for each thing, and put the blame where it belongs', async () => {
    const asked: string[] = [];
    const checker = createChecker({
      filter: async (type) => {
        asked.push(type);
        return type === 'bad' ? 'is bad' : undefined;
      },
      document: async (document) => {
        const { name } = document as { name: string };
        asked.push(name);
        return name === 'broken' ? 'is broken' : undefined;
      },
    });
    const config = configOf({ fine: ['good'], filtered: ['good', 'bad'], broken: [] });
    for (let i = 0; i < 2; i++) {
      const { filters, clusters } = (await checker.config(config)) ?? {};
      assert.deepEqual([...(filters ?? [])], [['bad', 'is bad']]);
      assert.deepEqual([...(clusters ?? [])], [['broken', 'is broken']]);
    }
    const again = await checker.config(config, await checker.config(config));
    assert.deepEqual(
      [...again!.hopeless],
      ['filtered', 'broken'],
      'what is still there is what was served before',
    );
    assert.equal(await checker.config(config, again), undefined, 'no more than is known');
    assert.deepEqual(asked, ['good', 'fine', 'bad', 'broken']);
  });

  test('may be missing', async () => {
    assert.equal(await createChecker(undefined).config(configOf({ a: ['bad'] })), undefined);
  });
});
