import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import type { ExecPlugin } from './connection.ts';
import { createCredentials } from './credentials.ts';
import { parseExecCredential, runExecPlugin } from './exec-plugin.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { selfSigned } from '../../../test/support/self-signed.ts';

const directory = mkdtempSync(join(tmpdir(), 'isthmus-credentials-'));
after(() => rmSync(directory, { recursive: true }));

const V1 = 'client.authentication.k8s.io/v1';

/** A plugin that is a line of JavaScript. */
function plugin(script: string, more: Partial<ExecPlugin> = {}): ExecPlugin {
  return { apiVersion: V1, command: process.execPath, args: ['-e', script], env: {}, ...more };
}

const printing = (status: string) =>
  `console.log(JSON.stringify({apiVersion: '${V1}', kind: 'ExecCredential', status: ${status}}))`;

suite('credentials', () => {
  test('a token file is read again each minute, and at once when refused', async () => {
    const clock = createManualClock();
    const tokenFile = join(directory, 'token');
    writeFileSync(tokenFile, 'one\n');
    const credentials = createCredentials({ name: 'u', tokenFile }, clock);
    const first = await credentials.current();
    assert.equal(first.headers['authorization'], 'Bearer one');

    writeFileSync(tokenFile, 'two\n');
    assert.equal(await credentials.current(), first, 'not before its time');
    await clock.advance(60_000);
    const second = await credentials.current();
    assert.equal(second.headers['authorization'], 'Bearer two');

    await clock.advance(5000);
    assert.equal(await credentials.renew(second), false, 'the file has nothing new');
    writeFileSync(tokenFile, 'three\n');
    await clock.advance(5000);
    assert.deepEqual(await Promise.all([credentials.renew(second), credentials.renew(second)]), [true, true]);
    assert.equal((await credentials.current()).headers['authorization'], 'Bearer three');
    assert.equal(await credentials.renew(second), true, 'a late refusal of the old one is already answered');
  });

  test('while its file is away, the token stays in use', async () => {
    const clock = createManualClock();
    const tokenFile = join(directory, 'fleeting');
    writeFileSync(tokenFile, 'kept');
    const credentials = createCredentials({ name: 'u', tokenFile }, clock);
    rmSync(tokenFile);
    await clock.advance(61_000);
    assert.equal((await credentials.current()).headers['authorization'], 'Bearer kept');
  });

  test('a certificate that its key does not fit yet is not used', async () => {
    const clock = createManualClock();
    const [one, two] = await Promise.all([selfSigned(), selfSigned()]);
    const files = { cert: { file: join(directory, 'tls.crt') }, key: { file: join(directory, 'tls.key') } };
    writeFileSync(files.cert.file, one.cert);
    writeFileSync(files.key.file, one.key);
    const credentials = createCredentials({ name: 'u', certificate: files }, clock);
    writeFileSync(files.cert.file, two.cert); // in the middle of a rotation
    await clock.advance(60_000);
    assert.deepEqual((await credentials.current()).certificate, one);
    writeFileSync(files.key.file, two.key);
    await clock.advance(60_000);
    assert.deepEqual((await credentials.current()).certificate, two);
  });

  test('refusals do not make a file or plugin be asked without end', async () => {
    const clock = createManualClock();
    const count = join(directory, 'count');
    const script = `require('fs').appendFileSync(${JSON.stringify(count)}, 'x'); ${printing(`{token: 'same'}`)}`;
    const credentials = createCredentials({ name: 'u', exec: plugin(script) }, clock);
    const identity = await credentials.current();
    for (let i = 0; i < 50; i++) assert.equal(await credentials.renew(identity), false);
    await clock.advance(3000);
    for (let i = 0; i < 50; i++) assert.equal(await credentials.renew(identity), false);
    const { readFileSync } = await import('node:fs');
    assert.equal(readFileSync(count, 'utf8'), 'xx');
  });

  test('a plugin is asked once for many requests, and again before its credential expires', async () => {
    const clock = createManualClock();
    const expires = new Date(clock.wallTime() + 60_000).toISOString();
    const script = printing(`{token: String(process.hrtime.bigint()), expirationTimestamp: '${expires}'}`);
    const credentials = createCredentials({ name: 'u', exec: plugin(script) }, clock);
    const [one, two] = await Promise.all([credentials.current(), credentials.current()]);
    assert.equal(one, two);
    await clock.advance(49_000);
    assert.equal(await credentials.current(), one);
    await clock.advance(2000);
    assert.notEqual(await credentials.current(), one);
  });

  test('a plugin gets its environment, and the cluster if it asks', async () => {
    const script = printing(`{token: process.env.EXTRA + ' ' + process.env.KUBERNETES_EXEC_INFO}`);
    const asked = plugin(script, { env: { EXTRA: 'yes' }, clusterInfo: { server: 'https://c' } });
    const { token = '' } = await runExecPlugin(asked, 'user "u"');
    assert.ok(token.startsWith('yes '));
    assert.deepEqual(JSON.parse(token.slice(4)), {
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://c' } },
    });
  });

  test('a plugin that fails is named, with what it said', { timeout: 180_000 }, async () => {
    const fails = (given: ExecPlugin, pattern: RegExp, timeoutMs?: number) =>
      assert.rejects(runExecPlugin(given, 'user "u"', timeoutMs), pattern);
    await fails(
      plugin(`console.error('log in first'); process.exit(3)`),
      /user "u": exec .*code 3: log in first/,
    );
    await fails(plugin('setInterval(() => {}, 1000)'), /killed by SIGKILL, its time is 0.3 s/, 300);
    await fails(plugin(`process.stdout.write('x'.repeat(2 ** 21))`), /printed more than/);
    // Most plugins are scripts: what a script has started keeps its output open after it was killed.
    const script = {
      command: 'sh',
      args: ['-c', '(while [ -d "$0" ]; do sleep 0.2; done); true', directory],
    };
    await fails(plugin('', script), /killed by SIGKILL, its time is 0.3 s/, 300);
    const missing = plugin('', { command: '/nonexistent/plugin', installHint: 'install it' });
    await fails(missing, /ENOENT \(install it\)/);
  });

  test('what a plugin prints is checked, and never quoted', () => {
    const refused = (text: string, pattern: RegExp) =>
      assert.throws(
        () => parseExecCredential(text, V1, 'u'),
        (error: Error) => pattern.test(error.message) && !error.message.includes('sesame'),
      );
    const credential = (status: object, apiVersion = V1) =>
      JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
    refused('sesame', /not JSON/);
    refused('null', /not an ExecCredential/);
    refused(credential({ token: 'sesame' }, 'v2'), /not an ExecCredential of/);
    refused(credential({}), /neither a token nor a certificate/);
    refused(credential({ clientKeyData: 'sesame' }), /without the other/);
    refused(credential({ token: 'sesame', expirationTimestamp: 'soon' }), /no time/);
    assert.equal(parseExecCredential(credential({ token: 't' }), V1, 'u').token, 't');
  });
});
