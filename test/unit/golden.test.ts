import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { fillIn, settleBase, takeOut } from '../support/golden/base.ts';
import { openGolden } from '../support/golden/folder.ts';
import { readInput } from '../support/golden/input.ts';
import type { Outcome } from '../support/golden/outcome.ts';
import { applyPatch, isMap, patchBetween } from '../support/golden/patch.ts';
import type { Json } from '../support/golden/patch.ts';

/** Values as they are in plans: in a place where one has a list of things with names, no other has a map. */
const { value: anyValue } = fc.letrec<{ value: Record<string, Json> }>((tie) => {
  const parts = {
    text: fc.constantFrom<Json>(0, 1, 'a', true, {}),
    list: fc.array(fc.constantFrom<Json>(0, [], { x: 1 }), { maxLength: 2 }),
    map: tie('value'),
    items: fc.uniqueArray(
      fc
        .tuple(fc.constantFrom('a', 'b', 'c', '1', '0'), tie('value'))
        .map(([name, rest]) => ({ name, ...rest })),
      { selector: ({ name }) => name, maxLength: 3 },
    ),
  };
  return {
    value: fc.record(parts, { requiredKeys: [], noNullPrototype: true }),
  };
});

suite('patches', () => {
  const base = {
    x: 1,
    named: [{ name: 'a', x: 1, y: 1 }, { name: 'b' }],
    open: [{ name: '*', x: 1 }],
    plain: [1, 2],
  };
  const without = { x: 1, named: [{ name: 'a', x: 1, y: 1 }, { name: 'b' }], plain: [1, 2] };
  const cases: [string, Json, Json][] = [
    ['an empty patch leaves the base, without its open lists', {}, without],
    ['null removes a field', { x: null, plain: null }, { named: without.named }],
    ['a list replaces a list', { plain: [2], named: [] }, { x: 1, named: [], plain: [2] }],
    [
      'a map over a list changes the items that it names',
      { named: { a: { x: 2, y: null } } },
      {
        ...without,
        named: [{ name: 'a', x: 2 }, { name: 'b' }],
      },
    ],
    [
      'items can be removed and added',
      { named: { a: null, c: { x: 1 } } },
      {
        ...without,
        named: [{ name: 'b' }, { name: 'c', x: 1 }],
      },
    ],
    [
      'items of an open list start from the one that stands for any',
      { open: { a: {}, b: { x: null } } },
      {
        ...without,
        open: [{ name: 'a', x: 1 }, { name: 'b' }],
      },
    ],
  ];
  for (const [title, patch, value] of cases) {
    test(title, () => {
      assert.deepEqual(applyPatch(base, patch), value);
      assert.deepEqual(patchBetween(base, value) ?? {}, patch);
    });
  }

  test('lead from any base to any value', () => {
    fc.assert(
      fc.property(anyValue, anyValue, anyValue, (base, any, value) => {
        const open = { ...base, open: [{ name: '*', ...any }] };
        for (const wanted of [value, { ...value, open: [{ name: 'a', ...value }] }]) {
          assert.deepEqual(applyPatch(open, patchBetween(open, wanted)), wanted);
        }
      }),
    );
  });

  test('null cannot be expected', () => assert.throws(() => patchBetween({}, { x: [null] }), /absent/));
});

