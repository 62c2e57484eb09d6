/** Aliases that leave our zones, resolved by a real BIND, over all ways in. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { question, readReply } from '../../support/dns/testing.ts';
import { askAll } from './ask.ts';
import { startBind } from './reference-servers.ts';
import { startOurs } from './server.ts';
import { ensureDnsTools } from './tools.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

/** So many addresses that they do not fit into UDP, neither from BIND nor from us. */
const MANY: DnsRecord[] = Array.from({ length: 95 }, (_, i) => ({
  name: 'many.elsewhere.test',
  type: 'A',
  data: `192.0.2.${i}`,
}));

const ELSEWHERE: DnsRecord[] = [
  { name: 'ns.elsewhere.test', type: 'A', data: '192.0.2.53' },
  { name: 'lb.elsewhere.test', type: 'CNAME', data: 'real.elsewhere.test' },
  { name: 'real.elsewhere.test', type: 'A', data: '192.0.2.7' },
  { name: 'real.elsewhere.test', type: 'AAAA', data: '2001:db8::7' },
  { name: 'back.elsewhere.test', type: 'CNAME', data: 'host.example.test' },
  { name: 'loop.elsewhere.test', type: 'CNAME', data: 'loop.example.test' },
  ...MANY,
];

const OURS: DnsRecord[] = [
  { name: 'away.example.test', type: 'CNAME', data: 'lb.elsewhere.test' },
  { name: 'back.example.test', type: 'CNAME', data: 'back.elsewhere.test' },
  { name: 'loop.example.test', type: 'CNAME', data: 'loop.elsewhere.test' },
  { name: 'gone.example.test', type: 'CNAME', data: 'gone.elsewhere.test' },
  { name: 'many.example.test', type: 'CNAME', data: 'many.elsewhere.test' },
  { name: 'host.example.test', type: 'A', data: '10.0.0.1' },
  { name: 'refused.example.test', type: 'CNAME', data: 'www.nowhere.test' },
];

async function ask(port: number, name: string, type: string) {
  const [bytes] = await askAll(port, [{ name, type }]);
  return readReply(bytes!);
}

async function askTcp(port: number, name: string, type: string) {
  const socket = connect(port, '127.0.0.1');
  const query = question(name, type);
  socket.write(Buffer.concat([Buffer.from([0, query.length]), query]));
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) break;
  }
  return readReply(received.subarray(2));
}

for (const udp of ['fast', 'portable'] as const) {
  test(`aliases out of our zones resolve (${udp})`, async () => {
    const tools = await ensureDnsTools();
    await using bind = await startBind(tools, [{ name: 'elsewhere.test', records: ELSEWHERE }]);
    await using server = await startOurs({
      zones: [{ name: 'example.test' }],
      records: OURS,
      udp,
      resolver: [`127.0.0.1:${bind.port}`],
    });
    const { port } = server;
    const chain = [
      'away.example.test 30 CNAME lb.elsewhere.test',
      'lb.elsewhere.test 30 CNAME real.elsewhere.test',
    ];
    const plain = (lines: string[]) => lines.map((line) => line.replace(/ \d+ /, ' 30 '));
    assert.deepEqual(plain((await ask(port, 'away.example.test', 'A')).answer), [
      ...chain,
      'real.elsewhere.test 30 A 192.0.2.7',
    ]);
    assert.deepEqual(plain((await askTcp(port, 'away.example.test', 'AAAA')).answer), [
      ...chain,
      'real.elsewhere.test 30 AAAA 2001:db8::7',
    ]);
    assert.equal(
      (await ask(port, 'back.example.test', 'A')).answer.at(-1),
      'host.example.test 30 A 10.0.0.1',
    );
    assert.deepEqual((await ask(port, 'loop.example.test', 'A')).answer.length, 2);
    const gone = await ask(port, 'gone.example.test', 'A');
    assert.deepEqual([gone.rcode, gone.answer.length], ['NXDOMAIN', 1]);
    assert.match(gone.authority.join(), /^elsewhere\.test \d+ SOA/);
    assert.equal((await ask(port, 'many.example.test', 'A')).truncated, true);
    assert.equal((await askTcp(port, 'many.example.test', 'A')).answer.length, 96);
    assert.equal((await ask(port, 'refused.example.test', 'A')).rcode, 'SERVFAIL');
    assert.equal(
      (await ask(port, 'real.elsewhere.test', 'A')).rcode,
      'REFUSED',
      'we are no resolver for clients',
    );
    const many = await askAll(
      port,
      Array.from({ length: 2000 }, () => ({ name: 'away.example.test', type: 'A' })),
    );
    assert.ok(many.every((bytes) => readReply(bytes).answer.length === 3));
    assert.match(await server.metrics(), /isthmus_dns_resolver_questions_total\{result="answered"\} [5-9]\n/);
  });
}
