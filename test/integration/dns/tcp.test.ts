/** DNS over TCP: pipelining, limits, zone transfer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'node:test';
import { question, readReply } from '../../support/dns/testing.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startOurs } from './server.ts';
import type { TestServer } from './server.ts';
import type { Socket } from 'node:net';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

const records: DnsRecord[] = Array.from({ length: 500 }, (_, i) => ({
  name: `h${i}.example.test`,
  type: 'A',
  data: `10.0.${i >> 8}.${i & 255}`,
}));
const config = { zones: [{ name: 'example.test' }], records };

function framed(query: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length, 0);
  return Buffer.concat([length, query]);
}

/** Collects whole answers from a connection. */
function collect(socket: Socket): Buffer[] {
  const answers: Buffer[] = [];
  let unread = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk as Buffer]);
    while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
      const end = 2 + unread.readUInt16BE(0);
      answers.push(unread.subarray(2, end));
      unread = unread.subarray(end);
    }
  });
  socket.on('error', () => {});
  return answers;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The end of a connection, by whichever way: a server that closes with something unread resets it. */
function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

const until = (what: string, ask: () => boolean) => waitFor(what, async () => ask() || undefined);

test('hundreds of queries in one write are all answered, each with its id', async () => {
  await using server = await startOurs(config);
  const socket = await open(server.port);
  const answers = collect(socket);
  socket.write(Buffer.concat(records.map(({ name }, id) => framed(question(name, 'A', { id })))));
  await until('all answers', () => answers.length === records.length);
  for (const answer of answers) {
    const id = answer.readUInt16BE(0);
    assert.deepEqual(readReply(answer).answer, [`h${id}.example.test 30 A ${records[id]!.data}`]);
  }
  socket.end();
});

test('a query that comes byte by byte is answered', async () => {
  await using server = await startOurs(config);
  const socket = await open(server.port);
  socket.setNoDelay(true);
  const answers = collect(socket);
  for (const byte of framed(question('h1.example.test', 'A', { id: 7 }))) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until('the answer', () => answers.length === 1);
  socket.end();
});

test('an idle connection is closed, also one that dribbles', async () => {
  await using server = await startOurs({ ...config, tcp: { idleSeconds: 0.3 } });
  const quiet = closed((await open(server.port)).resume());
  const socket = await open(server.port);
  const dribbling = closed(socket.resume());
  // Of a query of 65,535 bytes: one that is complete would be answered, or end the connection by what it says.
  const drip = setInterval(() => socket.write(Buffer.from([255])), 50);
  await Promise.all([quiet, dribbling]);
  clearInterval(drip);
});

test('what is not DNS ends the connection', async () => {
  await using server = await startOurs(config);
  for (const rubbish of [
    Buffer.from('GET / HTTP/1.0\r\n\r\n'.padEnd(20_000)),
    Buffer.from([0, 0]),
    Buffer.from([0, 3, 1, 2, 3]),
  ]) {
    const socket = await open(server.port);
    const answers = collect(socket);
    const end = closed(socket);
    socket.write(rubbish);
    await end;
    assert.equal(answers.length, 0);
  }
});

test('connections beyond the limit are closed at once, and make room when they end', async () => {
  await using server = await startOurs({ ...config, tcp: { maxConnectionsPerClient: 3 } });
  const sockets = await Promise.all([1, 2, 3].map(() => open(server.port)));
  const refused = await open(server.port);
  await closed(refused.resume());
  sockets[0]!.destroy();
  await waitFor('room', async () => {
    const socket = await open(server.port);
    const answers = collect(socket);
    const end = closed(socket);
    socket.once('data', () => socket.destroy());
    socket.write(framed(question('h1.example.test', 'A')));
    await end;
    return answers.length > 0;
  });
  for (const socket of sockets) socket.destroy();
});

const big = Array.from({ length: 200 }, (_, i) => ({
  name: 'big.example.test',
  type: 'A' as const,
  data: `10.9.${i}.1`,
}));
/** Many more answers of 3 kB than any buffers hold. */
const FLOOD = 20_000;
const HELD_AT_MOST = 10_000;

