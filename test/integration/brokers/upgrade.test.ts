/** Three nodes that are written to all the time come to run another version, go back half-way, and get there. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { metadataVersionAt } from '../../../src/control/brokers/roll/versions.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume } from '../../support/clients.ts';
import { startLoad } from '../../support/kafka/load.ts';
import type { Load } from '../../support/kafka/load.ts';
import { PATIENCE, asking, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const [OLD, NEW] = ['4.2.1', '4.3.1'];
const [OLD_METADATA, NEW_METADATA] = ['4.2-IV1', '4.3-IV0'];
const PODS = [0, 1, 2].map((id) => `one-dual-${id}`);
const CONFIG = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
};

describe('another version of Kafka', () => {
  let bed: Bed;
  let load: Load | undefined;
  before(async () => {
    const nodes = ['a', 'b', 'c'].map((name) => ({ name }));
    bed = await startBed({ nodes, kafkaVersions: [OLD, NEW] });
  });
  after(async () => {
    await load?.stop();
    await bed?.[Symbol.asyncDispose]();
  });

  const run = (version: string) => bed.apply(kafka('one', { version, config: CONFIG }));
  const versions = async () => {
    const { kafkaVersion, kafkaMetadataVersion } = ((await bed.get('Kafka', 'one'))?.['status'] ??
      {}) as Record<string, string>;
    return { kafkaVersion, kafkaMetadataVersion };
  };
  const until = (wanted: { kafkaVersion: string; kafkaMetadataVersion: string }) =>
    waitFor(
      `Kafka ${JSON.stringify(wanted)}`,
      async () => JSON.stringify(await versions()) === JSON.stringify(wanted),
      PATIENCE,
    );
  const target = () => ({
    bootstrap: 'one-kafka-bootstrap.default.svc:9092',
    topic: 'numbers',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  const running = async () => {
    const pods = await Promise.all(PODS.map((name) => bed.get('Pod', name)));
    return pods.map((pod) => pod?.metadata.annotations?.['strimzi.io/kafka-version']);
  };
  /** What Kafka says is in force, and after that what pods run; undefined while no node answers. */
  const look = async () => {
    const features = await asking(bed, PODS, (admin) => admin.features()).catch(() => undefined);
    const level = features?.value?.finalized['metadata.version'];
    return level === undefined
      ? undefined
      : { metadata: metadataVersionAt(level)?.name, pods: await running() };
  };
  /** Looks all the time for metadata that goes up while a node runs the old version, until the function is called that it returns. */
  function noteTooEarly(): () => Promise<unknown[]> {
    const over = new AbortController();
    const seen: unknown[] = [];
    const noting = (async () => {
      while (!over.signal.aborted) {
        const found = await look();
        if (found?.pods.includes(OLD) && found.metadata !== OLD_METADATA) seen.push(found);
        await delay(200);
      }
    })();
    return async () => {
      over.abort();
      await noting;
      return seen;
    };
  }
  const untilHalfWay = () =>
    waitFor(
      'some nodes run the new version, some the old one, and Kafka can be asked',
      async () => {
        const found = await look();
        return found?.pods.includes(OLD) && found.pods.includes(NEW) ? found : undefined;
      },
      PATIENCE,
    );

  test('is run by all nodes before the metadata goes up with it, and half-way there is a way back', async () => {
    await bed.apply(nodePool('one', 'dual', { replicas: 3 }));
    await run(OLD);
    await bed.untilReady('one');
    await until({ kafkaVersion: OLD, kafkaMetadataVersion: OLD_METADATA });
    load = await startLoad(target());
    await load.flows();
    const noted = noteTooEarly();
    await run(NEW);
    assert.equal((await untilHalfWay()).metadata, OLD_METADATA);
    await run(OLD);
    const areBack = async () => (await running()).every((version) => version === OLD);
    await waitFor('all nodes run the old version again', areBack, PATIENCE);
    await bed.untilReady('one');
    await run(NEW);
    assert.equal((await untilHalfWay()).metadata, OLD_METADATA);
    await until({ kafkaVersion: NEW, kafkaMetadataVersion: NEW_METADATA });
    await bed.untilReady('one');
    assert.deepEqual(await noted(), []);
  });

  test('has taken nothing that was acknowledged', async () => {
    await load!.flows();
    await load!.stop();
    const { acknowledged, failed } = await load!.seen();
    assert.deepEqual(failed, []);
    const read = await consume('java', { ...target(), count: acknowledged.length });
    const kept = new Set(read.map(({ value }) => value));
    assert.deepEqual(acknowledged.filter(({ value }) => !kept.has(value)), []); // prettier-ignore
  });

  test('has no way back once the metadata is up, which is refused', async () => {
    const uids = () => Promise.all(PODS.map((name) => bed.podUid(name)));
    const before = await uids();
    await run(OLD);
    const refused = async () => (await bed.condition('one', 'Accepted'))?.reason === 'VersionNotPossible';
    await waitFor('it is refused', refused, PATIENCE);
    assert.deepEqual(await uids(), before);
  });
});