suite('bases', () => {
  const nine = (value: Json) => Array.from({ length: 9 }, () => value);

  test('follow nearly all', () => {
    assert.deepEqual(settleBase({ x: 1 }, [...nine({ x: 1, y: 2 }), { x: 3 }]), { x: 1, y: 2 });
    assert.deepEqual(settleBase({ x: 1, y: 1 }, [...nine({ x: 2 }), { x: 1, y: 1 }]), { x: 2 });
  });

  test('stay as they were written while anything needs it', () => {
    const values = [{ x: 1 }, { x: 2 }, { x: 2 }, { x: 2 }];
    assert.deepEqual(settleBase({ x: 1 }, values), { x: 1 });
    assert.deepEqual(settleBase({ x: 3 }, values), {});
  });

  test('keep open what differs in its names', () => {
    const lists = [
      [{ name: 'a', x: 1 }],
      [
        { name: 'b', x: 1 },
        { name: 'c', x: 1 },
      ],
    ];
    assert.deepEqual(settleBase(undefined, lists), [{ name: '*', x: 1 }]);
    const same = [{ type: 'Ready', x: 1 }];
    assert.deepEqual(settleBase(undefined, [same, same]), same);
    assert.deepEqual(settleBase(same, nine([...same, { type: 'New' }])), [...same, { type: 'New' }]);
  });

  test('settle at once', () => {
    fc.assert(
      fc.property(anyValue, fc.array(anyValue, { minLength: 1 }), (base, values) => {
        const settled = settleBase(base, values);
        assert.deepEqual(settleBase(settled, values), settled);
      }),
    );
  });

  test('have placeholders for words', () => {
    const names = { proxy: 'my', name: 'my.x' };
    const value = { 'my-key': 'of my', other: ['mine', 'my.x'] };
    assert.deepEqual(takeOut(value, names), { '<proxy>-key': 'of <proxy>', other: ['mine', '<proxy>.x'] });
    assert.deepEqual(fillIn(takeOut(value, names), names), value);
    assert.equal(fillIn('<unknown>', names), '<unknown>');
  });
});

suite('inputs', () => {
  const files: Record<string, string> = {
    root: 'kind: Scenario\ntaken: [x]\n---\nkind: A\nmetadata: { name: a }\n---\nkind: B\nmetadata: { name: b }\n',
    child:
      'kind: Scenario\nfrom: root\nwithout: [A a]\n---\nkind: B\nmetadata: { name: b, uid: u }\n---\nkind: B\nmetadata: { namespace: n, name: b }\n',
    grandchild: 'kind: Scenario\nfrom: child\n',
    orphan: 'kind: Scenario\nfrom: nobody\n',
    repeating: 'kind: Scenario\nfrom: root\n---\nkind: A\nmetadata: { name: a }\n',
    vain: 'kind: Scenario\nfrom: root\nwithout: [A b]\n',
    twice: 'kind: A\nmetadata: { name: a }\n---\nkind: A\nmetadata: { name: a }\n',
  };
  const read = (scenario: string) => readInput(scenario, (name) => files[name] ?? '');

  test('start from another', () => {
    assert.deepEqual(read('child'), [
      { kind: 'Scenario' },
      { kind: 'B', metadata: { name: 'b', uid: 'u' } },
      { kind: 'B', metadata: { namespace: 'n', name: 'b' } },
    ]);
    assert.deepEqual(read('root')[0], { kind: 'Scenario', taken: ['x'] });
  });

  for (const [name, reason] of Object.entries({
    grandchild: /child is itself from another/,
    orphan: /no scenario nobody/,
    repeating: /A a is in root already/,
    vain: /root has no A b/,
    twice: /two of A a/,
  })) {
    test(`a mistake is an error: ${name}`, () => assert.throws(() => read(name), reason));
  }
});

