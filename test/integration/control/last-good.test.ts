/** What clients use goes on while what it refers to is missing, with a real API server and an operator that is restarted meanwhile. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { named, useRoad } from './fixture.ts';
import { apply, configOf, get, patchStatus, typeOfKind, waitForCondition } from './harness.ts';

const proxyRef = { name: 'myproxy' };
const CLUSTERS = ['inside', 'outside'];
const LISTENERS = [{ name: 'plain', bootstrapServers: 'strimzi:9092' }];

const ingress = (name: string, spec: object) =>
  named('KafkaProxyIngress', name, { spec: { proxyRef, ...spec } });
const LOAD_BALANCER = {
  loadBalancer: {
    bootstrapAddressPattern: '$(virtualClusterName).example.com',
    brokerAddressPattern: '$(virtualClusterName)-$(nodeId).example.com',
  },
};

suite('what was served', () => {
  const road = useRoad();

  async function start(clusterRef: object): Promise<void> {
    const listeners = [{ name: 'plain', port: 9092, type: 'internal', tls: false }];
    const kafka = { spec: { kafka: { replicas: 3, listeners } } };
    const virtualCluster = (name: string, ingresses: object[]) =>
      named('VirtualKafkaCluster', name, { spec: { proxyRef, ingresses, targetCluster: { clusterRef } } });
    await apply(
      road.plane,
      named('KafkaProxy', 'myproxy', { spec: {} }),
      named('Kafka', 'strimzi', kafka, 'kafka.strimzi.io/v1'),
      ingress('tcp', { clusterIP: { protocol: 'TCP' } }),
      ingress('lb', LOAD_BALANCER),
      await road.certificate('cert', '*.example.com'),
      virtualCluster('inside', [{ name: 'tcp' }]),
      virtualCluster('outside', [{ name: 'lb', tls: { certificateRefs: [{ name: 'cert' }] } }]),
    );
    await patchStatus(road.client, 'Kafka', 'strimzi', { listeners: LISTENERS });
    const points = { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } };
    await patchStatus(road.client, 'Service', 'lb-service', points);
    await road.startPod();
    for (const name of CLUSTERS) await road.ready(name);
    await waitFor('the records', () => get(road.client, 'DNSEndpoint', 'outside-lb'));
  }

  /** All that clients depend on; a uid tells an object that was made anew. */
  async function used(): Promise<object> {
    const objects = [
      ['Service', 'inside-tcp'],
      ['Service', 'lb-service'],
      ['DNSEndpoint', 'outside-lb'],
    ] as const;
    const found = await Promise.all(objects.map(async ([kind, name]) => get(road.client, kind, name)));
    const { status } = (await get(road.client, 'KafkaProxy', 'myproxy'))!;
    return {
      objects: found.map((object) => [object?.metadata.uid, object?.['spec']]),
      config: await configOf(road.client, 'myproxy'),
      ports: status?.['portBlocks'],
    };
  }

  /** Does something bad, sees that it is told and changes nothing, not by a restart either, and makes it good again. */
  async function survives(
    which: readonly string[],
    bad: () => Promise<unknown>,
    good: () => Promise<unknown>,
  ) {
    const before = await used();
    await bad();
    const isTold = () =>
      Promise.all(
        which.map((name) =>
          waitForCondition(
            road.client,
            ['VirtualKafkaCluster', name],
            ['Degraded', 'True', 'ServedAsLastGood'],
          ),
        ),
      );
    await isTold();
    assert.deepEqual(await used(), before);
    await road.restart();
    // A new operator has looked when it has written, which it does of a virtual cluster that it has not seen before.
    const probe = { proxyRef, ingresses: [{ name: 'tcp' }], targetCluster: { clusterRef: { name: 'none' } } };
    await apply(road.plane, named('VirtualKafkaCluster', 'probe', { spec: probe }));
    await waitForCondition(road.client, ['VirtualKafkaCluster', 'probe'], ['ResolvedRefs', 'False']);
    await road.client.delete(typeOfKind('VirtualKafkaCluster'), { name: 'probe', namespace: 'default' });
    await isTold();
    assert.deepEqual(await used(), before);
    await good();
    for (const name of CLUSTERS) await road.ready(name);
  }

  const gone = (kind: string, name: string) => () =>
    road.client.delete(typeOfKind(kind), { name, namespace: 'default' });

  test('goes on while Strimzi says no address, and while a Secret is gone', async () => {
    await start({ kind: 'Kafka', group: 'strimzi.io', name: 'strimzi' });
    const say = (listeners: object[]) => () => patchStatus(road.client, 'Kafka', 'strimzi', { listeners });
    await survives(CLUSTERS, say([]), say(LISTENERS));
    const renewed = await road.certificate('cert', '*.example.com');
    await survives(['outside'], gone('Secret', 'cert'), () => apply(road.plane, renewed));
  });

  test('goes on while a KafkaClusterRef is deleted and applied again, and while an ingress cannot be read', async () => {
    const target = named('KafkaClusterRef', 'kafka', { spec: { bootstrap: 'kafka:9092' } });
    await apply(road.plane, target);
    await start({ name: 'kafka' });
    await survives(CLUSTERS, gone('KafkaClusterRef', 'kafka'), () => apply(road.plane, target));
    const annotations = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`example.com/${i}`, 'x']));
    const unreadable = ingress('lb', { ...LOAD_BALANCER, infrastructure: { annotations } });
    await survives(
      ['outside'],
      () => apply(road.plane, unreadable),
      () => apply(road.plane, ingress('lb', LOAD_BALANCER)),
    );
  });
});
