/** The whole program: queries wait for a core no longer than anything else that it does, and go on so when a worker is replaced. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

// A worker that replaces another is started by the main thread, has its priority, and may not raise it.
test('the main thread has the priority that its workers were started with', async () => {
  const folder = workspace('priority');
  await using ports = await reservePorts(2);
  const [port, management] = ports.numbers as [number, number];
  const config = join(folder, 'dns.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      listen: [`127.0.0.1:${port}`],
      zones: [{ name: 'example.test' }],
      workers: 2,
      management: { host: '127.0.0.1', port: management },
    }),
  );
  const args = [MAIN, 'dns', '--config', config];
  const server = startServer('dns', process.execPath, args, { logFile: join(folder, 'log') });
  try {
    const ready = async () => (await fetch(`http://127.0.0.1:${management}/readyz`)).status === 200;
    await waitFor('the server', () => ready().catch(() => false));
    const threads = readdirSync(`/proc/${server.pid}/task`).map(Number);
    assert.deepEqual([...new Set(threads.map((thread) => getPriority(thread)))], [getPriority()]);
  } finally {
    await server.stop();
  }
});
