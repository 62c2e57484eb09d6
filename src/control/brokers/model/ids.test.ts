import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { CharterNode } from './charter.ts';
import { assignIds, parseIds } from './ids.ts';
import type { PoolWish } from './ids.ts';

const wish = (name: string, replicas: number, more: Partial<PoolWish> = {}): PoolWish => ({
  name,
  target: 'local',
  roles: ['broker'],
  replicas,
  nextIds: [],
  removeIds: [],
  ...more,
});

const idsOf = (nodes: readonly CharterNode[], pool: string) =>
  nodes.flatMap((node) => (node.pool === pool ? [node.id] : []));
const leavingOf = (nodes: readonly CharterNode[]) =>
  nodes.flatMap(({ id, leaving }) => (leaving ? [id] : []));

suite('node ids', () => {
  test('the lowest free ones, over all pools', () => {
    const first = assignIds([wish('a', 2), wish('b', 2)], []);
    assert.deepEqual([idsOf(first, 'a'), idsOf(first, 'b')], [[0, 1], [2, 3]]); // prettier-ignore
    const grown = assignIds([wish('a', 3), wish('b', 2)], first);
    assert.deepEqual(idsOf(grown, 'a'), [0, 1, 4]);
  });

  test('those that an annotation names come first, if they are free', () => {
    const nodes = assignIds([wish('a', 3, { nextIds: [20, 21] })], []);
    assert.deepEqual(idsOf(nodes, 'a'), [0, 20, 21]);
  });

  test('the highest go first, or those that an annotation names', () => {
    const three = assignIds([wish('a', 3)], []);
    assert.deepEqual(leavingOf(assignIds([wish('a', 2)], three)), [2]);
    assert.deepEqual(leavingOf(assignIds([wish('a', 2, { removeIds: [7, 0] })], three)), [0]);
  });

  test('who is on the way out stays so when the annotation goes, and comes back when the pool grows again', () => {
    const three = assignIds([wish('a', 3)], []);
    const leaving = assignIds([wish('a', 2, { removeIds: [0] })], three);
    assert.deepEqual(leavingOf(assignIds([wish('a', 2)], leaving)), [0]);
    assert.deepEqual(leavingOf(assignIds([wish('a', 3)], leaving)), []);
  });

  test('nodes of a pool that is gone are to go, and keep their ids until then', () => {
    const two = assignIds([wish('a', 1), wish('b', 1)], []);
    const nodes = assignIds([wish('a', 2)], two);
    assert.deepEqual([idsOf(nodes, 'a'), leavingOf(nodes)], [[0, 2], [1]]); // prettier-ignore
  });

  test('whatever pools ask for: ids are unique, nodes keep theirs, and each pool has as many as it asks for', () => {
    const pools = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), replicas: fc.nat(6), ids: fc.array(fc.nat(12)) }), { maxLength: 3 }); // prettier-ignore
    fc.assert(
      fc.property(fc.array(pools, { maxLength: 5 }), (changes) => {
        let nodes: CharterNode[] = [];
        for (const change of changes) {
          const wishes = [...new Map(change.map(({ name, replicas, ids }) => [name, wish(name, replicas, { nextIds: ids, removeIds: ids })])).values()]; // prettier-ignore
          const before = nodes;
          nodes = assignIds(wishes, before);
          assert.equal(new Set(nodes.map(({ id }) => id)).size, nodes.length);
          for (const { id, pool } of before) assert.equal(nodes.find((node) => node.id === id)?.pool, pool);
          for (const { name, replicas } of wishes)
            assert.equal(nodes.filter(({ pool, leaving }) => pool === name && !leaving).length, replicas);
        }
      }),
    );
  });

  test('annotations are read as Strimzi writes them', () => {
    assert.deepEqual(parseIds('[0-2, 20]'), [0, 1, 2, 20]);
    assert.deepEqual(parseIds('[5-3]'), [5, 4, 3]);
    assert.deepEqual(parseIds('[]'), []);
    for (const bad of ['', '1', '[a]', '[1-]', '[0-99999999]', '[99999999999]', '[1,,2]'])
      assert.equal(parseIds(bad), undefined, bad);
  });
});
