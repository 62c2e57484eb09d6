import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { stagingReplaces } from '../../support/install/kubernetes.ts';
import { requireTools } from '../../../src/store/embedded/cache.ts';
import { run } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';

const STORE = join(import.meta.dirname, '../../../src/store/embedded/cache.ts');

/** Runs a script in a process of its own, with the cache in this directory. */
async function script(cache: string, text: string) {
  const file = join(workspace('script'), 'script.ts');
  await writeFile(file, text);
  return run(process.execPath, [file], { env: { ISTHMUS_CACHE: cache }, timeoutMs: 60_000 });
}

test('two processes install a thing once, and both get it', async () => {
  const cache = workspace('cache');
  const count = join(cache, 'count');
  const text = `
    import { appendFileSync, writeFileSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { install } from '${STORE}';
    const home = await install({ name: 'thing-1', files: ['a'], doing: 'making a thing', tools: {}, make: async (into) => {
      appendFileSync('${count}', 'made\\n');
      await setTimeout(300);
      writeFileSync(into + '/a', 'whole');
    } });
    console.log(home);`;
  const both = await Promise.all([script(cache, text), script(cache, text)]);
  for (const { stdout, stderr } of both) assert.equal(stdout.trim(), join(cache, 'thing-1'), stderr);
  assert.equal(readFileSync(count, 'utf8'), 'made\n');
  assert.deepEqual(readdirSync(cache).toSorted(), ['count', 'thing-1']);
});

test('an installation that failed leaves nothing, and the next one starts afresh', async () => {
  const cache = workspace('cache');
  const text = (end: string) => `
    import { writeFileSync } from 'node:fs';
    import { install } from '${STORE}';
    await install({ name: 'thing-1', files: ['a'], doing: 'making a thing', tools: {}, make: async (into) => {
      writeFileSync(into + '/a', 'half');
      ${end}
    } });`;
  assert.notEqual((await script(cache, text("throw new Error('no');"))).code, 0);
  assert.deepEqual(readdirSync(cache), []);
  // Killed in the middle: what it began stays behind, under another name than the one that is looked for.
  assert.notEqual((await script(cache, text("process.kill(process.pid, 'SIGKILL');"))).code, 0);
  assert.equal(existsSync(join(cache, 'thing-1')), false);
  assert.equal((await script(cache, text(''))).code, 0);
  assert.deepEqual(readdirSync(cache), ['thing-1']);
});

test('a missing program is named, with what to install', () => {
  assert.throws(() => requireTools({ 'no-such-program': 'install no-such-program' }), {
    code: 'TOOL_MISSING',
    message: /no-such-program is not on the PATH; install no-such-program/,
  });
});

test('what is there is neither made nor needs its tools', async () => {
  const text = `
    import { writeFileSync } from 'node:fs';
    import { install } from '${STORE}';
    const thing = { name: 'thing-1', files: ['a'], doing: 'making a thing' };
    await install({ ...thing, tools: {}, make: async (into) => writeFileSync(into + '/a', '') });
    await install({ ...thing, tools: { 'no-such-program': 'install it' }, make: () => Promise.reject(new Error('again')) });`;
  const { code, stderr } = await script(workspace('cache'), text);
  assert.equal(code, 0, stderr);
});

test('only the modules of its own tree are replaced in the module file of Kubernetes', () => {
  const goMod = `module k8s.io/kubernetes
require (
	k8s.io/api v0.0.0
	k8s.io/kube-openapi v0.0.0-20250910181357-589584f1c912
	k8s.io/kubelet v0.0.0 // indirect
	golang.org/x/sys v0.0.0
)
replace k8s.io/api => ./staging/src/k8s.io/api
`;
  assert.deepEqual(stagingReplaces(goMod, 'v1.35.4'), [
    'k8s.io/api => k8s.io/api v0.35.4',
    'k8s.io/kubelet => k8s.io/kubelet v0.35.4',
  ]);
});
