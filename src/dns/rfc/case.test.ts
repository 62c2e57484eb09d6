import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 4343: case means nothing, but the client gets back what it sent (some check it, against forgery).
const { ask } = serveText(
  'WWW.Example.TEST A 10.0.0.1\nalias.example.test CNAME www.example.test\n*.W.example.test TXT "Text"',
);

test('names are found whatever their case, and the question comes back as it was', () => {
  const reply = ask('wWw.eXamPle.tEsT', 'A');
  assert.equal(reply.question, 'wWw.eXamPle.tEsT');
  assert.deepEqual(reply.answer, ['wWw.eXamPle.tEsT 30 A 10.0.0.1']);
});

test('names that share a suffix with the question take its case', () => {
  assert.match(ask('NO.eXample.test', 'A').authority.join(), /^eXample.test 10 SOA/);
  assert.deepEqual(ask('aLias.eXample.test', 'CNAME').answer, [
    'aLias.eXample.test 30 CNAME www.eXample.test',
  ]);
});

test('data keep their case', () => {
  assert.deepEqual(ask('A.w.example.test', 'TXT').answer, ['A.w.example.test 30 TXT Text']);
});
