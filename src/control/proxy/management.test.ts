/** The management port of a proxy's pods: who gets to it, with what, and what is said when the operator does not. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import { NOTHING_LEARNED } from '../kernel/reconcile.ts';
import { PROXY_LABEL } from './names.ts';
import type { PodAnswers } from './observe.ts';
import { planProxy } from './plan.ts';
import { SETTINGS, createMemoryCluster, objectsIn } from '../../../test/support/control/memory-cluster.ts';
import type { MemoryCluster } from '../../../test/support/control/memory-cluster.ts';

const PROXY = { namespace: 'default', name: 'p' };
const NOW = Date.parse('2026-01-01T00:00:00Z');
const proxyRef = { name: 'p' };

const resource = (kind: string, name: string, spec: object): AnyObject => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1 },
  spec,
});

function start(proxy: object = {}): MemoryCluster {
  const memory = createMemoryCluster();
  memory.put(resource('KafkaProxy', 'p', proxy));
  memory.put(resource('KafkaProxyIngress', 'in', { proxyRef, clusterIP: { protocol: 'TCP' } }));
  memory.put(resource('KafkaClusterRef', 'kafka', { bootstrap: 'kafka:9092' }));
  const targetCluster = { clusterRef: { name: 'kafka' } };
  memory.put(resource('VirtualKafkaCluster', 'a', { proxyRef, ingresses: [{ name: 'in' }], targetCluster }));
  return memory;
}

const readyPod: AnyObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p-1', namespace: 'default', uid: 'p-1', labels: { [PROXY_LABEL]: 'p' } },
  status: { phase: 'Running', podIP: '192.0.2.1', conditions: [{ type: 'Ready', status: 'True' }] },
};

const conditionsAfter = (memory: MemoryCluster, answers: PodAnswers) => {
  memory.apply(memory.plan(PROXY, NOW, { answers }), NOW);
  const ready = (kind: string, name: string) => {
    const { conditions } = memory.get(kind, `default/${name}`)!.status as {
      conditions: { type: string; reason: string; message: string }[];
    };
    return conditions.find(({ type }) => type === 'Ready')!;
  };
  return { proxy: ready('KafkaProxy', 'p'), cluster: ready('VirtualKafkaCluster', 'a') };
};

suite('management of pods', () => {
  test('the port is for the operator and whom the KafkaProxy allows; what is served is for everyone', () => {
    const monitoring = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
    };
    const memory = start({ management: { allowedSources: [monitoring] } });
    const operator = { namespace: 'isthmus', labels: { 'app.kubernetes.io/component': 'operator' } };
    const plan = planProxy(memory.observe(PROXY, NOW), { ...SETTINGS, operator }, NOTHING_LEARNED);
    const policy = objectsIn(plan).find(({ kind }) => kind === 'NetworkPolicy')!;
    const [management, served] = (policy['spec'] as { ingress: { from?: object[]; ports: object[] }[] })
      .ingress;
    assert.deepEqual(management, {
      from: [
        {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'isthmus' } },
          podSelector: { matchLabels: operator.labels },
        },
        monitoring,
      ],
      ports: [{ protocol: 'TCP', port: 9190 }],
    });
    assert.equal(served?.from, undefined);
    assert.ok(!JSON.stringify(served).includes('9190'));
  });

  test('a proxy has a Secret with its tokens, which is never replaced by another', () => {
    const memory = start();
    memory.apply(memory.plan(PROXY, NOW), NOW);
    const secret = memory.get('Secret', 'default/p-management')!;
    const { token, 'metrics-token': metricsToken } = secret['data'] as Record<string, string>;
    assert.ok(token && metricsToken);
    const mine = { ...(secret['data'] as object), token: 'bWluZQ==', 'metrics-token': 'dGhlaXJz' };
    memory.put({ ...secret, data: mine });
    memory.apply(memory.plan(PROXY, NOW), NOW);
    assert.deepEqual(memory.get('Secret', 'default/p-management')!['data'], mine);
  });

  test('pods that the operator cannot ask are said to be unreachable, with the reason, and not to be pending', () => {
    const memory = start();
    memory.put(readyPod);
    const pending = conditionsAfter(memory, new Map([['p-1', {}]]));
    assert.deepEqual([pending.proxy.reason, pending.cluster.reason], ['ConfigPending', 'ConfigPending']);
    const lost = conditionsAfter(
      memory,
      new Map([['p-1', { unreachable: 'it does not answer within 1 s' }]]),
    );
    assert.deepEqual([lost.proxy.reason, lost.cluster.reason], ['PodsUnreachable', 'PodsUnreachable']);
    for (const { message } of [lost.proxy, lost.cluster])
      assert.match(message, /pod "p-1" at port 9190 .* within 1 s\. See that no NetworkPolicy/);
    const { configVersion } = memory.get('KafkaProxy', 'default/p')!.status as { configVersion: string };
    const well = conditionsAfter(memory, new Map([['p-1', { configVersion }]]));
    assert.deepEqual([well.proxy.reason, well.cluster.reason], ['Ready', 'Ready']);
    // Whoever is served stays so, as far as anybody knows.
    const later = conditionsAfter(
      memory,
      new Map([['p-1', { unreachable: 'it does not answer within 1 s' }]]),
    );
    assert.deepEqual([later.proxy.reason, later.cluster.reason], ['PodsUnreachable', 'Ready']);
  });
});
