/** Two central clusters that both have the same Kafka, either of which may end between any two writes, see one cluster and not the other, or be told to delete it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { conditionOf } from '../../../../test/support/brokers/kafka-objects.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { CLUSTERS, otherCentral, stretchedKafka } from '../../../../test/support/brokers/stretched-kafka.ts';
import { Stale } from '../../kernel/status.ts';
import { ADOPT_ANNOTATION } from './adoption.ts';

const ID = 'MkU3OEVBNTcwNTJENDM2Qg';
const DIED = new Error('the operator ends here');

const anchorIn = (memory: MemoryKafka, cluster: string) =>
  memory.elsewhere.list(cluster, 'KafkaAnchor')[0]?.['spec'] as { clusterId: string; epoch: number; holder: string } | undefined; // prettier-ignore
const podsIn = (memory: MemoryKafka, cluster: string) =>
  memory.elsewhere.list(cluster, 'Pod').map(({ metadata }) => metadata.uid);

interface World {
  former: MemoryKafka;
  next: MemoryKafka;
}

/** One reconcile, which ends after so many writes. */
async function reconcile(memory: MemoryKafka, writes: number): Promise<void> {
  let left = writes;
  memory.beforeWrite = () => {
    if (left === 0) throw DIED;
    left -= 1;
  };
  try {
    await memory.step();
  } catch (error) {
    if (error === DIED) memory.restart();
    // It is looked at again, also where a cluster that is away was to be read.
    else if (!(error instanceof Stale) && !String(error).includes('no answer in time')) throw error;
  } finally {
    memory.beforeWrite = () => {};
    // Garbage is collected also where nobody is left to look.
    memory.elsewhere.tick();
  }
}

async function calm(memory: MemoryKafka): Promise<void> {
  memory.elsewhere.unseen.clear();
  await memory.settle();
}

const deleted = (memory: MemoryKafka) => {
  const live = memory.get('Kafka', 'events');
  if (live)
    memory.put({ ...live, metadata: { ...live.metadata, deletionTimestamp: '2026-11-01T00:00:00Z' } });
};

const isHeld = (memory: MemoryKafka) => (memory.get('Kafka', 'events')?.metadata.finalizers ?? []).length > 0;

const who = fc.constantFrom('former' as const, 'next' as const);
/** After so many writes the operator ends. */
const WRITES = fc.constantFrom(0, 1, 2, 3, 5, 9, 30, Infinity);
/** Deleting takes no more: an anchor in each cluster, a status, and the finalizer. */
const FEW_WRITES = fc.nat(4);
const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('reconcile' as const), who, writes: WRITES }) }, // prettier-ignore
  fc.record({ do: fc.constant('outage' as const), who, cluster: fc.constantFrom(...CLUSTERS) }),
  fc.record({ do: fc.constant('back' as const), who, cluster: fc.constantFrom(...CLUSTERS) }),
  fc.record({ do: fc.constant('delete former' as const) }),
);

suite('two central clusters', () => {
  test('never have a Kafka at the same time, whoever ends when: the one that takes it over gets it whole, and deletes it whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { maxLength: 14 }),
        fc.array(FEW_WRITES, { maxLength: 8 }),
        async (steps, ends) => {
          const former = await stretchedKafka();
          const world: World = { former, next: otherCentral(former, { [ADOPT_ANNOTATION]: ID }) };
          const pods = CLUSTERS.map((cluster) => podsIn(former, cluster));
          let isDeleted = false;
          for (const step of steps) {
            const epochs = CLUSTERS.map((cluster) => anchorIn(former, cluster)?.epoch ?? 0);
            if (step.do === 'reconcile') await reconcile(world[step.who], step.writes);
            if (step.do === 'outage') world[step.who].elsewhere.unseen.add(step.cluster);
            if (step.do === 'back') world[step.who].elsewhere.unseen.delete(step.cluster);
            // Whoever deletes it before another has it deletes it for all.
            if (step.do === 'delete former' && epochs.every((epoch) => epoch > 1)) {
              deleted(former);
              isDeleted = true;
            }
            CLUSTERS.forEach((cluster, n) => {
              const anchor = anchorIn(former, cluster);
              assert.equal(anchor?.clusterId, ID, 'there is no other Kafka');
              assert.ok(anchor.epoch >= epochs[n]!, 'it is not taken back');
              assert.equal(anchor.holder, anchor.epoch > 1 ? 'other' : 'isthmus');
              assert.deepEqual(podsIn(former, cluster), pods[n], 'no pod went');
            });
          }
          await calm(world.next);
          if (!isDeleted) await calm(former).then(() => assert.equal(conditionOf(former, 'Accepted')?.reason, 'RunByAnother')); // prettier-ignore
          for (const cluster of CLUSTERS) assert.equal(anchorIn(former, cluster)?.holder, 'other');
          CLUSTERS.forEach((cluster, n) => assert.deepEqual(podsIn(former, cluster), pods[n]));
          deleted(world.next);
          for (const writes of ends) {
            await reconcile(world.next, writes);
            const anchors = CLUSTERS.flatMap((cluster) => anchorIn(former, cluster) ?? []);
            assert.ok(isHeld(world.next) || anchors.length === 0, 'it is let go of last');
          }
          await calm(world.next);
          assert.equal(isHeld(world.next), false);
          for (const kind of ['KafkaAnchor', 'StrimziPodSet', 'Pod', 'Secret', 'Service'])
            for (const cluster of CLUSTERS) assert.deepEqual(former.elsewhere.list(cluster, kind), [], kind);
        },
      ),
      { numRuns: 25 },
    );
  });
});
