/**
 * A broker of four goes while clients write with acks=all: it is emptied slowly, paused on the way, and taken on by one operator after the
 * other. Then it comes again, with two more, and the other three are to be controllers only; and in the end brokers as well.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import { required } from '../../../src/kafka/admin/answer.ts';
import { isBeingDeleted } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { isPodReady } from '../../../src/control/brokers/status.ts';
import { consume, produce } from '../../support/clients.ts';
import { keysFor } from '../../support/kafka/acknowledgements.ts';
import { startLoad } from '../../support/kafka/load.ts';
import type { Load } from '../../support/kafka/load.ts';
import { metrics } from '../control/harness.ts';
import { PATIENCE, annotated, asking, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const PARTITIONS = 80;
const TOPIC = 'numbers';
const CONFIG = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
  // A follower may have what it fetches at once, however slow it is to be: so that is little.
  'replica.fetch.max.bytes': 4096,
  'replica.fetch.response.max.bytes': 16_384,
};
const DUAL = [0, 1, 2].map((id) => `events-dual-${id}`);
const PODS = [...DUAL, ...[3, 4, 5].map((id) => `events-extra-${id}`)];
const SLOWLY = { 'isthmus.dev/move-bytes-per-second': '10000' };
const PAUSED = { 'strimzi.io/pause-reconciliation': 'true' };
/** Of 1 KB each; a wave of 20 partitions then takes ten seconds, however fast the machine is. */
const RECORDS = PARTITIONS * 20;

