import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { apiOf } from '../../kafka/apis.ts';
import { encodeRequest, encodeResponse } from '../../kafka/frame.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { createMetrics } from '../../ops/metrics.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { createStats } from '../cluster/stats.ts';
import { Tap } from '../cluster/tap.ts';
import { createTopology } from '../cluster/topology.ts';
import { ProcessBudget } from '../net/byte-budget.ts';
import { Connection } from '../net/connection.ts';
import type { ConnectionInfo } from './connection-info.ts';
import { Session } from './session.ts';

/**
 * Sockets as unkind as they may be: writes take their bytes late, reads come in pieces of any size, and a read buffer is
 * spoilt the moment that its bytes have been taken. Not real ones, because those are kind nearly always.
 */
interface Wire {
  connection: Connection;
  /** What the session has sent. */
  sent: Buffer[];
  send(bytes: Buffer, pieces: number[]): void;
}

const SPOILT = 0xee;

function wire(reusesBuffer: boolean, slowness: number): Wire {
  const sent: Buffer[] = [];
  const arrived: Buffer[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      const take = (wait: number): void => {
        if (wait > 0) return void setImmediate(take, wait - 1);
        sent.push(Buffer.from(chunk));
        done();
      };
      take(slowness > 0 ? sent.length % (slowness + 1) : 0);
    },
    final: (done) => done(),
  });
  const connection = new Connection();
  const reading = reusesBuffer ? readInto(connection, arrived) : undefined;
  const fake = Object.assign(socket, { setKeepAlive() {} });
  if (reading) fake.resume = () => (reading.resume(), fake);
  connection.attach(fake as unknown as Socket);
  return {
    connection,
    sent,
    send(bytes, pieces) {
      for (const piece of cut(bytes, pieces)) {
        if (!reading) socket.push(piece);
        else {
          arrived.push(piece);
          reading.arrived();
        }
      }
    },
  };
}

/** Reads as Node does with `onread`. */
function readInto(connection: Connection, arrived: Buffer[]) {
  const { buffer, callback } = connection.onread() as {
    buffer: () => Buffer;
    callback: (length: number, chunk: Buffer) => boolean;
  };
  let current = buffer();
  let held: Buffer | undefined;
  let flowing = false;
  let scheduled = false;
  const step = (): void => {
    scheduled = false;
    const next = flowing ? arrived.shift() : undefined;
    if (!next) return;
    const length = next.copy(current);
    if (length < next.length) arrived.unshift(next.subarray(length));
    const chunk = current;
    flowing = callback(length, chunk);
    current = buffer();
    if (flowing) chunk.fill(SPOILT);
    else held = chunk;
    schedule();
  };
  const schedule = (): void => {
    if (scheduled || !flowing) return;
    scheduled = true;
    setImmediate(step);
  };
  return {
    arrived: schedule,
    resume() {
      held?.fill(SPOILT);
      held = undefined;
      flowing = true;
      schedule();
    },
  };
}

function cut(bytes: Buffer, pieces: number[]): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = pieces[i % pieces.length]!;
    parts.push(Buffer.from(bytes.subarray(at, at + length)));
    at += length;
  }
  return parts;
}

function start(client: Connection, upstream: Connection): void {
  const cluster = {
    config: { name: 'c', drainTimeoutMs: 1000 },
    log: pino({ level: 'silent' }),
    stats: createStats(createMetrics()).cluster('c'),
    tap: new Tap(),
    topology: createTopology(),
    topicNames: new BoundedMap(10),
    upstream: {
      open: async () => ({ connection: upstream, address: { host: 'b', port: 1 }, guessed: false }),
    },
    filters: [{ connect: () => slowFilter() }],
    memory: { process: new ProcessBudget(), used: { value: 0 }, waits: { value: 0 } },
    sessions: new Set(),
    reportCut: (reason: string, { why }: { why: string }) => assert.fail(`${reason}: ${why}`),
    reportUnadvertised() {},
  } as unknown as Cluster;
  const addressing = { bootstrap: { host: 'h', port: 1 }, advertise: () => undefined };
  const info = { cluster, gateway: 'g', addressing, clientAddress: '192.0.2.1' } as unknown as ConnectionInfo;
  const limits = {
    maxFrameBytes: 10_000_000,
    maxBufferedBytes: 1e9,
    maxBufferedBytesPerVirtualCluster: 1e9,
    maxBufferedBytesPerConnection: 1e9,
  };
  const rules = { limits, unknownApis: 'pass' } as ConstructorParameters<typeof Session>[1];
  const session = new Session(info, rules, client);
  session.accepted = true; // as after its first answer; before it, the proxy asks between the client's requests
  session.start(Buffer.alloc(0));
}

/** Takes its time over requests and responses, changes some, and answers some itself. */
function slowFilter() {
  return {
    onRequest: {
      async Heartbeat() {
        await turn();
        return undefined;
      },
      async DeleteGroups(request: { groupsNames: string[] }) {
        await turn();
        return { forward: request };
      },
      LeaveGroup: async () => ({ answer: 'UNKNOWN_MEMBER_ID' as const }),
    },
    onResponse: {
      async DeleteGroups(response: object) {
        await turn();
        return { forward: response };
      },
    },
  } as never;
}

