import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { lock, tryLock } from '../../../src/store/embedded/mutex.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { run, startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';

const ROOT = join(import.meta.dirname, '../../..');

function isAlive(pid: number): boolean {
  try {
    // A zombie still has its entry in /proc, but no command line; nor, for a moment, has what is just starting.
    return readFileSync(`/proc/${pid}/cmdline`).length > 0;
  } catch {
    return false;
  }
}

test('a command that does not end in time is killed and says so', async () => {
  const { code, stderr } = await run('sleep', ['60'], { timeoutMs: 100 });
  assert.equal(code, 137);
  assert.match(stderr, /no end within 100 ms/);
});

test('stopping a server waits for its end, and kills one that will not end', async () => {
  const logFile = join(workspace('stubborn'), 'log');
  const stubborn = startServer(
    'stubborn',
    'sh',
    ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'],
    { logFile },
  );
  await waitFor('the trap', async () => readFileSync(logFile, 'utf8').includes('ready'));
  await stubborn.stop('SIGTERM', 200);
  assert.equal(stubborn.running, false);
  assert.equal(isAlive(stubborn.pid), false);
});

test('a server does not outlive a test process that was killed', async () => {
  const directory = workspace('orphan');
  const text = `
    import { startServer } from '${ROOT}/src/store/embedded/process.ts';
    const server = startServer('orphan', 'sleep', ['600'], { logFile: '${directory}/log' });
    console.log(server.pid);
    setInterval(() => {}, 1000);`;
  await writeFile(join(directory, 'parent.ts'), text);
  const parent = spawn(process.execPath, [join(directory, 'parent.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(parent.stdout, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer];
    const orphan = Number(line.toString());
    await waitFor('the server', async () => isAlive(orphan));
    parent.kill('SIGKILL');
    await waitFor('the end of the server', async () => !isAlive(orphan));
  } finally {
    parent.kill('SIGKILL');
  }
});

test('the logs of a failed test are kept and their place is printed; those of a good one are gone', async () => {
  const directory = workspace('verdict');
  const file = join(directory, 'inner.test.ts');
  const text = (verdict: string) => `
    import { test } from 'node:test';
    import { workspace } from '${ROOT}/test/support/workspace.ts';
    test('inner', () => { console.log('at ' + workspace('logs')); ${verdict} });`;
  const inner = async (verdict: string) => {
    await writeFile(file, text(verdict));
    // Without this the inner runner believes that it is run by the outer one, and reports to it.
    const { stdout, stderr } = await run(process.execPath, [file], { env: { NODE_TEST_CONTEXT: undefined } });
    return { logs: /at (\S+)/.exec(stdout)?.[1] ?? '', stderr };
  };
  const bad = await inner("throw new Error('no');");
  assert.equal(existsSync(bad.logs), true);
  assert.match(bad.stderr, /logs kept in /);
  await rm(join(bad.logs, '..'), { recursive: true });
  const good = await inner('');
  assert.notEqual(good.logs, '');
  assert.equal(existsSync(good.logs), false);
});

test('a lock has one holder at a time', async () => {
  const name = `testbed test ${process.pid}`; // another run's is another lock
  const first = await lock(name);
  assert.equal(await tryLock(name), undefined);
  await first.release();
  const second = await tryLock(name);
  assert.notEqual(second, undefined);
  await second?.release();
});

test('reserved ports are free, distinct and not handed out twice', async () => {
  await using one = await reservePorts(50);
  await using two = await reservePorts(50);
  assert.equal(new Set([...one.numbers, ...two.numbers]).size, 100);
  const server = createServer().listen(one.numbers[0], '127.0.0.1');
  await once(server, 'listening');
  server.close();
});
