import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { isInZone } from '../names.ts';
import { createClaims } from './claims.ts';
import type { Claim, Claims, Evaluation, NameConflict, Steps } from './claims.ts';
import type { DnsRecord } from './dns-record.ts';
import { readGrants, writeGrants } from './grants.ts';
import { excludes, kindOf } from './name-tree.ts';
import type { EntryKind } from './name-tree.ts';

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
  test('who has it keeps it, however old the other object is, and the other gets it when it is free', () => {
    const { claims, granted, refused } = table();
    claims.set(claim('Service a/served', '2026', ['x.test']));
    claims.set(claim('Service b/old', '2020', ['x.test']));
    assert.deepEqual(granted.get('Service a/served'), ['x.test']);
    assert.deepEqual(granted.get('Service b/old'), []);
    assert.deepEqual(refused.get('Service b/old'), [{ name: 'x.test', holder: 'Service a/served' }]);
    claims.remove('Service a/served');
    assert.deepEqual(granted.get('Service b/old'), ['x.test']);
    assert.deepEqual(refused.get('Service b/old'), []);
  });

  test('of those who wait the oldest object gets it, and of one age the first by name', () => {
    const { claims, granted } = table();
    for (const [source, since] of [
      ['first', '2026'],
      ['young', '2022'],
      ['old b', '2020'],
      ['old a', '2020'],
    ] as const)
      claims.set(claim(source, since, ['x.test']));
    claims.remove('first');
    assert.deepEqual(
      [granted.get('old a'), granted.get('old b'), granted.get('young')],
      [['x.test'], [], []],
    );
  });

  test('a name is kept while nothing is served under it', () => {
    const { claims, granted, refused } = table();
    claims.set({ ...claim('a', '2021', []), names: ['x.test'] });
    claims.set(claim('b', '2020', ['x.test']));
    assert.deepEqual([granted.get('b'), refused.get('b')], [[], [{ name: 'x.test', holder: 'a' }]]);
    const alias: DnsRecord = { name: 'x.test', type: 'CNAME', data: 'y.test' };
    claims.set({ ...claim('a', '2021', []), records: [alias], names: ['x.test'] });
    assert.deepEqual(granted.get('a'), ['x.test']);
    claims.set(claim('a', '2021', ['x.test']));
    assert.deepEqual([granted.get('a'), granted.get('b')], [['x.test'], []]);
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

  test('an alias is not pushed out by what comes later, nor does it push out what was there', () => {
    const { claims, granted, refused } = state([set('alias', '2021', alias), set('text', '2020', text)]);
    assert.deepEqual([granted.get('alias'), granted.get('text')], [['x.test'], []]);
    assert.deepEqual(refused.get('text'), [{ name: 'x.test', holder: 'alias' }]);
    claims.remove('alias');
    assert.deepEqual(granted.get('text'), ['x.test']);
    claims.set(set('alias', '2019', alias));
    assert.deepEqual([granted.get('alias'), granted.get('text')], [[], ['x.test']]);
  });

  test('a delegation takes no name away that was there, and what comes below it later would be hidden', () => {
    const { claims, granted, refused } = state([set('first', '2022', below), set('cut', '2020', cut)]);
    assert.deepEqual([granted.get('first'), granted.get('cut')], [['foo.x.test'], []]);
    assert.deepEqual(refused.get('cut'), [{ name: 'x.test', holder: 'first' }]);
    claims.remove('first');
    claims.set(set('second', '2019', below));
    assert.deepEqual([granted.get('cut'), granted.get('second')], [['x.test'], []]);
    assert.deepEqual(refused.get('second'), [{ name: 'foo.x.test', holder: 'cut' }]);
  });

  test('an alias in place of addresses takes nothing away that stood beside them', () => {
    const { claims, granted } = state([
      set('a', '2021', record('x.test', '192.0.2.1')),
      set('b', '2020', text),
    ]);
    claims.set(set('a', '2021', alias));
    assert.deepEqual([granted.get('a'), granted.get('b')], [[], ['x.test']]);
    claims.set(set('c', '2019', record('x.test', '192.0.2.1')));
    assert.deepEqual(granted.get('c'), [], 'the name is still that of a');
  });

  test('what belongs to one party is no quarrel', () => {
    const { granted } = state([set('one', '2020', below, cut)]);
    assert.deepEqual(granted.get('one'), ['foo.x.test', 'x.test']);
  });
});

/** What somebody has: `<group> <kind> <name>`, and since when. */
type Held = ReadonlyMap<string, string>;

