/** Brokers that are reached from outside, from the Kafka that asks for it to records and certificates. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import {
  NAMED,
  PLAIN,
  addressOf,
  advertisedIn,
  change,
  clusterWith,
  exposed,
  hostPortsIn,
  listenersIn,
  namesIn,
  recordsIn,
  specsIn,
} from '../../../../test/support/brokers/exposed-kafka.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { podsIn } from '../objects/pod-sets.ts';
import { publicAddresses } from './places.ts';
import { recordsOf } from './records.ts';

suite('exposed brokers', () => {
  test('have one port of their nodes, a name each, records and certificates that fit', async () => {
    const memory = await clusterWith(NAMED);
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
    assert.deepEqual(hostPortsIn(memory), [30_001, 30_001, 30_001]);
    const { spec } = memory.get('Service', 'events-kafka-ext-hostport')! as {
      spec?: Record<string, unknown>;
    };
    assert.deepEqual([spec!['type'], spec!['selector']], ['NodePort', undefined]);
    assert.match(advertisedIn(memory, 1)!, /(^|,)EXT-9094:\/\/1\.kafka\.example\.com:30001(,|$)/);
    assert.match(
      advertisedIn(memory, 1)!,
      /PLAIN-9092:\/\/events-dual-1\.events-kafka-brokers\.kafka\.svc:9092/,
    );
    assert.deepEqual(addressOf(memory, '1.kafka.example.com'), [['A', '192.0.2.1'], ['AAAA', '2001:db8::1']]); // prettier-ignore
    assert.deepEqual(addressOf(memory, 'bootstrap.kafka.example.com')[0], ['A', '192.0.2.0', '192.0.2.1', '192.0.2.2']); // prettier-ignore
    assert.deepEqual([...new Set(recordsIn(memory).map(({ recordTTL }) => recordTTL))], [30]);
    for (const name of ['DNS:2.kafka.example.com', 'DNS:bootstrap.kafka.example.com'])
      assert.ok(namesIn(memory, 'events-dual-2').includes(name), name);
    assert.equal(listenersIn(memory)[1]!.bootstrapServers, 'bootstrap.kafka.example.com:30001');
    assert.equal(await memory.step(), 0, 'and nothing more is written');
  });

  test('have no such listener before its port is written down', async () => {
    const memory = createMemoryKafka();
    memory.put(kafkaObject(NAMED));
    memory.put(poolObject());
    const seen: string[] = [];
    for (let step = 0; step < 10; step++) {
      await memory.step();
      const { ports } = memory.get('KafkaAnchor', 'events')!['spec'] as { ports: object[] };
      const set = memory.get('StrimziPodSet', 'events-dual');
      const isUsed = set !== undefined && hostPortsIn(memory).some((port) => port !== undefined);
      if (isUsed) assert.deepEqual(ports, [{ name: 'ext', port: 30_001 }]);
      seen.push(isUsed ? 'used' : ports.length > 0 ? 'written down' : 'neither');
    }
    assert.deepEqual([seen[0], seen.at(-1)], ['neither', 'used']);
  });

  test('keep their number: a deleted Service comes back with it, and a listener that was away', async () => {
    const memory = await clusterWith(NAMED);
    memory.delete('Service', 'events-kafka-ext-hostport');
    await memory.settle();
    const { spec } = memory.get('Service', 'events-kafka-ext-hostport')! as { spec?: unknown };
    assert.equal((spec as { ports: { nodePort: number }[] }).ports[0]!.nodePort, 30_001);
    change(memory, {});
    await memory.settle();
    assert.deepEqual(hostPortsIn(memory), [undefined, undefined, undefined]);
    assert.deepEqual(recordsIn(memory), [], 'nobody is led to a port that nobody listens on');
    assert.ok(!namesIn(memory, 'events-dual-0').includes('example.com'));
    change(memory, NAMED);
    await memory.settle();
    assert.deepEqual(hostPortsIn(memory), [30_001, 30_001, 30_001]);
    assert.equal(recordsIn(memory).length, 8);
  });

  test('that move change one record, and nothing else', async () => {
    const memory = await clusterWith(NAMED);
    const others = () => [
      ...['ConfigMap', 'Secret', 'Service', 'KafkaAnchor'].flatMap((kind) =>
        memory.list(kind).map(({ metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
      ),
      ...podsIn(memory.get('StrimziPodSet', 'events-dual')!).map(
        ({ metadata }) => `${metadata.name} ${metadata.annotations!['strimzi.io/revision']}`,
      ),
    ];
    const before = others();
    const { placeOf } = memory;
    memory.placeOf = (pod) =>
      pod === 'events-dual-1'
        ? { node: 'node-9', addresses: [{ type: 'ExternalIP', address: '192.0.2.9' }] }
        : placeOf(pod);
    await memory.step();
    await memory.settle();
    assert.deepEqual(addressOf(memory, '1.kafka.example.com'), [['A', '192.0.2.9']]);
    assert.deepEqual(addressOf(memory, '0.kafka.example.com')[0], ['A', '192.0.2.0']);
    assert.deepEqual(others(), before);
  });

  test('rather come back to where they were: their set says so, also when the pod is gone', async () => {
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] }, nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] } }; // prettier-ignore
    const memory = await clusterWith({ ...NAMED, template: { pod: { affinity } } });
    const preferred = () =>
      specsIn(memory).map((spec) => {
        const { nodeAffinity, podAntiAffinity } = (spec as unknown as { affinity: typeof affinity }).affinity;
        assert.deepEqual(podAntiAffinity, affinity.podAntiAffinity, 'what the user wants stays');
        const [own, former] = nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution;
        assert.equal(own!.weight, 1);
        return (former!.preference as { matchFields?: { values: string[] }[] }).matchFields?.[0]?.values;
      });
    assert.deepEqual(preferred(), [['node-0'], ['node-1'], ['node-2']]);
    memory.keepsPods = false;
    memory.delete('Pod', 'events-dual-1');
    await memory.settle();
    assert.deepEqual(preferred(), [['node-0'], ['node-1'], ['node-2']]);
    change(memory, { template: { pod: { affinity } } });
    await memory.settle();
    assert.doesNotMatch(JSON.stringify(specsIn(memory)), /matchFields/, 'nothing is preferred for nothing');
  });

  test('without a subdomain clients are told the address of the node, which is in the certificate', async () => {
    const memory = await clusterWith(exposed());
    assert.match(advertisedIn(memory, 1)!, /EXT-9094:\/\/@node-address@:30001/);
    assert.ok(specsIn(memory).every(({ containers }) => containers[0]!.env.some(({ name }) => name === 'ISTHMUS_ADDRESS_ANNOTATION'))); // prettier-ignore
    assert.match(namesIn(memory, 'events-dual-1'), /IP Address:192\.0\.2\.1(,|$)/);
    assert.equal(memory.get('DNSEndpoint', 'events-kafka-ext'), undefined);
    assert.match(listenersIn(memory)[1]!.bootstrapServers, /^192\.0\.2\.0:30001,\[2001:db8::0?\]:30001,192/);
  });

  test('are asked for by annotations, where the CRD knows no type hostport', async () => {
    const listeners = [PLAIN, { name: 'ext', port: 9094, type: 'internal', tls: true }];
    const memory = await clusterWith(
      { listeners },
      {
        'isthmus.dev/hostport': 'ext',
        'isthmus.dev/hostport-configuration':
          '{"subdomain": "example.com", "hostPattern": "b$(id)-$(cluster).$(subdomain)"}',
      },
    );
    assert.match(advertisedIn(memory, 2)!, /EXT-9094:\/\/b2-events\.example\.com:30001/);
    assert.deepEqual(addressOf(memory, 'bbootstrap-events.example.com').length, 2);
  });

  test('whose node has no address are said so, and keep the record that they had', async () => {
    const memory = await clusterWith(NAMED);
    const { placeOf } = memory;
    memory.placeOf = (pod) => (pod === 'events-dual-1' ? { node: 'node-9', addresses: [] } : placeOf(pod));
    memory.delete('Pod', 'events-dual-1');
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'NoNodeAddress');
    assert.match(conditionOf(memory, 'Ready')!.message, /broker 1/);
    assert.deepEqual(addressOf(memory, '1.kafka.example.com')[0], ['A', '192.0.2.1']);
    assert.deepEqual(addressOf(memory, 'bootstrap.kafka.example.com')[0], ['A', '192.0.2.0', '192.0.2.2']);
  });

  test('that are told by the address within are warned of, unless that is what was asked for', async () => {
    const memory = await clusterWith(NAMED);
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'Ready');
    memory.placeOf = (pod) => ({
      node: 'node-9',
      addresses: [{ type: 'InternalIP', address: `10.0.0.${pod.at(-1)}` }],
    });
    await memory.step();
    await memory.settle();
    const { status, reason, message } = conditionOf(memory, 'Ready')!;
    assert.deepEqual([status, reason], ['True', 'NoPublicAddress']);
    assert.match(message, /brokers 0, 1, 2 have no ExternalIP.*type: loadbalancer/);
    change(memory, exposed({ subdomain: 'kafka.example.com', preferredAddressType: 'InternalIP' }));
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'Ready');
  });

  test('leave the records of others alone, also those with the label of the cluster', async () => {
    const memory = await clusterWith(NAMED);
    const labels = { 'strimzi.io/cluster': 'events' };
    const spec = { endpoints: [{ dnsName: 'www.example.com', recordType: 'A', targets: ['192.0.2.80'] }] };
    const foreign = { name: 'website', namespace: 'kafka', labels };
    memory.put({ apiVersion: 'externaldns.k8s.io/v1alpha1', kind: 'DNSEndpoint', metadata: foreign, spec });
    await memory.settle();
    assert.deepEqual(memory.get('DNSEndpoint', 'website')?.['spec'], spec);
  });

  test('whatever the listener is called', async () => {
    const listeners = [PLAIN, { name: 'constructor', port: 9094, type: 'hostport', tls: true }];
    const memory = await clusterWith({ listeners });
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
    const ports = specsIn(memory).map(({ containers }) =>
      containers[0]!.ports.find(({ hostPort }) => hostPort),
    );
    const expected = [0, 1, 2].map(() => ['tcp-constructor', 30_001]);
    assert.deepEqual(ports.map((port) => [port?.name, port?.hostPort]), expected); // prettier-ignore
  });

  test('let in whom they are to let in', async () => {
    const memory = await clusterWith(exposed({ allowedSources: ['192.0.2.0/24', '2001:db8::/32'] }));
    const { ingress } = memory.get('NetworkPolicy', 'events-network-policy-kafka')!['spec'] as {
      ingress: { ports: { port: number }[]; from?: object[] }[];
    };
    assert.deepEqual(ingress.find(({ ports }) => ports[0]!.port === 9094)?.from, [
      { ipBlock: { cidr: '192.0.2.0/24' } },
      { ipBlock: { cidr: '2001:db8::/32' } },
      // The operator, which looks at the certificates there.
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'isthmus' } },
        podSelector: { matchLabels: { app: 'isthmus' } },
      },
    ]);
  });

  test('what cannot be meant is refused, and says where', async () => {
    for (const [configuration, words] of [
      [{ hostPattern: 'broker.example.com' }, /listener "ext": put \$\(id\) into it once/],
      [{ hostPattern: '$(id)-$(id).example.com' }, /put \$\(id\) into it once/],
      [{ hostPattern: '$(id).$(subdomain)' }, /there is no subdomain/],
      [{ hostPattern: '$(id)' }, /not a host name in a domain/],
      [{ hostPattern: `${'a'.repeat(60)}$(id).example.com` }, /not a host name/],
      [{ allowedSources: ['192.0.2.0/33'] }, /192\.0\.2\.0\/33 is not a network/],
    ] as const) {
      const memory = await clusterWith(exposed(configuration));
      const accepted = conditionOf(memory, 'Accepted');
      assert.equal(accepted?.status, 'False', JSON.stringify(configuration));
      assert.match(accepted.message, words);
    }
    const annotation = {
      'isthmus.dev/hostport': 'plain',
      'isthmus.dev/hostport-configuration': 'subdomain: x',
    };
    const memory = await clusterWith({ listeners: [PLAIN] }, annotation);
    assert.match(conditionOf(memory, 'Accepted')!.message, /is not JSON of a listener's configuration/);
  });
});

suite('places of brokers', () => {
  const annotations = (...addresses: [type: string, address: string][]) => ({
    'isthmus.dev/node-addresses': JSON.stringify(addresses.map(([type, address]) => ({ type, address }))),
  });

  test('the preferred kind of address, else the one with the farthest reach', () => {
    const node = annotations(['InternalIP', '10.0.0.1'], ['ExternalIP', '192.0.2.1'], ['Hostname', 'n1']);
    assert.deepEqual(publicAddresses(node, undefined), ['192.0.2.1']);
    assert.deepEqual(publicAddresses(node, 'InternalIP'), ['10.0.0.1']);
    assert.deepEqual(publicAddresses(node, 'ExternalDNS'), ['192.0.2.1']);
    assert.deepEqual(publicAddresses(node, 'Hostname'), ['n1']);
    for (const text of ['', '{}', '[{"type":1}]', 'x'])
      assert.deepEqual(publicAddresses({ 'isthmus.dev/node-addresses': text }, undefined), [], text);
  });

  test('records are in one order, and a name stands alone', () => {
    const brokers = [
      { id: 10, addresses: ['b.example.com'], ready: true },
      { id: 2, addresses: ['192.0.2.2'], ready: false },
    ];
    assert.deepEqual(
      recordsOf('$(id).x.test', brokers).map(({ dnsName, recordType }) => `${dnsName} ${recordType}`),
      ['bootstrap.x.test CNAME', '2.x.test A', '10.x.test CNAME'],
    );
    const down = brokers.map((broker) => ({ ...broker, ready: false }));
    assert.deepEqual(recordsOf('$(id).x.test', down)[0]!.targets, ['192.0.2.2']);
  });
});
