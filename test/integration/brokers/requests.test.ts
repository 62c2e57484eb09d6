/** What people ask of real nodes: restarts by hand, new disks, other levels of logging, and what Kafka does not take. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENCE, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';
import { checkReport } from '../../support/reports.ts';

const NODES = [0, 1, 2].map((id) => `one-dual-${id}`);
const MANUAL = 'strimzi.io/manual-rolling-update';
const NEW_DISKS = 'strimzi.io/delete-pod-and-pvc';

interface EventObject {
  type: string;
  reason: string;
  involvedObject: { kind: string; name: string };
}

const ENTITIES = { entityOperator: { topicOperator: {}, userOperator: {} } };

suite('requests', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });
    await bed.apply(
      kafka('one', {}, ENTITIES),
      nodePool('one', 'dual', { replicas: 3 }),
      entity('KafkaTopic', 'orders', 'one', { partitions: 3, replicas: 3 }),
    );
    await bed.untilReady('one');
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const annotate = async (kind: string, name: string, annotation: string) => {
    const { code, stderr } = await bed.plane.kubectl(['annotate', kind, name, annotation]);
    assert.equal(code, 0, stderr);
  };
  const uidsOf = () => Promise.all(NODES.map((name) => bed.podUid(name)));

  test('all pods of a set are restarted, each once, and the request is taken off', async () => {
    const before = await uidsOf();
    await annotate('strimzipodset', 'one-dual', `${MANUAL}=true`);
    await waitFor(
      'the request is taken off',
      async () => {
        const { annotations = {} } = (await bed.get('StrimziPodSet', 'one-dual'))!.metadata;
        return !Object.keys(annotations).some((key) => key.includes('manual-rolling-update'));
      },
      PATIENCE,
    );
    await bed.untilReady('one');
    const afterwards = await uidsOf();
    assert.ok(afterwards.every((uid, index) => uid !== undefined && uid !== before[index]));
    const claims = await Promise.all(NODES.map((name) => bed.get('PersistentVolumeClaim', `data-${name}`)));
    assert.ok(claims.every((claim) => claim !== undefined), 'disks stay'); // prettier-ignore
    const { stdout } = await bed.plane.kubectl(['get', 'events', '-o', 'json']);
    const told = (JSON.parse(stdout) as { items: EventObject[] }).items.filter(
      ({ involvedObject, reason }) => involvedObject.kind === 'Kafka' && reason === 'ManualRollingUpdate',
    );
    assert.equal(told.length, 3);
    // Nothing more comes of it.
    await bed.restartOperator();
    await bed.untilReady('one');
    assert.deepEqual(await uidsOf(), afterwards);
  });

  /** One that may lose its disk: the active controller is told to be it. */
  async function askForNewDisk(): Promise<{ name: string; claim: string | undefined }> {
    for (const name of NODES) {
      const claim = (await bed.get('PersistentVolumeClaim', `data-${name}`))!.metadata.uid;
      await annotate('pod', name, `${NEW_DISKS}=true`);
      const isActive = await waitFor(
        'the request is answered',
        async () => {
          const current = await bed.get('PersistentVolumeClaim', `data-${name}`);
          if (current?.metadata.uid !== claim) return 'no';
          const { message = '' } = (await bed.condition('one', 'Ready')) ?? {};
          return /it is the active controller/.test(message) ? 'yes' : undefined;
        },
        PATIENCE,
      );
      if (isActive === 'no') return { name, claim };
      await annotate('pod', name, `${NEW_DISKS}-`);
    }
    return assert.fail('no node could get a new disk');
  }

  test('a node gets new disks, formats them, and has all its replicas again', async () => {
    const { name, claim } = await askForNewDisk();
    await bed.untilReady('one');
    const fresh = await bed.get('PersistentVolumeClaim', `data-${name}`);
    assert.notEqual(fresh?.metadata.uid, claim);
    assert.match(await bed.runner.logsOf(`default/${name}`), /Formatting \/var\/lib\/kafka\/data/);
    const { nodes } = (await bed.get('KafkaAnchor', 'one'))!['spec'] as { nodes: { formatted: string[] }[] };
    assert.deepEqual(nodes.map(({ formatted }) => formatted), [['data'], ['data'], ['data']]); // prettier-ignore
  });

  test('what Kafka refuses is said in its own words, harms no neighbour, and is no error that is tried again and again', async () => {
    await bed.apply(
      entity('KafkaTopic', 'broken', 'one', {
        partitions: 1,
        replicas: 1,
        config: { 'retention.ms': 'soon' },
      }),
      entity('KafkaTopic', 'sound', 'one', { partitions: 1, replicas: 1 }),
      entity('KafkaUser', 'broken', 'one', { quotas: { producerByteRate: 0.5 } }),
      entity('KafkaUser', 'sound', 'one', { quotas: { producerByteRate: 1024 } }),
    );
    const ready = async (kind: string, name: string) => {
      const { conditions = [] } = ((await bed.get(kind, name))?.['status'] ?? {}) as {
        conditions?: { type: string; reason: string; message: string }[];
      };
      return conditions.find(({ type }) => type === 'Ready');
    };
    for (const [kind, words] of [
      ['KafkaTopic', /retention\.ms/],
      ['KafkaUser', /producer_byte_rate/],
    ] as const) {
      const refused = await waitFor(
        `the condition of ${kind}`,
        async () => {
          const condition = await ready(kind, 'broken');
          return condition?.reason === 'KafkaRefused' ? condition : undefined;
        },
        PATIENCE,
      );
      assert.match(refused.message, words);
      await waitFor(`${kind} sound`, async () => (await ready(kind, 'sound'))?.reason === 'Ready', PATIENCE);
      // Events are told beside the work, so the condition may be there first.
      const told = await waitFor('the event', async () => {
        const events = await bed.plane.kubectl(['get', 'events', '-o', 'json']);
        const found = (JSON.parse(events.stdout) as { items: EventObject[] }).items.filter(
          ({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === 'broken',
        );
        return found.length > 0 ? found : undefined;
      });
      assert.deepEqual(told.map(({ type, reason }) => `${type} ${reason}`), ['Warning KafkaRefused']); // prettier-ignore
    }
    const port = bed.operator.managementPort;
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    assert.match(metrics, /isthmus_controller_reconciles_total\{[^}]*kafka-topic[^}]*\} [1-9]/);
    assert.doesNotMatch(
      metrics,
      /isthmus_controller_reconciles_total\{(?=[^}]*kafka-(topic|user))(?=[^}]*error)[^}]*\} [1-9]/,
    );
    checkReport(metrics);
    // And what is seen of the cluster is there, too.
    assert.match(metrics, /isthmus_kafka_partitions\{[^}]*kafka="one"[^}]*state="offline"\} 0/);
    assert.match(metrics, /isthmus_kafka_roll_state\{[^}]*kafka="one"[^}]*state="done"\} 1/);
    assert.match(metrics, /isthmus_kafka_quorum_voters\{[^}]*kafka="one"[^}]*state="all"\} 3/);
  });

  test('a node logs more without a restart', async () => {
    const before = await uidsOf();
    const [name = ''] = NODES;
    const loggers = {
      monitorInterval: '1',
      'logger.net.name': 'org.apache.kafka.common.network',
      'logger.net.level': 'TRACE',
    };
    await bed.apply(kafka('one', { logging: { type: 'inline', loggers } }, ENTITIES));
    // The file that it was started with is read again twice a minute.
    await waitFor(
      'it logs at this level',
      async () => /TRACE/.test(await bed.runner.logsOf(`default/${name}`)),
      PATIENCE,
    );
    await bed.untilReady('one');
    assert.deepEqual(await uidsOf(), before);
  });
});
