/** Connections to a listener in this process; whole servers are in test/integration/dns. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { closed, collect, framed, open } from '../../../test/support/dns/stream.ts';
import { question, readReply, records, serveText } from '../../../test/support/dns/testing.ts';
import { TYPE } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { createCounters, totalOf } from './counters.ts';
import { createHeldQueries } from './held-queries.ts';
import { serveTcp } from './tcp.ts';
import type { Socket } from 'node:net';

const ZONE = parseName('example.test')!;

/** A listener for the records of a text. */
async function listen(text: string, idleMs = 600_000) {
  const { zones, store } = serveText(text);
  const counters = createCounters();
  const options = {
    maxUdpPayload: 1232,
    cookies: { current: new Uint8Array(16), previous: [] },
    keys: [],
    transferAllowed: () => true,
    isTransferable: () => true,
    transfers: store,
    idleMs,
    maxConnections: 10,
    maxConnectionsPerClient: 10,
  };
  const endpoint = { address: '127.0.0.1', port: 0, ipv6Only: false };
  const listener = await serveTcp(
    endpoint,
    zones,
    options,
    counters,
    createHeldQueries(
      () => {},
      () => false,
    ),
  );
  return {
    store,
    listener,
    /** How many queries for addresses have been answered. */
    answered: (type = 'A') =>
      totalOf([counters]).responses.find(({ labels }) => labels.type === type)?.value ?? 0,
    [Symbol.asyncDispose]: () => listener.close(0),
  };
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await turn();
}

const names = (count: number) =>
  Array.from({ length: count }, (_, i) => `h${i}.example.test A 10.0.${i >> 8}.${i & 255}`).join('\n');

suite('a client that asks without reading', () => {
  const BIG = Array.from({ length: 200 }, (_, i) => `big.example.test A 10.9.${i}.1`).join('\n');
  /** Many more answers of 3 kB than any buffers hold. */
  const FLOOD = 12_000;
  const HELD_AT_MOST = 9000;

  async function ask(port: number): Promise<Socket> {
    const socket = await open(port);
    socket.pause();
    const queries = Array.from({ length: FLOOD }, (_, id) =>
      framed(question('big.example.test', 'A', { id })),
    );
    socket.write(Buffer.concat(queries));
    return socket;
  }

  /** Asks, and gives the listener many turns to answer. */
  async function flood(port: number): Promise<Socket> {
    const socket = await ask(port);
    // While it answers one client it reads from the other as well, 64 kB at a time.
    const other = await open(port);
    const answers = collect(other);
    for (let id = 0; id < 400; id++) {
      other.write(framed(question('none.example.test', 'AAAA', { id })));
      await until(() => answers.length > id);
    }
    other.destroy();
    return socket;
  }

  test('is held back, and gets all answers once it reads', async () => {
    await using server = await listen(BIG);
    const socket = await flood(server.listener.port);
    const answered = server.answered();
    assert.ok(answered > 0 && answered < HELD_AT_MOST, `${answered} of ${FLOOD} were answered`);
    const answers = collect(socket);
    socket.resume();
    await until(() => answers.length === FLOOD);
    assert.ok(answers.every((answer, id) => answer.readUInt16BE(0) === id));
    socket.destroy();
  });

  test('is closed when it has been idle for long enough', async () => {
    await using server = await listen(BIG, 3000);
    const socket = await ask(server.listener.port);
    const end = closed(socket);
    await until(() => server.answered() > 0);
    await until(() => server.listener.connections === 0);
    assert.ok(server.answered() < FLOOD);
    socket.resume();
    await end;
  });

  test('gets what it was answered when the listener closes', async () => {
    await using server = await listen(BIG);
    const socket = await flood(server.listener.port);
    const answered = server.answered();
    assert.ok(answered < FLOOD, 'there are answers that no buffer of the system has room for');
    const answers = collect(socket);
    const end = closed(socket);
    const closing = server.listener.close(5000);
    socket.resume();
    await until(() => answers.length >= answered);
    socket.destroy(); // it has queries that nobody reads any more
    await Promise.all([closing, end]);
  });
});

suite('a zone transfer', () => {
  const asked = (id: number) => framed(question('example.test', 'AXFR', { id }));
  const countOf = (messages: readonly Buffer[], id: number) =>
    messages.reduce((sum, one) => sum + (one.readUInt16BE(0) === id ? one.readUInt16BE(6) : 0), 0);

  test('lets other clients be answered while it is made', async () => {
    await using server = await listen(names(20_000));
    const [socket, other] = [await open(server.listener.port), await open(server.listener.port)];
    const [messages, answers] = [collect(socket), collect(other)];
    socket.write(asked(1));
    for (let id = 0; messages.length === 0; id++) {
      other.write(framed(question('h1.example.test', 'A', { id })));
      await until(() => answers.length > id || messages.length > 0);
    }
    const meanwhile = answers.length;
    assert.ok(meanwhile >= 5, `${meanwhile} queries were answered before the first message of the transfer`);
    socket.destroy();
    other.destroy();
  });

  test('waits for a change that is half made, and two come one after the other', async () => {
    await using server = await listen(names(300));
    const { store, listener } = server;
    const before = store.serialOf(ZONE);
    const steps = store.upsertSteps('file x', records(names(2000).replaceAll('.example', '.file.example')));
    while (store.sourcesOf(parseName('h0.file.example.test')!, TYPE.A).length === 0) steps.next();
    const socket = await open(listener.port);
    const messages = collect(socket);
    socket.write(Buffer.concat([asked(1), asked(2)]));
    await until(() => server.answered('AXFR') === 2); // counted when they are taken
    for (let i = 0; i < 50; i++) await turn();
    assert.equal(messages.length, 0);
    for (let step = steps.next(); !step.done; step = steps.next());
    const count = 300 + 2000 + 1 + 2; // with the name server, and the SOA twice
    await until(() => countOf(messages, 2) >= count);
    assert.deepEqual([countOf(messages, 1), countOf(messages, 2)], [count, count]);
    const lines = messages.slice(messages.length / 2).flatMap((message) => readReply(message).answer);
    assert.deepEqual([lines.at(-1), new Set(lines).size], [lines[0], count - 1]);
    const ids = messages.map((message) => message.readUInt16BE(0));
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    assert.equal(store.serialOf(ZONE), before + 1);
    socket.destroy();
  });

  test('is not made for a client that asks for hundreds at once', async () => {
    await using server = await listen(names(10));
    const socket = await open(server.listener.port);
    const end = closed(socket.resume());
    socket.write(Buffer.concat(Array.from({ length: 300 }, (_, id) => asked(id))));
    await end;
  });
});
