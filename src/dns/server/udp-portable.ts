import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Socket } from 'node:dgram';
import { CELL, count, countLatency } from './counters.ts';
import { MAX_WAITS } from './held-queries.ts';
import { NEVER, UNRESOLVED } from './responder.ts';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';
import type { Counters } from './counters.ts';
import type { HeldQueries } from './held-queries.ts';
import type { Endpoint } from './endpoint.ts';
import type { UdpResponder } from './udp-responder.ts';

export interface UdpListener {
  close(): Promise<void>;
}

const SOCKET_BUFFER = 4 << 20;
/** One latency of so many is measured. */
const SAMPLE_EVERY = 32;

/** Serves DNS over UDP with node:dgram: two system calls a query, on every platform. */
export async function serveUdpPortable(
  endpoint: Endpoint,
  responder: UdpResponder,
  counters: Counters,
  held: HeldQueries<() => void>,
): Promise<UdpListener> {
  const family = isIPv6(endpoint.address) ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    ipv6Only: endpoint.ipv6Only,
    reusePort: true,
    // Addresses are numeric; without this every send would go through the resolver.
    lookup: (host, _options, done) => done(null, host, family),
  });
  const scratch = Buffer.allocUnsafeSlow(responder.bufferSize);
  const client = createClientAddress();
  let clientText = '';
  let sample = 0;

  function respond(query: Buffer, from: { address: string; port: number }, waits = 0): void {
    const began = performance.now();
    responder.setTime(performance.timeOrigin + began);
    if (from.address !== clientText) setAddressText(client, (clientText = from.address));
    const mayWait = waits < MAX_WAITS ? held.hasRoomFor : NEVER;
    const size = responder.respond(query, 0, query.length, scratch, 0, client, mayWait);
    if (size === 0) return;
    if (size === UNRESOLVED) {
      const { unresolved, type } = responder.outcome;
      held.hold(unresolved!, type, client, () => respond(query, from, waits + 1));
      return;
    }
    const reply = Buffer.allocUnsafe(size); // the socket may keep it until it can send
    scratch.copy(reply, 0, 0, size);
    try {
      socket.send(reply, from.port, from.address);
    } catch {
      count(counters, CELL.sendErrors);
    }
    sample = (sample + 1) % SAMPLE_EVERY;
    if (sample === 0) countLatency(counters, performance.now() - began);
  }

  socket.on('message', (query, from) => {
    if (from.port !== 0) respond(query, from);
  });
  await bind(socket, endpoint);
  socket.on('error', () => count(counters, CELL.sendErrors)); // e.g. the network of a client is unreachable
  return { close: () => new Promise((resolve) => socket.close(() => resolve())) };
}

async function bind(socket: Socket, { port, address }: Endpoint): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, () => {
      socket.off('error', reject);
      resolve();
    });
  });
  try {
    socket.setRecvBufferSize(SOCKET_BUFFER);
    socket.setSendBufferSize(SOCKET_BUFFER);
  } catch {
    // the system allows less, so its own size stays
  }
}
