import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { namesIn } from '../../../../test/support/brokers/exposed-kafka.ts';
import { conditionOf } from '../../../../test/support/brokers/kafka-objects.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import {
  CLUSTERS,
  SETTINGS,
  changeKafka,
  poolIn,
  putPools,
  stretchedKafka,
  stretchedObject,
} from '../../../../test/support/brokers/stretched-kafka.ts';
import { STRETCH_FINALIZER } from './anchor.ts';

const propertiesIn = (memory: MemoryKafka, cluster: string | undefined, node: string) => {
  const maps = cluster === undefined ? memory.list('ConfigMap') : memory.elsewhere.list(cluster, 'ConfigMap');
  const { data } = maps.find(({ metadata }) => metadata.name === node) as unknown as { data: Record<string, string> }; // prettier-ignore
  return data['server.config'] ?? '';
};
const line = (text: string, key: string) => new RegExp(`^${key.replaceAll('.', '\\.')}=(.*)$`, 'm').exec(text)?.[1]; // prettier-ignore

/** Names, ids and voters, as nodes everywhere have them. */
function handedOut(memory: MemoryKafka): Map<string, string> {
  const given = new Map<string, string>();
  for (const cluster of [undefined, ...CLUSTERS]) {
    const maps =
      cluster === undefined ? memory.list('ConfigMap') : memory.elsewhere.list(cluster, 'ConfigMap');
    for (const { metadata } of maps) {
      const text = propertiesIn(memory, cluster, metadata.name);
      for (const key of ['controller.quorum.voters', 'advertised.listeners', 'node.id'])
        given.set(`${cluster ?? 'hub'} ${metadata.name} ${key}`, line(text, key) ?? '');
    }
  }
  return given;
}

