/** Brokers behind load balancers of their own, from the Kafka that asks for it to records and certificates. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { Endpoint } from './records.ts';

const PLAIN = { name: 'plain', port: 9092, type: 'internal', tls: false };
const balanced = (configuration: object = {}) => ({
  listeners: [PLAIN, { name: 'ext', port: 9094, type: 'loadbalancer', tls: true, configuration }],
});
const SERVICES = ['events-kafka-ext-bootstrap', ...[0, 1, 2].map((id) => `events-dual-ext-${id}`)];

/** As a cloud does. */
function give(memory: MemoryKafka, name: string, ...ingress: object[]): void {
  memory.put({ ...memory.get('Service', name)!, status: { loadBalancer: { ingress } } });
}

async function clusterWith(broker: object, annotations: Record<string, string> = {}): Promise<MemoryKafka> {
  const memory = createMemoryKafka();
  const { metadata, ...kafka } = kafkaObject(broker);
  memory.put({
    ...kafka,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
  });
  memory.put(poolObject());
  await memory.settle();
  return memory;
}

/** With its status, as the API server keeps it. */
function change(memory: MemoryKafka, broker: object): void {
  memory.put({ ...kafkaObject(broker), status: memory.get('Kafka', 'events')!['status'] });
}

const propertiesIn = (memory: MemoryKafka, node: number) =>
  (memory.get('ConfigMap', `events-dual-${node}`)!['data'] as Record<string, string>)['server.config']!;
const toldBy = (memory: MemoryKafka, node: number) => /EXT-9094:\/\/([^,\n]*):9094(?:,|$)/m.exec(/^advertised.*$/m.exec(propertiesIn(memory, node))![0])?.[1]; // prettier-ignore
const namesIn = (memory: MemoryKafka, pod: string) => {
  const { 'node.pem': pem } = memory.get('Secret', pod)!['data'] as Record<string, string>;
  const text = Buffer.from(pem!, 'base64').toString();
  return new X509Certificate(text.slice(text.indexOf('-----BEGIN CERTIFICATE'))).subjectAltName ?? '';
};
const bootstrapIn = (memory: MemoryKafka) =>
  (memory.get('Kafka', 'events')!['status'] as { listeners: { bootstrapServers: string }[] }).listeners[1]!
    .bootstrapServers;
const recordsIn = (memory: MemoryKafka) =>
  (memory.get('DNSEndpoint', 'events-kafka-ext')!['spec'] as { endpoints: Endpoint[] }).endpoints.map(
    ({ dnsName, recordType, targets }) => [dnsName, recordType, ...targets],
  );

