import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  NAMED,
  addressOf,
  change,
  clusterWith,
  recordsIn,
} from '../../../../test/support/brokers/exposed-kafka.ts';
import { poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { withKept } from './kept-records.ts';
import { recordsOf } from './records.ts';

const PODS = [0, 1, 2].map((id) => `events-dual-${id}`);

const moreBrokers = (replicas: number) =>
  poolObject({ replicas, roles: ['broker'], storage: { type: 'persistent-claim', size: '10Gi' } }, 'work');

function takeAway(memory: MemoryKafka, pods: readonly string[]): void {
  memory.keepsPods = false;
  for (const pod of pods) memory.delete('Pod', pod);
}

const toldIn = (memory: MemoryKafka) =>
  memory
    .plan()
    .told!.flatMap(({ endpoints }) =>
      endpoints.map(({ node, host, expected }) => `${node ?? 'all'} ${host} ${expected.join()}`),
    );

suite('records of a broker without a place', () => {
  const IPV4 = ['A', '192.0.2.1'];
  const IPV6 = ['AAAA', '2001:db8::1'];
  const TOLD = '1 1.kafka.example.com 192.0.2.1,2001:db8::1';

  test('stay while its pod is away, and while the next one is nowhere yet; they change when it is', async () => {
    const memory = await clusterWith(NAMED);
    const { placeOf } = memory;
    takeAway(memory, [PODS[1]!]);
    await memory.settle();
    const assertKept = (when: string) => {
      assert.deepEqual(addressOf(memory, '1.kafka.example.com'), [IPV4, IPV6], when);
      assert.deepEqual(addressOf(memory, 'bootstrap.kafka.example.com')[0], ['A', '192.0.2.0', '192.0.2.2']);
      assert.ok(toldIn(memory).includes(TOLD), `${when}: the probe goes on`);
    };
    assertKept('the pod is away');
    memory.placeOf = (pod) => (pod === PODS[1] ? undefined : placeOf(pod));
    memory.keepsPods = true;
    await memory.settle();
    assert.ok(memory.get('Pod', PODS[1]!), 'there is a pod again');
    assertKept('it is nowhere yet');
    memory.placeOf = (pod) =>
      pod === PODS[1]
        ? { node: 'node-9', addresses: [{ type: 'ExternalIP', address: '192.0.2.9' }] }
        : placeOf(pod);
    await memory.step();
    await memory.settle();
    assert.deepEqual(addressOf(memory, '1.kafka.example.com'), [['A', '192.0.2.9']]);
  });

  test('stay where no broker has one, and so does the name to begin at', async () => {
    const memory = await clusterWith(NAMED);
    const before = recordsIn(memory);
    assert.equal(before.length, 8);
    takeAway(memory, PODS);
    await memory.settle();
    memory.restart();
    await memory.settle();
    assert.deepEqual(recordsIn(memory), before);
    assert.ok(toldIn(memory).includes(TOLD));
  });

  test('go when the broker does, or the listener', async () => {
    const memory = await clusterWith(NAMED);
    memory.put(moreBrokers(2));
    await memory.settle();
    assert.equal(addressOf(memory, '4.kafka.example.com').length, 2);
    takeAway(memory, ['events-work-4']);
    await memory.settle();
    assert.equal(addressOf(memory, '4.kafka.example.com').length, 2);
    memory.drained = [4];
    memory.put(moreBrokers(1));
    await memory.settle();
    assert.deepEqual(addressOf(memory, '4.kafka.example.com'), []);
    takeAway(memory, PODS);
    change(memory, {});
    await memory.settle();
    assert.deepEqual(recordsIn(memory), []);
  });
});

suite('records that are kept', () => {
  const published = (endpoints: unknown) => ({
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    kind: 'DNSEndpoint',
    metadata: { name: 'e', namespace: 'n' },
    spec: { endpoints },
  });
  const [record] = recordsOf('$(id).x.test', [{ id: 1, addresses: ['192.0.2.1'], ready: true }], []);

  test('are those of names that are to be there, in their order, and as we write them', () => {
    const before = published([
      { ...record, dnsName: '2.x.test', targets: ['192.0.2.2'], recordTTL: 7, providerSpecific: [] },
      { ...record, targets: ['192.0.2.77'] },
      { ...record, dnsName: '0.x.test', recordType: 'TXT', targets: ['hello'] },
      { ...record, dnsName: '3.x.test' },
    ]);
    const hosts = ['0', '1', '2', '2'].map((id) => `${id}.x.test`);
    assert.deepEqual(withKept([record!], hosts, before), [
      record,
      { ...record, dnsName: '2.x.test', targets: ['192.0.2.2'] },
    ]);
  });

  test('are none where nothing was published, or what nobody can read', () => {
    for (const one of [undefined, published('x'), published([{ dnsName: '2.x.test', targets: 7 }])])
      assert.deepEqual(withKept([record!], ['1.x.test', '2.x.test'], one), [record]);
  });

  test('do not lead to where another broker is now', () => {
    const at1 = { ...record!, dnsName: '2.x.test' };
    assert.deepEqual(withKept([record!], ['1.x.test', '2.x.test'], published([at1])), [record]);
  });
});
