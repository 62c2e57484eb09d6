import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';

/** Runs a snippet with a logger in a process of its own, because the logger writes to the real stderr. */
function logged(snippet: string): { stdout: string; lines: Record<string, unknown>[] } {
  const source = `import { createLog } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)};\n${snippet}`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const lines = done.stderr.trim().split('\n');
  return { stdout: done.stdout, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

suite('log', () => {
  test('a line is JSON on stderr, with a level by name and the bindings', () => {
    const { stdout, lines } = logged(`createLog('info', { role: 'proxy' }).info({ port: 1 }, 'listening');`);
    assert.equal(stdout, '');
    const { level, role, port, msg } = lines[0]!;
    assert.deepEqual({ level, role, port, msg }, { level: 'info', role: 'proxy', port: 1, msg: 'listening' });
  });

  test('secrets are cut out, at the top and one level down', () => {
    const { lines } = logged(`createLog().warn({ password: 'p', user: { token: 't', name: 'n' } }, 'x');`);
    assert.equal(lines[0]!.password, '(secret)');
    assert.deepEqual(lines[0]!.user, { token: '(secret)', name: 'n' });
  });
});
