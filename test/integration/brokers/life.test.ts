/** The life of a cluster of three nodes: configuration, restarts one at a time, a lost disk. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENCE, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const REPLICATED = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
  'transaction.state.log.replication.factor': 3,
  'transaction.state.log.min.isr': 2,
  'num.partitions': 3,
  'group.initial.rebalance.delay.ms': 0,
};

const NODES = [0, 1, 2].map((id) => `events-dual-${id}`);

describe('the life of a Kafka cluster', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b', 'c'].map((name) => ({ name, zone: `zone-${name}` })) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const target = () => ({
    bootstrap: 'events-kafka-bootstrap.default.svc:9092',
    topic: 'numbers',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  let sent: { key: string; value: string }[] = [];
  const send = async (count: number) => {
    const records = Array.from({ length: count }, (_, n) => ({ key: `k${sent.length + n}`, value: 'v' }));
    await produce('java', { ...target(), records });
    sent = [...sent, ...records];
  };
  const keysOf = (records: readonly { key: string | null }[]) =>
    records.map(({ key }) => key ?? '').toSorted();
  const nothingIsLost = async () =>
    assert.deepEqual(keysOf(await consume('java', { ...target(), count: sent.length })), keysOf(sent));
  const uids = () => Promise.all(NODES.map((name) => bed.podUid(name)));
  const ENTITIES = { entityOperator: { topicOperator: {} } };
  const config = (more: object) => kafka('events', { config: { ...REPLICATED, ...more } }, ENTITIES);

  test('three nodes become a cluster that takes replicated records', async () => {
    await bed.apply(kafka('events', { config: REPLICATED }), nodePool('events', 'dual', { replicas: 3 }));
    await bed.untilReady('events');
    await send(100);
  });

  test('what Kafka can change while it runs is changed without a restart', async () => {
    const before = await uids();
    await bed.apply(config({ 'log.retention.ms': 86_400_000 }));
    await bed.untilReady('events');
    await waitFor(
      'every broker has it',
      async () => {
        const logs = await Promise.all(NODES.map((name) => bed.runner.logsOf(`default/${name}`)));
        return logs.every((log) => /log\.retention\.ms = 86400000/.test(log));
      },
      PATIENCE,
    );
    assert.deepEqual(await uids(), before);
  });

  test('what it cannot restarts the nodes, one at a time, also when the operator is lost on the way', async () => {
    const before = await uids();
    let mostDown = 0;
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        const pods = await Promise.all(NODES.map((name) => bed.get('Pod', name)));
        const isUp = (pod: unknown) =>
          (
            (pod as { status?: { conditions?: { type: string; status: string }[] } })?.status?.conditions ??
            []
          ).some(({ type, status }) => type === 'Ready' && status === 'True');
        mostDown = Math.max(mostDown, pods.filter((pod) => !isUp(pod)).length);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    try {
      await bed.apply(config({ 'log.retention.ms': 86_400_000, 'background.threads': 7, 'num.recovery.threads.per.data.dir': 3, 'queued.max.requests': 400 })); // prettier-ignore
      await waitFor(
        'the first node was restarted',
        async () => (await uids()).some((uid, n) => uid !== before[n]),
        PATIENCE,
      );
      await bed.restartOperator();
      await waitFor('all nodes were restarted', async () => (await uids()).every((uid, n) => uid !== undefined && uid !== before[n]), PATIENCE); // prettier-ignore
      await bed.untilReady('events');
    } finally {
      over.abort();
      await watching;
    }
    assert.equal(mostDown, 1);
    await nothingIsLost();
  });

  test('a lost disk is told of, and never formatted', async () => {
    // One replica of each partition: what is on the disk is nowhere else.
    await bed.apply(entity('KafkaTopic', 'wide', 'events', { partitions: 12, replicas: 1 }));
    const isMade = async () =>
      JSON.stringify((await bed.get('KafkaTopic', 'wide'))?.['status'] ?? '').includes('topicId');
    await waitFor('the topic is made', isMade, PATIENCE);
    // What the operator has written down is lost with it, and the disks themselves tell it.
    const anchorOf = async () => (await bed.get('KafkaAnchor', 'events'))?.['spec'];
    const written = await anchorOf();
    await bed.restartOperator({}, async () => {
      await bed.plane.kubectl(['delete', 'kafkaanchor', 'events']);
    });
    await waitFor('another anchor', async () => (await anchorOf()) !== undefined, PATIENCE);
    assert.deepEqual(await anchorOf(), written);
    await bed.runner.loseDisk('default/data-events-dual-1');
    await bed.plane.kubectl(['delete', 'pod', 'events-dual-1', '--wait=false']);
    await waitFor(
      'the status tells',
      async () => (await bed.condition('events', 'Ready'))?.reason === 'DiskLost',
      PATIENCE,
    );
    await bed.restartOperator();
    const refusals = async () =>
      (await bed.runner.logsOf('default/events-dual-1')).split('DiskLost: ').length - 1;
    const before = await refusals();
    await waitFor('it refuses again and again', async () => (await refusals()) >= before + 2, PATIENCE);
    const disk = bed.runner.diskOf('default/data-events-dual-1');
    assert.deepEqual(await readdir(disk, { recursive: true }), []);
    await nothingIsLost();
  });

  test('the annotation that the status names gives the node a new disk, and it has all its replicas again', async () => {
    const { message = '' } = (await bed.condition('events', 'Ready')) ?? {};
    const [annotation = ''] = /strimzi\.io\/\S+=true/.exec(message) ?? [];
    const { code, stderr } = await bed.plane.kubectl(['annotate', 'pod', 'events-dual-1', annotation]);
    assert.equal(code, 0, stderr);
    // It says what no other broker has, and waits until that was given up.
    const names = async () => (await bed.condition('events', 'Ready'))?.message?.includes('wide-') === true;
    await waitFor('it names what is lost', names, PATIENCE);
    await bed.plane.kubectl(['delete', 'kafkatopic', 'wide', '--wait=false']);
    await bed.untilReady('events');
    const disk = bed.runner.diskOf('default/data-events-dual-1');
    assert.notDeepEqual(await readdir(disk, { recursive: true }), []);
    await nothingIsLost();
  });
});
