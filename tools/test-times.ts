/** How long test files took in former runs on this machine, kept in the cache: it decides their order, and nothing else. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { cached } from '../src/store/embedded/cache.ts';
import type { FileResult } from './test-report.ts';

type Times = Record<string, number>;

const path = () => cached('test-times.json');

export async function readTimes(): Promise<Times> {
  return readFile(path(), 'utf8').then(
    (text) => JSON.parse(text) as Times,
    () => ({}),
  );
}

/** Keeps the times of files that passed: one that failed may have waited for long. */
export async function writeTimes(known: Times, results: readonly FileResult[]): Promise<void> {
  const passed = results.filter(({ failed }) => failed === 0);
  const times = { ...known, ...Object.fromEntries(passed.map(({ file, ms }) => [file, Math.round(ms)])) };
  await mkdir(dirname(path()), { recursive: true });
  const draft = `${path()}.${process.pid}`;
  await writeFile(draft, JSON.stringify(times, null, 1));
  await rename(draft, path());
}
