import { createServer } from 'node:net';
import { CELL, count, countAnswer, countLatency } from './counters.ts';
import { createResponder, MAX_ANSWER, TRANSFER } from './responder.ts';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';
import { transferMessages } from '../zone/transfer.ts';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Counters } from './counters.ts';
import type { ResponderOptions } from './query-context.ts';
import type { Responder } from './responder.ts';
import type { Endpoint } from './udp-portable.ts';
import type { Zones } from '../zone/zones.ts';

export interface TcpOptions extends ResponderOptions {
  /** A connection on which no whole query arrives for so long is closed. */
  idleMs: number;
  maxConnections: number;
  maxConnectionsPerClient: number;
}

export interface TcpService {
  readonly port: number;
  readonly connections: number;
  /** Takes no more connections, lets the open ones finish what they have, and closes them; after `graceMs` at once. */
  close(graceMs: number): Promise<void>;
}

/** Answers that a client may leave unread before its further queries wait. */
const MAX_UNSENT = 256 * 1024;

/** Serves DNS over TCP (RFC 7766): any number of queries a connection, answered as they come. */
export async function serveTcp(
  endpoint: Endpoint,
  zones: Zones,
  options: TcpOptions,
  counters: Counters,
): Promise<TcpService> {
  const responder = createResponder(zones, options);
  const out = Buffer.allocUnsafeSlow(MAX_ANSWER + 2);
  const open = new Set<Socket>();
  const perClient = new Map<string, number>();

  const server = createServer({ noDelay: true, pauseOnConnect: false }, (socket) => {
    const address = socket.remoteAddress ?? '';
    const already = perClient.get(address) ?? 0;
    if (open.size >= options.maxConnections || already >= options.maxConnectionsPerClient) {
      count(counters, CELL.dropped);
      socket.destroy();
      return;
    }
    open.add(socket);
    perClient.set(address, already + 1);
    socket.on('close', () => {
      open.delete(socket);
      const left = perClient.get(address)! - 1;
      if (left > 0) perClient.set(address, left);
      else perClient.delete(address);
    });
    serveConnection(socket, options.idleMs, { responder, out, counters });
  });
  await listen(server, endpoint);
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return open.size;
    },
    close: (graceMs) => closeServer(server, open, graceMs),
  };
}

function listen(server: Server, { address, port, ipv6Only }: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address, port, ipv6Only, reusePort: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server, open: Set<Socket>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => open.forEach((socket) => socket.destroy()), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    for (const socket of open) socket.end();
  });
}

interface Connection {
  socket: Socket;
  responder: Responder;
  out: Buffer;
  counters: Counters;
  /** Something whole has happened: the connection is not idle. */
  touch: () => void;
}

function serveConnection(socket: Socket, idleMs: number, shared: Omit<Connection, 'socket' | 'touch'>): void {
  let unread: Buffer = Buffer.alloc(0);
  const idle = setTimeout(() => socket.destroy(), idleMs);
  // Refreshing a timer that has been cleared would set it again.
  const touch = () => void (socket.destroyed || idle.refresh());
  const connection: Connection = { ...shared, socket, touch };

  function takeQueries(): void {
    let at = 0;
    socket.cork();
    while (unread.length - at >= 2 && socket.writable && socket.writableLength < MAX_UNSENT) {
      const length = unread.readUInt16BE(at);
      if (unread.length - at - 2 < length) break;
      connection.touch();
      answerQuery(connection, unread, at + 2, length);
      at += 2 + length;
    }
    socket.uncork();
    unread = unread.subarray(at);
    // A client that does not read its answers is not read from either, until the timer ends it.
    if (socket.writableLength >= MAX_UNSENT) socket.pause();
  }

  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    takeQueries();
  });
  socket.on('drain', () => {
    takeQueries();
    if (socket.writableLength < MAX_UNSENT) socket.resume();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(idle));
}

function answerQuery(connection: Connection, query: Buffer, start: number, length: number): void {
  const { socket, responder, out, counters } = connection;
  const began = performance.now();
  responder.now = Math.floor(Date.now() / 1000);
  const client = createClientAddress();
  setAddressText(client, socket.remoteAddress ?? '');
  const size = responder.answer(query, start, length, out, 2, client, true);
  const { outcome } = responder;
  if (size === TRANSFER) {
    countAnswer(counters, true, outcome.type, 0);
    const head = Uint8Array.prototype.slice.call(query, start, start + outcome.questionEnd);
    void sendTransfer(connection, transferMessages(outcome.transfer!, head));
    return;
  }
  if (size === 0) {
    // Not DNS, or an answer: there is no way to find the next query's beginning that deserves trust.
    count(counters, CELL.dropped);
    socket.destroy();
    return;
  }
  out.writeUInt16BE(size, 0);
  socket.write(Buffer.from(out.subarray(0, 2 + size)));
  countAnswer(counters, true, outcome.type, outcome.rcode);
  countLatency(counters, performance.now() - began);
}

/** Sends the messages of a transfer as fast as the client reads them; other answers may go in between (RFC 5936 section 4.1). */
async function sendTransfer({ socket, touch }: Connection, messages: Generator<Uint8Array>): Promise<void> {
  for (const message of messages) {
    if (!socket.writable) return;
    const framed = Buffer.allocUnsafe(2 + message.length);
    framed.writeUInt16BE(message.length, 0);
    framed.set(message, 2);
    if (!socket.write(framed)) await drained(socket);
    touch();
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
