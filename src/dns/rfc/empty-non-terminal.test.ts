import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 8020 and RFC 4592 section 2.2.2: a name exists if something below it does.
const { ask, store } = serveText(`
  a.b.c.example.test     A   10.0.0.1
  x.*.star.example.test  A   10.0.0.2
`);

test('a name with something below it exists, without data', () => {
  for (const name of ['b.c.example.test', 'c.example.test']) {
    const reply = ask(name, 'A');
    assert.equal(reply.rcode, 'NOERROR', name);
    assert.equal(reply.answer.length, 0);
    assert.match(reply.authority.join(), /^example.test 10 SOA/);
  }
});

test('a name beside it does not exist', () => {
  assert.equal(ask('a.c.example.test', 'A').rcode, 'NXDOMAIN');
  assert.equal(ask('x.a.b.c.example.test', 'A').rcode, 'NXDOMAIN');
});

test('a wildcard that is an empty non-terminal makes names exist, without data', () => {
  const reply = ask('anything.star.example.test', 'A');
  assert.deepEqual([reply.rcode, reply.answer.length], ['NOERROR', 0]);
});

test('it goes when the last name below it goes', () => {
  store.upsert('more', [
    { name: 'p.q.example.test', type: 'A', data: '10.0.0.3' },
    { name: 'r.q.example.test', type: 'A', data: '10.0.0.4' },
  ]);
  assert.equal(ask('q.example.test', 'A').rcode, 'NOERROR');
  store.upsert('more', [{ name: 'r.q.example.test', type: 'A', data: '10.0.0.4' }]);
  assert.equal(ask('q.example.test', 'A').rcode, 'NOERROR');
  assert.equal(ask('p.q.example.test', 'A').rcode, 'NXDOMAIN');
  store.upsert('more', []);
  assert.equal(ask('q.example.test', 'A').rcode, 'NXDOMAIN');
});
