/** Kafka clusters with a listener that is exposed, for tests of what becomes of it. */
import { X509Certificate } from 'node:crypto';
import type { Endpoint } from '../../../src/control/brokers/expose/records.ts';
import { kafkaObject, poolObject } from './kafka-objects.ts';
import { createMemoryKafka } from './memory-kafka.ts';
import type { MemoryKafka } from './memory-kafka.ts';

export const PLAIN = { name: 'plain', port: 9092, type: 'internal', tls: false };
export const exposed = (configuration: object = {}, more: object = {}) => ({
  listeners: [PLAIN, { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration, ...more }],
});
export const NAMED = exposed({ subdomain: 'kafka.example.com' });

export async function clusterWith(
  broker: object,
  annotations: Record<string, string> = {},
): Promise<MemoryKafka> {
  const memory = createMemoryKafka();
  const kafka = kafkaObject(broker);
  memory.placeOf = (pod) => ({
    node: `node-${pod.at(-1)}`,
    addresses: [
      { type: 'InternalIP', address: `10.0.0.${pod.at(-1)}` },
      { type: 'ExternalIP', address: `192.0.2.${pod.at(-1)}` },
      { type: 'ExternalIP', address: `2001:db8::${pod.at(-1)}` },
    ],
  });
  memory.put({ ...kafka, metadata: { ...kafka.metadata, annotations: { ...kafka.metadata.annotations, ...annotations } } }); // prettier-ignore
  memory.put(poolObject());
  await memory.settle();
  return memory;
}

/** With its status, as the API server keeps it. */
export function change(memory: MemoryKafka, broker: object): void {
  memory.put({ ...kafkaObject(broker), status: memory.get('Kafka', 'events')!['status'] });
}

interface PodSpec {
  containers: { env: { name: string }[]; ports: { name: string; hostPort?: number }[] }[];
}

export const specsIn = (memory: MemoryKafka) =>
  (memory.get('StrimziPodSet', 'events-dual')!['spec'] as { pods: { spec: PodSpec }[] }).pods.map(
    ({ spec }) => spec,
  );
export const hostPortsIn = (memory: MemoryKafka) =>
  specsIn(memory).map(
    ({ containers }) => containers[0]!.ports.find(({ name }) => name === 'tcp-ext')?.hostPort,
  );
export const advertisedIn = (memory: MemoryKafka, node: number) =>
  /^advertised\.listeners=(.*)$/m.exec(
    (memory.get('ConfigMap', `events-dual-${node}`)!['data'] as Record<string, string>)['server.config']!,
  )?.[1];
export const recordsIn = (memory: MemoryKafka) =>
  (memory.get('DNSEndpoint', 'events-kafka-ext')!['spec'] as { endpoints: Endpoint[] }).endpoints;
export const addressOf = (memory: MemoryKafka, name: string) =>
  recordsIn(memory).flatMap(({ dnsName, recordType, targets }) =>
    dnsName === name ? [[recordType, ...targets]] : [],
  );
export const namesIn = (memory: MemoryKafka, pod: string) => {
  const { 'node.pem': pem } = memory.get('Secret', pod)!['data'] as Record<string, string>;
  const text = Buffer.from(pem!, 'base64').toString();
  return new X509Certificate(text.slice(text.indexOf('-----BEGIN CERTIFICATE'))).subjectAltName ?? '';
};
export const listenersIn = (memory: MemoryKafka) =>
  (memory.get('Kafka', 'events')!['status'] as { listeners: { name: string; bootstrapServers: string }[] })
    .listeners;
