import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, contains, hashOf, isJsonObject, isSameJson, mergePatchBetween } from './json.ts';
import type { JsonObject } from './json.ts';

/** JSON objects without null, which a merge patch cannot express. */
const json = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.integer()),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { noNullPrototype: true }),
})).object;

/** RFC 7396, as the RFC has it. */
function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

suite('json', () => {
  test('the patch between two objects makes the one of the other', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = mergePatchBetween(from, to);
        assert.equal(canonicalJson(patch ? applyMergePatch(from, patch) : from), canonicalJson(to));
      }),
    );
  });

  test('there is no patch between equals', () => {
    fc.assert(
      fc.property(json, (value) => assert.equal(mergePatchBetween(value, structuredClone(value)), undefined)),
    );
  });

  test('the text of a value is JSON of just this value, whatever its keys and strings', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // As JSON has it: there -0 is 0, and __proto__ a key as any other.
        assert.equal(JSON.stringify(JSON.parse(canonicalJson(value))).length, JSON.stringify(value).length);
        assert.ok(isSameJson(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value))));
      }),
    );
    assert.equal(
      canonicalJson({ b: [undefined, new Date(0)], a: '\u2028"', c: undefined }),
      '{"a":"\u2028\\"","b":[null,"1970-01-01T00:00:00.000Z"]}',
    );
  });

  test('values are the same JSON just when their texts are equal', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (!isJsonObject(value)) return value;
      return Object.fromEntries([
        ...Object.entries(value)
          .toReversed()
          .map(([key, inner]) => [key, shuffled(inner)]),
        ['absent', undefined],
      ]);
    };
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.ok(isSameJson(a, shuffled(a)));
        assert.equal(isSameJson(a, b), canonicalJson(a) === canonicalJson(b));
        assert.equal(isSameJson([a, b], [b, a]), canonicalJson(a) === canonicalJson(b));
      }),
    );
    assert.ok(!isSameJson([], {}));
    assert.ok(!isSameJson({ a: null }, {}));
    assert.ok(!isSameJson({}, { a: null }));
  });

  test('a hash does not depend on the order of keys, nor on what is undefined', () => {
    assert.equal(hashOf({ a: 1, b: { c: 2, d: 3 } }), hashOf({ b: { d: 3, x: undefined, c: 2 }, a: 1 }));
    assert.notEqual(hashOf({ a: [1, 2] }), hashOf({ a: [2, 1] }));
  });

  test('contains: more keys may be there, but no other list', () => {
    assert.ok(contains({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1 } }));
    assert.ok(contains([{ a: 1, b: 2 }], [{ a: 1 }]));
    assert.ok(!contains([1, 2], [1]));
    assert.ok(!contains({ a: 1 }, { a: '1' }));
    assert.ok(!contains(undefined, {}));
  });
});
