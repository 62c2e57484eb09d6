/** Odd and broken packets: the response code that Knot or BIND gives; where ours is its own, the table says why. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import test from 'node:test';
import { question } from '../../support/dns/testing.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startBind, startKnot } from './reference-servers.ts';
import { startOurs } from './server.ts';
import { ensureDnsTools } from './tools.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

const plain = question('a.z.test', 'A');
const edns = question('a.z.test', 'A', { payload: 1232 });

function changed(packet: Buffer, change: (bytes: Buffer) => Buffer | void): Buffer {
  const copy = Buffer.from(packet);
  return change(copy) ?? copy;
}
const byte = (packet: Buffer, at: number, value: number) =>
  changed(packet, (bytes) => void (bytes[at < 0 ? bytes.length + at : at] = value));
const option = (hex: string) =>
  changed(edns, (bytes) => {
    bytes[bytes.length - 1] = hex.length / 2;
    return Buffer.concat([bytes, Buffer.from(hex, 'hex')]);
  });

const PACKETS: [what: string, packet: Buffer][] = [
  ['plain', plain],
  ['with EDNS', edns],
  ['flag RD', byte(plain, 2, 1)],
  ['flag CD', byte(plain, 3, 0x10)],
  ['flag AD', byte(plain, 3, 0x20)],
  ['flag Z', byte(plain, 3, 0x40)],
  ['flag RA', byte(plain, 3, 0x80)],
  ['flag TC', byte(plain, 2, 2)],
  ['flag AA', byte(plain, 2, 4)],
  ['rcode 5', byte(plain, 3, 5)],
  ['flag DO', byte(edns, -4, 0x80)],
  ['EDNS version 1', byte(edns, -5, 1)],
  ['operation 1', byte(plain, 2, 1 << 3)],
  ['status', byte(plain, 2, 2 << 3)],
  ['notify', byte(plain, 2, 4 << 3)],
  ['update', byte(plain, 2, 5 << 3)],
  ['operation 9', byte(plain, 2, 9 << 3)],
  ['class CH', question('a.z.test', 'A', { class: 3 })],
  ['class ANY', question('a.z.test', 'A', { class: 255 })],
  ['class 0', question('a.z.test', 'A', { class: 0 })],
  ['type ANY', question('a.z.test', 'ANY')],
  ['type AXFR over UDP', question('z.test', 'AXFR')],
  ['type IXFR over UDP', question('z.test', 'IXFR')],
  ['type MAILA', question('a.z.test', 'MAILA')],
  ['type OPT', question('a.z.test', 'OPT')],
  ['type TSIG', question('a.z.test', 'TSIG')],
  ['type TKEY', question('a.z.test', 'TKEY')],
  ['type 0', question('a.z.test', 'TYPE0')],
  ['type 65535', question('a.z.test', 'TYPE65535')],
  ['no question', byte(plain, 5, 0).subarray(0, 12)],
  ['two questions', Buffer.concat([byte(plain, 5, 2), plain.subarray(12)])],
  ['a byte too many', Buffer.concat([plain, Buffer.from([1])])],
  ['a byte too few', plain.subarray(0, -1)],
  ['only a header', plain.subarray(0, 12)],
  ['not even a header', plain.subarray(0, 11)],
  ['a response', byte(plain, 2, 0x80)],
  ['OPT twice', Buffer.concat([byte(edns, 11, 2), edns.subarray(-11)])],
  ['OPT not at the root', Buffer.concat([edns.subarray(0, -11), Buffer.from([1, 97]), edns.subarray(-11)])],
  ['outside of all zones', question('a.other', 'A')],
  [
    'a question that points at itself',
    Buffer.concat([plain.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
  ],
  ['a client cookie', option('000a00080102030405060708')],
  ['a cookie of 7 bytes', option('000a000701020304050607')],
  ['an unknown option', option('fffe00020102')],
  ['an option beyond the end', option('fffe00090102')],
];

const OWN: Record<string, string> = {
  'class ANY': 'REFUSED, as any class but IN; Knot answers it, BIND finds it malformed',
  notify: 'we are nobody’s secondary: NOTIMP',
  update: 'zones are not changed by DNS messages: NOTIMP',
  'type IXFR over UDP':
    'NOTIMP makes a secondary fall back to AXFR; Knot has no transfer allowed, BIND wants a SOA in it',
};

/** What has got no answer so many times is not answered: UDP may lose a packet, but not again and again. */
const ROUNDS = 4;
const SURE_IDS = 1000;

/**
 * The rcode of the answer, `-` for none. Each time a sure question is asked behind it: when that is answered, the other has been, or
 * will not be, and how long that takes does not matter.
 */
async function rcode(port: number, packet: Buffer): Promise<string> {
  const socket = createSocket('udp4');
  const answers = new Map<number, Buffer>();
  socket.on('message', (answer) => answers.set(answer.readUInt16BE(0), answer));
  const own = () => answers.get(packet.readUInt16BE(0));
  for (let id = SURE_IDS; id < SURE_IDS + ROUNDS && !own(); id++) {
    socket.send(packet, port, '127.0.0.1');
    await waitFor(`an answer from port ${port}`, async () => {
      if (own() || answers.has(id)) return true;
      socket.send(question('a.z.test', 'A', { id }), port, '127.0.0.1');
      return undefined;
    });
  }
  socket.close();
  const answer = own();
  if (!answer) return '-';
  const extended = (packet === PACKETS[11]![1] ? answer.at(-6)! : 0) << 4;
  return String(extended | (answer[3]! & 15));
}

test('odd packets get the response code that Knot or BIND gives', async (t) => {
  const tools = await ensureDnsTools();
  const records: DnsRecord[] = [
    { name: 'ns.z.test', type: 'A', data: '10.0.0.9' },
    { name: 'a.z.test', type: 'A', data: '10.0.0.1' },
  ];
  const zones = [{ name: 'z.test', records }];
  await using ours = await startOurs({ zones: [{ name: 'z.test' }], records });
  await using knot = await startKnot(tools, zones);
  await using bind = await startBind(tools, zones);
  for (const [what, packet] of PACKETS) {
    await t.test(what, async () => {
      const [mine, knots, binds] = await Promise.all(
        [ours, knot, bind].map(({ port }) => rcode(port, packet)),
      );
      if (OWN[what]) assert.ok(mine !== knots && mine !== binds, 'no longer its own: take it off the table');
      else assert.ok(mine === knots || mine === binds, `ours ${mine}, Knot ${knots}, BIND ${binds}`);
    });
  }
});
