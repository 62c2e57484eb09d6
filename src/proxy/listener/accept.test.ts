import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { suite, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { Cluster } from '../cluster/cluster.ts';
import type { CutReason } from '../cluster/stats.ts';
import type { Limits } from '../config/model.ts';
import type { Route } from '../router/router.ts';
import { accept } from './accept.ts';
import type { AcceptContext } from './accept.ts';

/** A connection in place of a socket. */
function connection(): Socket {
  const [near] = duplexPair();
  return Object.assign(near, { remoteAddress: '192.0.2.1', setKeepAlive() {} }) as unknown as Socket;
}

function contextWith(
  find: () => Route | undefined,
  refused: CutReason[] = [],
): AcceptContext & { inside: number } {
  const made = {
    inside: 0,
    find,
    rules: { limits: { handshakeTimeoutMs: 1000 } as Limits, unknownApis: 'pass' as const },
    proxyProtocol: 'disabled' as const,
    isTrusted: undefined,
    refuse: (reason: CutReason) => void refused.push(reason),
    admit() {
      made.inside += 1;
      return () => void (made.inside -= 1);
    },
    enter: () => () => {},
  };
  return made;
}

const destination = { cluster: 'c', gateway: 'g', node: undefined };
const binding = { host: undefined, port: 1, destination, sni: [] };

test('a connection whose virtual cluster was retired during its handshake gets no session of it', async () => {
  const sessions = new Set();
  const secured = connection();
  const route = {
    cluster: { sessions, config: { name: 'c' }, filters: [] } as unknown as Cluster,
    gateway: { tls: { handshake: async () => ({ socket: secured as TLSSocket }) } },
  } as unknown as Route;
  let asked = 0;
  const socket = connection();
  const closed = once(socket, 'close');
  const context = contextWith(() => (asked++ === 0 ? route : undefined));
  accept(socket, { ...binding, tls: true }, context);
  await closed;
  assert.equal(asked, 2, 'it was looked for again after the handshake');
  assert.equal(sessions.size, 0);
  assert.equal(context.inside, 0);
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
  const route = { cluster, gateway: { config: { name: 'g' } } } as unknown as Route;
  const socket = connection();
  const closed = once(socket, 'close');
  const context = contextWith(() => route, refused);
  accept(Object.assign(socket, { _handle: null }), { ...binding, tls: false }, context);
  await closed;
  assert.equal(context.inside, 0);
  assert.deepEqual(refused, ['filter']);
});

suite('PROXY headers', () => {
  /** A client of an accepted connection that never gets as far as a session. */
  function connectTo(context: AcceptContext, tls: boolean) {
    const [near, far] = duplexPair();
    const socket = Object.assign(near, { remoteAddress: '192.0.2.1', setKeepAlive() {}, _handle: null });
    accept(socket as unknown as Socket, { ...binding, tls }, context);
    far.on('error', () => {}).resume();
    return { far, closed: once(near, 'close') };
  }
  const proxied = (mode: 'allowed' | 'required', trusted?: boolean) => {
    const admitted: (string | undefined)[] = [];
    const refused: CutReason[] = [];
    const context = contextWith(() => undefined, refused);
    const inner = { ...context };
    Object.assign(context, {
      proxyProtocol: mode,
      isTrusted: trusted === undefined ? undefined : () => trusted,
      admit(client: string | undefined) {
        admitted.push(client);
        return inner.admit(client);
      },
    });
    return { context, admitted, refused };
  };
  const HEADER = 'PROXY TCP4 198.51.100.7 192.0.2.9 5000 9092\r\n';

  for (const tls of [false, true]) {
    const kind = tls ? 'TLS' : 'plaintext';

    test(`whoever takes its time with one counts, by its own address unless it is trusted: ${kind}`, async () => {
      for (const [trusted, counted] of [
        [undefined, '192.0.2.1'],
        [true, undefined],
      ] as const) {
        const { context, admitted } = proxied('required', trusted);
        const { far, closed } = connectTo(context, tls);
        far.write(HEADER.slice(0, 10));
        assert.deepEqual(admitted, [counted]);
        assert.equal(context.inside, 1);
        far.write(HEADER.slice(10));
        await closed;
        assert.deepEqual(admitted.slice(1), tls ? ['198.51.100.7'] : []);
        assert.equal(context.inside, 0);
      }
    });

    test(`a source that is not listed is not believed, or not let in: ${kind}`, async () => {
      const allowed = proxied('allowed', false);
      const { far, closed } = connectTo(allowed.context, tls);
      far.write(HEADER);
      await closed;
      assert.deepEqual(allowed.admitted, tls ? ['192.0.2.1'] : []);
      const required = proxied('required', false);
      await connectTo(required.context, tls).closed;
      assert.deepEqual(required.refused, ['proxy_protocol']);
      assert.deepEqual(required.admitted, []);
    });
  }
});
