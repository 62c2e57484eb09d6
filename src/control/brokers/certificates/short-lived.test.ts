/** Certificates that live for minutes, with a Kafka in memory, looked at only when a plan says so. Real Kafka: test/integration/brokers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { KAFKA_SETTINGS, createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../../test/support/brokers/memory-nodes.ts';
import { readNodeAnnotations } from '../../../pki/bundle.ts';

const MINUTE_MS = 60 * 1000;

/** How long a node takes to start, and how long certificates live in which a roll can be done at all. */
const times = fc
  .record({ startMs: fc.integer({ min: 500, max: 5000 }), slack: fc.integer({ min: 1, max: 6 }) })
  .map(({ startMs, slack }) => ({ startMs, validityMs: (4 + 12 * slack) * startMs + MINUTE_MS / 2 }));

interface Times {
  startMs: number;
  validityMs: number;
}

const LIVES = 2;

/** Some lives of a certificate; time passes until the plan says, or until something has happened. */
async function live({ startMs, validityMs }: Times): Promise<{ restarts: number; endsInMs: number }> {
  const certificateTimes = { validityMs, renewalMs: validityMs };
  const memory = createMemoryKafka({ ...KAFKA_SETTINGS, certificateTimes });
  memory.keepsPods = false;
  const nodes = createMemoryNodes(memory);
  memory.put(kafkaObject());
  memory.put(poolObject());
  let [restarts, endsInMs] = [0, Infinity];
  memory.beforeWrite = (verb, object) => {
    if (verb !== 'delete' || object.kind !== 'Pod') return;
    restarts += 1;
    nodes.taken(object);
  };
  const over = memory.now + LIVES * validityMs;
  while (memory.now < over) {
    const writes = await memory.step();
    const isStarting = memory.list('Pod').length < 3 || nodes.down.size > 0;
    const { lookAgainInMs = MINUTE_MS } = memory.plan();
    memory.now += isStarting ? Math.ceil(startMs / 3) : writes > 0 ? 100 : lookAgainInMs;
    nodes.tick();
    for (const { metadata } of memory.list('Pod')) {
      const { until } = readNodeAnnotations(metadata.annotations ?? {});
      endsInMs = Math.min(endsInMs, until!.getTime() - memory.now);
    }
  }
  assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
  return { restarts, endsInMs };
}

suite('certificates that live for minutes', () => {
  test('no node runs past the end of what it was started with, and none is restarted more often than that takes', async () => {
    await fc.assert(
      fc.asyncProperty(times, async (one) => {
        const { restarts, endsInMs } = await live(one);
        assert.ok(endsInMs > 0, `a node runs on what ended ${-endsInMs} ms ago`);
        assert.ok(restarts >= 3 * LIVES && restarts <= 3 * 2 * LIVES, `${restarts} restarts`);
      }),
      // So short that the usual look would come too late.
      { numRuns: 2, examples: [[{ startMs: 1000, validityMs: MINUTE_MS }]] },
    );
  });
});
