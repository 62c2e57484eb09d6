/** DNS over TCP: pipelining, limits, zone transfer. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { closed, collect, framed, open } from '../../support/dns/stream.ts';
import { question, readReply } from '../../support/dns/testing.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { startOurs } from './server.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

const records: DnsRecord[] = Array.from({ length: 500 }, (_, i) => ({
  name: `h${i}.example.test`,
  type: 'A',
  data: `10.0.${i >> 8}.${i & 255}`,
}));
const config = { zones: [{ name: 'example.test' }], records };

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

const canUnshare = spawnSync('unshare', ['--net', 'true']).status === 0;
test(
  'addresses of one IPv6 network are one client to the limit',
  { skip: canUnshare ? false : 'needs the right to make network namespaces' },
  async () => {
    const script = join(import.meta.dirname, 'many-addresses.ts');
    const { code, stdout, stderr } = await run('unshare', ['--net', process.execPath, script]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), ['fd00:1::1', 'fd00:1::2', 'fd00:2::1']);
  },
);

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
