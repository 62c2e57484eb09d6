import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 2308: "no such data" and "no such name" are different, and both say how long they may be remembered.
const zone = { name: 'example.test', nameservers: ['ns.example.test'] };
const { ask } = serveText('a.example.test A 10.0.0.1', [{ ...zone, ttl: 300, negativeTtl: 7 }]);

test('an existing name without the type: NOERROR, no answer, SOA', () => {
  for (const type of ['AAAA', 'SRV', 'TXT', 'TYPE65', 'TYPE65280']) {
    const reply = ask('a.example.test', type);
    assert.deepEqual([reply.rcode, reply.authoritative, reply.answer.length], ['NOERROR', true, 0], type);
    assert.match(reply.authority.join(), /^example.test 7 SOA/);
  }
});

test('a name that does not exist: NXDOMAIN, SOA', () => {
  const reply = ask('b.example.test', 'A');
  assert.deepEqual([reply.rcode, reply.authoritative, reply.answer.length], ['NXDOMAIN', true, 0]);
  assert.match(reply.authority.join(), /^example.test 7 SOA .* 7$/);
});

test('the negative TTL is never above the TTL of the SOA itself', () => {
  const { ask: askShort } = serveText('', [{ ...zone, ttl: 5, negativeTtl: 600 }]);
  assert.match(askShort('b.example.test', 'A').authority.join(), /^example.test 5 SOA .* 600$/);
  assert.match(askShort('example.test', 'SOA').answer.join(), /^example.test 5 SOA/);
});
