/**
 * What happens to a Kafka cluster beside its own life: its nodes have racks, brokers come and want their share, a configuration is wrong, the
 * API server is away, and the Kafka is deleted and applied again.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { metric } from '../control/harness.ts';
import { PATIENCE, annotated, asking, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const CONFIG = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
  'num.partitions': 3,
  'group.initial.rebalance.delay.ms': 0,
};
const NODES = [0, 1, 2].map((id) => `events-dual-${id}`);
const TOPIC = 'numbers';

describe('a Kafka cluster and what befalls it', () => {
  let bed: Bed;
  before(async () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => ({ name, zone: `zone-${name}` }));
    // The API server is killed on the way, so it is nobody else's.
    bed = await startBed({ nodes, plane: await startControlPlaneWithCrds({ apiServerArgs: [] }) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const events = (more: object = {}, annotations: Record<string, string> = {}) => {
    const made = kafka(
      'events',
      { config: { ...CONFIG, ...more }, rack: { topologyKey: 'topology.kubernetes.io/zone' } },
      { entityOperator: { topicOperator: {} } },
    );
    return annotated(made, annotations);
  };
  // One a machine: two that are lost at once would be another story.
  const apart = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { 'strimzi.io/cluster': 'events' } } }; // prettier-ignore
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } };
  const pool = nodePool('events', 'dual', { replicas: 3, template: { pod: { affinity } } });
  const target = () => ({
    bootstrap: 'events-kafka-bootstrap.default.svc:9092',
    topic: TOPIC,
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  let sent = 0;
  const send = async () => {
    const records = Array.from({ length: 50 }, (_, n) => ({ key: `k${sent + n}`, value: 'v' }));
    await produce('java', { ...target(), records });
    sent += records.length;
  };
  const nothingIsLost = async () => {
    const keys = (await consume('java', { ...target(), count: sent })).map(({ key }) => key);
    assert.equal(new Set(keys).size, sent);
  };
  const uids = () => Promise.all(NODES.map((name) => bed.podUid(name)));
  const ask = <T>(question: (admin: Admin) => Promise<T>) => asking(bed, [...NODES, 'events-extra-3'], question); // prettier-ignore
  const ready = async (reason: string) => {
    const condition = await bed.condition('events', 'Ready');
    return condition?.status === 'False' && condition.reason === reason ? condition : undefined;
  };

  /** Waits until the operator has looked at the Kafka so often. */
  const looks = async (count: number) => {
    const made = () => metric(bed.operator, 'isthmus_controller_reconciles_total', 'kafka');
    const before = await made();
    await waitFor('the operator to look', async () => (await made()) >= before + count, PATIENCE);
  };

  test('every node has the zone of its machine as its rack, and consumers are sent to the closest replica', async () => {
    await bed.apply(events(), pool, entity('KafkaTopic', TOPIC, 'events', { partitions: 3, replicas: 3 }));
    await bed.untilReady('events');
    await send();
    const { value: cluster } = await ask((admin) => admin.cluster());
    const zones = await Promise.all(NODES.map(async (name) => zoneOf(await bed.get('Pod', name))));
    assert.deepEqual(cluster?.nodes.toSorted((a, b) => a.id - b.id).map(({ rack }) => rack), zones); // prettier-ignore
    assert.equal(new Set(zones).size, 3);
    const isSentThere = async () => ask((admin) => preferredReplica(admin, zones));
    const { preferred, wanted } = await waitFor('an answer of the leader', isSentThere, PATIENCE);
    assert.equal(preferred, wanted);
  });

  const zoneOf = (pod: AnyObject | undefined) =>
    `zone-${(pod?.['spec'] as { nodeName?: string } | undefined)?.nodeName}`;

  /** Whom the leader of a partition names to a consumer from the rack of a follower. */
  const preferredReplica = async (admin: Admin, zones: readonly string[]) => {
    for await (const { value: [topic] = [] } of admin.topics({ names: [TOPIC] })) {
      const [partition] = topic?.partitions ?? [];
      const wanted = partition?.isr.find((id) => id !== partition.leader);
      if (!topic || !partition || wanted === undefined) return undefined;
      const asked = {
        partition: partition.index,
        currentLeaderEpoch: -1,
        fetchOffset: 0n,
        lastFetchedEpoch: -1,
        logStartOffset: -1n,
        partitionMaxBytes: 1000,
      };
      const { value } = await admin.send(
        'Fetch',
        {
          replicaId: -1,
          maxWaitMs: 100,
          minBytes: 0,
          maxBytes: 1000,
          isolationLevel: 0,
          sessionId: 0,
          sessionEpoch: -1,
          topics: [{ topic: TOPIC, topicId: topic.id, partitions: [asked] }],
          forgottenTopicsData: [],
          rackId: zones[wanted] ?? '',
        },
        { node: partition.leader },
      );
      const preferred = value?.responses[0]?.partitions[0]?.preferredReadReplica;
      return preferred === undefined || preferred < 0 ? undefined : { preferred, wanted };
    }
    return undefined;
  };

  test('a broker that comes takes its share where that is wanted', async () => {
    const onScale = events({}, { 'isthmus.dev/rebalance': 'on-scale' });
    await bed.apply(onScale, nodePool('events', 'extra', { roles: ['broker'] }));
    await bed.untilReady('events');
    const replicasOn = async () =>
      ask(async (admin) => {
        const counts = new Map<number, number>();
        for await (const { value = [] } of admin.topics())
          for (const { partitions } of value)
            for (const { replicas } of partitions)
              for (const id of replicas) counts.set(id, (counts.get(id) ?? 0) + 1);
        return counts;
      });
    const isEven = async () => {
      const counts = await replicasOn();
      const all = [0, 1, 2, 3].map((id) => counts.get(id) ?? 0);
      return Math.min(...all) > 0 && Math.max(...all) - Math.min(...all) <= 1;
    };
    await waitFor('replicas to be even', isEven, PATIENCE);
    await nothingIsLost();
    // It goes again, so that what follows is about three.
    await bed.apply(events(), nodePool('events', 'extra', { roles: ['broker'], replicas: 0 }));
    const isGone = async () => (await bed.podUid('events-extra-3')) === undefined;
    await waitFor('the broker to be gone', isGone, PATIENCE);
    await bed.untilReady('events');
  });

  test('a configuration that no node starts with stops at the first, and going back heals it', async () => {
    const before = await uids();
    await bed.apply(events({ 'queued.max.requests': 0 }));
    const changed = async () => (await uids()).filter((uid, n) => uid !== before[n]);
    await waitFor('a node to be restarted', async () => (await changed()).length > 0, PATIENCE);
    const said = await waitFor('the status to tell', () => ready('PodsNotReady'), PATIENCE);
    const [name = ''] = /^events-dual-\d/.exec(said.message) ?? [];
    const complains = async () =>
      (await bed.runner.logsOf(`default/${name}`)).includes(
        'Invalid value 0 for configuration queued.max.requests',
      );
    await waitFor('the node to complain', complains, PATIENCE);
    await send(); // the others take it
    await bed.restartOperator();
    await looks(3); // by then the next would have gone
    assert.equal((await changed()).length, 1);
    await bed.apply(events());
    await bed.untilReady('events');
    await nothingIsLost();
  });

  test('goes on while the API server is away, and the operator with it once it is back', async () => {
    const before = await uids();
    await bed.plane.killApiServer();
    const back = delay(60_000);
    await send();
    await back;
    await send();
    await bed.plane.startApiServer();
    await bed.apply(events({ 'log.retention.ms': 86_400_000 }));
    await bed.untilReady('events');
    assert.deepEqual(await uids(), before);
    await nothingIsLost();
  });

  test('is deleted, keeps its disks, and finds its data when it is applied again', async () => {
    const clusterIdOf = async () => {
      const { clusterId } = ((await bed.get('Kafka', 'events'))?.['status'] ?? {}) as { clusterId?: string };
      return clusterId;
    };
    const before = await clusterIdOf();
    assert.ok(before);
    const kafkaUid = (await bed.get('Kafka', 'events'))?.metadata.uid;
    await bed.plane.kubectl(['delete', 'kafka/events', 'kafkanodepool/dual', 'kafkanodepool/extra']);
    const collect = garbageCollector(bed, kafkaUid ?? '');
    const areGone = async () => {
      await collect();
      return (await uids()).every((uid) => uid === undefined);
    };
    await waitFor('the pods to be gone', areGone, PATIENCE);
    await bed.apply(events(), pool);
    await bed.untilReady('events');
    assert.equal(await clusterIdOf(), before);
    await nothingIsLost();
    await send();
  });
});

/**
 * What the garbage collector would do, which is part of the controller manager: what hangs off the Kafka goes. To be called again and
 * again: who has not heard yet that a set is gone may make a pod for it.
 */
function garbageCollector({ plane }: Bed, kafkaUid: string): () => Promise<void> {
  const kinds = 'secrets,configmaps,services,serviceaccounts,strimzipodsets,kafkaanchors,poddisruptionbudgets,networkpolicies,persistentvolumeclaims,pods'; // prettier-ignore
  const gone = new Set([kafkaUid]);
  return async () => {
    const { stdout } = await plane.kubectl(['get', kinds, '--output=json']);
    const { items } = JSON.parse(stdout) as { items: AnyObject[] };
    const orphans = items.filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        metadata.ownerReferences?.some(({ uid }) => gone.has(uid)),
    );
    for (const { kind, metadata } of orphans) {
      gone.add(metadata.uid ?? '');
      await plane.kubectl(['delete', kind, metadata.name, '--wait=false']);
    }
  };
}
