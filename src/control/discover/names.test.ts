import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { idAmong, isInZone, readHostName } from './names.ts';

suite('host names', () => {
  test('are read in any case, with or without the last dot, as wildcards too', () => {
    for (const [text, value] of [
      ['foo.xcc.test', 'foo.xcc.test'],
      ['Foo.XCC.test.', 'foo.xcc.test'],
      ['*.gateway.a.xcc.test', '*.gateway.a.xcc.test'],
      ['_kafka._tcp.a.test', '_kafka._tcp.a.test'],
    ] as const)
      assert.deepEqual(readHostName(text), { value });
  });

  test('what is none is said to be none', () => {
    const long = `${'a.'.repeat(127)}test`;
    for (const text of [
      '',
      '.',
      '*',
      '..',
      'a..b',
      ' a.b',
      'a b',
      'a.*.b',
      '-a.b',
      'a-.b',
      'ä.b',
      'a'.repeat(64),
      long,
    ])
      assert.ok('problem' in readHostName(text), text);
  });

  test('whatever is accepted is a fixed point, and nothing throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.domain()), (text) => {
        const read = readHostName(text);
        if ('value' in read) assert.deepEqual(readHostName(read.value), read);
        else assert.ok(read.problem.length < 200);
      }),
    );
  });

  test('a zone ends at a dot', () => {
    assert.ok(isInZone('a.clusterset.local', 'clusterset.local'));
    assert.ok(isInZone('clusterset.local', 'clusterset.local'));
    assert.ok(!isInZone('myclusterset.local', 'clusterset.local'));
  });
});

test('no two clusters are called the same, whatever they call themselves', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'x');
  fc.assert(
    fc.property(fc.tuple(id, id, id), (ids) => {
      const clusters = ['a', 'b', 'c'].map((name, i) => ({ name, id: ids[i]! }));
      const called = clusters.map((one) =>
        idAmong(
          one,
          clusters.filter((other) => other !== one),
        ),
      );
      assert.equal(new Set(called).size, clusters.length, JSON.stringify({ clusters, called }));
    }),
  );
  assert.equal(idAmong({ name: 'a', id: 'x' }, [{ name: 'b', id: 'y' }]), 'x');
});
