import assert from 'node:assert/strict';
import test from 'node:test';
import { question, serveText } from '../../../test/support/dns/testing.ts';

// Several zones: the longest name that the question lies in decides; outside of all, REFUSED.
const { ask, send, store, problems } = serveText(
  `
  a.example.test        A     10.0.0.1
  a.sub.example.test    A     10.0.0.2
  to.example.test       CNAME a.sub.example.test
  gone.sub.example.test CNAME nowhere.example.test
  `,
  [{ name: 'example.test' }, { name: 'sub.example.test' }, { name: 'other.test' }],
);

test('the zone with the longest matching name answers', () => {
  assert.deepEqual(problems, []);
  assert.deepEqual(ask('a.sub.example.test', 'A').answer, ['a.sub.example.test 30 A 10.0.0.2']);
  assert.match(ask('b.sub.example.test', 'A').authority.join(), /^sub.example.test 10 SOA/);
  assert.match(ask('b.example.test', 'A').authority.join(), /^example.test 10 SOA/);
  assert.match(ask('x.other.test', 'A').authority.join(), /^other.test 10 SOA/);
});

test('an alias is followed into another of our zones, which then gives the response code', () => {
  const reply = ask('to.example.test', 'A');
  assert.deepEqual(reply.answer, [
    'to.example.test 30 CNAME a.sub.example.test',
    'a.sub.example.test 30 A 10.0.0.2',
  ]);
  assert.deepEqual([reply.rcode, reply.authoritative], ['NOERROR', true]);
  const gone = ask('gone.sub.example.test', 'A');
  assert.equal(gone.rcode, 'NXDOMAIN');
  assert.match(gone.authority.join(), /^example.test 10 SOA/);
});

test('outside of every zone: REFUSED, not authoritative', () => {
  for (const name of ['example.org', 'test', '.', 'xexample.test', 'example.test.org']) {
    const reply = ask(name, 'A');
    assert.deepEqual([reply.rcode, reply.authoritative, reply.authority.length], ['REFUSED', false, 0], name);
  }
});

test('another class: REFUSED', () => {
  for (const classNumber of [3, 4, 254, 255]) {
    assert.equal(ask('a.example.test', 'A', { class: classNumber }).rcode, 'REFUSED');
  }
});

test('DS at the apex of a zone is the parent zone’s to answer, where that is served too', () => {
  assert.match(ask('sub.example.test', 'DS').authority.join(), /^example.test 10 SOA/);
  assert.match(ask('other.test', 'DS').authority.join(), /^other.test 10 SOA/);
});

test('the root can be a zone', () => {
  const { ask: askRoot } = serveText('test A 10.0.0.1', [{ name: '.', nameservers: ['ns.test'] }]);
  assert.deepEqual(askRoot('test', 'A').answer, ['test 30 A 10.0.0.1']);
  assert.equal(askRoot('nothing.here', 'A').rcode, 'NXDOMAIN');
});

test('records outside of every zone are refused with a reason', () => {
  const [problem] = store.upsert('stray', [{ name: 'a.example.org', type: 'A', data: '10.0.0.1' }]);
  assert.match(problem!.reason, /no zone/);
});

test('until the data are complete every question gets SERVFAIL', () => {
  store.setReady(false);
  assert.equal(ask('a.example.test', 'A').rcode, 'SERVFAIL');
  assert.equal(ask('b.example.test', 'A').rcode, 'SERVFAIL');
  const extended = send(question('a.example.test', 'A', { payload: 1232 }));
  assert.deepEqual([...extended.subarray(-6)], [0, 15, 0, 2, 0, 14], 'extended error 14: not ready');
  store.setReady(true);
  assert.equal(ask('a.example.test', 'A').rcode, 'NOERROR');
});
