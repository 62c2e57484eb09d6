/** The ways in: UDP by either implementation, IPv4 and IPv6, several workers; the same bytes from all of them. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import test from 'node:test';
import { mutate, randomPacket, seededRandom } from '../../support/dns/fuzzing.ts';
import { randomQuestion, randomRecords } from '../../support/dns/random-zone.ts';
import { question, readReply } from '../../support/dns/testing.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askAll } from './ask.ts';
import { startOurs } from './server.ts';

const records = randomRecords(seededRandom(4), 'example.test', 300);
const random = seededRandom(5);
const questions = Array.from({ length: 2000 }, () => randomQuestion(random, 'example.test', records));
const config = {
  zones: [{ name: 'example.test' }],
  records,
  cookieSecrets: ['00112233445566778899aabbccddeeff'],
};

const AT_ONCE = 50;
const SURE_IDS = 40_000;
/** What has got no answer so many times is not answered: UDP may lose a packet, but not again and again. */
const ROUNDS = 4;

/** Sends packets that may get no answer, each with its own number as id; collects what comes back. */
async function sendAll(port: number, packets: readonly Buffer[]): Promise<Map<number, string>> {
  const socket = createSocket('udp4');
  const answers = new Map<number, string>();
  socket.on('message', (answer) => answers.set(answer.readUInt16BE(0), answer.toString('hex')));
  let sureId = SURE_IDS;
  /** Sends some, and then a sure question: when its answer is there, so are those of all before it. */
  async function send(some: readonly Buffer[]): Promise<void> {
    for (const packet of some) socket.send(packet, port, '127.0.0.1');
    const id = sureId++;
    const isAnswered = async () => {
      if (answers.has(id)) return true;
      socket.send(question('example.test', 'SOA', { id }), port, '127.0.0.1');
      return false;
    };
    await waitFor('answers', isAnswered, { everyMs: 5 });
  }
  for (let at = 0; at < packets.length; at += AT_ONCE) {
    let open = packets.slice(at, at + AT_ONCE);
    for (let round = 0; round < ROUNDS && open.length > 0; round++) {
      await send(open);
      open = open.filter((packet) => packet.length < 2 || !answers.has(packet.readUInt16BE(0)));
    }
  }
  socket.close();
  return new Map([...answers].filter(([id]) => id < SURE_IDS));
}

test('both implementations of UDP give the same bytes, also to broken packets', async () => {
  await using fast = await startOurs({ ...config, udp: 'fast' });
  await using portable = await startOurs({ ...config, udp: 'portable' });
  assert.deepEqual([fast.udpMode, portable.udpMode], ['fast', 'portable']);
  const withoutSerial = (
    hex: string,
    now = fast.explain('example.test', 'SOA')!.answer[0]!.data[0]!.split(' ')[2]!,
  ) => hex.replaceAll(Number(now).toString(16).padStart(8, '0'), '');

  const mutated = Array.from({ length: 3000 }, (_, i) => {
    const packet = mutate(
      random,
      randomPacket(
        random,
        records.map(({ name }) => name),
      ),
    );
    if (packet.length >= 2) packet.writeUInt16BE(i, 0);
    // Cookies hold the second they were made in: leave them to the unit tests.
    return packet.includes(Buffer.from([0, 10])) ? packet.subarray(0, 12) : packet;
  });
  const serial = (server: typeof fast) =>
    server.explain('example.test', 'SOA')!.answer[0]!.data[0]!.split(' ')[2]!;
  for (const packets of [
    questions.map(({ name, type }, id) => question(name, type, { id, payload: 1232 })),
    mutated,
  ]) {
    const [one, two] = await Promise.all([sendAll(fast.port, packets), sendAll(portable.port, packets)]);
    assert.deepEqual(new Set(one.keys()), new Set(two.keys()), 'the same packets are dropped');
    for (const [id, answer] of one) {
      assert.equal(withoutSerial(answer, serial(fast)), withoutSerial(two.get(id)!, serial(portable)));
    }
    assert.ok(one.size > packets.length / 2);
  }
});

