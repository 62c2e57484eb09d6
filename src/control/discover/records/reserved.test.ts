import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { atOnce } from '../../../ops/time-slice.ts';
import { isInZone } from '../names.ts';
import type { DnsRecord } from './dns-record.ts';
import { reservedNames } from './reserved.ts';

const configured = (...names: string[]) => ({
  zones: ['example.test', 'clusterset.local'],
  names: () => ['ns.example.test', ...names],
  subscribe: () => () => {},
});

function refused(names: string[], record: [name: string, type?: DnsRecord['type']]): boolean {
  const [name, type = 'A'] = record;
  return atOnce(reservedNames(configured(...names))).problemOf({ name, type }) !== undefined;
}

suite('reserved names', () => {
  test('a configured name is nobody else’s, whatever the type, nor is what is below it', () => {
    const reserved = atOnce(reservedNames(configured('vault.example.test')));
    assert.equal(
      reserved.problemOf({ name: 'vault.example.test', type: 'A' }),
      "vault.example.test is reserved: vault.example.test is in the DNS server's own configuration",
    );
    assert.ok(refused(['vault.example.test'], ['vault.example.test', 'TXT']));
    assert.ok(refused(['vault.example.test'], ['_acme-challenge.vault.example.test', 'TXT']));
    assert.ok(!refused(['vault.example.test'], ['notvault.example.test']));
  });

  test('a delegation or a wildcard above it is refused, an address is not', () => {
    assert.ok(refused(['a.b.example.test'], ['b.example.test', 'NS']));
    assert.ok(refused(['a.b.example.test'], ['*.b.example.test']));
    assert.ok(!refused(['a.b.example.test'], ['b.example.test']));
    assert.ok(!refused(['a.b.example.test'], ['c.example.test', 'NS']));
    assert.ok(!refused(['a.b.example.test'], ['*.c.example.test']));
  });

  test('a configured wildcard holds the names that it answers', () => {
    assert.ok(refused(['*.apps.example.test'], ['login.apps.example.test']));
    assert.ok(refused(['*.apps.example.test'], ['a.login.apps.example.test']));
    assert.ok(refused(['*.apps.example.test'], ['apps.example.test', 'NS']));
    assert.ok(!refused(['*.apps.example.test'], ['apps.example.test']));
  });

  test('of a zone: its apex, what speaks for it, its wildcard, its name servers and our probes', () => {
    assert.ok(refused([], ['example.test']));
    assert.ok(refused([], ['example.test', 'NS']));
    assert.ok(refused([], ['*.example.test']));
    assert.ok(refused([], ['_acme-challenge.example.test', 'TXT']));
    assert.ok(refused([], ['_kafka._tcp.example.test', 'SRV']));
    assert.ok(refused([], ['ns.example.test']));
    assert.ok(refused([], ['x._isthmus.example.test', 'TXT']));
    assert.ok(refused([], ['dns-version.clusterset.local', 'TXT']));
    assert.ok(!refused([], ['foo.example.test']));
    assert.ok(!refused([], ['_kafka._tcp.foo.example.test', 'SRV']));
    assert.ok(!refused([], ['foo.elsewhere.test', 'NS']));
  });

  test('nothing that is granted answers for a configured name, or takes it out of the zone', () => {
    const label = fc.constantFrom('a', 'b', '_x');
    const name = fc
      .array(label, { minLength: 1, maxLength: 4 })
      .map((labels) => `${labels.join('.')}.example.test`);
    const type = fc.constantFrom<DnsRecord['type']>('A', 'NS', 'CNAME');
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), name, type, (names, claimed, claimedType) => {
        if (refused(names, [claimed, claimedType])) return;
        for (const one of names) {
          assert.ok(!isInZone(claimed, one));
          assert.ok(claimedType !== 'NS' || !isInZone(one, claimed));
        }
      }),
    );
  });

  test('very many names are collected a few at a time', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `n${i}.example.test`);
    let steps = 0;
    const reserved = reservedNames(configured(...names));
    for (let step = reserved.next(); !step.done; step = reserved.next()) steps += 1;
    assert.ok(steps >= names.length);
  });
});
