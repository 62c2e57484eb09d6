import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { mutate, randomPacket, seededRandom } from './fuzzing.ts';
import { records, serveText } from './testing.ts';
import packet from 'dns-packet';

const ROUNDS = Number(process.env.ISTHMUS_FUZZ_PACKETS ?? 60_000);
const zone = `
  a.example.test         A     10.0.0.1
  a.example.test         A     10.0.0.2
  *.wild.example.test    A     10.0.0.3
  www.example.test       CNAME a.example.test
  sub.example.test       NS    ns.sub.example.test
  ns.sub.example.test    A     10.0.0.4
  _x._tcp.example.test   SRV   0 0 80 a.example.test
  txt.example.test       TXT   "${'x'.repeat(200)}" "${'y'.repeat(200)}" "${'z'.repeat(200)}"
`;

test(`${ROUNDS} mutated packets: never a crash, each answered properly or dropped`, () => {
  const server = serveText(zone);
  const random = seededRandom(20_261_115);
  const names = records(zone).map(({ name }) => name);
  const kinds = new Map<number, number>();
  for (let i = 0; i < ROUNDS; i++) {
    const bytes = mutate(random, randomPacket(random, names));
    const tcp = random(4) === 0;
    const reply = server.send(bytes, tcp);
    if (reply.length === 0) continue;
    const outcome = server.responder.outcome;
    kinds.set(outcome.rcode, (kinds.get(outcome.rcode) ?? 0) + 1);
    check(bytes, reply, tcp, outcome.questionEnd);
  }
  assert.ok(kinds.size >= 6, 'the mutations reach most response codes');
});

/** What any answer must satisfy, whatever was asked. */
function check(query: Buffer, reply: Buffer, tcp: boolean, questionEnd: number): void {
  const told = () => `query ${query.toString('hex')} reply ${reply.toString('hex')}`;
  assert.ok(reply.length >= 12 && reply.length <= (tcp ? 65_535 : 1232), told());
  assert.equal(reply.readUInt16BE(0), query.readUInt16BE(0), told());
  assert.equal(reply[2]! & 0x80, 0x80, told());
  packet.decode(reply);
  assert.equal(packet.decode.bytes, reply.length, told());
  assert.ok(reply.subarray(12, questionEnd).equals(query.subarray(12, questionEnd)), told());
}

test('arbitrary bytes', () => {
  const server = serveText(zone);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, tcp) => {
      const reply = server.send(bytes, tcp);
      if (reply.length > 0) check(Buffer.from(bytes), reply, tcp, server.responder.outcome.questionEnd);
    }),
    { numRuns: 3000 },
  );
});
