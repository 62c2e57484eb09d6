import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 9471: glue inside the delegated zone is not optional.
const { ask } = serveText(`
  sub.example.test       NS   ns1.sub.example.test
  sub.example.test       NS   ns.other.example.test
  sub.example.test       NS   host.example.test
  sub.example.test       NS   ns.elsewhere.test
  ns1.sub.example.test   A    10.0.0.1
  ns1.sub.example.test   AAAA fd00::1
  other.example.test     NS   ns.other.example.test
  ns.other.example.test  A    10.0.0.2
  host.example.test      A    10.0.0.3
`);

test('a referral brings the addresses this zone has of the name servers', () => {
  assert.deepEqual(ask('www.sub.example.test', 'A').additional.toSorted(), [
    'host.example.test 30 A 10.0.0.3',
    'ns.other.example.test 30 A 10.0.0.2',
    'ns1.sub.example.test 30 A 10.0.0.1',
    'ns1.sub.example.test 30 AAAA fd00::1',
  ]);
});

test('asking for glue gets a referral, not an answer', () => {
  const reply = ask('ns1.sub.example.test', 'A');
  assert.deepEqual(reply.answer, []);
  assert.equal(reply.authoritative, false);
});

test('glue that does not fit makes the referral truncated', () => {
  const many = Array.from(
    { length: 20 },
    (_, i) => `big.example.test NS n${i}.big.example.test\nn${i}.big.example.test AAAA fd00::${i}`,
  );
  const { ask: askBig } = serveText(many.join('\n'));
  const small = askBig('a.big.example.test', 'A');
  assert.equal(small.truncated, true);
  assert.deepEqual([small.answer, small.authority, small.additional], [[], [], []]);
  assert.equal(askBig('a.big.example.test', 'A', { tcp: true }).additional.length, 20);
});
