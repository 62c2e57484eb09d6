import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseNamed, parseTarget } from './target.ts';

suite('KIND/NAME', () => {
  test('in all spellings that kubectl has', () => {
    for (const [word, second] of [
      ['vkc/orders'],
      ['VirtualKafkaCluster', 'orders'],
      ['virtualkafkaclusters/orders'],
    ] as const) {
      const { kind, name } = parseTarget(word, second);
      assert.deepEqual([kind.kind, name], ['VirtualKafkaCluster', 'orders']);
    }
    assert.equal(parseTarget('kafka').name, undefined);
  });

  test('anything else says what is possible', () => {
    assert.throws(() => parseTarget('kafkaproxi'), /is it kafkaproxy\?/);
    assert.throws(() => parseTarget('boat'), /kinds are kafkaproxies, /);
    assert.throws(() => parseTarget('kafka/a/b'), /write KIND\/NAME/);
    assert.throws(() => parseTarget('kafka/a', 'b'), /write KIND\/NAME/);
    assert.throws(() => parseTarget('kafka/'), /write KIND\/NAME/);
    assert.throws(() => parseNamed('kafka'), /name one: kafka\/NAME/);
  });
});
