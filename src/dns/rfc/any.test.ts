import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 8482: ANY gets one RRset, not all of them.
const { ask } = serveText(`
  many.example.test   A     10.0.0.1
  many.example.test   A     10.0.0.2
  many.example.test   AAAA  fd00::1
  many.example.test   TXT   "text"
  alias.example.test  CNAME many.example.test
  a.ent.example.test  A     10.0.0.3
  *.wild.example.test TXT   "text"
`);

test('one whole RRset', () => {
  assert.deepEqual(ask('many.example.test', 'ANY').answer.toSorted(), [
    'many.example.test 30 A 10.0.0.1',
    'many.example.test 30 A 10.0.0.2',
  ]);
});

test('an alias is not followed', () => {
  assert.deepEqual(ask('alias.example.test', 'ANY').answer, [
    'alias.example.test 30 CNAME many.example.test',
  ]);
});

test('no data and no name stay apart', () => {
  assert.deepEqual(
    [ask('ent.example.test', 'ANY').rcode, ask('no.example.test', 'ANY').rcode],
    ['NOERROR', 'NXDOMAIN'],
  );
  assert.equal(ask('x.wild.example.test', 'ANY').answer.length, 1);
});
