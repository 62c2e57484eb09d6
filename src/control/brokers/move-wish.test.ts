import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionOf, kafkaObject, settledKafka } from '../../../test/support/brokers/kafka-objects.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import type { Charter } from './model/charter.ts';
import { moveWishFaults, moveWishOf } from './move-wish.ts';

const [REBALANCE, THROTTLE] = ['isthmus.dev/rebalance', 'isthmus.dev/move-bytes-per-second'];
const annotated = (annotations: Record<string, string>) => ({ metadata: { annotations } }) as Kafka;
const wishOf = (annotations: Record<string, string>) =>
  moveWishOf(annotated(annotations), { nodes: [] } as unknown as Charter, '4.3-IV0');
const saidOf = (annotations: Record<string, string>) =>
  moveWishFaults(annotated(annotations)).map(({ reason, message }) => `${reason}: ${message}`);

suite('annotations about moves', () => {
  test('that are understood, or left out, are nothing to speak of', () => {
    const rates: [string | undefined, number | undefined][] = [
      [undefined, 50_000_000],
      ['1000000', 1_000_000],
      ['0', undefined],
    ];
    for (const [text, rate] of rates) {
      const annotations = text === undefined ? {} : { [THROTTLE]: text };
      assert.equal(wishOf(annotations).bytesPerSecond, rate);
      assert.deepEqual(saidOf(annotations), []);
    }
    assert.equal(wishOf({ [REBALANCE]: 'on-scale' }).rebalance, true);
    assert.deepEqual(saidOf({ [REBALANCE]: 'on-scale' }), []);
  });

  test('a rate that is none leaves the usual one, and is named', () => {
    for (const text of ['50MB', '', '-1', '1e6', 'Infinity', '9'.repeat(16)]) {
      assert.equal(wishOf({ [THROTTLE]: text }).bytesPerSecond, 50_000_000, text);
      const said = `ConfigIgnored: the annotation isthmus.dev/move-bytes-per-second is "${text}", which is not used: write a number of bytes, or 0 for no limit; until then it is 50000000`;
      assert.deepEqual(saidOf({ [THROTTLE]: text }), [said]);
    }
  });

  test('a misspelt wish to keep replicas even is named', () => {
    assert.equal(wishOf({ [REBALANCE]: 'onscale' }).rebalance, false);
    assert.match(
      saidOf({ [REBALANCE]: 'onscale' }).join(),
      /is "onscale", .*: write on-scale, or remove it$/,
    );
  });

  test('the Kafka is ready all the same, and says so', async () => {
    const memory = await settledKafka();
    const { metadata, ...kafka } = kafkaObject();
    memory.put({
      ...kafka,
      metadata: { ...metadata, annotations: { ...metadata.annotations, [THROTTLE]: '50MB' } },
    });
    await memory.settle();
    const { status, reason, message = '' } = conditionOf(memory, 'Ready') ?? {};
    assert.deepEqual([status, reason], ['True', 'ConfigIgnored']);
    assert.match(message, /move-bytes-per-second is "50MB"/);
  });
});
