import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { createAuthority } from '../../test/support/pki.ts';
import { createHealth } from './health.ts';
import { accessOf, readTokens } from './management-access.ts';
import { serveManagement } from './management.ts';

suite('management', () => {
  test('readiness follows its checks; liveness is apart from it', async () => {
    const health = createHealth();
    let problem: string | undefined = 'the caches have not synced';
    health.ready('caches', () => problem);
    health.live('loop', () => undefined);
    const server = await serveManagement({
      host: '127.0.0.1',
      port: 0,
      health,
      metrics: async () => 'm 1\n',
    });
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    try {
      assert.deepEqual(await get('/readyz'), {
        status: 503,
        text: '- caches: the caches have not synced\nfailed\n',
      });
      assert.deepEqual(await get('/livez'), { status: 200, text: '+ loop\nok\n' });
      problem = undefined;
      assert.deepEqual(await get('/readyz'), { status: 200, text: '+ caches\nok\n' });
      assert.deepEqual(await get('/metrics'), { status: 200, text: 'm 1\n' });
      assert.equal((await get('/config')).status, 404);
    } finally {
      await server.close();
    }
  });

  test('/tap is a stream for those who may see everything, so many of them, and ends with them', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'management-'));
    const tokenFile = join(directory, 'token');
    writeFileSync(tokenFile, 'whole-token');
    let onlookers = 0;
    const server = await serveManagement({
      host: '127.0.0.1',
      port: 0,
      health: createHealth(),
      metrics: async () => '',
      tokenFile,
      tap(send) {
        onlookers += 1;
        send('seen');
        return () => void (onlookers -= 1);
      },
    });
    const url = `http://127.0.0.1:${server.port}/tap`;
    const stop = new AbortController();
    const open = (token: string) =>
      fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal });
    try {
      assert.equal((await open('another-token')).status, 401);
      const responses = await Promise.all(Array.from({ length: 4 }, () => open('whole-token')));
      const { value } = await responses[0]!.body!.getReader().read();
      assert.equal(new TextDecoder().decode(value), 'data: seen\n\n');
      assert.equal(onlookers, 4);
      assert.equal((await open('whole-token')).status, 429);
      stop.abort();
      const count = () => onlookers;
      while (count() > 0) await new Promise(setImmediate);
    } finally {
      await server.close();
      rmSync(directory, { recursive: true });
    }
  });

  test('with a token, everything but health is for those who have it, and metrics also for another', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'management-'));
    const [tokenFile, metricsTokenFile] = [join(directory, 'token'), join(directory, 'metrics')];
    writeFileSync(tokenFile, 'whole-token\n');
    writeFileSync(metricsTokenFile, 'metrics-token\n');
    const health = createHealth();
    health.ready('proxy', () => 'tenant-a: a secret of its own');
    const server = await serveManagement({
      host: '127.0.0.1',
      port: 0,
      health,
      metrics: async () => 'm 1\n',
      config: () => ({ tenant: 'tenant-a' }),
      tokenFile,
      metricsTokenFile,
    });
    const get = async (path: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
      return { status: response.status, text: await response.text() };
    };
    try {
      for (const token of [undefined, 'wrong', 'metrics-token']) {
        assert.deepEqual(await get('/readyz', token), { status: 503, text: 'failed\n' });
        assert.deepEqual(await get('/livez', token), { status: 200, text: 'ok\n' });
        assert.equal((await get('/config', token)).status, 401);
        assert.equal((await get('/metrics', token)).status, token === 'metrics-token' ? 200 : 401);
        assert.equal((await get('/else', token)).status, 401);
      }
      for (const path of ['/readyz', '/config'])
        assert.match((await get(path, 'whole-token')).text, /tenant-a/, path);
      assert.deepEqual(await get('/metrics', 'whole-token'), { status: 200, text: 'm 1\n' });
      writeFileSync(tokenFile, 'another');
      assert.equal((await get('/config', 'whole-token')).status, 401);
      assert.equal((await get('/config', 'another')).status, 200);
    } finally {
      await server.close();
      rmSync(directory, { recursive: true });
    }
  });

  test('with a certificate both HTTP and HTTPS are served, by the certificate that is there now', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'management-'));
    const [certificateFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    const server = await serveManagement({
      host: '127.0.0.1',
      port: 0,
      health: createHealth(),
      metrics: async () => 'm 1\n',
      tls: { certificateFile, keyFile },
    });
    const plain = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    const secure = (ca: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const where = { host: '127.0.0.1', port: server.port, path: '/metrics', agent: false as const };
      get({ ...where, ca, servername: 'pod' }, (response) => resolve(text(response))).on('error', reject);
      return promise;
    };
    const replace = async () => {
      const authority = await createAuthority('management');
      const { certPem, keyPem } = await authority.issue({ commonName: 'pod', dns: ['pod'] });
      writeFileSync(certificateFile, certPem);
      writeFileSync(keyFile, keyPem);
      return authority.certPem;
    };
    try {
      await assert.rejects(secure(''), { code: 'ECONNRESET' }, 'there is no certificate yet');
      assert.equal(await plain(), 'm 1\n');
      const first = await replace();
      assert.equal(await secure(first), 'm 1\n');
      const second = await replace();
      assert.equal(await secure(second), 'm 1\n');
      await assert.rejects(secure(first), /certificate/);
      // Neither of the two, and one that says nothing more.
      for (const bytes of [Buffer.from([0x16, 3, 1, 0]), Buffer.from([0]), Buffer.from('GET /')]) {
        const socket = connect(server.port, '127.0.0.1');
        await once(socket, 'connect');
        socket.end(bytes);
        await once(socket.resume(), 'close');
      }
      assert.deepEqual([await plain(), await secure(second)], ['m 1\n', 'm 1\n']);
      // An open connection does not keep it from closing.
      await once(
        connect(server.port, '127.0.0.1').on('error', () => {}),
        'connect',
      );
    } finally {
      await server.close();
      rmSync(directory, { recursive: true });
    }
  });

  test('without a token everything is for this machine alone', () => {
    const none = { all: undefined, metrics: undefined };
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
      assert.equal(accessOf(undefined, address, none), 'all', address);
    for (const address of ['10.0.0.1', '::', '2001:db8::1', '::ffff:10.0.0.1', undefined])
      assert.equal(accessOf('Bearer x', address, none), 'health', String(address));
    assert.equal(accessOf(undefined, '127.0.0.1', { all: 'x', metrics: undefined }), 'health');
    assert.equal(accessOf('Bearer m', '10.0.0.1', { all: undefined, metrics: 'm' }), 'metrics');
    assert.equal(accessOf('Basic m', '10.0.0.1', { all: undefined, metrics: 'm' }), 'health');
    assert.deepEqual(readTokens({ tokenFile: '/nowhere/to/be/found' }), none);
  });

  test('a port that is taken is an error, not silence', async () => {
    const options = { host: '127.0.0.1', health: createHealth(), metrics: async () => '' };
    const first = await serveManagement({ ...options, port: 0 });
    await assert.rejects(serveManagement({ ...options, port: first.port }), {
      code: 'LISTEN_FAILED',
      message: new RegExp(`management: .*EADDRINUSE.*:${first.port}$`),
    });
    await first.close();
  });
});
