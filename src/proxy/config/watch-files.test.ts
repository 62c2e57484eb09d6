import { mkdtempSync, rmSync, symlinkSync, renameSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { watchFiles } from './watch-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'isthmus-watch-'));
after(() => rmSync(directory, { recursive: true }));

/** Calls `change`, then resolves when the watch has seen it. */
async function seen(file: string, change: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = watchFiles([file], resolve, 20);
  change();
  await promise;
  watch.close();
}

test('a file that is written, replaced or removed is noticed', async () => {
  const file = join(directory, 'a');
  writeFileSync(file, 'one');
  // Of another size each time: the clocks of file systems tick slowly.
  await seen(file, () => writeFileSync(file, 'another'));
  writeFileSync(join(directory, 'b'), 'two');
  await seen(file, () => renameSync(join(directory, 'b'), file));
  await seen(file, () => rmSync(file));
});

test('a mounted Secret changes by its link', async () => {
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'tls.crt'), 'same length');
  }
  symlinkSync('v1', join(directory, 'data'));
  const file = join(directory, 'data', 'tls.crt');
  await seen(file, () => {
    symlinkSync('v2', join(directory, 'data.new'));
    renameSync(join(directory, 'data.new'), join(directory, 'data'));
  });
});

test('a file that is named later counts from then on, however soon it changes', async () => {
  const [first, second] = [join(directory, 'first'), join(directory, 'second')];
  writeFileSync(first, '1');
  writeFileSync(second, '1');
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = watchFiles([first], resolve, 20);
  watch.add(second);
  writeFileSync(second, 'another');
  await promise;
  watch.close();
});
