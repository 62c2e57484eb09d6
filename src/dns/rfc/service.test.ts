import assert from 'node:assert/strict';
import test from 'node:test';
import { serveText } from '../../../test/support/dns/testing.ts';

// RFC 2782 (SRV), RFC 1035 section 3.5 (reverse names), several addresses.
const { ask, store } = serveText(
  `
  _web._tcp.example.test  SRV  10 5 8080 host.example.test
  _web._tcp.example.test  SRV  10 5 8081 host.example.test
  _web._tcp.example.test  SRV  20 0 8080 host.elsewhere.test
  host.example.test       A    10.0.0.1
  host.example.test       AAAA fd00::1
  three.example.test      A    10.0.1.1
  three.example.test      A    10.0.1.2
  three.example.test      A    10.0.1.3
  `,
  [{ name: 'example.test' }, { name: '10.in-addr.arpa' }, { name: 'd.f.ip6.arpa' }],
);

test('SRV brings the addresses of its targets, each once', () => {
  const reply = ask('_web._tcp.example.test', 'SRV', { payload: 1232 });
  assert.equal(reply.answer.length, 3);
  assert.deepEqual(reply.additional, [
    'host.example.test 30 A 10.0.0.1',
    'host.example.test 30 AAAA fd00::1',
  ]);
});

test('the target of SRV is not compressed', () => {
  const { bytes } = ask('_web._tcp.example.test', 'SRV');
  const target = Buffer.from('\x04host\x07example\x04test\x00', 'latin1');
  assert.notEqual(bytes.indexOf(target), -1);
});

test('which of several addresses comes first depends on the query’s id', () => {
  const firsts = [0, 1, 2, 3].map((id) =>
    ask('three.example.test', 'A', { id }).answer[0]!.split(' ').at(-1),
  );
  assert.deepEqual(firsts, ['10.0.1.1', '10.0.1.2', '10.0.1.3', '10.0.1.1']);
});

test('an address may bring its PTR record', () => {
  const problems = store.upsert('Service default/x', [
    { name: 'x.example.test', type: 'A', data: '10.1.2.3', ptr: true },
    { name: 'x.example.test', type: 'AAAA', data: 'fd00::42', ptr: true },
  ]);
  assert.deepEqual(problems, []);
  assert.deepEqual(ask('3.2.1.10.in-addr.arpa', 'PTR').answer, [
    '3.2.1.10.in-addr.arpa 30 PTR x.example.test',
  ]);
  const reverse = '2.4.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa';
  assert.deepEqual(ask(reverse, 'PTR').answer, [`${reverse} 30 PTR x.example.test`]);
  store.upsert('Service default/x', []);
  assert.equal(ask('3.2.1.10.in-addr.arpa', 'PTR').rcode, 'NXDOMAIN');
});