suite('a Kafka over several clusters', () => {
  test('has nodes, and what they need, in each of them, and certificates with all of their names', async () => {
    const memory = await stretchedKafka();
    const host = 'events-east-0.east.events-kafka-brokers.kafka.svc.clusterset.local';
    assert.equal(
      line(propertiesIn(memory, 'east', 'events-east-0'), 'advertised.listeners')?.split(',')[2],
      `PLAIN-9092://${host}:9092`,
    );
    for (const name of [
      host,
      'events-kafka-bootstrap.kafka.svc.clusterset.local',
      'events-east-0.events-kafka-brokers.kafka.svc',
    ])
      // prettier-ignore
      assert.ok(namesIn(memory, 'events-east-0').includes(`DNS:${name}`), name);
    assert.deepEqual(memory.get('Kafka', 'events')?.metadata.finalizers, [STRETCH_FINALIZER]);
    for (const cluster of CLUSTERS) {
      assert.equal(memory.elsewhere.list(cluster, 'Pod').length, 1);
      const secrets = memory.elsewhere.list(cluster, 'Secret').map(({ metadata }) => metadata.name);
      assert.deepEqual(secrets.toSorted(), [`events-${cluster}-${cluster === 'east' ? 0 : 2}`, 'events-trustbundle'].toSorted()); // prettier-ignore
    }
  });

  test('comes from the manifests of docs/stretch.md', async () => {
    const page = await readFile(new URL('../../../../docs/stretch.md', import.meta.url), 'utf8');
    const yaml = /^```yaml resources\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
    const memory = createMemoryKafka(SETTINGS, CLUSTERS);
    for (const document of [parseAllDocuments(yaml)].flat()) {
      const object = document.toJS() as AnyObject;
      memory.put({ ...object, metadata: { ...object.metadata, uid: `uid-${object.metadata.name}` } });
    }
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
    assert.equal(conditionOf(memory, 'Warning'), undefined);
    for (const cluster of CLUSTERS) assert.equal(memory.elsewhere.list(cluster, 'Pod').length, 1);
  });

  test('a cluster that cannot be seen stays as it is, is told of, and takes up what it missed', async () => {
    const memory = await stretchedKafka();
    memory.elsewhere.unseen.add('east');
    changeKafka(memory, {}, { 'log.retention.hours': 7 });
    await memory.settle();
    const retention = (cluster: string | undefined, node: string) => line(propertiesIn(memory, cluster, node), 'log.retention.hours'); // prettier-ignore
    assert.deepEqual([retention(undefined, 'events-hub-1'), retention('west', 'events-west-2')], ['7', '7']);
    assert.equal(retention('east', 'events-east-0'), undefined);
    const ready = conditionOf(memory, 'Ready');
    assert.equal(ready?.reason, 'ClusterUnreachable');
    const { targets } = memory.get('KafkaAnchor', 'events')!['status'] as { targets: { name: string }[] };
    assert.deepEqual(
      targets.map(({ name }) => name),
      ['east', 'hub', 'west'],
    );
    assert.deepEqual(targets[0], {
      name: 'east',
      reachable: false,
      since: '1970-01-01T00:00:00.000Z',
      problem: 'no answer in time',
      pools: [{ name: 'east', nodes: [0], ready: [] }],
    });
    assert.deepEqual(targets[2], { name: 'west', reachable: true, pools: [{ name: 'west', nodes: [2], ready: [2] }] }); // prettier-ignore
    assert.match(ready.message, /^cluster "east" cannot be seen since 1970-01-01T00:00:00.000Z: no answer in time; .*\(events-east-0\)/); // prettier-ignore
    memory.elsewhere.unseen.delete('east');
    await memory.settle();
    assert.equal(retention('east', 'events-east-0'), '7');
    assert.notEqual(conditionOf(memory, 'Ready')?.reason, 'ClusterUnreachable');
  });

  test('clusters are told whom to measure, and what they say is told here, with a warning where it is far, or of another version', async () => {
    const memory = await stretchedKafka();
    const [set] = memory.elsewhere.list('east', 'StrimziPodSet');
    assert.deepEqual(JSON.parse(set?.metadata.annotations?.['isthmus.dev/peers'] ?? ''), {
      hub: ['events-hub-1.hub.events-kafka-brokers.kafka.svc.clusterset.local:9091'],
      west: ['events-west-2.west.events-kafka-brokers.kafka.svc.clusterset.local:9091'],
    });
    const [anchor] = memory.elsewhere.list('east', 'KafkaAnchor');
    const latencies = [{ name: 'west', p50Ms: 11, p99Ms: 23 }];
    memory.elsewhere.put('east', { ...anchor!, status: { latencies, controllerVersion: '99.0.0' } });
    await memory.settle();
    const { targets } = memory.get('KafkaAnchor', 'events')!['status'] as {
      targets: { latencies?: object[] }[];
    };
    assert.deepEqual(targets.map((one) => one.latencies), [latencies, undefined, undefined]); // prettier-ignore
    assert.match(
      conditionOf(memory, 'Warning')?.message ?? '',
      /east to west 23 ms.*one minor version.*: east 99\.0\.0\./,
    );
  });

  test('nothing is made before every cluster that it names was seen', async () => {
    const memory = createMemoryKafka(SETTINGS, CLUSTERS);
    memory.elsewhere.unseen.add('west');
    memory.put(stretchedObject());
    putPools(memory);
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'ClustersPending');
    assert.deepEqual([memory.list('KafkaAnchor'), memory.elsewhere.list('east', 'KafkaAnchor')], [[], []]);
    memory.elsewhere.unseen.clear();
    await memory.settle();
    assert.equal(memory.elsewhere.list('west', 'Pod').length, 1);
  });

  test('a central that forgot the Kafka does not make another one over what it left', async () => {
    const memory = await stretchedKafka();
    memory.delete('KafkaAnchor', 'events');
    const before = handedOut(memory);
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'ChangeNotPossible');
    assert.deepEqual(handedOut(memory), before);
  });

  test('whoever has lost it to another central does nothing any more', async () => {
    const memory = await stretchedKafka();
    const [anchor] = memory.elsewhere.list('east', 'KafkaAnchor');
    memory.elsewhere.put('east', { ...anchor!, spec: { ...(anchor!['spec'] as object), epoch: 2, holder: 'other' } }); // prettier-ignore
    changeKafka(memory, {}, { 'log.retention.hours': 7 });
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'RunByAnother');
    for (const [cluster, node] of [
      [undefined, 'events-hub-1'],
      ['west', 'events-west-2'],
    ] as const)
      // prettier-ignore
      assert.equal(line(propertiesIn(memory, cluster, node), 'log.retention.hours'), undefined);
  });

  test('any order of outages, restarts and changes leaves voters, ids and names as they were handed out', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('outage' as const), cluster: fc.constantFrom(...CLUSTERS) }),
        fc.record({ do: fc.constant('back' as const), cluster: fc.constantFrom(...CLUSTERS) }),
        fc.record({ do: fc.constant('restart' as const) }),
        fc.record({ do: fc.constant('reconcile' as const) }),
        fc.record({ do: fc.constant('change' as const), hours: fc.nat(9) }),
        fc.record({ do: fc.constant('grow' as const), name: fc.constantFrom('hub', 'east') }),
        fc.record({ do: fc.constant('lose' as const), cluster: fc.constantFrom(...CLUSTERS) }),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const memory = await stretchedKafka();
        const given = handedOut(memory);
        assert.deepEqual([given.size, [...given.values()].filter((value) => value === '')], [9, []]);
        const clusterId = (memory.get('KafkaAnchor', 'events')!['spec'] as { clusterId: string }).clusterId;
        for (const step of all) {
          if (step.do === 'outage') memory.elsewhere.unseen.add(step.cluster);
          if (step.do === 'back') memory.elsewhere.unseen.delete(step.cluster);
          if (step.do === 'restart') memory.restart();
          if (step.do === 'change') changeKafka(memory, {}, { 'log.retention.hours': step.hours });
          if (step.do === 'grow') {
            const spec = { replicas: 1, roles: ['broker'] };
            memory.put(poolIn(`more-${step.name}`, step.name === 'hub' ? undefined : step.name, spec));
          }
          if (step.do === 'lose')
            for (const pod of memory.elsewhere.list(step.cluster, 'Pod')) memory.elsewhere.delete(step.cluster, pod); // prettier-ignore
          await memory.step();
        }
        memory.elsewhere.unseen.clear();
        await memory.settle();
        const now = handedOut(memory);
        for (const [what, value] of given) assert.equal(now.get(what), value, what);
        const ids = [...now].filter(([what]) => what.endsWith(' node.id')).map(([, id]) => id);
        assert.equal(new Set(ids).size, ids.length);
        const anchors = CLUSTERS.flatMap((cluster) => memory.elsewhere.list(cluster, 'KafkaAnchor'));
        assert.deepEqual(anchors.map(({ spec }) => (spec as { clusterId: string }).clusterId), [clusterId, clusterId]); // prettier-ignore
      }),
      { numRuns: 30 },
    );
  });
});

suite('a Kafka over several clusters that is deleted', () => {
  const deleting = (memory: MemoryKafka, annotations: Record<string, string> = {}) => {
    const live = memory.get('Kafka', 'events')!;
    const metadata = { ...live.metadata, deletionTimestamp: '2026-11-01T00:00:00Z', annotations: { ...live.metadata.annotations, ...annotations } }; // prettier-ignore
    memory.put({ ...live, metadata });
  };
  const isHeld = (memory: MemoryKafka) =>
    (memory.get('Kafka', 'events')?.metadata.finalizers ?? []).length > 0;
  const kinds = ['KafkaAnchor', 'StrimziPodSet', 'Pod', 'Secret', 'ConfigMap', 'Service', 'ServiceExport', 'NetworkPolicy']; // prettier-ignore
  const leftIn = (memory: MemoryKafka, cluster: string) => kinds.flatMap((kind) => memory.elsewhere.list(cluster, kind)); // prettier-ignore

  test('takes all with it in every cluster, but disks that nobody gave up', async () => {
    const memory = await stretchedKafka();
    deleting(memory);
    await memory.settle();
    assert.equal(isHeld(memory), false);
    assert.deepEqual(CLUSTERS.flatMap((cluster) => leftIn(memory, cluster)), []); // prettier-ignore
    assert.equal(memory.elsewhere.list('east', 'PersistentVolumeClaim').length, 1);
    assert.equal(memory.elsewhere.list('west', 'PersistentVolumeClaim').length, 0);
  });

  test('waits for a cluster that cannot be seen, and says so, until it is back or given up', async () => {
    const memory = await stretchedKafka();
    memory.elsewhere.unseen.add('west');
    deleting(memory);
    await memory.settle();
    assert.ok(isHeld(memory));
    assert.equal(leftIn(memory, 'east').length, 0);
    const ready = conditionOf(memory, 'Ready');
    assert.equal(ready?.reason, 'CleanupPending');
    assert.match(ready.message, /^still to be cleaned: cluster "west" cannot be seen since/);
    const bringBack = memory.remember();
    deleting(memory, { 'isthmus.dev/force-cleanup': 'true' });
    await memory.settle();
    assert.equal(isHeld(memory), false);
    assert.ok(leftIn(memory, 'west').length > 0);
    bringBack();
    await memory.settle();
    assert.equal(isHeld(memory), false);
    assert.equal(leftIn(memory, 'west').length, 0);
  });

  test('a cluster without pools any more is left clean, and forgotten', async () => {
    const memory = createMemoryKafka(SETTINGS, CLUSTERS);
    memory.put(stretchedObject());
    putPools(memory);
    memory.put(poolIn('more', 'east', { roles: ['broker'] }));
    memory.delete('KafkaNodePool', 'east');
    memory.put(poolIn('third', undefined));
    await memory.settle();
    memory.delete('KafkaNodePool', 'more');
    await memory.settle();
    const id = (memory.get('KafkaAnchor', 'events')!['spec'] as { nodes: { id: number; leaving: boolean }[] }).nodes.find(({ leaving }) => leaving)?.id; // prettier-ignore
    memory.drained = [id!];
    await memory.settle();
    assert.deepEqual(leftIn(memory, 'east'), []);
    const { targets } = memory.get('KafkaAnchor', 'events')!['spec'] as { targets: { name: string }[] };
    assert.deepEqual(targets.map(({ name }) => name), ['local', 'west']); // prettier-ignore
  });
});