/** Asks without reading, until the server has had many turns to answer; returns how many queries it has answered then. */
async function flood(server: TestServer): Promise<{ socket: Socket; answered: number }> {
  const socket = await open(server.port);
  socket.pause();
  const queries = Array.from({ length: FLOOD }, (_, id) => framed(question('big.example.test', 'A', { id })));
  socket.write(Buffer.concat(queries));
  // While it answers one client it reads from the other as well, 64 kB at a time.
  const other = await open(server.port);
  const answers = collect(other);
  const turns = 400;
  for (let id = 0; id < turns; id++) {
    other.write(framed(question('none.example.test', 'AAAA', { id })));
    await new Promise<void>((resolve) => {
      const look = () => (answers.length > id ? resolve() : void setImmediate(look));
      look();
    });
  }
  other.destroy();
  const counted = /^isthmus_dns_queries_total\{transport="tcp",type="A",rcode="NOERROR"\} (\d+)$/m;
  return { socket, answered: Number(counted.exec(await server.metrics())?.[1] ?? 0) };
}

test('a client that asks without reading is held back, and gets all answers once it reads', async () => {
  await using server = await startOurs({ ...config, records: big, tcp: { idleSeconds: 600 } });
  const { socket, answered } = await flood(server);
  assert.ok(answered > 0 && answered < HELD_AT_MOST, `${answered} of ${FLOOD} were answered`);
  const answers = collect(socket);
  socket.resume();
  await until('all answers', () => answers.length === FLOOD);
  assert.deepEqual(
    answers.map((answer) => answer.readUInt16BE(0)),
    Array.from({ length: FLOOD }, (_, id) => id),
  );
  socket.destroy();
});

test('a client that never reads is closed when it has been idle for long enough', async () => {
  await using server = await startOurs({ ...config, records: big, tcp: { idleSeconds: 1 } });
  const { socket } = await flood(server);
  const end = closed(socket);
  await waitFor('nobody to be connected', async () =>
    /^isthmus_dns_tcp_connections 0$/m.test(await server.metrics()),
  );
  socket.resume();
  await end;
});

test('closing the server lets an open connection have what it was answered', async () => {
  const server = await startOurs({ ...config, records: big, tcp: { idleSeconds: 600 } });
  const { socket, answered } = await flood(server);
  assert.ok(answered > 0 && answered < FLOOD, 'there are answers that no buffer of the system has room for');
  const answers = collect(socket);
  const end = closed(socket);
  const closing = server.close();
  socket.resume();
  await Promise.all([closing, end]);
  assert.ok(answers.length >= answered, `${answers.length} of ${answered} answers`);
});

test('zone transfer: refused unless allowed; then whole, over many messages, and other queries go on', async () => {
  await using strict = await startOurs(config);
  const refused = await open(strict.port);
  const no = collect(refused);
  refused.write(framed(question('example.test', 'AXFR')));
  await until('an answer', () => no.length === 1);
  assert.equal(readReply(no[0]!).rcode, 'REFUSED');
  refused.end();

  const many = Array.from({ length: 20_000 }, (_, i) => ({
    name: `h${i}.example.test`,
    type: 'A' as const,
    data: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  }));
  await using server = await startOurs({ ...config, records: many, transferAllow: ['127.0.0.0/8'] });
  const socket = await open(server.port);
  const messages = collect(socket);
  socket.write(
    Buffer.concat([
      framed(question('example.test', 'AXFR', { id: 1 })),
      framed(question('h5.example.test', 'A', { id: 2 })),
    ]),
  );
  const isSoa = (line: string | undefined) => / SOA /.test(line ?? '');
  const transferred = () =>
    messages
      .filter((message) => message.readUInt16BE(0) === 1)
      .flatMap((message) => readReply(message).answer);
  await waitFor(
    'the transfer',
    async () => (messages.length > 10 && isSoa(transferred().at(-1))) || undefined,
    { everyMs: 300 },
  );
  const lines = transferred();
  assert.equal(lines.length, 20_000 + 2 + 2, 'records, NS and its address, SOA twice');
  assert.equal(new Set(lines).size, lines.length - 1);
  assert.ok(isSoa(lines[0]));
  await until('the other answer', () => messages.some((message) => message.readUInt16BE(0) === 2));

  messages.length = 0;
  socket.write(framed(question('h5.example.test', 'AXFR', { id: 3 })));
  await until('an answer', () => messages.length === 1);
  assert.equal(messages[0]![3]! & 15, 9, 'not the apex of a zone: NOTAUTH');
  socket.end();
});
