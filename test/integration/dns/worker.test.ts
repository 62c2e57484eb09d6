/** A worker thread that dies is replaced, with all the data, and knows who is trusted; its counters go on where they were. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText, readReply } from '../../support/dns/testing.ts';
import { pino } from 'pino';
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { parseNetwork } from '../../../src/dns/server/networks.ts';
import { startWorker } from '../../../src/dns/server/worker-handle.ts';
import { createWorkerPool } from '../../../src/dns/server/worker-pool.ts';
import { createLog } from '../../../src/ops/log.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askAll, countTruncated } from './ask.ts';
import { shareZones } from '../../../src/dns/zone/zones.ts';
import type { WorkerMessage } from '../../../src/dns/server/worker-protocol.ts';

const INDIGESTIBLE = { kind: 'outside', answers: null } as unknown as WorkerMessage;

for (const mode of ['fast', 'portable'] as const) {
  test(`${mode}: killed by a message it cannot digest, it comes back`, async (t) => {
    await using ports = await reservePorts(1);
    const [port] = ports.numbers as [number];
    const { store, zones } = serveText('a.example.test A 10.0.0.1');
    const worker = await startWorker({
      start: {
        endpoints: [{ address: '127.0.0.1', port, ipv6Only: false }],
        mode,
        maxUdpPayload: 1232,
        cookies: { current: new Uint8Array(16), previous: [] },
        rateLimit: undefined,
        seed: 1,
        resolves: false,
        zones: shareZones(zones),
        trusted: [],
        keys: [],
      },
      ask: () => {},
      log: createLog('silent'),
    });
    t.after(() => worker.close());
    const ask = async (name: string) => {
      const [answer] = await askAll(port, [{ name: `${name}.example.test`, type: 'A' }]);
      return readReply(answer!).answer.length;
    };
    const answered = () => worker.counters.cells.reduce((sum, cell) => sum + cell, 0);
    // Nobody tells the worker: it reads what it answers from the memory that the store writes to.
    store.upsert('later', [{ name: 'b.example.test', type: 'A', data: '10.0.0.2' }]);
    assert.deepEqual([await ask('a'), await ask('b')], [1, 1]);
    // More than are asked after its return: counters that began anew would be seen.
    await askAll(
      port,
      Array.from({ length: 5000 }, () => ({ name: 'a.example.test', type: 'A' })),
    );
    const before = answered();
    worker.post(INDIGESTIBLE);
    await worker.settled();
    store.upsert('meanwhile', [{ name: 'c.example.test', type: 'A', data: '10.0.0.3' }]);
    await waitFor('its return', async () => (await ask('c')) === 1);
    assert.deepEqual([await ask('a'), await ask('b')], [1, 1]);
    await waitFor('the news of it', async () => worker.serving);
    assert.ok(answered() > before);
  });
  test(`${mode}: whom the rate limit does not hit, the one that replaces it knows`, async (t) => {
    await using ports = await reservePorts(1);
    const [port] = ports.numbers as [number];
    const { zones } = serveText('a.example.test A 10.0.0.1');
    const lines: string[] = [];
    const pool = createWorkerPool({
      config: dnsConfigSchema.parse({
        zones: [{ name: 'example.test' }],
        workers: 1,
        udp: mode,
        rateLimit: { responsesPerSecond: 1, slip: 1, exempt: [] },
      }),
      cookies: { current: new Uint8Array(16), previous: [] },
      keys: [],
      zones: () => shareZones(zones),
      ask: undefined,
      log: pino({}, { write: (line: string) => void lines.push(line) }),
    });
    await pool.start([{ address: '127.0.0.1', port, ipv6Only: false }]);
    t.after(() => pool.close());
    const limited = () => countTruncated(port, 'a.example.test');
    pool.trust([parseNetwork('127.0.0.1')!]);
    await pool.settled();
    assert.equal(await limited(), 0);
    pool.post(INDIGESTIBLE);
    await waitFor('its end', async () => lines.some((line) => line.includes('restarting')));
    await waitFor('its return', async () => pool.isServing);
    assert.equal(await limited(), 0);
    pool.trust([]);
    await pool.settled();
    assert.ok((await limited()) > 0);
  });
}
