/**
 * The planner of the proxy road against golden folders, test/golden/proxy/<scenario>. After a change that is meant:
 * `ISTHMUS_GOLDEN=write`, and read the difference.
 */
import assert from 'node:assert/strict';
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { before, suite, test } from 'node:test';
import { checkProxyConfig } from '../../../src/proxy/config/load.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { expectedFiles, loadScenario, render } from './golden.ts';

const root = resolve(import.meta.dirname, '../../golden/proxy');
const rewrite = process.env['ISTHMUS_GOLDEN'] === 'write';
const scenarios = [
  ...new Set(globSync('*/in-*.yaml', { cwd: root }).map((file) => dirname(file))),
].toSorted();

suite('golden plans of the proxy road', () => {
  let authority: Authority;
  before(async () => (authority = await createAuthority('golden')));

  for (const name of scenarios) {
    test(name, async () => {
      const folder = join(root, name);
      const { cluster, plan, masks } = await loadScenario(folder, authority);
      const now = Date.now();
      const first = plan(now);
      const files = render(first, masks);
      if (rewrite) {
        for (const file of globSync('out-*.yaml', { cwd: folder })) rmSync(join(folder, file));
        for (const [file, text] of files) writeFileSync(join(folder, file), text);
      }
      assert.deepEqual(Object.fromEntries(files), Object.fromEntries(expectedFiles(folder)));
      checkProxyConfig(JSON.parse(first.config.text), name);

      // Applied and observed again, it changes nothing any more.
      cluster.apply(first, now);
      cluster.apply(plan(now), now);
      assert.equal(cluster.apply(plan(now), now), 0);
    });
  }

  test('there are scenarios', () => assert.ok(scenarios.length > 60, scenarios.join(', ')));
});
