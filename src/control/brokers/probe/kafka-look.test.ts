/** A server that answers as a broker would stands in for one; real ones are looked at in test/integration/brokers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { suite, test } from 'node:test';
import { apiOf } from '../../../kafka/apis.ts';
import { decodeRequestHeader, encodeResponse } from '../../../kafka/frame.ts';
import type { ToldListener } from '../expose/told.ts';
import { createLook } from './kafka-look.ts';

const NAME = '1.kafka.example.com';

/** Says of broker 1 that it is where `announced` says, once the port is known. */
async function startBroker(announced: (port: number) => { host: string; port: number }): Promise<Server> {
  const server = createServer((socket) => void serve(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const apis = (['ApiVersions', 'Metadata'] as const).map((name) => apiOf(name));
  const bodies: Record<number, object> = {
    [apiOf('ApiVersions').key]: {
      apiKeys: apis.map(({ key, min, max }) => ({ apiKey: key, minVersion: min, maxVersion: max })),
    },
    [apiOf('Metadata').key]: { brokers: [{ nodeId: 1, ...announced(port) }], clusterId: 'x', topics: [] },
  };

  async function serve(socket: Socket): Promise<void> {
    let held = Buffer.alloc(0);
    for await (const chunk of socket.on('error', () => {})) {
      held = Buffer.concat([held, chunk as Buffer]);
      while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
        const end = 4 + held.readInt32BE(0);
        const { apiKey, apiVersion, correlationId } = decodeRequestHeader(held, 4, end);
        socket.write(encodeResponse(apiKey, apiVersion, { correlationId }, bodies[apiKey]!));
        held = held.subarray(end);
      }
    }
  }
  return server;
}

const listenerAt = (port: number): ToldListener => ({
  name: 'ext',
  tls: false,
  authentication: 'none',
  isNamed: true,
  endpoints: [{ node: 1, host: NAME, port, expected: ['127.0.0.1'] }],
});

async function looked(announced: (port: number) => { host: string; port: number }) {
  const server = await startBroker(announced);
  try {
    const { port } = server.address() as AddressInfo;
    const look = createLook(async () => ['127.0.0.1'], ['127.0.0.0/8']);
    const cluster = { namespace: 'kafka', name: 'events' };
    const [found] = await look({ cluster, listeners: [listenerAt(port)], secretOf: () => undefined, now: 0 });
    return { port, ...found!.verdict };
  } finally {
    server.close();
  }
}

suite('a look at an exposed broker', () => {
  test('finds it, where it says itself what clients should be told', async () => {
    const { isReached, problem } = await looked((port) => ({ host: NAME, port }));
    assert.deepEqual([isReached, problem], [true, undefined]);
  });

  test('finds out that it sends clients elsewhere', async () => {
    const other = await looked((port) => ({ host: '192.0.2.1', port }));
    assert.deepEqual([other.isReached, other.failed], [false, 'metadata']);
    assert.equal(other.problem, `brokers send clients to 192.0.2.1:${other.port} instead`);
    const behind = await looked((port) => ({ host: NAME, port: port + 1 }));
    assert.equal(behind.problem, `brokers send clients to ${NAME}:${behind.port + 1} instead`);
  });
});
