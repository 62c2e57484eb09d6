/** What attackers send. Each attack goes on, with new connections for those that were cut, until it is told to stop. */
import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ALL_APIS, apiOf } from '../../src/kafka/apis.ts';
import { decodeRequestHeader, encodeResponse } from '../../src/kafka/frame.ts';
import { encodeBatch } from '../../src/kafka/records/write.ts';
import { frameOf } from '../proxy/wire.ts';

/** Ports of the proxy. None of the virtual clusters behind them is the neighbour's. */
export interface Ports {
  /** In the clear. */
  plain: number;
  /** By the server name that a client asks for. */
  named: number;
  /** Whoever comes says first for whom, by a PROXY header. */
  announced: number;
  /** Records are encrypted. */
  sealed: number;
  /** The broker behind it is the attacker's. */
  evil: number;
}

export type AttackName =
  | 'frames'
  | 'frames_held'
  | 'trickle'
  | 'proxy_header'
  | 'client_hello'
  | 'bomb'
  | 'bomb_accepted'
  | 'upstream';

/** One connection of an attacker; it is over when it is closed, by whomever. */
type Connection = (socket: Socket, signal: AbortSignal) => Promise<void>;

/** Attackers are bounded, too: a reconnect does not come at once, or the attack would be one on this machine's cores. */
const RECONNECT_MS = 50;
const PIECE = Buffer.alloc(65_536);

async function keepConnecting(port: number, connection: Connection, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const socket = connectTcp({ port, host: '127.0.0.1', noDelay: true });
    const closed = new AbortController();
    socket.on('error', () => {}).on('close', () => closed.abort());
    socket.resume();
    const over = AbortSignal.any([signal, closed.signal]);
    await connection(socket, over).catch(() => {});
    socket.destroy();
    await delay(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

const together = (count: number, port: number, connection: Connection, signal: AbortSignal) =>
  Promise.all(Array.from({ length: count }, () => keepConnecting(port, connection, signal)));

async function send(socket: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
  if (!socket.write(bytes)) await once(socket, 'drain', { signal });
}

const untilOver = (signal: AbortSignal) =>
  signal.aborted ? Promise.resolve() : once(signal, 'abort').then(() => undefined);

/** Announces a request of 100 MB, and sends all of it. */
const largeFrame: Connection = async (socket, signal) => {
  const head = frameOf('Metadata', 12, { topics: [] });
  const length = 100 * 1_048_576 - 4;
  head.writeInt32BE(length, 0);
  await send(socket, head, signal);
  for (let left = length; left > 0 && !signal.aborted; left -= PIECE.length)
    await send(socket, PIECE, signal);
  await untilOver(signal);
};

/**
 * The same just below what one connection may hold, from a client that the broker has accepted: so much is gathered, all but its last byte.
 */
const heldFrame: Connection = async (socket, signal) => {
  await send(socket, frameOf('Metadata', 12, { topics: [] }), signal);
  await once(socket, 'data', { signal });
  const head = frameOf('Metadata', 12, { topics: [] });
  const length = 63 * 1_048_576;
  head.writeInt32BE(length, 0);
  await send(socket, head, signal);
  for (let left = length - head.length; left > PIECE.length && !signal.aborted; left -= PIECE.length)
    await send(socket, PIECE, signal);
  await untilOver(signal);
};

/** Announces a large request and sends a byte of it now and then, so that it never seems to be idle. */
const trickle: Connection = async (socket, signal) => {
  const head = frameOf('Metadata', 12, { topics: [] });
  head.writeInt32BE(500_000, 0);
  await send(socket, head, signal);
  while (!signal.aborted) {
    await send(socket, PIECE.subarray(0, 1), signal);
    await delay(200, undefined, { signal });
  }
};

/** The longest PROXY header that is read, 4 KiB, a byte now and then. */
const proxyHeader: Connection = async (socket, signal) => {
  const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
  const head = Buffer.concat([signature, Buffer.from([0x21, 0x11, 0x10, 0x00])]);
  for (let sent = 0; !signal.aborted; sent++) {
    await send(socket, Buffer.of(head[sent] ?? 0), signal);
    await delay(200, undefined, { signal });
  }
};

/** A ClientHello of 64 KB in records of one byte each, of which the last ones come slowly. */
const clientHello: Connection = async (socket, signal) => {
  const record = (byte: number) => Buffer.from([0x16, 3, 1, 0, 1, byte]);
  const start = [1, 0, 0xff, 0xff, 3, 3].map(record);
  const records = Buffer.concat([...start, ...Array.from({ length: 10_300 }, () => record(0))]);
  await send(socket, records, signal);
  while (!signal.aborted) {
    await send(socket, record(0), signal);
    await delay(10, undefined, { signal });
  }
};

/** 58 KB that unpack to a thousand times as much. */
function bombFrame(): Buffer {
  const value = Buffer.alloc(59_000_000);
  const record = { offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] };
  const records = encodeBatch({ compression: 'gzip', baseTimestamp: 0n }, [record]);
  const topicData = [{ name: 'sealed', partitionData: [{ index: 0, records }] }];
  return frameOf('Produce', 12, { transactionalId: null, acks: 1, timeoutMs: 30_000, topicData });
}

function bomb(isAccepted: boolean): Connection {
  const frame = bombFrame();
  return async (socket, signal) => {
    if (isAccepted) {
      await send(socket, frameOf('Metadata', 12, { topics: [] }), signal);
      await once(socket, 'data', { signal });
    }
    while (!signal.aborted) {
      await send(socket, frame, signal);
      await delay(250, undefined, { signal });
    }
  };
}

const ask: Connection = async (socket, signal) => {
  await send(socket, frameOf('Metadata', 12, { topics: [] }), signal);
  await untilOver(signal);
};

const ATTACKS: Record<AttackName, (ports: Ports, signal: AbortSignal) => Promise<unknown>> = {
  frames: ({ plain }, signal) => together(8, plain, largeFrame, signal),
  frames_held: ({ plain }, signal) => together(8, plain, heldFrame, signal),
  trickle: ({ plain }, signal) => together(300, plain, trickle, signal),
  proxy_header: ({ announced }, signal) => together(300, announced, proxyHeader, signal),
  client_hello: ({ named }, signal) => together(4, named, clientHello, signal),
  bomb: ({ sealed }, signal) => together(2, sealed, bomb(false), signal),
  bomb_accepted: ({ sealed }, signal) => together(2, sealed, bomb(true), signal),
  upstream: ({ evil }, signal) => together(4, evil, ask, signal),
};

export const ATTACK_NAMES = Object.keys(ATTACKS) as AttackName[];

export const attack = (name: AttackName, ports: Ports, signal: AbortSignal) => ATTACKS[name](ports, signal);

function pourOut(socket: Socket, correlationId: number): void {
  const head = Buffer.alloc(9);
  head.writeInt32BE(0x7fff_ffff, 0);
  head.writeInt32BE(correlationId, 4);
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(PIECE));
  };
  socket.on('drain', more);
  more();
}

/** A broker that answers every question for metadata with 2 GB of nothing; a real one would not. */
export async function startEvilBroker(): Promise<number> {
  const apiKeys = ALL_APIS.map(({ key, min, max }) => ({ apiKey: key, minVersion: min, maxVersion: max }));
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      const { apiKey, apiVersion, correlationId } = decodeRequestHeader(chunk, 4);
      if (apiKey === apiOf('ApiVersions').key)
        socket.write(encodeResponse(apiKey, apiVersion, { correlationId }, { apiKeys }));
      else pourOut(socket, correlationId);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
