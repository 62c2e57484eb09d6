/** Which nodes are restarted for what is changed about exposed listeners: those that must, and no others. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { PLAIN, change, exposed } from '../../../../test/support/brokers/exposed-kafka.ts';
import { kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { podsIn } from '../objects/pod-sets.ts';

const INSIDE = { listeners: [PLAIN] };
const outside = (configuration: object) => exposed(configuration);
const CONTROLLERS = ['events-control-0', 'events-control-1', 'events-control-2'];
const BROKERS = ['events-work-3', 'events-work-4', 'events-work-5'];

const brokerPool = (replicas: number) =>
  poolObject({ replicas, roles: ['broker'], storage: { type: 'persistent-claim', size: '10Gi' } }, 'work');

async function separateRoles(broker: object): Promise<MemoryKafka> {
  const memory = createMemoryKafka();
  memory.placeOf = (pod) => ({
    node: `node-${pod.at(-1)}`,
    addresses: [
      { type: 'InternalIP', address: `10.0.0.${pod.at(-1)}` },
      { type: 'ExternalIP', address: `192.0.2.${pod.at(-1)}` },
    ],
  });
  memory.put(kafkaObject(broker));
  memory.put(poolObject({ roles: ['controller'] }, 'control'));
  memory.put(brokerPool(3));
  await memory.settle();
  return memory;
}

const revisionsIn = (memory: MemoryKafka): ReadonlyMap<string, string> =>
  new Map(
    memory
      .list('StrimziPodSet')
      .flatMap(podsIn)
      .map(({ metadata }) => [metadata.name, metadata.annotations!['strimzi.io/revision']!]),
  );

/** Pods of before that another revision is wanted of; what came and went is not among them. */
async function rolledBy(memory: MemoryKafka, act: () => void): Promise<string[]> {
  const before = revisionsIn(memory);
  act();
  await memory.settle();
  const after = revisionsIn(memory);
  return [...before]
    .flatMap(([pod, revision]) => (after.has(pod) && after.get(pod) !== revision ? [pod] : []))
    .toSorted();
}

suite('what is restarted when exposure is changed', () => {
  test('on, another subdomain, and off: brokers, and no controller; off is as it was before', async () => {
    const memory = await separateRoles(INSIDE);
    const first = revisionsIn(memory);
    assert.deepEqual([...first.keys()].toSorted(), [...CONTROLLERS, ...BROKERS]);
    const rolled = (broker: object) => rolledBy(memory, () => change(memory, broker));
    assert.deepEqual(await rolled(outside({ subdomain: 'a.example.com' })), BROKERS);
    assert.deepEqual(await rolled(outside({ subdomain: 'b.example.com' })), BROKERS);
    assert.deepEqual(await rolled(outside({})), BROKERS, 'addresses instead of names');
    assert.deepEqual(await rolled(INSIDE), BROKERS);
    assert.deepEqual(revisionsIn(memory), first);
  });

  test('who may connect, and which address a name leads to: nobody', async () => {
    const memory = await separateRoles(outside({ subdomain: 'a.example.com' }));
    const rolled = (more: object) =>
      rolledBy(memory, () => change(memory, outside({ subdomain: 'a.example.com', ...more })));
    assert.deepEqual(await rolled({ allowedSources: ['192.0.2.0/24'] }), []);
    assert.deepEqual(await rolled({ preferredAddressType: 'InternalIP' }), []);
    assert.deepEqual(await rolled({ hostPattern: '$(id).$(subdomain)' }), [], 'the same names');
    assert.deepEqual(await rolled({ portStrategy: 'range' }), BROKERS, 'another port');
  });

  test('more brokers, and fewer: nobody that stays', async () => {
    const memory = await separateRoles(outside({ subdomain: 'a.example.com' }));
    assert.deepEqual(await rolledBy(memory, () => memory.put(brokerPool(4))), []);
    assert.deepEqual([...revisionsIn(memory).keys()].toSorted(), [
      ...CONTROLLERS,
      ...BROKERS,
      'events-work-6',
    ]);
    memory.drained = [6];
    assert.deepEqual(await rolledBy(memory, () => memory.put(brokerPool(3))), []);
    assert.deepEqual([...revisionsIn(memory).keys()].toSorted(), [...CONTROLLERS, ...BROKERS]);
    const endpoint = JSON.stringify(memory.get('DNSEndpoint', 'events-kafka-ext')!['spec']);
    assert.match(endpoint, /"5\.a\.example\.com"/);
    assert.doesNotMatch(endpoint, /"6\.a\.example\.com"/);
  });
});
