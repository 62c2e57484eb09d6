import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { isInZone } from '../names.ts';
import { createClaims } from './claims.ts';
import type { Claim, Evaluation, NameConflict, Steps } from './claims.ts';
import type { DnsRecord } from './dns-record.ts';
import { excludes, kindOf } from './name-tree.ts';

const record = (name: string, data: string): DnsRecord => ({ name, type: 'A', data });
const claim = (source: string, since: string, names: string[], claimGroup = source): Claim => ({
  source,
  claimGroup,
  since,
  records: names.map((name) => record(name, '192.0.2.1')),
});

function finish(steps: Steps): Evaluation[] {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

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
    set: (one: Claim) => note(finish(claims.set(one))),
    remove: (source: string) => note(finish(claims.remove(source))),
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
      assert.deepEqual([granted.get('cut'), granted.get('young')], [['x.test'], []]);
      assert.deepEqual(refused.get('young'), [{ name: 'foo.x.test', holder: 'cut' }], 'it would be hidden');
    }
  });

  test('what belongs to one party is no quarrel', () => {
    const { granted } = state([set('one', '2020', below, cut)]);
    assert.deepEqual(granted.get('one'), ['foo.x.test', 'x.test']);
  });
});

/** The same decision, made of all claims at once: each entry in the order of ranks, unless one before it excludes it. */
function naive(claims: readonly Claim[]): Map<string, DnsRecord[]> {
  const entries = new Map<
    string,
    { name: string; kind: ReturnType<typeof kindOf>; group: string; at: string }
  >();
  for (const { claimGroup: group, since, records } of claims)
    for (const { name, type } of records) {
      const kind = kindOf(type);
      const key = `${group} ${kind} ${name}`;
      const at = [entries.get(key)?.at ?? since, since].toSorted()[0]!;
      entries.set(key, { name, kind, group, at });
    }
  const rankOf = ({ at, group }: { at: string; group: string }) => `${at} ${group}`;
  const sorted = [...entries.values()].toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const granted: typeof sorted = [];
  for (const one of sorted) {
    const isBlocked = granted.some(
      (other) =>
        other.group !== one.group &&
        ((other.name === one.name && excludes(other.kind, one.kind)) ||
          (other.kind === 'NS' && isInZone(one.name, other.name)) ||
          (one.kind === 'NS' && isInZone(other.name, one.name))),
    );
    if (!isBlocked) granted.push(one);
  }
  const isGranted = (group: string, { name, type }: DnsRecord) =>
    granted.some((one) => one.group === group && one.name === name && one.kind === kindOf(type));
  return new Map(
    claims.map(({ source, claimGroup, records }) => [
      source,
      records.filter((record) => isGranted(claimGroup, record)),
    ]),
  );
}

const someRecord = fc.record({
  name: fc.constantFrom('x.test', 'a.x.test', 'b.a.x.test', 'c.x.test', 'y.test'),
  type: fc.constantFrom<DnsRecord['type']>('A', 'CNAME', 'TXT', 'NS'),
});
const someClaim = fc.record({
  source: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  since: fc.constantFrom('2020', '2021', '2022'),
  claimGroup: fc.constantFrom('p', 'q', 'r', 's'),
  records: fc.uniqueArray(someRecord, { maxLength: 4, selector: (one) => `${one.name} ${one.type}` }),
  isGone: fc.boolean(),
});

test('after any changes, every verdict is that of a naive model, and who stands in the way is granted', () => {
  fc.assert(
    fc.property(fc.array(someClaim, { maxLength: 20 }), (steps) => {
      const claims = createClaims();
      const last = new Map<string, Claim>();
      const seen = new Map<string, Evaluation>();
      for (const { records, isGone, ...rest } of steps) {
        const next = { ...rest, records: records.map((one) => ({ ...one, data: 'data' })) };
        if (isGone) last.delete(next.source);
        else last.set(next.source, next);
        for (const one of finish(isGone ? claims.remove(next.source) : claims.set(next)))
          seen.set(one.source, one);
        const expected = naive([...last.values()]);
        for (const [source, { claimGroup }] of last) {
          const { granted, refused } = seen.get(source)!;
          assert.deepEqual(granted, expected.get(source));
          for (const { holder } of refused) {
            assert.notEqual(holder, claimGroup);
            const sources = [...last.values()].filter((one) => one.claimGroup === holder);
            assert.ok(sources.some((one) => expected.get(one.source)!.length > 0));
          }
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('only those are told of a change whom it affects', () => {
  const claims = createClaims();
  for (let i = 0; i < 100; i++) finish(claims.set(claim(`s${i}`, '2020', [`n${i}.test`])));
  const cut = { name: 'n7.test', type: 'NS', data: 'ns.test' } as const;
  const told = finish(claims.set({ ...claim('cut', '2019', []), records: [cut] }));
  assert.deepEqual(
    told.map(({ source, isChanged }) => [source, isChanged]),
    [
      ['cut', true],
      ['s7', true],
    ],
  );
});
