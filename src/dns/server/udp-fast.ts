import { CELL, count, countLatency } from './counters.ts';
import { createClientAddress, setAddress6 } from '../wire/client-address.ts';
import * as mmsg from './mmsg.ts';
import { AF_INET, setReplyControl } from './udp-socket.ts';
import { MAX_QUERY } from '../wire/constants.ts';
import { MAX_WAITS } from './held-queries.ts';
import { NEVER, UNRESOLVED } from './responder.ts';
import type { Counters } from './counters.ts';
import type { HeldQueries } from './held-queries.ts';
import type { SystemCalls } from './mmsg.ts';
import type { UdpResponder } from './udp-responder.ts';
import type { ClientAddress } from '../wire/client-address.ts';

export interface FastLoop {
  calls: SystemCalls;
  sockets: readonly number[];
  responder: UdpResponder;
  counters: Counters;
  /** Called between batches, and at least every WAIT_MS; applies updates. `poll`: do not wait, there are more of them. */
  betweenBatches: () => 'wait' | 'poll' | 'stop';
  held: HeldQueries<HeldDatagram>;
  /** Takes the queries whose wait for the resolver is over. */
  released: () => HeldDatagram[];
}

/** A query that waits for the resolver: the datagram, and how to respond to it. Its memory is its own. */
export interface HeldDatagram {
  socket: number;
  query: Buffer;
  address: Buffer;
  control: Buffer;
  waits: number;
}

/** How long a wait for queries may last, and so how late an update can take effect on an idle server. */
export const WAIT_MS = 20;

/** Batches from one socket before the next socket and the updates. */
const ROUNDS = 8;
/** Receive errors in a row after which the thread exits; its handle starts another. */
const MAX_FAILURES = 100;
const POLLIN = 1;
/** How long a wait for queries may last while some wait for the resolver. */
const HELD_WAIT_MS = 1;

/**
 * Serves DNS over UDP in a loop that blocks its thread: receive a batch, answer it, send the batch. Meant for a worker
 * thread that does nothing else. Returns when `betweenBatches` says so, after everything received has been answered. The
 * sockets stay open, for the thread that started this one to close.
 */
export function runFastLoop(loop: FastLoop): void {
  const { calls, sockets, betweenBatches, held, released } = loop;
  const { serveBatch, serveHeld } = createServeBatch(loop);
  const polled = pollList(calls, sockets);
  const [only] = sockets.length === 1 ? sockets : [];
  let failures = 0;
  for (let next = betweenBatches(); next !== 'stop'; next = betweenBatches()) {
    for (const query of released()) serveHeld(query);
    if (only !== undefined && held.size === 0) {
      // With one socket the receive call itself can wait.
      const flags = next === 'poll' ? mmsg.MSG_DONTWAIT : mmsg.MSG_WAITFORONE;
      failures = serveBatch(only, flags) < 0 && isFailure(calls) ? failures + 1 : 0;
      if (failures > MAX_FAILURES) throw new Error(`recvmmsg failed: errno ${calls.errno()}`);
      continue;
    }
    const waitMs = held.size > 0 ? HELD_WAIT_MS : WAIT_MS;
    if (calls.poll(polled.pointer, BigInt(sockets.length), next === 'poll' ? 0 : waitMs) > 0) {
      sockets.forEach((socket, i) => polled.isReadable(i) && drain(serveBatch, socket));
    }
  }
  for (const socket of sockets) drain(serveBatch, socket);
}

/** No datagram within the wait, and a signal, are not failures. */
function isFailure(calls: SystemCalls): boolean {
  const errno = calls.errno();
  return errno !== mmsg.EAGAIN && errno !== mmsg.EINTR;
}

type ServeBatch = (socket: number, flags: number) => number;

function drain(serveBatch: ServeBatch, socket: number): void {
  for (let round = 0; round < ROUNDS; round++) {
    if (serveBatch(socket, mmsg.MSG_DONTWAIT) < mmsg.BATCH) return;
  }
}

function pollList(calls: SystemCalls, sockets: readonly number[]) {
  const list = Buffer.allocUnsafeSlow(8 * sockets.length).fill(0); // pollfd: fd 4, events 2, revents 2
  sockets.forEach((socket, i) => {
    list.writeInt32LE(socket, 8 * i);
    list.writeInt16LE(POLLIN, 8 * i + 4);
  });
  return { pointer: calls.pointer(list), isReadable: (i: number) => list[8 * i + 6] !== 0 };
}

/**
 * Makes the function that receives, answers and sends one batch and returns how many datagrams came in, and the one that
 * responds to a query that was held.
 */
