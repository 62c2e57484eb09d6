import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 4592 section 3.3.1: only the wildcard directly below the closest encloser may speak.
const { ask } = serveText(`
  *.example.test          TXT "outer"
  a.b.example.test        A   10.0.0.1
  *.wild.example.test     A   10.0.0.2
  deep.wild.example.test  A   10.0.0.3
`);

test('a wildcard further up does not reach below an existing name', () => {
  assert.equal(ask('x.a.b.example.test', 'TXT').rcode, 'NXDOMAIN');
  assert.equal(
    ask('x.b.example.test', 'TXT').rcode,
    'NXDOMAIN',
    'b.example.test exists, as an empty non-terminal',
  );
});

test('a wildcard speaks for any depth when nothing in between exists', () => {
  assert.deepEqual(ask('x.y.z.example.test', 'TXT').answer, ['x.y.z.example.test 30 TXT outer']);
});

test('the nearer wildcard wins', () => {
  assert.deepEqual(ask('x.wild.example.test', 'A').answer, ['x.wild.example.test 30 A 10.0.0.2']);
  assert.deepEqual(ask('x.wild.example.test', 'TXT').answer, []);
  assert.equal(ask('x.wild.example.test', 'TXT').rcode, 'NOERROR');
});

test('a name that exists ends the reach of the wildcard beside it', () => {
  assert.equal(ask('x.deep.wild.example.test', 'A').rcode, 'NXDOMAIN');
});

test('the outer wildcard does not speak for the wildcard owner', () => {
  assert.deepEqual(ask('wild.example.test', 'TXT').answer, []);
  assert.equal(ask('wild.example.test', 'TXT').rcode, 'NOERROR');
});
