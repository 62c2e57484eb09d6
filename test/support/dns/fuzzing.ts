// Packets that nobody should send.
import assert from 'node:assert/strict';
import packet from 'dns-packet';
import { question, records, serveText } from './testing.ts';

/** Numbers in [0, below), the same ones for the same seed. */
export type Random = (below: number) => number;

/** A small generator (mulberry32): fast, and a failure can be seen again. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const TYPES = ['A', 'AAAA', 'NS', 'SOA', 'CNAME', 'SRV', 'TXT', 'ANY', 'AXFR', 'DS', 'OPT', 'TYPE999', 'PTR'];

/** A well-formed query for one of the names, something near it, or something else. */
export function randomPacket(random: Random, names: readonly string[]): Buffer {
  const base = names[random(names.length)]!;
  const name = [base, `x.${base}`, base.toUpperCase(), `${'l'.repeat(1 + random(63))}.${base}`, 'other.test'][
    random(5)
  ]!;
  const options = { id: random(65_536), class: random(20) === 0 ? random(300) : 1 };
  const edns = random(2) === 0 ? {} : { payload: [0, 512, 1232, 4096, 65_535][random(5)]! };
  const query = question(name, TYPES[random(TYPES.length)]!, { ...options, ...edns });
  return 'payload' in edns && random(2) === 0 ? withOption(random, query) : query;
}

function withOption(random: Random, query: Buffer): Buffer {
  const length = [0, 7, 8, 16, 24, 40, 41][random(7)]!;
  const option = Buffer.alloc(4 + length, random(256));
  option.writeUInt16BE(random(3) === 0 ? random(65_536) : 10, 0);
  option.writeUInt16BE(length, 2);
  query.writeUInt16BE(option.length, query.length - 2);
  return Buffer.concat([query, option]);
}

/** Changes a packet in a few places: bits, bytes, counts, lengths, pieces cut, doubled or moved. */
export function mutate(random: Random, packet: Buffer): Buffer {
  let bytes = Buffer.from(packet);
  for (let i = random(4); i > 0 && bytes.length > 0; i--) {
    const at = random(bytes.length);
    switch (random(8)) {
      case 0:
        bytes[at]! ^= 1 << random(8);
        break;
      case 1:
        bytes[at] = random(256);
        break;
      case 2:
        bytes = bytes.subarray(0, at);
        break;
      case 3:
        bytes = Buffer.concat([bytes, Buffer.alloc(random(40), random(256))]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(random(bytes.length))]);
        break;
      case 5: // a count in the header
        if (bytes.length >= 12) bytes.writeUInt16BE([0, 1, 2, 255, 65_535][random(5)]!, 4 + 2 * random(4));
        break;
      case 6: // a compression pointer, often to itself
        if (at + 1 < bytes.length) bytes.writeUInt16BE(0xc000 | (random(2) === 0 ? at : random(0x4000)), at);
        break;
      default:
        bytes[at] = [0, 0xff, 0x3f, 0x40, 0xc0, 0x80][random(6)]!;
    }
  }
  return bytes;
}

export const FUZZ_ZONE = `
  a.example.test         A     10.0.0.1
  a.example.test         A     10.0.0.2
  *.wild.example.test    A     10.0.0.3
  www.example.test       CNAME a.example.test
  sub.example.test       NS    ns.sub.example.test
  ns.sub.example.test    A     10.0.0.4
  _x._tcp.example.test   SRV   0 0 80 a.example.test
  txt.example.test       TXT   "${'x'.repeat(200)}" "${'y'.repeat(200)}" "${'z'.repeat(200)}"
`;

/** Decoding is by far the dearest part of checking; every so many answers are decoded. */
const DECODE_EVERY = 8;

/** Answers so many mutated packets and checks each answer; returns how often each response code came. */
export function fuzz(packets: number, seed: number): Map<number, number> {
  const server = serveText(FUZZ_ZONE);
  const { outcome } = server.responder;
  const random = seededRandom(seed);
  const names = records(FUZZ_ZONE).map(({ name }) => name);
  const codes = new Map<number, number>();
  for (let i = 0; i < packets; i++) {
    const bytes = mutate(random, randomPacket(random, names));
    const tcp = random(4) === 0;
    const reply = server.send(bytes, tcp);
    if (reply.length === 0) continue;
    codes.set(outcome.rcode, (codes.get(outcome.rcode) ?? 0) + 1);
    checkReply(bytes, reply, { tcp, questionEnd: outcome.questionEnd, decode: i % DECODE_EVERY === 0 });
  }
  return codes;
}

/** What any answer must satisfy, whatever was asked. */
export function checkReply(
  query: Buffer,
  reply: Buffer,
  { tcp, questionEnd, decode }: { tcp: boolean; questionEnd: number; decode: boolean },
): void {
  const told = () => `query ${query.toString('hex')} reply ${reply.toString('hex')}`;
  const sizes = reply.length >= 12 && reply.length <= (tcp ? 65_535 : 1232);
  const header =
    query.length >= 12 && reply.readUInt16BE(0) === query.readUInt16BE(0) && (reply[2]! & 0x80) !== 0;
  if (!sizes || !header) assert.fail(told());
  if (reply.compare(query, 12, questionEnd, 12, questionEnd) !== 0) assert.fail(told());
  if (!decode) return;
  packet.decode(reply);
  assert.equal(packet.decode.bytes, reply.length, told());
}
