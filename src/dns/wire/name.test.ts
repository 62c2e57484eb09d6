import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { formatName, isSubdomain, labelsOf, parentOf, parseName, ROOT } from './name.ts';

const label = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) =>
  Buffer.from(bytes)
    .toString('latin1')
    .toLowerCase()
    .replace(/[^\0-\xff]/g, '?'),
);
const wireName = fc
  .array(label, { maxLength: 8 })
  .map((labels) => `${labels.map((text) => String.fromCharCode(text.length) + text).join('')}\0`);

test('any bytes in labels survive being written and read', () => {
  fc.assert(
    fc.property(wireName, (name) => {
      assert.equal(
        parseName(formatName(name)),
        name.replace(/[A-Z]/g, (upper) => upper.toLowerCase()),
      );
    }),
  );
});

test('names are lower-cased, with or without the last dot', () => {
  assert.equal(parseName('WWW.Example.Test'), '\x03www\x07example\x04test\0');
  assert.equal(parseName('www.example.test.'), '\x03www\x07example\x04test\0');
  assert.equal(parseName('.'), ROOT);
});

test('a backslash before the last dot escapes it, unless it is escaped itself', () => {
  assert.equal(parseName('a\\\\.'), '\x02a\\\0');
  assert.equal(parseName('a\\.'), '\x02a.\0');
});

test('what is no name is refused', () => {
  const long = 'a'.repeat(64);
  for (const text of [
    '',
    '..',
    'a..b',
    '.a',
    long,
    `${'a'.repeat(63)}.`.repeat(4),
    'a\\',
    'a\\999',
    'ä☃.test',
  ]) {
    assert.equal(parseName(text), undefined, text);
  }
});

test('the longest name is accepted, one byte more is not', () => {
  const longest = `${`${'a'.repeat(63)}.`.repeat(3)}${'a'.repeat(61)}`;
  assert.equal(parseName(longest)?.length, 255);
  assert.equal(parseName(`${longest}a`), undefined);
});

test('a suffix counts only at a label boundary', () => {
  const within = (name: string, zone: string) => isSubdomain(parseName(name)!, parseName(zone)!);
  assert.equal(within('a.example.test', 'example.test'), true);
  assert.equal(within('example.test', 'example.test'), true);
  assert.equal(within('xexample.test', 'example.test'), false);
  assert.equal(within('test', 'example.test'), false);
  assert.equal(within('a.test', '.'), true);
  // The bytes of the zone's name, inside one label: \007example\004test
  assert.equal(within('a\\007example\\004test', 'example.test'), false);
});

test('parents lead to the root', () => {
  assert.equal(parentOf(parseName('a.b')!), parseName('b'));
  assert.equal(parentOf(parseName('b')!), ROOT);
  assert.equal(parentOf(ROOT), undefined);
  assert.deepEqual(labelsOf(parseName('a.b.c')!), ['a', 'b', 'c']);
});
