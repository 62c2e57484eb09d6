import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { Cluster } from '../cluster/cluster.ts';
import type { Limits } from '../config/model.ts';
import type { CutReason } from '../stats.ts';
import { receive } from './reception.ts';
import type { Directory, Residence } from './reception.ts';

/** A connection in place of a socket. */
function connection(): Socket {
  const [near] = duplexPair();
  return Object.assign(near, { remoteAddress: '192.0.2.1', setKeepAlive() {} }) as unknown as Socket;
}

function directory(
  find: () => Residence | undefined,
  refused: CutReason[] = [],
): Directory & { inside: number } {
  const made = {
    inside: 0,
    find,
    rules: { limits: { handshakeTimeoutMs: 1000 } as Limits, unknownApis: 'pass' as const },
    proxyProtocol: 'disabled' as const,
    refuse: (reason: CutReason) => void refused.push(reason),
    admit() {
      made.inside += 1;
      return () => void (made.inside -= 1);
    },
  };
  return made;
}

const endpoint = { cluster: 'c', gateway: 'g', node: undefined };
const claim = { host: undefined, port: 1, endpoint, sni: [] };

test('a connection whose virtual cluster was retired during its handshake gets no session of it', async () => {
  const sessions = new Set();
  const secured = connection();
  const residence = {
    cluster: { sessions, filters: [] } as unknown as Cluster,
    gateway: { tls: { certificates: [], secure: async () => ({ socket: secured as TLSSocket }) } },
  } as unknown as Residence;
  let asked = 0;
  const socket = connection();
  const closed = once(socket, 'close');
  const here = directory(() => (asked++ === 0 ? residence : undefined));
  receive(socket, { ...claim, tls: true }, here);
  await closed;
  assert.equal(sessions.size, 0);
  assert.equal(here.inside, 0);
});

test('a filter that takes no connection costs neither the socket nor a place', async () => {
  const refused: CutReason[] = [];
  const cluster = {
    sessions: new Set(),
    config: { name: 'c' },
    filters: [
      {
        connect() {
          throw new Error('a fault of the filter');
        },
      },
    ],
  } as unknown as Cluster;
  const residence = { cluster, gateway: { config: { name: 'g' } } } as unknown as Residence;
  const socket = connection();
  const closed = once(socket, 'close');
  const here = directory(() => residence, refused);
  receive(Object.assign(socket, { _handle: null }), { ...claim, tls: false }, here);
  await closed;
  assert.equal(here.inside, 0);
  assert.deepEqual(refused, ['filter']);
});