suite('golden folders', () => {
  const outcome = (name: string, deployment: Record<string, Json> = {}): Outcome => ({
    names: { proxy: name },
    sections: {
      objects: {
        [`Deployment ${name}`]: { metadata: { name, labels: { of: name } }, replicas: 1, ...deployment },
      },
      statuses: {},
    },
  });
  const outcomes = (deployment?: Record<string, Json>) =>
    new Map(['one', 'two', 'three'].map((name) => [name, outcome(name, deployment)]));

  function newFolder(t: TestContext, files: Record<string, string> = {}): string {
    const root = mkdtempSync(join(tmpdir(), 'golden-'));
    t.after(() => rmSync(root, { recursive: true }));
    const inputs = ['one', 'two', 'three'].map((name) => [`${name}/in.yaml`, '']);
    for (const [file, text] of [...inputs, ['base/names.yaml', 'proxy: one'], ...Object.entries(files)]) {
      mkdirSync(dirname(join(root, file!)), { recursive: true });
      writeFileSync(join(root, file!), text!);
    }
    openGolden(root).write(outcomes());
    return root;
  }

  test('say in a line what equals its base', (t) => {
    const root = newFolder(t);
    assert.equal(
      readFileSync(join(root, 'one/out.yaml'), 'utf8'),
      'objects:\n  Deployment one: {}\nstatuses: {}\n',
    );
    assert.match(readFileSync(join(root, 'two/out.yaml'), 'utf8'), /^names:\n  proxy: two\n/);
    const golden = openGolden(root);
    for (const [name, wanted] of outcomes()) {
      assert.deepEqual(golden.expected(name), wanted);
      golden.check(name, wanted);
    }
    assert.deepEqual(golden.strays(), []);
    assert.deepEqual(golden.changes(outcomes()).size, 0);
  });

  test('are not rewritten for the order of keys', (t) => {
    const turned = JSON.parse(JSON.stringify([...outcomes()]), (_key, value: unknown) =>
      isMap(value as Json) ? Object.fromEntries(Object.entries(value as object).toReversed()) : value,
    ) as [string, Outcome][];
    assert.notEqual(JSON.stringify(turned), JSON.stringify([...outcomes()]));
    assert.equal(openGolden(newFolder(t)).changes(new Map(turned)).size, 0);
  });

  test('change in one file when all documents of a kind change', (t) => {
    const changes = openGolden(newFolder(t)).changes(outcomes({ paused: true }));
    assert.deepEqual([...changes.keys()], ['base/objects/Deployment.yaml']);
  });

  test('refuse an outcome that is not the expected one', (t) => {
    const root = newFolder(t);
    const right = 'objects:\n  Deployment one: {}\nstatuses: {}\n';
    for (const wrong of [
      right.replace('{}', '{ replicas: 2 }'),
      right.replace('{}', '{ metadata: { labels: { more: one } } }'),
      right.replace('statuses: {}', 'statuses: { Deployment one: {} }'),
      right.replace('  Deployment one: {}\n', '').replace('objects:', 'objects: {}'),
      right.replace('Deployment one', 'Deployment two'),
      `names: { proxy: two }\n${right}`,
      '',
    ]) {
      writeFileSync(join(root, 'one/out.yaml'), wrong);
      assert.throws(() => openGolden(root).check('one', outcome('one')), assert.AssertionError, wrong);
    }
    writeFileSync(join(root, 'one/out.yaml'), right);
    openGolden(root).check('one', outcome('one'));
  });

  test('miss what is not there, and name what should not be', (t) => {
    const root = newFolder(t, { 'one/out-old.yaml': '', 'notes.md': '', 'base/objects/more/Pod.yaml': '' });
    rmSync(join(root, 'two/out.yaml'));
    const strays = ['base/objects/more/Pod.yaml', 'notes.md', 'one/out-old.yaml', 'two/out.yaml'];
    assert.deepEqual(openGolden(root).strays().toSorted(), strays);
  });

  test('lose a base that nothing needs, and what could be said shorter', (t) => {
    const root = newFolder(t);
    writeFileSync(join(root, 'base/objects/Pod.yaml'), 'kind: Pod\n');
    writeFileSync(join(root, 'one/out.yaml'), 'objects: { Deployment one: { replicas: 1 } }\nstatuses: {}\n');
    const changes = openGolden(root).changes(outcomes());
    assert.deepEqual([...changes.keys()], ['base/objects/Pod.yaml', 'one/out.yaml']);
    openGolden(root).write(outcomes());
    assert.equal(openGolden(root).changes(outcomes()).size, 0);
  });
});
