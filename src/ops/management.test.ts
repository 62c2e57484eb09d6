import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createHealth } from './health.ts';
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
