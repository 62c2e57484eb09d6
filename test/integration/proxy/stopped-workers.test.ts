/** Workers that are stopped: they look alive to the kernel, which goes on giving them connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startFakeBroker } from './fake-broker.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';

test('workers that are stopped are replaced at once, and until then the proxy is not ready', async () => {
  await using broker = await startFakeBroker();
  await using block = await reserveBlock(4);
  await using proxy = await startProxyProcess({
    workers: 2,
    virtualClusters: [
      {
        name: 'demo',
        targetCluster: { bootstrapServers: `127.0.0.1:${broker.port}` },
        gateways: [portGateway(block.first)],
      },
    ],
  });
  (await askKafka(block.first)).close();
  const stopped = new Set<number>();
  const stop = () => {
    for (const pid of proxy.workerPids()) {
      if (stopped.has(pid)) continue;
      stopped.add(pid);
      process.kill(pid, 'SIGSTOP');
    }
  };
  stop();
  assert.equal(stopped.size, 2);
  const held = connect(block.first, '127.0.0.1');
  const cut = new Promise((resolve) => held.on('error', () => {}).on('close', resolve));
  await once(held, 'connect'); // by the kernel, which cannot know
  // Those that come in their place are stopped, too: it is not ready only until they serve.
  await waitFor('not to be ready', async () => {
    stop();
    return !(await proxy.ready());
  });
  await waitFor('new workers', async () => {
    const pids = proxy.workerPids();
    return pids.length === 2 && pids.every((pid) => !stopped.has(pid));
  });
  await cut;
  await waitFor('to be ready again', () => proxy.ready());
  (await askKafka(block.first)).close();
  assert.match(proxy.log(), /"why":"stopped by a signal".*worker is stuck, killing it/);
  assert.doesNotMatch(proxy.log(), /silent for/);
  assert.equal(await proxy.metric('isthmus_proxy_worker_exits_total', { reason: 'stuck' }), stopped.size);
  // Ready is whoever has one that serves; the other may need a moment more.
  await waitFor(
    'both to serve',
    async () => (await proxy.metric('isthmus_proxy_workers', { state: 'serving' })) === 2,
  );
});
