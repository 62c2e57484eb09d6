/** How long producers wait at most while all nodes are restarted: by the operator, and by hand with the same care. */
import { waitFor } from '../../src/store/embedded/process.ts';
import { entity } from '../../test/integration/brokers/fixture.ts';
import { keysFor, longestStallMs } from '../../test/support/kafka/acknowledgements.ts';
import { startLoad } from '../../test/support/kafka/load.ts';
import type { Load } from '../../test/support/kafka/load.ts';
import { PATIENCE } from './bed.ts';
import type { Bed } from './bed.ts';
import { BOOTSTRAP, NAME, NODES, POD_SET, isWhole, podOf } from './cluster.ts';
import { isReady, readyPod, untilReady } from './ready.ts';
import type { WithStatus } from './ready.ts';

const TOPIC = 'stall';
const PARTITIONS = 6;
const PER_SECOND = 100;
const KAFKA_TOPIC = { group: 'kafka.strimzi.io', version: 'v1', kind: 'KafkaTopic' };
const POD_SET_TYPE = { group: 'core.strimzi.io', version: 'v1', kind: 'StrimziPodSet' };
const MANUAL = 'manual-rolling-update';

export interface Roll {
  stallMs: number;
  seconds: number;
}

/** A topic with three replicas that is written to with acks=all and idempotence until it is stopped. */
export async function startStallLoad(bed: Bed): Promise<Load> {
  await bed.apply([entity('KafkaTopic', TOPIC, NAME, { partitions: PARTITIONS, replicas: NODES.length })]);
  const isMade = async () => {
    const found = await bed.cluster.client.get<WithStatus>(KAFKA_TOPIC, {
      namespace: 'default',
      name: TOPIC,
    });
    return found !== undefined && isReady(found);
  };
  await waitFor('the topic is there', isMade, PATIENCE);
  const target = { bootstrap: BOOTSTRAP, topic: TOPIC, hostsFile: bed.runner.hostsFile };
  const load = await startLoad(target, { perSecond: PER_SECOND, keys: keysFor(PARTITIONS) });
  await load.flows();
  return load;
}

/** Restarts all nodes in one of the ways, and says how long a partition took nothing meanwhile. */
export async function measureRoll(bed: Bed, load: Load, roll: (bed: Bed) => Promise<void>): Promise<Roll> {
  await waitFor('the cluster is whole', () => isWhole(bed.runner), PATIENCE);
  await load.flows();
  const begun = Date.now();
  await roll(bed);
  const seconds = (Date.now() - begun) / 1000;
  await load.flows();
  const { acknowledged, failed } = await load.seen();
  if (failed.length > 0) throw new Error(`the producer gave up ${failed.length} records`);
  // What was acknowledged just before is where a stall begins.
  return {
    stallMs: longestStallMs(acknowledged.filter(({ timestamp }) => timestamp > begun - 1000)),
    seconds,
  };
}

const uidsOf = (bed: Bed) => Promise.all(NODES.map((id) => readyPod(bed, id)));

export async function rollByOperator(bed: Bed): Promise<void> {
  const before = await uidsOf(bed);
  await bed.kubectl('annotate', 'strimzipodset', POD_SET, `strimzi.io/${MANUAL}=true`);
  const isDone = async () => {
    const set = await bed.cluster.client.get(POD_SET_TYPE, { namespace: 'default', name: POD_SET });
    if (Object.keys(set?.metadata.annotations ?? {}).some((key) => key.includes(MANUAL))) return false;
    return (await uidsOf(bed)).every((uid, index) => uid !== undefined && uid !== before[index]);
  };
  await waitFor('all nodes were restarted', isDone, PATIENCE);
  await untilReady(bed);
}

/** The operator only sees it: none of its nodes has a reason to be restarted, and its pod sets make the pods again. */
export async function rollByHand(bed: Bed): Promise<void> {
  for (const id of NODES) {
    const before = await readyPod(bed, id);
    await bed.kubectl('delete', 'pod', podOf(id));
    const isBack = async () => {
      const now = await readyPod(bed, id);
      return now !== undefined && now !== before && (await isWhole(bed.runner));
    };
    await waitFor(`${podOf(id)} is back`, isBack, PATIENCE);
  }
}
