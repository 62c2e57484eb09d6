import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { clearLeftovers, closeRun, openRun } from '../../support/clusters/run.ts';
import { makeNamespace } from '../../support/clusters/namespaces.ts';
import { cached } from '../../../src/store/embedded/cache.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';

/** Command lines of processes that mention the run, as all that belong to it do. */
function processesOf(run: string): string[] {
  return globSync('/proc/[0-9]*/cmdline')
    .map((file) => {
      try {
        return readFileSync(file, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // it has just ended
      }
    })
    .filter((command) => command.includes(run));
}

const mountsOf = (run: string) =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(run));
const cgroupsOf = (run: string) => globSync(`/sys/fs/cgroup/{${run},*/${run}}`);

it('clears what a killed test left, and nothing of one that runs', async (t) => {
  const alive = await openRun();
  await makeNamespace(alive, 'hub');

  const victim = spawn(process.execPath, [join(import.meta.dirname, 'victim.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: workspace('victim') }, // its logs go with ours
  });
  t.after(() => victim.kill('SIGKILL'));
  const output = createInterface(victim.stdout);
  // The output of one that fails just ends, and says nothing.
  const [run] = (await Promise.race([once(output, 'line'), once(output, 'close')])) as [string?];
  assert.ok(run, 'it has ended before it had a cluster');
  assert.ok(processesOf(run).some((command) => command.includes('kubelet')));
  victim.kill('SIGKILL');

  await waitFor('end of all processes', () => Promise.resolve(processesOf(run).length === 0));
  assert.ok(mountsOf(run).length > 0, 'no namespace was left to clear');
  assert.ok((await clearLeftovers()).includes(run));
  assert.deepEqual(mountsOf(run), []);
  assert.deepEqual(cgroupsOf(run), []);
  assert.equal(existsSync(cached('clusters', run)), false);

  assert.equal(mountsOf(alive.name).length, 1);
  await closeRun(alive);
  assert.equal(mountsOf(alive.name).length, 0);
});
