import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 1034 section 4.3.2 step 3b: a cut ends our authority.
const { ask } = serveText(`
  sub.example.test         NS ns1.sub.example.test
  sub.example.test         NS ns.elsewhere.test
  ns1.sub.example.test     A  10.0.0.1
  deep.sub.example.test    NS ns.deep.sub.example.test
  hidden.sub.example.test  A  10.0.0.2
  *.sub.example.test       A  10.0.0.3
  near.example.test        A  10.0.0.4
`);
const NS = ['sub.example.test 30 NS ns.elsewhere.test', 'sub.example.test 30 NS ns1.sub.example.test'];

for (const name of [
  'sub.example.test',
  'a.sub.example.test',
  'x.y.sub.example.test',
  'hidden.sub.example.test',
]) {
  test(`${name} is referred to the delegated servers`, () => {
    for (const type of ['A', 'AAAA', 'NS', 'SOA', 'CNAME', 'TXT']) {
      const reply = ask(name, type);
      assert.equal(reply.rcode, 'NOERROR');
      assert.equal(reply.authoritative, false, type);
      assert.deepEqual(reply.answer, []);
      assert.deepEqual(reply.authority.toSorted(), NS);
    }
  });
}

test('the cut nearest to the apex decides', () => {
  assert.deepEqual(ask('a.deep.sub.example.test', 'A').authority.toSorted(), NS);
});

test('a name beside the cut is answered', () => {
  assert.deepEqual(ask('near.example.test', 'A').answer, ['near.example.test 30 A 10.0.0.4']);
  assert.equal(ask('xsub.example.test', 'A').rcode, 'NXDOMAIN');
});

test('DS belongs to the parent side of a cut (RFC 4035 section 3.1.4.1)', () => {
  const at = ask('sub.example.test', 'DS');
  assert.equal(at.authoritative, true);
  assert.match(at.authority.join(), /SOA/);
  assert.equal(ask('a.sub.example.test', 'DS').authoritative, false);
});

test('a wildcard cannot be delegated', () => {
  const { problems } = serveText('*.example.test NS ns.elsewhere.test');
  assert.match(problems[0]!.reason, /wildcard/);
});
