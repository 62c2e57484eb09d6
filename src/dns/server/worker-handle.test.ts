import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { createPulse, startWorker } from './worker-handle.ts';
import type { WorkerOptions } from './worker-handle.ts';

suite('whether a worker goes on', () => {
  test('it does for as long as it applies something between beats, however slowly', () => {
    const pulse = createPulse(3);
    for (let beat = 1; beat < 50; beat++) assert.equal(pulse.beat(beat + 40, Math.ceil(beat / 2)), false);
    const idle = createPulse(1);
    for (let beat = 0; beat < 5; beat++) assert.equal(idle.beat(7, 7), false, 'nothing is left to apply');
  });

  test('it stands still when it was sent something and applied nothing for so many beats in a row', () => {
    const pulse = createPulse(3);
    assert.deepEqual([pulse.beat(1, 0), pulse.beat(2, 0), pulse.beat(3, 1)], [false, false, false]);
    assert.deepEqual([pulse.beat(4, 1), pulse.beat(5, 1), pulse.beat(6, 1)], [false, false, true]);
  });

  test('one that stands still is ended and replaced, and does not count as serving meanwhile', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'isthmus-worker-'));
    // The first says that it serves, and is then busy for ever; the next ones apply what they are sent.
    const marker = join(directory, 'first');
    const program = join(directory, 'worker.mjs');
    writeFileSync(
      program,
      `import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
const control = new Int32Array(workerData.control);
const isFirst = !existsSync(${JSON.stringify(marker)});
writeFileSync(${JSON.stringify(marker)}, '');
workerData.updates.on('message', ({ kind }) => {
  Atomics.add(control, 1, 1);
  Atomics.notify(control, 1);
  if (kind === 'stop') workerData.updates.close();
});
parentPort.postMessage({ kind: 'serving', mode: 'portable', sockets: [] });
if (isFirst) setTimeout(() => { for (;;); }, 50);
`,
    );
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const options = {
      start: { zones: { zones: [] } },
      ask: () => {},
      log,
      pulse: { everyMs: 20, maxMissed: 50 },
      program: pathToFileURL(program),
    } as unknown as WorkerOptions;
    const worker = await startWorker(options);
    assert.ok(worker.serving);
    while (worker.serving) await delay(10);
    assert.match(lines.join(''), /stands still/);
    while (!worker.serving) await delay(10);
    await worker.settled();
    await worker.close();
    assert.equal(lines.filter((line) => line.includes('stands still')).length, 1);
    rmSync(directory, { recursive: true });
  });
});