describe('a broker of four that is to go', () => {
  let bed: Bed;
  let load: Load | undefined;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b', 'c', 'd'].map((name) => ({ name, zone: `zone-${name}` })) });
  });
  after(async () => {
    await load?.stop();
    await bed?.[Symbol.asyncDispose]();
  });

  const events = (annotations: Record<string, string> = {}) =>
    annotated(kafka('events', { config: CONFIG }, { entityOperator: { topicOperator: {} } }), annotations);
  const extra = (replicas: number) => nodePool('events', 'extra', { roles: ['broker'], replicas });
  const target = () => ({
    bootstrap: 'events-kafka-bootstrap.default.svc:9092',
    topic: TOPIC,
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  const ask = <T>(question: (admin: Admin) => Promise<T>) => asking(bed, PODS, question);
  const underWay = () => ask(async (admin) => required(await admin.reassignments()).length);
  const onLast = () =>
    ask(async (admin) => {
      let count = 0;
      for await (const page of admin.topics())
        for (const { partitions } of required(page))
          count += partitions.filter(({ replicas }) => replicas.includes(3)).length;
      return count;
    });
  const draining = async () => {
    const { reason, message = '' } = (await bed.condition('events', 'Ready')) ?? {};
    const [, left, moving] = /(\d+) partitions are still .*, (\d+) are under way/.exec(message) ?? [];
    return reason === 'Draining' && left ? { left: Number(left), moving: Number(moving) } : undefined;
  };
  const untilMoving = (below = Infinity) =>
    waitFor(
      'partitions are under way',
      async () => {
        const seen = await draining();
        return seen && seen.moving > 0 && seen.left < below ? seen : undefined;
      },
      PATIENCE,
    );
  const isMade = async (topic: string) =>
    JSON.stringify((await bed.get('KafkaTopic', topic))?.['status'] ?? '').includes('topicId');
  const untilMade = (topic: string) => waitFor(`topic ${topic} is made`, () => isMade(topic), PATIENCE);
  /** What is set on brokers and the topic to slow down replication. */
  const throttles = () =>
    ask(async (admin) => {
      const brokers = [0, 1, 2].map((id) => ({ type: 'broker' as const, name: String(id) }));
      const described = await admin.configs([...brokers, { type: 'topic', name: TOPIC }]);
      assert.ok(described.every(({ error }) => error === undefined));
      return described.flatMap(({ resource, configs }) =>
        Object.keys(configs).filter(
          (key) => key.includes('.replication.throttled.') && configs[key]?.source === resource.type,
        ),
      );
    });

  /** Which of the records that a topic was given it does not have. */
  const missing = async (topic: string, given: readonly { value: string }[]) => {
    const found = await consume('java', { ...target(), topic, count: given.length });
    const kept = new Set(found.map(({ value }) => value));
    return given.filter(({ value }) => !kept.has(value));
  };

  /** Notes how many partitions the status says are left, until the function is called that it returns. */
  function noteProgress(): () => Promise<number[]> {
    const over = new AbortController();
    const seen = new Set<number>();
    const noting = (async () => {
      while (!over.signal.aborted) {
        const { left } = (await draining()) ?? {};
        if (left !== undefined) seen.add(left);
        await delay(200);
      }
    })();
    return async () => {
      over.abort();
      await noting;
      return [...seen];
    };
  }

  /** Waits until these are all brokers that Kafka knows. */
  const untilBrokers = (...ids: number[]) =>
    waitFor(
      `the brokers are ${ids.join()}`,
      () =>
        ask(async (admin) => {
          const known = new Set(required(await admin.cluster()).nodes.map(({ id }) => id));
          return known.size === ids.length && ids.every((id) => known.has(id));
        }),
      PATIENCE,
    );
  /** Which controllers vote, with which disks. */
  const voters = () =>
    ask(async (admin) =>
      required(await admin.quorum())
        .voters.map(({ id, directoryId }) => `${id} ${directoryId}`)
        .toSorted(),
    );
  /** Waits until the first three run as brokers, or as controllers only. */
  const untilRunAsBrokers = (expected: boolean) =>
    waitFor(
      `${DUAL.join()} run as brokers: ${expected}`,
      async () => {
        const pods = await Promise.all(DUAL.map((name) => bed.get('Pod', name)));
        return pods.every((pod) => pod?.metadata.labels?.['strimzi.io/broker-role'] === String(expected));
      },
      PATIENCE,
    );

  /** Notes which nodes were ready and are restarted, at one time, until the function is called that it returns. */
  function noteRestarts(): () => Promise<string[][]> {
    const over = new AbortController();
    const wereReady = new Set<string>();
    const seen: string[][] = [];
    const noting = (async () => {
      while (!over.signal.aborted) {
        const pods = await Promise.all(PODS.map((name) => bed.get('Pod', name)));
        const up = pods.flatMap((pod) => (pod && !isBeingDeleted(pod) ? [pod] : []));
        for (const { metadata } of up.filter(isPodReady))
          wereReady.add(metadata.name).add(metadata.uid ?? '');
        const back = new Set(
          up.flatMap(({ metadata }) => (wereReady.has(metadata.uid ?? '') ? [metadata.name] : [])),
        );
        const down = PODS.filter((name) => wereReady.has(name) && !back.has(name));
        if (down.length > 0) seen.push(down);
        await delay(200);
      }
    })();
    return async () => {
      over.abort();
      await noting;
      return seen;
    };
  }

  let sent: { key: string; value: string }[];
  let written: { value: string }[];
  test('is one of four that take records', async () => {
    await bed.apply(
      events(SLOWLY),
      nodePool('events', 'dual', { replicas: 3 }),
      extra(1),
      entity('KafkaTopic', TOPIC, 'events', { partitions: PARTITIONS, replicas: 3 }),
    );
    await bed.untilReady('events');
    await untilMade(TOPIC);
    const value = 'v'.repeat(1000);
    sent = Array.from({ length: RECORDS }, (_, n) => ({ key: `k${n}`, value: `${n}${value}` }));
    await produce('java', { ...target(), records: sent });
    load = await startLoad(target(), { keys: keysFor(PARTITIONS) });
    await load.flows();
  });

  let finish: () => Promise<number[]>;
  test('is emptied a few partitions at a time, and no further while it is paused', async () => {
    const before = await onLast();
    assert.ok(before > 40, `it has ${before} partitions`);
    finish = noteProgress();
    await bed.apply(extra(0));
    await untilMoving();
    await waitFor('replication is slowed down', async () => (await throttles()).length > 0, PATIENCE);
    await bed.apply(events({ ...SLOWLY, ...PAUSED }));
    const isPaused = async () => (await bed.condition('events', 'Ready'))?.reason === 'Paused';
    await waitFor('it is paused', isPaused, PATIENCE);
    await waitFor('what was begun is over', async () => (await underWay()) === 0, PATIENCE);
    // Brokers hear of the end of a move later than the controller.
    let left = await onLast();
    const isSteady = async () => {
      const earlier = left;
      await delay(2000);
      left = await onLast();
      return left === earlier;
    };
    await waitFor('brokers know what is over', isSteady, PATIENCE);
    assert.ok(left > 0 && left < before, `${left} of ${before} are left`);
    // Nor does another operator begin anything.
    await bed.restartOperator();
    const hasLooked = async () =>
      /isthmus_controller_reconciles_total\{[^}]*controller="kafka"[^}]*\} [1-9]/.test(
        await metrics(bed.operator),
      );
    await waitFor('the next operator has looked', hasLooked, PATIENCE);
    assert.equal(await underWay(), 0);
    assert.equal(await onLast(), left);
    assert.ok(await bed.podUid('events-extra-3'), 'it stays');
    await load!.flows();
  });

  test('goes on to be emptied after that, by one operator and the next', async (context) => {
    const paused = await onLast();
    await bed.apply(events(SLOWLY));
    await untilMoving(paused + 1);
    await bed.restartOperator();
    await untilMoving(paused + 1);
    await bed.apply(events({ 'isthmus.dev/move-bytes-per-second': '50000000' }));
    const isGone = async () => (await bed.podUid('events-extra-3')) === undefined;
    await waitFor('the broker is gone', isGone, PATIENCE);
    await bed.untilReady('events');
    const seen = await finish();
    context.diagnostic(`partitions left, as the status said: ${seen.join(', ')}`);
    assert.ok(seen.length >= 3 && Math.min(...seen) < paused, 'the status says how far it is');
    assert.deepEqual(await throttles(), [], 'replication is as fast as before');
    assert.ok(await bed.get('PersistentVolumeClaim', 'data-events-extra-3'), 'its disk stays');
    const { nodes } = (await bed.get('KafkaAnchor', 'events'))!['spec'] as { nodes: { id: number }[] };
    assert.deepEqual(nodes.map(({ id }) => id), [0, 1, 2]); // prettier-ignore
  });

  test('takes nothing with it that was acknowledged', async () => {
    await load!.flows();
    await load!.stop();
    const { acknowledged, failed } = await load!.seen();
    assert.deepEqual(failed, []);
    written = [...sent, ...acknowledged];
    assert.deepEqual(await missing(TOPIC, written), []);
  });

  test('takes replicas again when it comes back by the same id', async () => {
    await bed.apply(extra(1));
    await bed.untilReady('events');
    // Four replicas need all four brokers.
    await bed.apply(entity('KafkaTopic', 'everywhere', 'events', { partitions: 1, replicas: 4 }));
    await untilMade('everywhere');
  });

  test('takes over with two more from the other three, which are controllers only from then on', async () => {
    const { code, stderr } = await bed.plane.kubectl(['delete', 'kafkatopic', 'everywhere']);
    assert.equal(code, 0, stderr);
    const later = { ...target(), topic: 'later' };
    await bed.apply(entity('KafkaTopic', later.topic, 'events', { partitions: 12, replicas: 3 }));
    await untilMade(later.topic);
    load = await startLoad(later, { keys: keysFor(12) });
    await load.flows();
    const before = await voters();
    const ended = noteRestarts();
    await bed.apply(extra(3), nodePool('events', 'dual', { replicas: 3, roles: ['controller'] }));
    await untilRunAsBrokers(false);
    await bed.untilReady('events');
    await untilBrokers(3, 4, 5);
    const down = await ended();
    assert.deepEqual([...new Set(down.flat())].toSorted(), DUAL, 'each of them was restarted, and no other');
    assert.deepEqual(down.filter((names) => names.length > 1), [], 'one at a time'); // prettier-ignore
    assert.deepEqual(await voters(), before);
    await load.flows();
    await load.stop();
    const { acknowledged, failed } = await load.seen();
    assert.deepEqual(failed, []);
    assert.deepEqual(await missing(later.topic, acknowledged), []);
    assert.deepEqual(await missing(TOPIC, written), []);
  });

  test('leaves them what they need to be brokers again', async () => {
    await bed.apply(nodePool('events', 'dual', { replicas: 3 }));
    await untilRunAsBrokers(true);
    await bed.untilReady('events');
    await untilBrokers(0, 1, 2, 3, 4, 5);
    await bed.apply(entity('KafkaTopic', 'of-all', 'events', { partitions: 1, replicas: 6 }));
    await untilMade('of-all');
  });
});