for (const udp of ['fast', 'portable'] as const) {
  test(`${udp}: IPv4 and IPv6 on one port, three workers, every query answered and counted`, async () => {
    await using server = await startOurs({ ...config, udp, workers: 3, listen: ['127.0.0.1:0', '[::1]:0'] });
    // Many sockets, because the kernel spreads queries over workers by address and port.
    const groups = Array.from({ length: 10 }, (_, i) => questions.slice(i * 100, i * 100 + 100));
    const hosts = ['127.0.0.1', '::1'];
    const answers = await Promise.all(
      groups.flatMap((group) => hosts.map((host) => askAll(server.port, group, { host, window: 10 }))),
    );
    assert.equal(answers.flat().length, 2000);
    for (const answer of answers.flat()) assert.notEqual(readReply(answer).rcode, 'SERVFAIL');
    const counted = [
      ...(await server.metrics()).matchAll(/^isthmus_dns_queries_total\{transport="udp".* (\d+)$/gm),
    ];
    assert.ok(counted.reduce((sum, [, n]) => sum + Number(n), 0) >= 2000);
    assert.match(await server.metrics(), /^isthmus_dns_latency_seconds_count [1-9]/m);
  });

  test(`${udp}: a change is visible in every worker, and SERVFAIL before the data are complete`, async () => {
    await using server = await startOurs({ ...config, udp, workers: 2, records: [] }, { ready: false });
    const ask = async () => {
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => askAll(server.port, [{ name: 'new.example.test', type: 'A' }])),
      );
      return [
        ...new Set(
          replies
            .flat()
            .map((reply) => readReply(reply))
            .map(({ rcode, answer }) => `${rcode} ${answer.join()}`),
        ),
      ];
    };
    assert.deepEqual(await ask(), ['SERVFAIL ']);
    assert.equal(server.problem(), 'records are not complete yet');
    server.setReady(true);
    await server.settled();
    assert.equal(server.problem(), undefined);
    assert.deepEqual(await ask(), ['NXDOMAIN ']);
    server.upsert('Service default/new', [{ name: 'new.example.test', type: 'A', data: '10.0.0.1' }]);
    await server.settled();
    assert.deepEqual(await ask(), ['NOERROR new.example.test 30 A 10.0.0.1']);
    assert.deepEqual(server.explain('new.example.test', 'A')!.answer[0]!.sources, ['Service default/new']);
    server.upsert('Service default/new', []);
    await server.settled();
    assert.deepEqual(await ask(), ['NXDOMAIN ']);
  });

  test(`${udp}: thousands of changes while serving, no query lost`, async () => {
    await using server = await startOurs({ ...config, udp, workers: 2 });
    let updates = 0;
    const timer = setInterval(() => {
      for (let i = 0; i < 20; i++) {
        updates += 1;
        const name = `u${updates % 300}.example.test`;
        server.upsert(`Service default/${name}`, [{ name, type: 'A', data: `10.1.${updates % 250}.1` }]);
      }
    }, 10);
    const many = Array.from({ length: 10 }, () => questions).flat();
    // Each is sent once: so few at a time find room in any buffer, so that one without an answer was lost by us.
    const once = { window: 20, again: false };
    const answers = await askAll(server.port, many, once).finally(() => clearInterval(timer));
    assert.equal(answers.length, many.length);
    assert.ok(updates > 100);
    await server.settled();
    const [last] = await askAll(server.port, [{ name: `u${updates % 300}.example.test`, type: 'A' }]);
    assert.match(readReply(last!).answer.join(), new RegExp(`10\\.1\\.${updates % 250}\\.1$`));
  });
}

for (const listen of ['0.0.0.0:0', '[::]:0']) {
  test(`on all addresses (${listen}) the answer comes from the address that was asked`, async () => {
    await using server = await startOurs({ ...config, udp: 'fast', listen: [listen] });
    const hosts = ['127.0.0.1', '127.0.0.2', '127.99.0.3', ...(listen.startsWith('[') ? ['::1'] : [])];
    for (const host of hosts) {
      // A connected socket gets to see nothing from any other address.
      const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
      const answers: Buffer[] = [];
      socket.on('message', (bytes) => answers.push(bytes));
      await new Promise<void>((resolve) => socket.connect(server.port, host, resolve));
      const answer = await waitFor(`an answer from ${host}`, async () => {
        if (answers.length === 0) socket.send(question('example.test', 'SOA'));
        return answers[0];
      });
      assert.equal(readReply(answer).rcode, 'NOERROR', host);
      socket.close();
    }
  });
}

test('a port that is taken is an error that says so', async () => {
  await using server = await startOurs(config);
  // Sharing a port needs both to want it; this one does not.
  const blocker = createSocket('udp4');
  await new Promise<void>((resolve) => blocker.bind(0, '127.0.0.1', resolve));
  const { port } = blocker.address();
  await assert.rejects(startOurs({ ...config, listen: [`127.0.0.1:${port}`] }), /cannot be listened on/);
  blocker.close();
  assert.ok(server.port > 0);
});

test('closing answers what has arrived, and frees the port', async () => {
  const server = await startOurs({ ...config, drainSeconds: 3 });
  const closing = server.close();
  const answers = await askAll(server.port, questions.slice(0, 50));
  assert.equal(answers.length, 50, 'it goes on answering while it drains');
  await closing;
  const refused = await new Promise<boolean>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => resolve(false));
    socket.on('error', () => resolve(true));
  });
  assert.equal(refused, true);
});
