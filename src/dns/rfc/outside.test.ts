import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';
import { NEVER, UNRESOLVED } from '../server/responder.ts';
import { RCODE, TYPE } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { parseRdata } from '../wire/rdata.ts';
import { createOutsideAnswers, keepOutside } from '../zone/outside.ts';
import { question } from '../../../test/support/dns/testing.ts';
import type { OutsideAnswer } from '../zone/outside.ts';

// An alias that leaves our zones, where a resolver is configured (RFC 1034 section 4.3.2 step 4, RFC 6604, RFC 2308).
const name = (text: string) => parseName(text)!;

function serve() {
  const server = serveText(`
    away.example.test   CNAME lb.elsewhere.test
    back.example.test   CNAME round.elsewhere.test
    host.example.test   A     10.0.0.1
    loop.example.test   CNAME loop.elsewhere.test
  `);
  server.zones.outside = createOutsideAnswers();
  const learn = (from: string, data: string, type: 'A' | 'CNAME' = 'A', ttl = 60) =>
    learnAnswer({
      rrset: { type: TYPE[type], ttl, data: [(parseRdata(type, data) as { value: string }).value] },
      name: name(from),
      expires: server.responder.now + ttl,
    });
  const learnAnswer = (answer: Partial<OutsideAnswer>) => {
    const base = {
      type: TYPE.A,
      kind: 'answer',
      rrset: undefined,
      soa: undefined,
      expires: 0,
      name: '',
    } as const;
    keepOutside(server.zones.outside, [{ ...base, ...answer }]);
  };
  return { ...server, learn, learnAnswer };
}

test('what the resolver found is in the answer, with the TTL that is left', () => {
  const { ask, learn, responder } = serve();
  learn('lb.elsewhere.test', 'real.elsewhere.test', 'CNAME', 300);
  learn('real.elsewhere.test', '192.0.2.7');
  responder.now += 20;
  const reply = ask('away.example.test', 'A');
  assert.deepEqual(reply.answer, [
    'away.example.test 30 CNAME lb.elsewhere.test',
    'lb.elsewhere.test 280 CNAME real.elsewhere.test',
    'real.elsewhere.test 40 A 192.0.2.7',
  ]);
  assert.deepEqual([reply.rcode, reply.authoritative], ['NOERROR', true]);
});

test('what has expired, or was never asked for, is asked for once more', () => {
  const { send, ask, learn, responder } = serve();
  const query = question('away.example.test', 'A');
  responder.mayWait = () => true;
  assert.equal(send(query).length, 0);
  assert.equal(responder.outcome.unresolved, name('lb.elsewhere.test'));
  learn('lb.elsewhere.test', '192.0.2.7');
  assert.equal(ask('away.example.test', 'A').answer.length, 2);
  responder.now += 60;
  const out = Buffer.alloc(4096);
  const client = { bytes: new Uint8Array(16), length: 4 as const };
  assert.equal(responder.respond(query, 0, query.length, out, 0, client, false), UNRESOLVED);
  responder.mayWait = NEVER;
  assert.equal(ask('away.example.test', 'A').rcode, 'SERVFAIL', 'for a client that nobody lets wait');
});

test('an alias that comes back is answered from our own zone, and a loop ends', () => {
  const { ask, learn } = serve();
  learn('round.elsewhere.test', 'host.example.test', 'CNAME');
  learn('host.example.test', '192.0.2.66'); // whatever others say of our names
  assert.equal(ask('back.example.test', 'A').answer.at(-1), 'host.example.test 30 A 10.0.0.1');
  learn('loop.elsewhere.test', 'loop.example.test', 'CNAME');
  const loop = ask('loop.example.test', 'A');
  assert.deepEqual([loop.rcode, loop.answer.length], ['NOERROR', 2]);
});

test('a negative answer has the response code and the SOA of the other zone', () => {
  const { ask, learnAnswer } = serve();
  const data = (parseRdata('NS', 'ns.elsewhere.test') as { value: string }).value.repeat(2) + '\0'.repeat(20);
  const soa = { owner: name('elsewhere.test'), rrset: { type: TYPE.SOA, ttl: 10, data: [data] } };
  learnAnswer({ name: name('lb.elsewhere.test'), kind: 'nxdomain', soa, expires: 10 });
  const reply = ask('away.example.test', 'A');
  assert.deepEqual([reply.rcode, reply.answer.length], ['NXDOMAIN', 1]);
  assert.match(reply.authority.join(), /^elsewhere.test 10 SOA/);
  learnAnswer({ name: name('lb.elsewhere.test'), kind: 'nodata', expires: 10 });
  const empty = ask('away.example.test', 'A');
  assert.deepEqual([empty.rcode, empty.answer.length, empty.authority.length], ['NOERROR', 1, 0]);
});

test('a failure is SERVFAIL; other types than addresses are never asked for', () => {
  const { ask, learnAnswer } = serve();
  learnAnswer({ name: name('lb.elsewhere.test'), kind: 'failed', expires: 10 });
  assert.equal(ask('away.example.test', 'A').bytes[3]! & 15, RCODE.SERVFAIL);
  for (const type of ['TXT', 'CNAME', 'SRV', 'TYPE65']) {
    const reply = ask('away.example.test', type);
    assert.deepEqual(
      [reply.rcode, reply.answer],
      ['NOERROR', ['away.example.test 30 CNAME lb.elsewhere.test']],
    );
  }
});
