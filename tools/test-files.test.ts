/** The runner itself, on files of which one passes only when it is run a second time. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../src/store/embedded/process.ts';
import { workspace } from '../test/support/workspace.ts';

const RUNNER = join(import.meta.dirname, 'test-files.ts');

/** What the runner prints of two files, the second of which fails at first, and of which more tests may follow then. */
async function runTwo(env: Record<string, string>, after = '', graceMs = 3_600_000): Promise<string[]> {
  const folder = workspace('runner');
  const file = (name: string, text: string) => {
    writeFileSync(
      join(folder, name),
      `import { test } from 'node:test';\nimport fs from 'node:fs';\n${text}`,
    );
    return join(folder, name);
  };
  const mark = JSON.stringify(join(folder, 'mark'));
  const files = [
    file('good.test.ts', `test('good', () => {});`),
    file(
      'odd.test.ts',
      `test('odd', () => {
  if (fs.existsSync(${mark})) return;
  fs.writeFileSync(${mark}, '');
  throw new Error('the first time');
});
${after.replace('MARK', mark)}`,
    ),
  ];
  const script = file(
    'main.ts',
    `import { runTestFiles } from '${RUNNER}';
const outcome = await runTestFiles(${JSON.stringify(files)}, { concurrency: 2, again: true, graceMs: ${graceMs} });
console.log(JSON.stringify([outcome.green, outcome.unsteady.length]));`,
  );
  // Without this the inner runner believes that it is run by the outer one, and reports to it.
  const { stdout } = await run(process.execPath, [script], { env: { ...env, NODE_TEST_CONTEXT: undefined } });
  return stdout.trimEnd().split('\n');
}

test('a file that failed runs once more, and what it did then counts', async () => {
  const lines = await runTwo({ ISTHMUS_TEST_DEADLINE: '' });
  assert.ok(lines.includes('2 passed, 0 failed, 0 skipped'), lines.join('\n'));
  assert.equal(lines.at(-1), '[true,1]');
  assert.ok(lines.some((line) => line.includes('the first time')));
});

test('unless there is no time for it', async () => {
  const lines = await runTwo({ ISTHMUS_TEST_DEADLINE: '1000' });
  assert.ok(lines.includes('1 passed, 1 failed, 0 skipped'), lines.join('\n'));
  assert.equal(lines.at(-1), '[false,0]');
});

test('and does not wait for what follows its failure', async () => {
  // The second time it does not wait.
  const waits = `const before = fs.existsSync(MARK);
test('waits', () => new Promise((done) => setTimeout(done, before ? 0 : 3_600_000)));`;
  const lines = await runTwo({ ISTHMUS_TEST_DEADLINE: '' }, waits, 100);
  assert.ok(lines.includes('3 passed, 0 failed, 0 skipped'), lines.join('\n'));
  assert.equal(lines.at(-1), '[true,1]');
});
