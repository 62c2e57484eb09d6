import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 1034 section 4.2.1: the apex of a zone has exactly one SOA, and NS records.
const { ask, problems, store } = serveText(`
  example.test      TXT  "at the apex"
  example.test      A    10.0.0.9
  ns.example.test   A    10.0.0.53
`);

test('the SOA of a zone is an authoritative answer', () => {
  const reply = ask('example.test', 'SOA');
  assert.equal(reply.authoritative, true);
  assert.deepEqual(problems, []);
  assert.match(
    reply.answer.join(),
    /^example.test 30 SOA ns.example.test hostmaster.example.test \d+ 3600 600 86400 10$/,
  );
});

test('the NS records of a zone are an answer, not a delegation, with the addresses of the servers', () => {
  const reply = ask('example.test', 'NS');
  assert.equal(reply.authoritative, true);
  assert.deepEqual(reply.answer, ['example.test 30 NS ns.example.test']);
  assert.deepEqual(reply.authority, []);
  assert.deepEqual(reply.additional, ['ns.example.test 30 A 10.0.0.53']);
});

test('the apex may have other records', () => {
  assert.deepEqual(ask('example.test', 'A').answer, ['example.test 30 A 10.0.0.9']);
  assert.deepEqual(ask('example.test', 'TXT').answer, ['example.test 30 TXT at the apex']);
});

test('the apex cannot be an alias', () => {
  const [problem] = store.upsert('other', [{ name: 'example.test', type: 'CNAME', data: 'a.test' }]);
  assert.match(problem!.reason, /apex/);
});

test('each change of the zone raises its serial', () => {
  const serial = () => Number(ask('example.test', 'SOA').answer[0]!.split(' ')[5]);
  const before = serial();
  store.upsert('one more', [{ name: 'm.example.test', type: 'A', data: '10.0.0.1' }]);
  const after = serial();
  assert.ok(after > before);
  store.upsert('one more', [{ name: 'm.example.test', type: 'A', data: '10.0.0.1' }]);
  assert.equal(serial(), after, 'the same again is no change');
});
