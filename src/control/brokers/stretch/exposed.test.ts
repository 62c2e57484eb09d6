/** Brokers of several Kubernetes clusters that are reached from outside by one port. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NAMED, recordsIn } from '../../../../test/support/brokers/exposed-kafka.ts';
import { conditionOf } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { withPlace } from '../../../../test/support/brokers/memory-objects.ts';
import {
  CLUSTERS,
  SETTINGS,
  putPools,
  stretchedObject,
} from '../../../../test/support/brokers/stretched-kafka.ts';
import { podsIn } from '../objects/pod-sets.ts';
import { portsOfNode } from '../expose/ports.ts';
import type { AnyObject } from '../../../kube/object.ts';

const SERVICE = 'events-kafka-ext-hostport';

function exposedKafka(broker: object): AnyObject {
  const object = stretchedObject() as AnyObject & { spec: { kafka: object } };
  return { ...object, spec: { ...object.spec, kafka: { ...object.spec.kafka, ...broker } } };
}

const nodePortOf = (service: AnyObject | undefined) =>
  (service?.['spec'] as { ports: { nodePort?: number }[] } | undefined)?.ports[0]?.nodePort;
const portsIn = (anchor: AnyObject | undefined) =>
  (anchor?.['spec'] as { ports: object[] } | undefined)?.ports;

suite('exposed brokers of a stretched Kafka', () => {
  test('have one port of their nodes in all clusters, kept in each, and records of all of them in the central one', async () => {
    const memory = createMemoryKafka(SETTINGS, CLUSTERS);
    memory.placeOf = () => ({ node: 'n-hub', addresses: [{ type: 'ExternalIP', address: '192.0.2.1' }] });
    memory.put(exposedKafka(NAMED));
    putPools(memory);
    await memory.settle();
    const port = nodePortOf(memory.get('Service', SERVICE));
    assert.ok(port);
    for (const cluster of CLUSTERS) {
      const { elsewhere } = memory;
      const service = elsewhere.list(cluster, 'Service').find(({ metadata }) => metadata.name === SERVICE);
      assert.equal(nodePortOf(service), port, cluster);
      assert.deepEqual(
        service?.metadata.ownerReferences?.map(({ kind }) => kind),
        ['KafkaAnchor'],
      );
      assert.deepEqual(portsIn(elsewhere.list(cluster, 'KafkaAnchor')[0]), [{ name: 'ext', port }], cluster);
      assert.deepEqual(elsewhere.list(cluster, 'StrimziPodSet').flatMap(podsIn).flatMap(portsOfNode), [port]);
      const places = { east: '192.0.2.2', west: '192.0.2.3' } as Record<string, string>;
      for (const pod of elsewhere.list(cluster, 'Pod'))
        elsewhere.put(cluster, withPlace(pod, { node: `n-${cluster}`, addresses: [{ type: 'ExternalIP', address: places[cluster]! }] })); // prettier-ignore
    }
    await memory.settle();
    const bootstrap = recordsIn(memory).find(({ dnsName }) => dnsName === 'bootstrap.kafka.example.com');
    assert.deepEqual(bootstrap?.targets, ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    assert.deepEqual(portsIn(memory.get('KafkaAnchor', 'events')), [{ name: 'ext', port }]);
  });

  test('are no load balancers yet', async () => {
    const memory = createMemoryKafka(SETTINGS, CLUSTERS);
    memory.put(exposedKafka({ listeners: [{ name: 'ext', port: 9094, type: 'loadbalancer', tls: true }] }));
    putPools(memory);
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'NotSupported');
  });
});
