import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { mainThreadCpuMs } from './main-thread-cpu.ts';

test(
  'what other threads compute is not the main thread’s',
  { skip: process.platform !== 'linux' },
  async () => {
    const program = `while (process.threadCpuUsage().user < 500_000); require('node:worker_threads').parentPort.postMessage('done');`;
    const worker = new Worker(program, { eval: true });
    await once(worker, 'message');
    const own = process.threadCpuUsage();
    assert.ok(Math.abs(mainThreadCpuMs() - (own.user + own.system) / 1000) < 100);
    await worker.terminate();
  },
);
