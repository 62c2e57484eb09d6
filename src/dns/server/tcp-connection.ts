import { inSlices } from '../../ops/time-slice.ts';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';
import { signMessage } from '../wire/tsig.ts';
import { transferMessages } from '../secondary/transfer.ts';
import { CELL, count, countLatency, countResponse, countZone } from './counters.ts';
import { MAX_WAITS } from './held-queries.ts';
import { NEVER, TRANSFER, UNRESOLVED } from './responder.ts';
import type { Socket } from 'node:net';
import type { TransferSource } from '../secondary/transfer.ts';
import type { TsigKey } from '../wire/tsig.ts';
import type { Counters } from './counters.ts';
import type { HeldQueries } from './held-queries.ts';
import type { Responder } from './responder.ts';

/** What the connections of a listener share. */
export interface ConnectionDeps {
  responder: Responder;
  /** Scratch memory for one response and its length. */
  out: Buffer;
  counters: Counters;
  /** Queries that wait for the resolver. */
  held: HeldQueries<() => void>;
  transfers: TransferSource;
}

/** Transfers that a client may have waiting: each is made when the one before has been sent. */
const MAX_TRANSFERS = 256;
/** Bytes of responses that a client may leave unread before its next queries wait. */
const MAX_UNSENT = 256 * 1024;

interface Connection extends ConnectionDeps {
  socket: Socket;
  /** Restarts the idle timer. */
  touch: () => void;
  /** The end of the last transfer, and how many there are. */
  transfer: { done: Promise<void>; count: number };
}

/** Answers the queries of one connection until it is closed, or idle for `idleMs`. */
export function serveConnection(socket: Socket, idleMs: number, deps: ConnectionDeps): void {
  let unread: Buffer = Buffer.alloc(0);
  const idle = setTimeout(() => socket.destroy(), idleMs);
  // Refreshing a cleared timer would start it again.
  const touch = () => void (socket.destroyed || idle.refresh());
  const transfer = { done: Promise.resolve(), count: 0 };
  const connection: Connection = { ...deps, socket, touch, transfer };

  function answerQueries(): void {
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
    // No more queries are read from a client that does not read its responses, until the idle timer closes it.
    if (socket.writableLength >= MAX_UNSENT) socket.pause();
  }

  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    answerQueries();
  });
  socket.on('drain', () => {
    answerQueries();
    if (socket.writableLength < MAX_UNSENT) socket.resume();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(idle));
}

function answerQuery(connection: Connection, query: Buffer, start: number, length: number, waits = 0): void {
  const { socket, responder, out, counters, held } = connection;
  if (!socket.writable) return;
  const began = performance.now();
  responder.now = Math.floor(Date.now() / 1000);
  const client = createClientAddress();
  setAddressText(client, socket.remoteAddress ?? '');
  responder.mayWait = waits < MAX_WAITS ? held.hasRoomFor : NEVER;
  const size = responder.respond(query, start, length, out, 2, client, true);
  const { outcome } = responder;
  if (size === UNRESOLVED) {
    const copy = Buffer.from(query.subarray(start, start + length));
    const again = () => answerQuery(connection, copy, 0, length, waits + 1);
    held.hold(outcome.unresolved!, outcome.type, client, again);
    return;
  }
  if (size === TRANSFER) {
    countResponse(counters, true, outcome.type, 0);
    queueTransfer(connection, Buffer.from(query.subarray(start, start + length)));
    return;
  }
  if (size === 0) {
    // Not a query: where the next one would start in the stream cannot be known.
    count(counters, CELL.dropped);
    socket.destroy();
    return;
  }
  out.writeUInt16BE(size, 0);
  socket.write(Buffer.from(out.subarray(0, 2 + size)));
  countResponse(counters, true, outcome.type, outcome.rcode);
  countZone(counters, outcome.zone);
  countLatency(counters, performance.now() - began);
}

/** Transfers the zone of the responder's outcome, after those that were asked for before. */
function queueTransfer(connection: Connection, query: Buffer): void {
  const { socket, responder, transfers, transfer } = connection;
  const { transfer: zone, questionEnd, type, signature } = responder.outcome;
  const signing = signature?.key && { key: signature.key, mac: Buffer.from(signature.tsig.mac) };
  const { now } = responder;
  if (transfer.count >= MAX_TRANSFERS) return void socket.destroy();
  transfer.count += 1;
  transfer.done = transfer.done.then(async () => {
    await transfers.whole();
    if (socket.writable) {
      const messages = await inSlices(transferMessages(transfers, zone!.name, query, questionEnd, type));
      await sendTransfer(connection, signing ? signed(messages, signing, now) : messages);
    }
    transfer.count -= 1;
  });
}

/** Signs the messages of a transfer, each with the one before (RFC 8945 section 5.3.1). */
function* signed(
  messages: readonly Uint8Array[],
  { key, mac }: { key: TsigKey; mac: Uint8Array },
  now: number,
): Generator<Uint8Array> {
  let priorMac = mac;
  let isLater = false;
  for (const message of messages) {
    const result = signMessage(message, { key, now, priorMac, isLater });
    priorMac = result.mac;
    isLater = true;
    yield result.signed;
  }
}

/** Sends the messages of a transfer as fast as the client reads them; other responses may come between (RFC 5936 section 4.1). */
async function sendTransfer({ socket, touch }: Connection, messages: Iterable<Uint8Array>): Promise<void> {
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
