import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 1034 section 3.6.2, RFC 2181 section 10.1, RFC 6604 section 3.
const { ask, store, problems } = serveText(`
  www.example.test      CNAME web.example.test
  web.example.test      60 CNAME host.example.test
  host.example.test     A     10.0.0.1
  away.example.test     CNAME www.elsewhere.test
  broken.example.test   CNAME nowhere.example.test
  loop1.example.test    CNAME loop2.example.test
  loop2.example.test    CNAME loop1.example.test
  self.example.test     CNAME self.example.test
  *.wild.example.test   CNAME host.example.test
  towild.example.test   CNAME x.wild.example.test
  cut.example.test      NS    ns.elsewhere.test
  tocut.example.test    CNAME a.cut.example.test
`);

test('an alias is followed inside the zone', () => {
  const reply = ask('www.example.test', 'A');
  assert.deepEqual(problems, []);
  assert.deepEqual(reply.answer, [
    'www.example.test 30 CNAME web.example.test',
    'web.example.test 60 CNAME host.example.test',
    'host.example.test 30 A 10.0.0.1',
  ]);
  assert.equal(reply.authoritative, true);
});

test('the alias itself is the answer to a question for CNAME', () => {
  assert.deepEqual(ask('www.example.test', 'CNAME').answer, ['www.example.test 30 CNAME web.example.test']);
});

test('where an alias leads out of the zone, the client goes on by itself', () => {
  const reply = ask('away.example.test', 'A');
  assert.deepEqual(reply.answer, ['away.example.test 30 CNAME www.elsewhere.test']);
  assert.deepEqual([reply.rcode, reply.authority], ['NOERROR', []]);
});

test('the response code is that of the last name of the chain', () => {
  const missing = ask('broken.example.test', 'A');
  assert.equal(missing.rcode, 'NXDOMAIN');
  assert.equal(missing.answer.length, 1);
  assert.match(missing.authority.join(), /^example.test 10 SOA/);
  const nodata = ask('www.example.test', 'AAAA');
  assert.equal(nodata.rcode, 'NOERROR');
  assert.equal(nodata.answer.length, 2);
  assert.match(nodata.authority.join(), /^example.test 10 SOA/);
});

test('a loop ends, each record in the answer once', () => {
  assert.deepEqual(ask('loop1.example.test', 'A').answer, [
    'loop1.example.test 30 CNAME loop2.example.test',
    'loop2.example.test 30 CNAME loop1.example.test',
  ]);
  assert.deepEqual(ask('self.example.test', 'A').answer, ['self.example.test 30 CNAME self.example.test']);
});

test('an alias may come from a wildcard, and lead to one', () => {
  assert.deepEqual(ask('y.wild.example.test', 'A').answer, [
    'y.wild.example.test 30 CNAME host.example.test',
    'host.example.test 30 A 10.0.0.1',
  ]);
  assert.deepEqual(ask('towild.example.test', 'A').answer, [
    'towild.example.test 30 CNAME x.wild.example.test',
    'x.wild.example.test 30 CNAME host.example.test',
    'host.example.test 30 A 10.0.0.1',
  ]);
});

test('an alias into a delegated zone ends in the referral', () => {
  const reply = ask('tocut.example.test', 'A');
  assert.deepEqual(reply.answer, ['tocut.example.test 30 CNAME a.cut.example.test']);
  assert.deepEqual(reply.authority, ['cut.example.test 30 NS ns.elsewhere.test']);
});

test('an alias cannot stand beside other data, whoever came first', () => {
  const [problem] = store.upsert('late', [
    { name: 'host.example.test', type: 'CNAME', data: 'www.example.test' },
  ]);
  assert.match(problem!.reason, /other records/);
  assert.deepEqual(ask('host.example.test', 'A').answer, ['host.example.test 30 A 10.0.0.1']);
  store.upsert('later', [{ name: 'away.example.test', type: 'A', data: '10.0.0.7' }]);
  assert.deepEqual(ask('away.example.test', 'A').answer, ['away.example.test 30 A 10.0.0.7']);
  store.upsert('later', []);
  assert.deepEqual(ask('away.example.test', 'A').answer, ['away.example.test 30 CNAME www.elsewhere.test']);
});
