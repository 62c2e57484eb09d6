import assert from 'node:assert/strict';
import test from 'node:test';
import packet from 'dns-packet';
import fc from 'fast-check';
import { TYPE } from '../wire/constants.ts';
import { formatName, isSubdomain, parseName } from '../wire/name.ts';
import { formatRdata } from '../wire/rdata.ts';
import { answersOf, queryBytes, readResponse } from './response.ts';

const question = { id: 4711, name: parseName('lb.elsewhere.test')!, type: TYPE.A };
const ours = parseName('example.test')!;
const isOurs = (name: string) => isSubdomain(name, ours);

/** Encoded by another library, which compresses nothing; the compressed case is in the integration test with BIND. */
function response(change: Partial<packet.Packet> & { rcode?: number } = {}): Buffer {
  const { rcode = 0, ...rest } = change;
  const bytes = packet.encode({
    type: 'response',
    id: question.id,
    flags: packet.RECURSION_DESIRED | rcode,
    questions: [{ name: 'LB.elsewhere.test', type: 'A', class: 'IN' }],
    ...rest,
  });
  return bytes;
}

function lines(bytes: Buffer): string[] | undefined {
  const read = readResponse(bytes, question);
  return (
    read &&
    answersOf(read, question, isOurs, 1000).map(
      ({ name, kind, rrset, expires }) =>
        `${formatName(name)} ${kind} ${expires - 1000} ${(rrset?.data ?? []).map((data) => formatRdata(rrset!.type, data)).join()}`,
    )
  );
}

test('the query is what another library reads', () => {
  const read = packet.decode(queryBytes(question));
  assert.deepEqual(
    [read.id, read.questions?.[0]?.name, read.questions?.[0]?.type, read.additionals?.[0]?.type],
    [4711, 'lb.elsewhere.test', 'A', 'OPT'],
  );
});

test('a chain is followed from the name that was asked for; what is not on it is left out', () => {
  const answers: packet.Answer[] = [
    { name: 'real.elsewhere.test', type: 'A', ttl: 20, data: '192.0.2.2' },
    { name: 'real.elsewhere.test', type: 'A', ttl: 30, data: '192.0.2.1' },
    { name: 'Lb.elsewhere.test', type: 'CNAME', ttl: 300, data: 'real.elsewhere.test' },
    { name: 'victim.elsewhere.test', type: 'A', ttl: 3600, data: '192.0.2.66' },
  ];
  assert.deepEqual(lines(response({ answers })), [
    'lb.elsewhere.test. answer 300 real.elsewhere.test.',
    'real.elsewhere.test. answer 20 192.0.2.1,192.0.2.2',
  ]);
});

test('nothing is taken from others about names of our own, and a loop ends', () => {
  const back: packet.Answer[] = [
    { name: 'lb.elsewhere.test', type: 'CNAME', ttl: 0, data: 'host.example.test' },
    { name: 'host.example.test', type: 'A', ttl: 3600, data: '192.0.2.66' },
  ];
  assert.deepEqual(lines(response({ answers: back })), ['lb.elsewhere.test. answer 1 host.example.test.']);
  const loop: packet.Answer[] = [
    { name: 'lb.elsewhere.test', type: 'CNAME', ttl: 9, data: 'b.test' },
    { name: 'b.test', type: 'CNAME', ttl: 9, data: 'lb.elsewhere.test' },
  ];
  assert.equal(lines(response({ answers: loop }))?.length, 2);
});

test('a negative answer lasts as long as the SOA says, if the SOA is of a zone above the name', () => {
  const data = { mname: 'ns.test', rname: 'h.test', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 30 };
  const soa = (name: string): packet.Answer[] => [{ name, type: 'SOA', ttl: 60, data }];
  assert.deepEqual(lines(response({ rcode: 3, authorities: soa('elsewhere.test') })), [
    'lb.elsewhere.test. nxdomain 30 ',
  ]);
  assert.deepEqual(lines(response({ authorities: soa('other.test') })), ['lb.elsewhere.test. nodata 5 ']);
});

test('a response to another question, or none, is not taken', () => {
  assert.equal(lines(response({ id: 4712 })), undefined);
  assert.equal(lines(response({ type: 'query' })), undefined);
  assert.equal(lines(response({ questions: [{ name: 'lb.elsewhere.test', type: 'AAAA' }] })), undefined);
  assert.equal(lines(response({ questions: [{ name: 'x.elsewhere.test', type: 'A' }] })), undefined);
  assert.equal(lines(response({ questions: [] })), undefined);
});

test('no bytes at all make it throw or go on for ever', () => {
  const answers: packet.Answer[] = [{ name: 'lb.elsewhere.test', type: 'CNAME', ttl: 9, data: 'b.test' }];
  const valid = response({ answers });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 8 }),
      fc.uint8Array({ maxLength: 40, size: 'max' }),
      (changes, tail) => {
        const bytes = Buffer.concat([valid, tail]);
        for (const [at, value] of changes) bytes[at] = value;
        lines(bytes);
      },
    ),
  );
});
