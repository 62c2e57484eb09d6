/** Whoever carries connections seals TLS sessions by new keys now and then: this process, or workers of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { createAuthority } from '../../../test/support/pki.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { loadDocument } from '../config/load.ts';
import { createProxy } from './proxy.ts';
import { ROTATE_MS } from './ticket-keys.ts';

const authority = await createAuthority('servers');
const { certPem, keyPem } = await authority.issue({ commonName: 'proxy', dns: ['localhost'] });

/** A server that takes connections and says nothing. */
async function listening() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** Connects: whether that took up the session, and the one that the server gave. */
async function visit(port: number, session?: Buffer): Promise<{ resumed: boolean; session: Buffer }> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: authority.certPem,
    session,
  });
  const given = once(socket, 'session') as Promise<[Buffer]>;
  try {
    await once(socket, 'secureConnect');
    return { resumed: socket.isSessionReused(), session: session ?? (await given)[0] };
  } finally {
    socket.destroy();
  }
}

for (const supervised of [false, true])
  test(`the keys of sessions change ${supervised ? 'in workers' : 'in this process'}`, async (t) => {
    /** What is due when the time of the keys is over. All other timers run as they do. */
    const due: (() => void)[] = [];
    const { setInterval: real } = globalThis;
    t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
      if (ms === ROTATE_MS) due.push(work);
      return real(work, ms);
    });
    const target = await listening();
    const { port, close } = await listening();
    close();
    const proxy = createProxy({
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      workers: 1,
      supervised,
    });
    t.after(async () => {
      target.close();
      await proxy.close(0);
    });
    const portIdentifiesNode = { bootstrapAddress: `localhost:${port}` };
    const tls = { key: { certificate: { pem: 'certificate' }, privateKey: { pem: 'key' } } };
    const loaded = await loadDocument(
      {
        pem: { certificate: certPem, key: keyPem },
        virtualClusters: [
          {
            name: 'a',
            targetCluster: { bootstrapServers: `127.0.0.1:${target.port}` },
            gateways: [{ name: 'g', bindAddress: '127.0.0.1', portIdentifiesNode, tls }],
          },
        ],
      },
      'proxy.yaml',
      () => Buffer.alloc(0),
    );
    await proxy.apply({ ...loaded, hash: 'h' });

    const { session } = await visit(port);
    assert.ok((await visit(port, session)).resumed);
    assert.equal(due.length, 1);
    due[0]!();
    // A worker hears of it a moment later.
    let visits = 0;
    while ((await visit(port, session)).resumed && ++visits < 1000) await delay(10);
    assert.ok(visits < 1000, 'the session of before is taken up no more');
    const renewed = await visit(port);
    assert.ok((await visit(port, renewed.session)).resumed, 'by the new keys');
  });
