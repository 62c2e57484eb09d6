/** The pages for those who run it: every command is taken by the programs that it names and by a real API server. */
import assert from 'node:assert/strict';
import { globSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { openTerminal, stepsOf } from '../../support/pages.ts';
import type { Terminal } from '../../support/pages.ts';
import { workspace } from '../../support/workspace.ts';
import { apply } from '../control/harness.ts';

const root = resolve(import.meta.dirname, '../../..');
const PAGES = globSync('docs/operations/*.md', { cwd: root }).toSorted();

suite('the pages of operations', () => {
  let plane: ControlPlane;
  let terminal: Terminal;
  before(async () => {
    const folder = workspace('pages');
    symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
    plane = await startControlPlaneWithCrds();
    for (const name of ['isthmus-system', 'team-a', 'team-b'])
      await apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const kubectl = `exec '${plane.kubectlProgram}' "$@"`;
    terminal = openTerminal(folder, { kubectl }, { KUBECONFIG: plane.kubeconfig });
  });
  after(() => plane?.stop());

  for (const page of PAGES)
    test(page, async () => {
      for (const line of stepsOf(page).flatMap(({ commands }) => commands.trimEnd().split('\n'))) {
        // What goes on until it is stopped has a test of its own.
        if (/^(isthmus up|npm run)\b/.test(line)) continue;
        const { code, stdout, stderr } = await terminal.paste(line);
        // Nothing runs in this cluster, and these say so.
        const isFine = code === 0 || (code === 1 && /^isthmus (check|status)\b/.test(line));
        assert.ok(isFine, `${line}\n${code}: ${stdout}${stderr}`);
      }
    });
});
