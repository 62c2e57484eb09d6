import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openCounters } from './counters.ts';
import { createHeldQueries } from './held-queries.ts';
import { loadSystemCalls } from './mmsg.ts';
import { inNetworks } from './networks.ts';
import { openSocket } from './udp-socket.ts';
import { runFastLoop, WAIT_MS } from './udp-fast.ts';
import { serveUdpPortable } from './udp-portable.ts';
import { createUdpResponder } from './udp-responder.ts';
import { APPLIED, POSTED } from './worker-protocol.ts';
import { createOutsideAnswers, keepOutside } from '../zone/outside.ts';
import { openZones } from '../zone/zones.ts';
import type { AskOutside, HeldQueries } from './held-queries.ts';
import type { SystemCalls } from './mmsg.ts';
import type { HeldDatagram } from './udp-fast.ts';
import type { UdpMode, WorkerMessage, WorkerReport, WorkerStart } from './worker-protocol.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { OutsideAnswer } from '../zone/outside.ts';

// A UDP worker: a thread that answers from the shared memory of the zones, with its own sockets on the shared port.
const start = workerData as WorkerStart;
const zones = openZones(start.zones);
if (start.resolves) zones.outside = createOutsideAnswers();
const counters = openCounters(start.counters);
const control = new Int32Array(start.control);
const { updates } = start;
const noTransfers = { transferAllowed: () => false, isTransferable: () => false };
const responder = createUdpResponder(zones, { ...start, ...noTransfers }, counters);

let { trusted } = start;
responder.trust(trusted);

/** Messages applied between two batches of queries: enough to keep up, few enough not to delay queries. */
const MESSAGES_PER_BATCH = 4;

let stopped = false;

/** Answers that came since the queries that wait for them were looked at. */
let resolved: OutsideAnswer[] = [];

const isTrusted = (client: ClientAddress) => inNetworks(client, trusted);

const ask: AskOutside = (name, type, client) =>
  parentPort!.postMessage({ kind: 'ask', name, type, client } satisfies WorkerReport, []);

function apply(message: WorkerMessage): void {
  if (message.kind === 'stop') stopped = true;
  if (message.kind === 'trust') responder.trust((trusted = message.networks));
  if (message.kind === 'outside') {
    keepOutside(zones.outside, message.answers);
    resolved.push(...message.answers);
  }
  Atomics.add(control, APPLIED, 1);
  Atomics.notify(control, APPLIED);
}

/** Whether there are messages. Reading a shared number is much cheaper than receiving from the port. */
function hasPosted(): boolean {
  return Atomics.load(control, APPLIED) !== Atomics.load(control, POSTED);
}

/** Applies up to `most` posted messages. */
function applyPosted(most: number): void {
  for (let i = 0; i < most && hasPosted(); i++) {
    const received = receiveMessageOnPort(updates);
    if (!received) return;
    apply(received.message as WorkerMessage);
  }
}

function release<T>(held: HeldQueries<T>): T[] {
  if (resolved.length === 0) return [];
  const answers = resolved;
  resolved = [];
  return held.release(answers);
}

function report(mode: UdpMode, sockets: number[]): void {
  parentPort!.postMessage({ kind: 'serving', mode, sockets } satisfies WorkerReport, []);
}

/** All sockets, or none and an error. */
function openSockets(calls: SystemCalls): number[] {
  const sockets: number[] = [];
  try {
    for (const endpoint of start.endpoints) sockets.push(openSocket(calls, endpoint, WAIT_MS));
    return sockets;
  } catch (error) {
    for (const socket of sockets) calls.close(socket);
    throw error;
  }
}

function serveFast(calls: SystemCalls): void {
  const sockets = openSockets(calls);
  report('fast', sockets);
  const betweenBatches = () => {
    applyPosted(MESSAGES_PER_BATCH);
    if (stopped) return 'stop';
    return hasPosted() ? 'poll' : 'wait';
  };
  const held = createHeldQueries<HeldDatagram>(ask, isTrusted);
  const released = () => release(held);
  runFastLoop({ calls, sockets, responder, counters, betweenBatches, held, released });
  updates.close();
}

async function servePortable(): Promise<void> {
  const held = createHeldQueries<() => void>(ask, isTrusted);
  const listeners = await Promise.all(
    start.endpoints.map((endpoint) => serveUdpPortable(endpoint, responder, counters, held)),
  );
  updates.on('message', (message: WorkerMessage) => {
    apply(message);
    for (const respond of release(held)) respond();
    if (!stopped) return;
    updates.close();
    for (const listener of listeners) void listener.close();
  });
  report('portable', []);
}

applyPosted(Infinity);
const calls = start.mode === 'fast' ? await loadSystemCalls() : undefined;
if (calls) serveFast(calls);
else await servePortable();
