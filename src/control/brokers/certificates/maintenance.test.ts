/** A cluster whose owner says when nodes may be restarted, by a clock of its own, and without Kafka. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { rollInput } from '../look/roll-input.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

async function clusterWith(maintenanceTimeWindows: readonly string[]): Promise<MemoryKafka> {
  const memory = createMemoryKafka();
  const kafka = kafkaObject();
  memory.put({ ...kafka, spec: { ...(kafka['spec'] as object), maintenanceTimeWindows } });
  memory.put(poolObject({ replicas: 1 }));
  await memory.settle();
  return memory;
}

/** Nodes that the roller would restart now. */
function dueIn(memory: MemoryKafka): string[] {
  const look = memory.plan().actions.find((action) => action.do === 'look');
  assert.ok(look?.do === 'look');
  const pods = memory.list('Pod');
  const { nodes } = rollInput(look.wanted, pods, undefined, { now: memory.now, podsSeenAt: memory.now });
  return nodes.filter(({ reasons }) => reasons.length > 0).map(({ name }) => name);
}

/** Some days in the life of a cluster, looked at every few hours: when certificates were made, and when nodes were restarted. */
async function daysOf(
  memory: MemoryKafka,
  { from, to, everyHours }: { from: number; to: number; everyHours: number },
): Promise<{ made: Date[]; restarted: Date[] }> {
  const made: Date[] = [];
  const restarted: Date[] = [];
  const secretsOf = () =>
    memory
      .list('Secret')
      .map(({ metadata }) => metadata.resourceVersion)
      .join();
  const start = memory.now;
  for (let hour = from * 24; hour < to * 24; hour += everyHours) {
    memory.now = start + hour * HOUR_MS;
    const before = secretsOf();
    await memory.settle();
    if (secretsOf() !== before) made.push(new Date(memory.now));
    for (const name of dueIn(memory)) {
      memory.delete('Pod', name);
      await memory.step();
      restarted.push(new Date(memory.now));
    }
  }
  return { made, restarted };
}

suite('maintenance windows', () => {
  test('certificates are renewed, and nodes restarted for them, in windows alone', async () => {
    const { made, restarted } = await daysOf(await clusterWith(['* * 2-3 ? * SUN *']), {
      from: 334,
      to: 338,
      everyHours: 2,
    });
    assert.equal(made.length, 1);
    assert.ok(restarted.length > 0);
    for (const time of [...made, ...restarted]) {
      assert.equal(time.getUTCDay(), 0, time.toISOString());
      assert.ok([2, 3].includes(time.getUTCHours()), time.toISOString());
    }
  });

  test('without windows certificates are renewed when they are due, and nodes restarted only when they have to be', async () => {
    const memory = await clusterWith([]);
    const start = memory.now;
    const { made, restarted } = await daysOf(memory, { from: 334, to: 359, everyHours: 12 });
    const dayOf = (time: Date | undefined) => Math.floor((time!.getTime() - start) / DAY_MS);
    assert.deepEqual([dayOf(made[0]), made.length], [335, 1]);
    // A quarter of 30 days before the end.
    assert.deepEqual([dayOf(restarted[0]), restarted.length], [357, 1]);
  });

  test('a window that does not come in time is not waited for', async () => {
    const memory = await clusterWith(['* * * 1 1 ? 2020']);
    const start = memory.now;
    const { restarted } = await daysOf(memory, { from: 350, to: 366, everyHours: 24 });
    assert.ok(restarted.length > 0);
    assert.ok(restarted[0]!.getTime() < start + 365 * DAY_MS);
  });
});