suite('brokers behind load balancers', () => {
  test('are configured by an annotation, where the CRD drops that', async () => {
    const listeners = (name: string) => ({ [name]: { allowedSources: ['192.0.2.0/24'], subdomain: 'kafka.example.com' } }); // prettier-ignore
    const asked = (annotation: unknown) =>
      clusterWith(balanced({ allowedSources: ['198.51.100.0/24'] }), {
        'isthmus.dev/loadbalancer-configuration': JSON.stringify(annotation),
      });
    const memory = await asked(listeners('ext'));
    const { spec } = memory.get('Service', 'events-dual-ext-1')! as { spec?: Record<string, unknown> };
    assert.deepEqual(spec!['loadBalancerSourceRanges'], ['192.0.2.0/24']);
    assert.match(namesIn(memory, 'events-dual-1'), /DNS:1\.kafka\.example\.com/);
    for (const [annotation, words] of [
      [listeners('plain'), /there is no listener "plain" of type loadbalancer/],
      [['ext'], /loadbalancer-configuration is not JSON of configurations of listeners by name/],
      [{ ext: { allowedSources: 'all' } }, /is not JSON of configurations/],
      [{ ext: { allowedSources: ['192.0.2.0/33'] } }, /192\.0\.2\.0\/33 is not a network/],
      [{ __proto__: null, constructor: {} }, /there is no listener "constructor"/],
    ] as const) {
      const refused = await asked(annotation);
      const { status, message = '' } = conditionOf(refused, 'Accepted') ?? {};
      assert.equal(status, 'False');
      assert.match(message, words);
      assert.equal(refused.get('Service', 'events-dual-ext-1'), undefined);
    }
  });

  test('have a Service each and one to begin at, and do without the listener until these have addresses', async () => {
    const memory = await clusterWith(balanced({ allowedSources: ['192.0.2.0/24'] }));
    const { spec } = memory.get('Service', 'events-dual-ext-1')! as { spec?: Record<string, unknown> };
    assert.equal(spec!['type'], 'LoadBalancer');
    assert.deepEqual(spec!['loadBalancerSourceRanges'], ['192.0.2.0/24']);
    assert.equal((spec!['selector'] as Record<string, string>)['strimzi.io/pod-name'], 'events-dual-1');
    assert.equal(conditionOf(memory, 'Ready')!.reason, 'LoadBalancerPending');
    assert.match(conditionOf(memory, 'Ready')!.message, /of bootstrap, 0, 1, 2 have no address yet/);
    assert.equal(toldBy(memory, 1), undefined);
    assert.doesNotMatch(propertiesIn(memory, 1), /EXT-9094|ext-9094/);
    give(memory, 'events-dual-ext-1', { ip: '192.0.2.1' });
    await memory.settle();
    assert.equal(toldBy(memory, 1), '192.0.2.1');
    assert.equal(toldBy(memory, 0), undefined, 'one does not wait for the others');
    give(memory, 'events-dual-ext-0', { hostname: 'a.elb.example.com' });
    give(memory, 'events-dual-ext-2', { ip: '2001:db8::2' });
    give(memory, 'events-kafka-ext-bootstrap', { ip: '192.0.2.9' });
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'Ready');
    assert.deepEqual([0, 2].map((id) => toldBy(memory, id)), ['a.elb.example.com', '[2001:db8::2]']); // prettier-ignore
    assert.equal(bootstrapIn(memory), '192.0.2.9:9094');
    assert.match(namesIn(memory, 'events-dual-1'), /IP Address:192\.0\.2\.1(,|$)/);
    assert.match(namesIn(memory, 'events-dual-0'), /DNS:a\.elb\.example\.com(,|$)/);
    assert.match(namesIn(memory, 'events-dual-0'), /IP Address:192\.0\.2\.9(,|$)/);
    assert.equal(memory.get('DNSEndpoint', 'events-kafka-ext'), undefined);
    assert.equal(await memory.step(), 0, 'and nothing more is written');
  });

  test('keep what they were given while nobody says otherwise, and follow what they are given then', async () => {
    const memory = await clusterWith(balanced());
    for (const [at, name] of SERVICES.entries()) give(memory, name, { ip: `192.0.2.${at}` });
    await memory.settle();
    const before = propertiesIn(memory, 1);
    give(memory, 'events-dual-ext-1');
    await memory.settle();
    assert.equal(propertiesIn(memory, 1), before);
    give(memory, 'events-dual-ext-1', { ip: '192.0.2.77' });
    await memory.settle();
    assert.equal(toldBy(memory, 1), '192.0.2.77');
    assert.equal(toldBy(memory, 0), '192.0.2.1', 'one restart, of the one that moved');
  });

  test('with a subdomain clients are told names, from the beginning, and records follow the addresses', async () => {
    const memory = await clusterWith(balanced({ subdomain: 'kafka.example.com' }));
    assert.equal(toldBy(memory, 1), '1.kafka.example.com');
    const before = propertiesIn(memory, 1);
    give(memory, 'events-dual-ext-1', { hostname: 'b.elb.example.com' });
    give(memory, 'events-kafka-ext-bootstrap', { ip: '192.0.2.9' }, { ip: '2001:db8::9' });
    await memory.settle();
    assert.equal(propertiesIn(memory, 1), before);
    assert.deepEqual(recordsIn(memory), [
      ['bootstrap.kafka.example.com', 'A', '192.0.2.9'],
      ['bootstrap.kafka.example.com', 'AAAA', '2001:db8::9'],
      ['1.kafka.example.com', 'CNAME', 'b.elb.example.com'],
    ]);
    assert.equal(bootstrapIn(memory), 'bootstrap.kafka.example.com:9094');
    assert.ok(namesIn(memory, 'events-dual-1').includes('DNS:1.kafka.example.com'));
    assert.deepEqual(
      memory.plan().told?.[0]?.endpoints.map(({ host, port, expected }) => [host, port, ...expected]),
      [['bootstrap.kafka.example.com', 9094, '192.0.2.9', '2001:db8::9'], ['1.kafka.example.com', 9094]], // prettier-ignore
    );
  });

  test('lose their load balancers with the listener, while a kept port of nodes stays', async () => {
    const hostport = { name: 'node', port: 9095, type: 'hostport', tls: true };
    const memory = await clusterWith({ listeners: [...balanced().listeners, hostport] });
    for (const name of SERVICES) assert.ok(memory.get('Service', name), name);
    change(memory, {});
    await memory.settle();
    for (const name of SERVICES) assert.equal(memory.get('Service', name), undefined, name);
    assert.ok(memory.get('Service', 'events-kafka-node-hostport'));
    assert.deepEqual((memory.get('KafkaAnchor', 'events')!['spec'] as { addresses: object[] }).addresses, []);
  });
});
