import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createClaims, slotOf, winnerOf } from './claims.ts';
import type { Claim, Refusal } from './claims.ts';
import type { DnsRecord } from './records.ts';

const record = (name: string, data: string): DnsRecord => ({ name, type: 'A', data });
const claim = (source: string, since: string, names: string[], party = source): Claim => ({
  source,
  party,
  since,
  records: names.map((name) => record(name, '192.0.2.1')),
});

/** What each source has at last been told. */
function table() {
  const granted = new Map<string, string[]>();
  const refused = new Map<string, readonly Refusal[]>();
  const claims = createClaims((verdicts) => {
    for (const verdict of verdicts) {
      granted.set(
        verdict.source,
        verdict.granted.map(({ name }) => name),
      );
      refused.set(verdict.source, verdict.refused);
    }
  });
  return { claims, granted, refused };
}

suite('two claims on one name', () => {
  test('the older wins, whoever comes first, and the other gets it when it is free', () => {
    for (const order of [
      ['Service a/old', 'Service b/new'],
      ['Service b/new', 'Service a/old'],
    ]) {
      const { claims, granted, refused } = table();
      for (const source of order)
        claims.set(claim(source, source.endsWith('old') ? '2020' : '2021', ['x.test']));
      assert.deepEqual(granted.get('Service a/old'), ['x.test']);
      assert.deepEqual(granted.get('Service b/new'), []);
      assert.deepEqual(refused.get('Service b/new'), [{ name: 'x.test', winner: 'Service a/old' }]);
      claims.remove('Service a/old');
      assert.deepEqual(granted.get('Service b/new'), ['x.test']);
      assert.deepEqual(refused.get('Service b/new'), []);
    }
  });

  test('of one age: the alphabet decides', () => {
    const { claims, granted } = table();
    claims.set(claim('Service b/b', '2020', ['x.test']));
    claims.set(claim('Service a/a', '2020', ['x.test']));
    assert.deepEqual(granted.get('Service a/a'), ['x.test']);
    assert.deepEqual(granted.get('Service b/b'), []);
  });

  test('of one party stand together', () => {
    const { claims, granted } = table();
    claims.set(claim('EndpointSlice a/1', '2020', ['x.test'], 'slices a'));
    claims.set(claim('EndpointSlice a/2', '2021', ['x.test'], 'slices a'));
    assert.deepEqual(
      [granted.get('EndpointSlice a/1'), granted.get('EndpointSlice a/2')],
      [['x.test'], ['x.test']],
    );
  });

  test('for records that do not exclude each other are no quarrel; alias and address are', () => {
    const { claims, granted } = table();
    claims.set(claim('a', '2020', ['x.test']));
    claims.set({ ...claim('b', '2021', []), records: [{ name: 'x.test', type: 'TXT', data: 'hi' }] });
    claims.set({ ...claim('c', '2022', []), records: [{ name: 'x.test', type: 'CNAME', data: 'y.test' }] });
    assert.deepEqual([granted.get('a'), granted.get('b'), granted.get('c')], [['x.test'], ['x.test'], []]);
  });

  test('a loser that has another name keeps that', () => {
    const { claims, granted } = table();
    claims.set(claim('a', '2020', ['x.test']));
    claims.set(claim('b', '2021', ['x.test', 'y.test']));
    assert.deepEqual(granted.get('b'), ['y.test']);
  });
});

test('after any changes in any order, the state is that of the last claims alone', () => {
  const someClaim = fc.record({
    source: fc.constantFrom('a', 'b', 'c', 'd'),
    since: fc.constantFrom('2020', '2021'),
    party: fc.constantFrom('p', 'q', 'r'),
    names: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(someClaim, { maxLength: 20 }), (steps) => {
      const { claims, granted } = table();
      const last = new Map<string, Claim>();
      for (const { source, since, party, names, gone } of steps) {
        last.set(source, claim(source, since, gone ? [] : names, party));
        if (gone) claims.remove(source);
        else claims.set(last.get(source)!);
      }
      for (const [source, { party, records }] of last) {
        const due = records.filter((one) => {
          const rivals = [...last.values()].filter((other) =>
            other.records.some((r) => slotOf(r) === slotOf(one)),
          );
          return winnerOf(rivals)?.party === party;
        });
        assert.deepEqual(
          granted.get(source),
          due.map(({ name }) => name),
        );
      }
    }),
    { numRuns: 500 },
  );
});
