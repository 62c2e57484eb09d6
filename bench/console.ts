/**
 * The console: how large its pages are, how soon a browser shows 1,000 virtual clusters, and what the server costs while nobody looks and
 * while ten pages are open. There is no peer: figures alone.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readAssets } from '../src/console/http/assets.ts';
import { startBrowser } from '../test/support/browser.ts';
import type { TestBrowser } from '../test/support/browser.ts';
import { buildPages, CLONE_PAGES } from '../tools/console-pages.ts';
import type { BenchOptions, BenchResult } from './main.ts';

const VIEWS = [
  'fleet',
  'topology',
  'traffic',
  'keys',
  'object?kind=VirtualKafkaCluster&namespace=default&name=vc-7',
];

export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  await buildPages();
  const gzipped = [...readAssets(CLONE_PAGES).values()].reduce((sum, asset) => sum + asset.gzipped.length, 0);
  const seconds = quick ? 10 : 60;
  const server = spawn(process.execPath, [join(import.meta.dirname, 'console/serve.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    const cpu = (what: string) => cpuPercent(server.pid!, seconds, what, log);
    await delay(3000);
    const idle = await cpu('idle');
    await using browser = await startBrowser();
    const paints = [];
    for (let round = 0; round < (quick ? 3 : 9); round++) paints.push(await measurePaint(browser, url));
    const open = [];
    for (let at = 0; at < 10; at++) {
      const { page } = await browser.page();
      await page.goto(url + VIEWS[at % VIEWS.length]!);
      open.push(page);
    }
    const ten = await cpu('ten views');
    return {
      ratios: {},
      figures: {
        gzip_kb: round(gzipped / 1000),
        first_paint_ms: median(paints.map(({ paintMs }) => paintMs)),
        first_rows_ms: median(paints.map(({ rowsMs }) => rowsMs)),
        longest_task_ms: Math.max(...paints.map(({ longestMs }) => longestMs)),
        idle_cpu_percent: idle,
        ten_views_cpu_percent: ten,
      },
    };
  } finally {
    server.kill('SIGKILL');
  }
}

interface Paint {
  paintMs: number;
  /** Until the virtual clusters are there. */
  rowsMs: number;
  longestMs: number;
}

async function measurePaint(browser: TestBrowser, url: string): Promise<Paint> {
  const { page, ...closing } = await browser.page();
  await page.addInitScript(
    'window.tasks = []; new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration))).observe({ type: "longtask", buffered: true });',
  );
  await page.goto(`${url}fleet`);
  await page.locator('section[aria-labelledby=clusters] tbody tr').nth(50).waitFor();
  const rowsMs = await page.evaluate<number>('performance.now()');
  await delay(3000);
  const paintMs = await page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  );
  const longestMs = await page.evaluate<number>('Math.max(0, ...tasks)');
  await closing[Symbol.asyncDispose]();
  return { paintMs: Math.round(paintMs), rowsMs: Math.round(rowsMs), longestMs: Math.round(longestMs) };
}

/** Ticks of the processor that a process has had, in hundredths of a second. */
function ticks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function cpuPercent(
  pid: number,
  seconds: number,
  what: string,
  log: (line: string) => void,
): Promise<number> {
  const [before, since] = [ticks(pid), performance.now()];
  await delay(seconds * 1000);
  const percent = round((ticks(pid) - before) / ((performance.now() - since) / 1000));
  log(`${what}: ${percent} % of a core`);
  return percent;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const round = (value: number) => Number(value.toPrecision(3));