/** The same decision, made of all claims at once: each entry in the order of ranks, unless one before it excludes it. */
function naive(claims: readonly Claim[], held: Held): Set<string> {
  const entries = new Map<string, { name: string; kind: EntryKind; group: string; rank: string }>();
  const add = (name: string, kind: EntryKind, { claimGroup: group, since }: Claim) => {
    const key = `${group} ${kind} ${name}`;
    const has = held.get(key);
    const rank = has === undefined ? `2 ${since} ${group}` : `1 ${has} ${group}`;
    entries.set(key, { name, kind, group, rank: [entries.get(key)?.rank ?? rank, rank].toSorted()[0]! });
  };
  for (const one of claims)
    for (const { name, type } of one.records) {
      add(name, kindOf(type), one);
      if (type === 'CNAME') add(name, 'address', one);
    }
  const granted: { name: string; kind: EntryKind; group: string }[] = [];
  for (const one of [...entries.values()].toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) {
    const isBlocked = granted.some(
      (other) =>
        other.group !== one.group &&
        ((other.name === one.name && excludes(other.kind, one.kind)) ||
          (other.kind === 'NS' && isInZone(one.name, other.name)) ||
          (one.kind === 'NS' && isInZone(other.name, one.name))),
    );
    if (!isBlocked) granted.push(one);
  }
  return new Set(granted.map(({ group, kind, name }) => `${group} ${kind} ${name}`));
}

const isIn = (granted: ReadonlySet<string>, { claimGroup }: Claim, { name, type }: DnsRecord) =>
  granted.has(`${claimGroup} ${kindOf(type)} ${name}`);

const NAMES = ['x.test', 'a.x.test', 'b.a.x.test', 'c.x.test', 'y.test'];
const someRecord = fc.record({
  name: fc.constantFrom(...NAMES),
  type: fc.constantFrom<DnsRecord['type']>('A', 'CNAME', 'TXT', 'NS'),
});
const someClaim = fc.record({
  source: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  since: fc.constantFrom('2020', '2021', '2022'),
  claimGroup: fc.constantFrom('p', 'q', 'r', 's'),
  records: fc
    .uniqueArray(someRecord, { maxLength: 4, selector: (one) => `${one.name} ${one.type}` })
    .map((records) => records.map((one) => ({ ...one, data: 'data' }))),
  isGone: fc.boolean(),
});
const someSteps = fc.array(someClaim, { maxLength: 20, size: 'max' });

function createClock() {
  let time = 0;
  return { now: () => String(time).padStart(3, '0'), tick: () => time++ };
}

/** Makes the changes, and returns the claims there are at the end and what each source was last told. */
function play(
  claims: Claims,
  steps: readonly (Claim & { isGone: boolean })[],
  then: (last: Map<string, Claim>, seen: Map<string, Evaluation>) => void,
) {
  const last = new Map<string, Claim>();
  const seen = new Map<string, Evaluation>();
  const note = (evaluations: readonly Evaluation[]) => {
    for (const one of evaluations) seen.set(one.source, one);
    for (const source of seen.keys()) if (!last.has(source)) seen.delete(source);
  };
  for (const { isGone, ...next } of steps) {
    if (isGone) last.delete(next.source);
    else last.set(next.source, next);
    note(finish(isGone ? claims.remove(next.source) : claims.set(next)));
    then(last, seen);
  }
  return { last, seen, note };
}

const grantedIn = (seen: ReadonlyMap<string, Evaluation>) =>
  Object.fromEntries([...seen.values()].map(({ source, granted }) => [source, granted]));

