/** A worker thread that dies is replaced, with all the data, and its counters go on where they were. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText, readReply } from '../../support/dns/testing.ts';
import { startWorker } from '../../../src/dns/server/worker-handle.ts';
import { createLog } from '../../../src/ops/log.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askAll } from './ask.ts';
import type { Update } from '../../../src/dns/zone/update.ts';

for (const mode of ['fast', 'portable'] as const) {
  test(`${mode}: killed by a message it cannot digest, it comes back`, async (t) => {
    await using ports = await reservePorts(1);
    const [port] = ports.numbers as [number];
    const { store } = serveText('a.example.test A 10.0.0.1');
    const worker = await startWorker({
      start: {
        endpoints: [{ address: '127.0.0.1', port, ipv6Only: false }],
        mode,
        maxUdpPayload: 1232,
        cookies: { current: new Uint8Array(16), previous: [] },
        rateLimit: undefined,
        seed: 1,
        resolves: false,
      },
      snapshot: () => store.snapshot(),
      ask: () => {},
      log: createLog('silent'),
    });
    t.after(() => worker.close());
    const ask = async (name: string) => {
      const [answer] = await askAll(port, [{ name: `${name}.example.test`, type: 'A' }]);
      return readReply(answer!).answer.length;
    };
    const answered = () => worker.counters.cells.reduce((sum, cell) => sum + cell, 0);
    // Nobody passes this on to the worker: only one that starts with all the data knows of it.
    store.upsert('later', [{ name: 'b.example.test', type: 'A', data: '10.0.0.2' }]);
    assert.deepEqual([await ask('a'), await ask('b')], [1, 0]);
    const before = answered();
    worker.post({ kind: 'rrsets', changes: null } as unknown as Update);
    await worker.settled();
    await waitFor('its return', async () => (await ask('b')) === 1);
    assert.equal(await ask('a'), 1);
    await waitFor('the news of it', async () => worker.serving);
    assert.ok(answered() > before);
  });
}
