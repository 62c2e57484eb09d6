import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { namesOf, partitionsByNode } from './partitions.ts';

const ids = fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 5 });
const partition = fc
  .tuple(ids, fc.integer({ min: 1, max: 4 }), fc.nat(31), fc.nat(999))
  .map(([replicas, minIsr, mask, number]) => ({
    topic: 't',
    partition: number,
    replicas,
    isr: replicas.filter((id) => (mask >> id) % 2 === 1),
    minIsr,
  }));

suite('partitions by node', () => {
  test('a node is needed exactly where its restart would break, or hold up, what could be kept', () => {
    fc.assert(
      fc.property(fc.array(partition), fc.uniqueArray(fc.nat(4)), (all, down) => {
        const byNode = partitionsByNode(all, new Set(down));
        for (let id = 0; id < 5; id++) {
          const its = all.filter(({ replicas }) => replicas.includes(id));
          const broken = its.filter(({ replicas, isr, minIsr }) => {
            const left = isr.filter((one) => one !== id && !down.includes(one)).length;
            const before = isr.filter((one) => !down.includes(one)).length;
            return replicas.length > minIsr && (before < minIsr || left < minIsr);
          });
          const node = byNode.get(id);
          assert.equal(node?.needed.count ?? 0, broken.length);
          const only = its.filter(({ isr }) => isr.every((one) => one === id || down.includes(one)));
          assert.equal(node?.only.count ?? 0, only.length);
          assert.equal((node?.inSync.count ?? 0) + (node?.outOfSync.count ?? 0), its.length);
          assert.ok((node?.needed.names.length ?? 0) <= 5);
        }
      }),
    );
  });

  test('a message names a few', () => {
    assert.equal(namesOf({ count: 2, names: ['a-0', 'b-1'] }), 'a-0, b-1');
    assert.equal(namesOf({ count: 9, names: ['a-0', 'b-1'] }), 'a-0, b-1 and 7 more');
  });
});
