import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, renameSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { watchFiles } from './watch-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'isthmus-watch-'));
after(() => rmSync(directory, { recursive: true }));

/** Calls `change`, then resolves when the watch has seen it. */
async function seen(files: Set<string>, change: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = watchFiles(files, resolve, 20);
  change();
  await promise;
  watch.close();
}

test('a file that is written, replaced or removed is noticed', async () => {
  const file = join(directory, 'a');
  writeFileSync(file, 'one');
  await seen(new Set([file]), () => writeFileSync(file, 'two'));
  writeFileSync(join(directory, 'b'), 'two');
  await seen(new Set([file]), () => renameSync(join(directory, 'b'), file));
  await seen(new Set([file]), () => rmSync(file));
});

test('a mounted Secret changes by its link', async () => {
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'tls.crt'), 'same length');
  }
  symlinkSync('v1', join(directory, 'data'));
  const file = join(directory, 'data', 'tls.crt');
  await seen(new Set([file]), () => {
    symlinkSync('v2', join(directory, 'data.new'));
    renameSync(join(directory, 'data.new'), join(directory, 'data'));
  });
});

test('a file that is named later counts from then on', async () => {
  const [first, second] = [join(directory, 'first'), join(directory, 'second')];
  writeFileSync(first, '1');
  writeFileSync(second, '1');
  const files = new Set([first]);
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = watchFiles(files, () => (++calls, resolve()), 10);
  files.add(second);
  const writing = setInterval(() => writeFileSync(second, String(performance.now())), 30);
  await promise;
  clearInterval(writing);
  watch.close();
  assert.ok(calls >= 1);
});