function createServeBatch({ calls, responder, counters, held }: FastLoop): {
  serveBatch: ServeBatch;
  serveHeld: (query: HeldDatagram) => void;
} {
  const received = mmsg.createBatch(calls, MAX_QUERY);
  const sent = mmsg.createBatch(calls, responder.bufferSize);
  const client = createClientAddress();
  /** 64-bit words of the responses' headers: 0 and 4 point at the address and the control data of the query. */
  const pointers = new BigUint64Array(sent.words.buffer, sent.words.byteOffset, mmsg.BATCH * 8);
  const places = (memory: Buffer, size: number) =>
    Array.from({ length: mmsg.BATCH }, (_, i) => calls.pointer(memory) + BigInt(i * size));
  const addresses = places(received.addresses, mmsg.SOCKADDR);
  const controls = places(received.controls, mmsg.CONTROL);

  /** Addresses response `to` to where query `from` came from. */
  function address(from: number, to: number, addressLength: number, controlLength: number): void {
    sent.words[16 * to + 2] = addressLength;
    sent.words[16 * to + 10] = controlLength;
    pointers[8 * to] = addresses[from]!;
    pointers[8 * to + 4] = controls[from]!;
    setReplyControl(received.controls, from * mmsg.CONTROL, controlLength);
  }

  /** Copies query `i`, whose memory the next batch takes, to respond to it later. */
  function holdQuery(socket: number, i: number, addressLength: number, controlLength: number): void {
    const { unresolved, type } = responder.outcome;
    setReplyControl(received.controls, i * mmsg.CONTROL, controlLength);
    held.hold(unresolved!, type, client, {
      socket,
      query: copyOf(received.data, i * received.stride, received.words[16 * i + 14]!),
      address: copyOf(received.addresses, i * mmsg.SOCKADDR, addressLength),
      control: copyOf(received.controls, i * mmsg.CONTROL, controlLength),
      waits: 1,
    });
  }

  function serveHeld(query: HeldDatagram): void {
    readClient(client, query.address, 0);
    responder.setTime(performance.timeOrigin + performance.now());
    const mayWait = query.waits < MAX_WAITS ? held.hasRoomFor : NEVER;
    const bytes = query.query;
    const size = responder.respond(bytes, 0, bytes.length, sent.data, 0, client, mayWait);
    if (size === UNRESOLVED) {
      const { unresolved, type } = responder.outcome;
      held.hold(unresolved!, type, client, { ...query, waits: query.waits + 1 });
    }
    if (size <= 0) return;
    sent.words[2] = query.address.length;
    sent.words[10] = query.control.length;
    pointers[0] = calls.pointer(query.address);
    pointers[4] = query.control.length > 0 ? calls.pointer(query.control) : 0n;
    sent.lengths[2] = size;
    sendAll(calls, query.socket, sent, 1, counters);
  }

  const serveBatch: ServeBatch = (socket, flags) => {
    const n = calls.recvmmsg(socket, received.headers, mmsg.BATCH, flags, 0n);
    if (n <= 0) return n;
    const began = performance.now();
    responder.setTime(performance.timeOrigin + began);
    let ready = 0;
    for (let i = 0; i < n; i++) {
      const addressLength = received.words[16 * i + 2]!;
      const controlLength = received.words[16 * i + 10]!;
      received.words[16 * i + 2] = 28; // the kernel has replaced both by the true ones
      received.words[16 * i + 10] = mmsg.CONTROL;
      const truncated = (received.words[16 * i + 12]! & mmsg.MSG_TRUNC) !== 0;
      if (truncated || !readClient(client, received.addresses, i * mmsg.SOCKADDR)) {
        count(counters, CELL.dropped);
        continue;
      }
      const size = responder.respond(
        received.data,
        i * received.stride,
        received.words[16 * i + 14]!,
        sent.data,
        ready * sent.stride,
        client,
        held.hasRoomFor,
      );
      if (size === UNRESOLVED) holdQuery(socket, i, addressLength, controlLength);
      if (size <= 0) continue;
      address(i, ready, addressLength, controlLength);
      sent.lengths[4 * ready + 2] = size;
      ready += 1;
    }
    sendAll(calls, socket, sent, ready, counters);
    countLatency(counters, performance.now() - began);
    return n;
  };
  return { serveBatch, serveHeld };
}

function copyOf(memory: Uint8Array, at: number, length: number): Buffer {
  const copy = mmsg.newMemory(length);
  copy.set(memory.subarray(at, at + length));
  return copy;
}

/** False for a source port of 0, to which nothing can be sent. */
function readClient(client: ClientAddress, addresses: Uint8Array, at: number): boolean {
  if (addresses[at] === AF_INET) {
    client.length = 4;
    for (let i = 0; i < 4; i++) client.bytes[i] = addresses[at + 4 + i]!;
  } else setAddress6(client, addresses, at + 8);
  return addresses[at + 2] !== 0 || addresses[at + 3] !== 0;
}

function sendAll(
  calls: SystemCalls,
  socket: number,
  batch: mmsg.Batch,
  ready: number,
  counters: Counters,
): void {
  for (let done = 0; done < ready;) {
    const headers = done === 0 ? batch.headers : batch.headers + BigInt(64 * done);
    const sent = calls.sendmmsg(socket, headers, ready - done, 0);
    // The call failed at its first message: skip that one, and go on with the next.
    if (sent <= 0) count(counters, CELL.sendErrors);
    done += Math.max(sent, 1);
  }
}