suite('whatever the changes', () => {
  test('every verdict is that of a naive model, in which who has a name keeps it', () => {
    fc.assert(
      fc.property(someSteps, (steps) => {
        const { now, tick } = createClock();
        let held: Held = new Map();
        const claims = createClaims({ now });
        play(claims, steps, (last, seen) => {
          const granted = naive([...last.values()], held);
          held = new Map([...granted].map((key) => [key, held.get(key) ?? now()]));
          tick();
          for (const [source, one] of last)
            assert.deepEqual(
              seen.get(source)!.granted,
              one.records.filter((record) => isIn(granted, one, record)),
            );
          for (const [source, { refused }] of seen)
            for (const { holder } of refused) {
              assert.notEqual(holder, last.get(source)!.claimGroup);
              assert.ok([...granted].some((key) => key.startsWith(`${holder} `)));
            }
        });
      }),
      { numRuns: 600 },
    );
  });

  test('a restart in any order gives what was granted and written down before', () => {
    fc.assert(
      fc.property(someSteps, fc.integer(), (steps, seed) => {
        const before = createClaims(createClock());
        const { last, seen } = play(before, steps, () => {});
        const written = new Map(NAMES.map((name) => [name, writeGrants(before.grantsOf(name))]));
        const after = createClaims({ grantsAt: (name) => readGrants(written.get(name) ?? '') });
        const order = [...last.values()].toSorted((a, b) => ((a.source < b.source ? 1 : -1) * seed) % 2);
        const again = play(
          after,
          order.map((one) => ({ ...one, isGone: false })),
          () => {},
        );
        assert.deepEqual(grantedIn(again.seen), grantedIn(seen));
      }),
      { numRuns: 200 },
    );
  });

  test('a replica that saw things otherwise agrees with the leader as soon as it reads what that wrote', () => {
    fc.assert(
      fc.property(someSteps, someSteps, (earlier, steps) => {
        const leader = createClaims(createClock());
        const { last, seen } = play(leader, steps, () => {});
        const written = new Map<string, string>();
        const replica = createClaims({ ...createClock(), grantsAt: (name) => readGrants(written.get(name)) });
        const ends = [...last.values()].map((one) => ({ ...one, isGone: false }));
        const gone = ['a', 'b', 'c', 'd', 'e']
          .filter((source) => !last.has(source))
          .map((source) => ({ source, claimGroup: '', since: '', records: [], isGone: true }));
        const own = play(replica, [...earlier, ...ends, ...gone], () => {});
        for (const name of NAMES) written.set(name, writeGrants(leader.grantsOf(name)) ?? '');
        for (const name of NAMES) own.note(finish(replica.regrant(name)));
        assert.deepEqual(grantedIn(own.seen), grantedIn(seen));
      }),
      { numRuns: 300 },
    );
  });
});

test('only those are told of a change whom it affects', () => {
  const claims = createClaims();
  for (let i = 0; i < 100; i++) finish(claims.set(claim(`s${i}`, '2020', [`n${i}.test`])));
  const cut = { name: 'n7.test', type: 'NS', data: 'ns.test' } as const;
  finish(claims.set({ ...claim('cut', '2019', []), records: [cut] }));
  const told = finish(claims.remove('s7'));
  assert.deepEqual(
    told.map(({ source, isChanged }) => [source, isChanged]),
    [
      ['cut', true],
      ['s7', true],
    ],
  );
});

/** The most names of records that one step looks at. */
function mostInAStep(steps: Steps, looks: { count: number }): number {
  let most = 0;
  for (let step = steps.next(); !step.done; step = steps.next()) {
    most = Math.max(most, looks.count);
    looks.count = 0;
  }
  return Math.max(most, looks.count);
}

test('an object with very many records is worked on a few at a time, when it comes, changes, loses and goes', () => {
  const looks = { count: 0 };
  const many = (type: DnsRecord['type'], nameOf: (i: number) => string): DnsRecord[] =>
    Array.from({ length: 5000 }, (_, i) => ({
      type,
      data: 'ns.test',
      get name() {
        looks.count += 1;
        return nameOf(i);
      },
    }));
  const claims = createClaims();
  const owner = (source: string) => ({ source, claimGroup: source, since: '2020' });
  const steps = [
    () => claims.set({ ...owner('a'), records: many('A', (i) => `n${i}.test`) }),
    () => claims.set({ ...owner('a'), records: many('A', (i) => `n${i + 2500}.test`) }),
    () => claims.set({ ...owner('b'), records: many('NS', (i) => `n${i}.test`) }),
    () => claims.remove('a'),
    () => claims.remove('b'),
  ];
  for (const [at, begin] of steps.entries()) {
    const most = mostInAStep(begin(), looks);
    assert.ok(most > 0 && most <= 500, `${most} names in one step of change ${at}`);
  }
});

test('a delegation above very many names is decided a few of them at a time', () => {
  const claims = createClaims();
  for (let i = 0; i < 3000; i++) finish(claims.set(claim(`s${i}`, '2020', [`n${i}.below.test`])));
  const cut = { name: 'below.test', type: 'NS', data: 'ns.test' } as const;
  const waiting = claims.set({ ...claim('cut', '2019', []), records: [cut] });
  assert.deepEqual(finish(waiting).at(-1)?.refused.length, 1);
  let steps = 0;
  for (const going = claims.remove('cut'); !going.next().done;) steps += 1;
  assert.ok(steps < 100, 'it was granted nothing, so nobody waits for it');
  finish(claims.set({ ...claim('first', '2021', []), records: [{ ...cut, name: 'above.test' }] }));
  for (let i = 0; i < 3000; i++) finish(claims.set(claim(`w${i}`, '2022', [`n${i}.above.test`])));
  const going = claims.remove('first');
  let step = going.next();
  for (steps = 0; !step.done; step = going.next()) steps += 1;
  assert.equal(step.value.filter(({ granted }) => granted.length === 1).length, 3000);
  assert.ok(steps >= 3000, `${steps} steps for 3000 that waited for it`);
});
