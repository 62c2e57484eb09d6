import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { nodeIdsOf, rangesOf, rangesWithout } from '../../../resources/common/node-ids.ts';
import { undeclaredFault } from './undeclared-nodes.ts';

const clusterOf = (kind: string) =>
  ({ spec: { targetCluster: { clusterRef: { kind, name: 'upstream' } } } }) as never;
const target = (...ids: number[]) => ({
  bootstrapServers: 'x:1',
  nodeIdRanges: rangesOf(ids),
  tls: undefined,
});

suite('brokers that nobody declared', () => {
  test('are told with the range to declare, once for all pods', () => {
    const declared = { cluster: clusterOf('KafkaClusterRef'), target: target(0, 1, 2) };
    const [fault, ...more] = undeclaredFault(declared, [rangesOf([0, 1, 2, 7, 8]), rangesOf([0, 7, 8, 9])]);
    assert.equal(more.length, 0);
    assert.equal(fault?.reason, 'NodeIdNotDeclared');
    assert.match(fault.message, /ids 7-8, 9, .* only 0-2 are declared; add \{ start: 7, end: 8 \}/);
    assert.match(fault.message, /nodeIdRanges of KafkaClusterRef "upstream"/);
    const [ofKafka] = undeclaredFault({ ...declared, cluster: clusterOf('Kafka') }, [rangesOf([3])]);
    assert.match(ofKafka!.message, /node pools of Kafka "upstream"/);
  });

  test('nothing is said of those that are declared, nor where nobody knows what is', () => {
    const cluster = clusterOf('KafkaClusterRef');
    assert.deepEqual(undeclaredFault({ cluster, target: target(0, 1) }, [rangesOf([1])]), []);
    assert.deepEqual(undeclaredFault({ cluster, target: target() }, [rangesOf([1])]), []);
    assert.deepEqual(undeclaredFault({ cluster, target: undefined }, [rangesOf([1])]), []);
  });

  test('ranges without others are what sets say', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 40 })).map((some) => some.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(ids, ids, (some, others) => {
        const rest = rangesWithout(rangesOf(some), rangesOf(others));
        assert.deepEqual(
          nodeIdsOf(rest),
          some.filter((id) => !others.includes(id)),
        );
      }),
    );
  });
});
