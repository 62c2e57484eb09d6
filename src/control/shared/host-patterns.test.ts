import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createHostIndex } from './host-index.ts';
import { NODE_ID, intersect } from './host-patterns.ts';

const part = fc.string({ unit: fc.constantFrom('a', '-', '0', '1', '2'), maxLength: 4, size: 'max' });
const pattern = fc.tuple(part, part).map(([before, after]) => `${before}${NODE_ID}${after}.x`);

/** Two patterns made of one name, so that they often meet; two at random hardly ever do. */
const related = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('a', '-', '1', '2'), minLength: 1, maxLength: 4 }),
    fc.nat(9),
    fc.nat(9),
  )
  .map(([name, one, other]) => [cut(name, one), cut(name, other)] as const);

function cut(name: string, where: number): string {
  const at = where % name.length;
  return `${name.slice(0, at)}${NODE_ID}${name.slice(at + 1)}.x`;
}

/** More numbers than texts of four characters can make a difference by. */
const NUMBERS = Array.from({ length: 12_000 }, (_, number) => String(number));
const namesOf = (of: string) => new Set(NUMBERS.map((number) => of.replace(NODE_ID, number)));

suite('patterns of host names', () => {
  test('meet where a name is of both, and then the index finds them', () => {
    let met = 0;
    fc.assert(
      fc.property(fc.oneof(fc.tuple(pattern, pattern), related), ([a, b]) => {
        const names = namesOf(a);
        const doMeet = [...namesOf(b)].some((name) => names.has(name));
        if (doMeet) {
          met += 1;
          assert.ok(intersect(a, b), `${a} and ${b}`);
        }
        const hosts = createHostIndex();
        hosts.add(a, { holder: 'x', rank: '1' });
        assert.equal(hosts.find(b)?.host, intersect(a, b) ? a : undefined);
        assert.equal(intersect(a, b), intersect(b, a));
      }),
      {
        numRuns: 300,
        examples: [[[`${NODE_ID}-a1.x`, `1-a${NODE_ID}.x`]], [[`a${NODE_ID}.x`, `a1${NODE_ID}.x`]]],
      },
    );
    assert.ok(met > 5, `only ${met} met`);
  });

  test('do not meet where only a number with a zero before it would do', () => {
    assert.equal(intersect(`a0${NODE_ID}.x`, `a${NODE_ID}.x`), false);
    assert.equal(intersect(`a${NODE_ID}.x`, `b${NODE_ID}.x`), false);
    assert.equal(intersect(`a${NODE_ID}.x`, `a${NODE_ID}.x`), true);
  });

  test('that are alike up to a number are not all compared with each other', () => {
    const hosts = createHostIndex();
    const names = Array.from({ length: 20_000 }, (_, id) => `vc-${10_000 + id}-${NODE_ID}.x`);
    for (const name of names) {
      assert.equal(hosts.find(name), undefined);
      hosts.add(name, { holder: name, rank: '1' });
    }
    assert.equal(hosts.find(names[7]!)?.host, names[7]);
  });
});
