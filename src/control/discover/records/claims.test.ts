import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createClaims, oldestOf, slotOf } from './claims.ts';
import type { Claim, Evaluation, NameConflict } from './claims.ts';
import type { DnsRecord } from './dns-record.ts';

const record = (name: string, data: string): DnsRecord => ({ name, type: 'A', data });
const claim = (source: string, since: string, names: string[], claimGroup = source): Claim => ({
  source,
  claimGroup,
  since,
  records: names.map((name) => record(name, '192.0.2.1')),
});

/** What each source has at last been told. */
function table() {
  const granted = new Map<string, string[]>();
  const refused = new Map<string, readonly NameConflict[]>();
  const claims = createClaims();
  const note = (evaluations: readonly Evaluation[]) => {
    for (const evaluation of evaluations) {
      granted.set(
        evaluation.source,
        evaluation.granted.map(({ name }) => name),
      );
      refused.set(evaluation.source, evaluation.refused);
    }
  };
  const noted = {
    set: (one: Claim) => note(claims.set(one)),
    remove: (source: string) => note(claims.remove(source)),
  };
  return { claims: noted, granted, refused };
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
      assert.deepEqual(refused.get('Service b/new'), [{ name: 'x.test', holder: 'Service a/old' }]);
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

suite('records that reach beyond their own type', () => {
  const set = (source: string, since: string, ...records: DnsRecord[]): Claim => ({
    ...claim(source, since, []),
    records,
  });
  const alias: DnsRecord = { name: 'x.test', type: 'CNAME', data: 'y.test' };
  const text: DnsRecord = { name: 'x.test', type: 'TXT', data: 'hi' };
  const cut: DnsRecord = { name: 'x.test', type: 'NS', data: 'ns.evil.test' };
  const below = record('foo.x.test', '192.0.2.1');
  const state = (list: Claim[]) => {
    const { claims, granted, refused } = table();
    for (const one of list) claims.set(one);
    return { claims, granted, refused };
  };

  test('an alias is not pushed out by what is younger, nor does it push out what is older', () => {
    for (const order of [0, 1]) {
      const list = [set('alias', '2020', alias), set('text', '2021', text)];
      const { claims, granted, refused } = state(order ? list.toReversed() : list);
      assert.deepEqual([granted.get('alias'), granted.get('text')], [['x.test'], []]);
      assert.deepEqual(refused.get('text'), [{ name: 'x.test', holder: 'alias' }]);
      claims.remove('alias');
      assert.deepEqual(granted.get('text'), ['x.test']);
      claims.set(set('alias', '2022', alias));
      assert.deepEqual([granted.get('alias'), granted.get('text')], [[], ['x.test']]);
    }
  });

  test('a delegation takes no older name away; a younger one it may', () => {
    for (const order of [0, 1]) {
      const list = [set('old', '2020', below), set('cut', '2021', cut), set('young', '2022', below)];
      const { claims, granted, refused } = state(order ? list.toReversed() : list);
      assert.deepEqual([granted.get('old'), granted.get('cut')], [['foo.x.test'], []]);
      assert.deepEqual(refused.get('cut'), [{ name: 'x.test', holder: 'old' }]);
      claims.remove('old');
      assert.deepEqual([granted.get('cut'), granted.get('young')], [['x.test'], ['foo.x.test']]);
    }
  });

  test('what belongs to one party is no quarrel', () => {
    const { granted } = state([set('one', '2020', below, cut)]);
    assert.deepEqual(granted.get('one'), ['foo.x.test', 'x.test']);
  });
});

test('whatever the history: the outcome is that of the last claims alone, and nobody stands where an alias does', () => {
  const type = fc.constantFrom<DnsRecord['type']>('A', 'CNAME', 'TXT', 'NS');
  const someRecord = fc.record({ name: fc.constantFrom('x.test', 'a.x.test', 'y.test'), type });
  const someClaim = fc.record({
    source: fc.constantFrom('a', 'b', 'c', 'd'),
    since: fc.constantFrom('2020', '2021'),
    claimGroup: fc.constantFrom('p', 'q', 'r'),
    records: fc.uniqueArray(someRecord, { maxLength: 3, selector: (one) => `${one.name} ${one.type}` }),
  });
  fc.assert(
    fc.property(fc.array(someClaim, { maxLength: 20 }), (steps) => {
      const served = new Map<string, Evaluation>();
      const note = (map: Map<string, Evaluation>, evaluations: readonly Evaluation[]) => {
        for (const evaluation of evaluations) map.set(evaluation.source, evaluation);
      };
      const claims = createClaims();
      const last = new Map<string, Claim>();
      for (const { records, ...rest } of steps) {
        const next = { ...rest, records: records.map((one) => ({ ...one, data: 'data' })) };
        last.set(next.source, next);
        note(served, claims.set(next));
      }
      const alone = new Map<string, Evaluation>();
      const fresh = createClaims();
      for (const one of [...last.values()].toSorted((a, b) => (a.source < b.source ? -1 : 1)))
        note(alone, fresh.set(one));
      assert.deepEqual(served, alone);
      const granted = [...served.values()].flatMap((evaluation) =>
        evaluation.granted.map((one) => ({ ...one, claimGroup: last.get(evaluation.source)!.claimGroup })),
      );
      for (const { name, claimGroup } of granted.filter((one) => one.type === 'CNAME'))
        assert.ok(granted.every((other) => other.name !== name || other.claimGroup === claimGroup));
    }),
    { numRuns: 1000 },
  );
});

test('after any changes in any order, the state is that of the last claims alone', () => {
  const someClaim = fc.record({
    source: fc.constantFrom('a', 'b', 'c', 'd'),
    since: fc.constantFrom('2020', '2021'),
    claimGroup: fc.constantFrom('p', 'q', 'r'),
    names: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(someClaim, { maxLength: 20 }), (steps) => {
      const { claims, granted } = table();
      const last = new Map<string, Claim>();
      for (const { source, since, claimGroup, names, gone } of steps) {
        last.set(source, claim(source, since, gone ? [] : names, claimGroup));
        if (gone) claims.remove(source);
        else claims.set(last.get(source)!);
      }
      for (const [source, { claimGroup, records }] of last) {
        const due = records.filter((one) => {
          const rivals = [...last.values()].filter((other) =>
            other.records.some((r) => slotOf(r) === slotOf(one)),
          );
          return oldestOf(rivals)?.claimGroup === claimGroup;
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
