import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, kafkaObject, poolObject } from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';

const ROUND_MS = 50_000;

test('on the way back to an older Kafka, an operator that has just started asks which metadata is in force, and goes on', async () => {
  const memory = createMemoryKafka();
  memory.keepsPods = false;
  const nodes = createMemoryNodes(memory);
  const live = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      nodes.tick();
      memory.now += ROUND_MS;
      await memory.step();
    }
  };
  const versions = () => memory.list('Pod').map(({ metadata }) => metadata.annotations?.['strimzi.io/kafka-version']); // prettier-ignore
  const want = (version: string) =>
    memory.put({ ...memory.get('Kafka', 'events'), ...kafkaObject({ version, metadataVersion: '4.2' }) });
  want('4.3.1');
  memory.put(poolObject());
  await live(20);
  assert.deepEqual(versions(), ['4.3.1', '4.3.1', '4.3.1']);
  want('4.2.1');
  await live(2);
  memory.restart();
  // While nobody answers nothing is decided.
  const { connect } = memory;
  memory.connect = () => undefined;
  const before = versions();
  await live(5);
  assert.deepEqual(versions(), before);
  assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /metadata\.version could not be read/);
  memory.connect = connect;
  await live(25);
  assert.deepEqual(versions(), ['4.2.1', '4.2.1', '4.2.1']);
  assert.equal(conditionOf(memory, 'Ready')?.reason, 'Ready');
});