type Kind = 'silent' | 'produce' | 'heartbeat' | 'groups' | 'leave' | 'fetch';
const KINDS: readonly Kind[] = ['silent', 'produce', 'heartbeat', 'groups', 'leave', 'fetch'];

/** A request, the answer of the broker, and what the client gets: the correlation id, as nothing else is changed. */
function exchange(kind: Kind, size: number, correlationId: number) {
  const text = String.fromCharCode(97 + (correlationId % 26)).repeat(Math.min(size, 200_000));
  const of = (api: 'Produce' | 'Heartbeat' | 'DeleteGroups' | 'LeaveGroup' | 'Fetch', version: number) => {
    const { key: apiKey } = apiOf(api);
    return (request: object, response: object) => ({
      request: encodeRequest({ apiKey, apiVersion: version, correlationId, clientId: 'c' }, request),
      response: encodeResponse(apiKey, version, { correlationId }, response),
    });
  };
  const records = Buffer.alloc(size, correlationId);
  const topicData = [{ name: text, partitionData: [{ index: 0, records }] }];
  const fetched = [{ topicId: 'A'.repeat(22), partitions: [{ partitionIndex: 0, records }] }];
  const kinds = {
    silent: () => ({ ...of('Produce', 9)({ acks: 0, topicData }, {}), response: undefined }),
    produce: () => of('Produce', 12)({ acks: 1, topicData }, { responses: [{ name: text }] }),
    heartbeat: () => of('Heartbeat', 4)({ groupId: text }, {}),
    groups: () => of('DeleteGroups', 2)({ groupsNames: [text] }, { results: [{ groupId: text }] }),
    leave: () => ({ ...of('LeaveGroup', 5)({ groupId: text }, {}), response: undefined }),
    fetch: () => of('Fetch', 16)({}, { responses: fetched }),
  };
  return kinds[kind]();
}

const sizes = fc.oneof(fc.nat(50), fc.nat(5000), fc.nat(400_000));
const pieces = fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1000, max: 300_000 })), {
  minLength: 1,
  maxLength: 5,
});

test('whatever comes in pieces, late and through slow filters arrives whole and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...KINDS), sizes), { minLength: 1, maxLength: 12 }),
      fc.tuple(fc.boolean(), fc.boolean()),
      fc.tuple(fc.nat(3), fc.nat(3)),
      fc.tuple(pieces, pieces),
      async (wanted, [clientReuses, brokerReuses], [clientSlow, brokerSlow], [asked, answered]) => {
        const client = wire(clientReuses, clientSlow);
        const broker = wire(brokerReuses, brokerSlow);
        start(client.connection, broker.connection);
        const exchanges = wanted.map(([kind, size], i) => ({ kind, ...exchange(kind, size, i + 1) }));
        // At least a piece of ten bytes now and then, or large ones would take for ever.
        client.send(Buffer.concat(exchanges.map(({ request }) => request)), [...asked, 10_000]);
        const forwarded = Buffer.concat(
          exchanges.filter(({ kind }) => kind !== 'leave').map(({ request }) => request),
        );
        const sizeOf = (parts: Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0);
        while (sizeOf(broker.sent) < forwarded.length) await turn();
        assert.ok(Buffer.concat(broker.sent).equals(forwarded), 'the broker got other bytes');
        const answers = exchanges.flatMap(({ response }) => response ?? []);
        broker.send(Buffer.concat(answers), [...answered, 10_000]);
        const ids = exchanges.flatMap(({ kind }, i) => (kind === 'silent' ? [] : [i + 1]));
        const total = sizeOf(answers) + sizeOfRefusals(exchanges);
        while (sizeOf(client.sent) < total) await turn();
        assert.deepEqual(idsOf(Buffer.concat(client.sent), answers), ids);
        client.connection.destroy();
        while (!broker.connection.closed) await turn();
      },
    ),
    { numRuns: 150 },
  );
});

function refusalOf(correlationId: number): Buffer {
  const refused = { errorCode: 25 };
  return encodeResponse(apiOf('LeaveGroup').key, 5, { correlationId }, refused);
}

function sizeOfRefusals(exchanges: { kind: Kind }[]): number {
  return exchanges.filter(({ kind }) => kind === 'leave').length * refusalOf(1).length;
}

/** The correlation ids of the frames; those that are not our own refusals must be the broker's, to the byte. */
function idsOf(bytes: Buffer, answers: Buffer[]): number[] {
  const ids: number[] = [];
  const left = [...answers];
  for (let at = 0; at < bytes.length;) {
    const frame = bytes.subarray(at, at + 4 + bytes.readInt32BE(at));
    const id = frame.readInt32BE(4);
    if (left[0]?.readInt32BE(4) === id)
      assert.ok(left.shift()!.equals(frame), `answer ${id} has other bytes`);
    else assert.ok(frame.equals(refusalOf(id)), `frame ${id} is not the refusal`);
    ids.push(id);
    at += frame.length;
  }
  return ids;
}
