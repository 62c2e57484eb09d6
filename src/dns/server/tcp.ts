import { createServer } from 'node:net';
import { clientKey } from '../../ops/client-address.ts';
import { CELL, count } from './counters.ts';
import { createResponder, MAX_RESPONSE } from './responder.ts';
import { serveConnection } from './tcp-connection.ts';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Zones } from '../zone/zones.ts';
import type { Counters } from './counters.ts';
import type { HeldQueries } from './held-queries.ts';
import type { Endpoint } from './endpoint.ts';
import type { TransferSource } from '../secondary/transfer.ts';
import type { ResponderOptions } from './query-context.ts';

export interface TcpOptions extends ResponderOptions {
  /** A connection without a whole query for so long is closed. */
  idleMs: number;
  maxConnections: number;
  maxConnectionsPerClient: number;
  /** Where the records of zone transfers come from. */
  transfers: TransferSource;
}

/** A listening TCP socket and its connections. */
export interface TcpListener {
  readonly port: number;
  readonly connections: number;
  /** Accepts no more connections, ends the open ones, and destroys those still open after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves DNS over TCP (RFC 7766): any number of queries a connection, answered in order of arrival, except for those that
 * wait for the resolver.
 */
export async function serveTcp(
  endpoint: Endpoint,
  zones: Zones,
  options: TcpOptions,
  counters: Counters,
  held: HeldQueries<() => void>,
): Promise<TcpListener> {
  const responder = createResponder(zones, options);
  const out = Buffer.allocUnsafeSlow(MAX_RESPONSE + 2);
  const open = new Set<Socket>();
  const perClient = new Map<string, number>();

  const server = createServer({ noDelay: true, pauseOnConnect: false }, (socket) => {
    const client = clientKey(socket.remoteAddress ?? '');
    const already = perClient.get(client) ?? 0;
    if (open.size >= options.maxConnections || already >= options.maxConnectionsPerClient) {
      count(counters, CELL.tcpRefused);
      socket.destroy();
      return;
    }
    open.add(socket);
    perClient.set(client, already + 1);
    socket.on('close', () => {
      open.delete(socket);
      const left = perClient.get(client)! - 1;
      if (left > 0) perClient.set(client, left);
      else perClient.delete(client);
    });
    serveConnection(socket, options.idleMs, { responder, out, counters, held, transfers: options.transfers });
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
