import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// The example zone of RFC 4592 section 2.2.1, without its MX records, and every question of that section.
const { ask } = serveText(
  `
  *.example.test               3600 TXT "this is a wildcard"
  host1.example.test           3600 A   192.0.2.1
  _ssh._tcp.host1.example.test 3600 SRV 0 0 22 host1.example.test
  _ssh._tcp.host2.example.test 3600 SRV 0 0 22 host2.example.test
  subdel.example.test          3600 NS  ns.example.net
  `,
);

test('synthesised: the owner is the name that was asked for', () => {
  assert.deepEqual(ask('host3.example.test', 'TXT').answer, [
    'host3.example.test 3600 TXT this is a wildcard',
  ]);
  assert.deepEqual(ask('foo.bar.example.test', 'TXT').answer, [
    'foo.bar.example.test 3600 TXT this is a wildcard',
  ]);
});

test('a synthesised name without the type has no data', () => {
  const reply = ask('host3.example.test', 'A');
  assert.deepEqual([reply.rcode, reply.answer.length], ['NOERROR', 0]);
  assert.match(reply.authority.join(), /SOA/);
});

for (const [name, type, why] of [
  ['host1.example.test', 'TXT', 'it exists'],
  ['sub.*.example.test', 'TXT', '*.example.test exists, and is the closest encloser'],
  ['_telnet._tcp.host1.example.test', 'SRV', '_tcp.host1.example.test exists'],
  ['host.subdel.example.test', 'A', 'it lies below a cut'],
] as const) {
  test(`not synthesised: ${name}, because ${why}`, () => assert.deepEqual(ask(name, type).answer, []));
}

test('the wildcard itself can be asked for', () => {
  assert.deepEqual(ask('*.example.test', 'TXT').answer, ['*.example.test 3600 TXT this is a wildcard']);
});

test('a name that exists as an empty non-terminal is not synthesised', () => {
  assert.deepEqual(ask('host2.example.test', 'TXT').answer, []);
  assert.equal(ask('host2.example.test', 'TXT').rcode, 'NOERROR');
});

test('an asterisk inside a label is an ordinary character', () => {
  const { ask: askOther } = serveText('a*.example.test A 10.0.0.1\nx.*.sub.example.test A 10.0.0.2');
  assert.equal(askOther('ab.example.test', 'A').rcode, 'NXDOMAIN');
  assert.equal(
    askOther('x.y.sub.example.test', 'A').rcode,
    'NOERROR',
    'the closest encloser is sub, its wildcard has no data',
  );
});
