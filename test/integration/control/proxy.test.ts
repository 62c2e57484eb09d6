/**
 * The operator's proxy road against a real API server: the worked examples of the design document as they are printed. There
 * is no kubelet, so pods are written by the test, and what they answer is made up (`askPod`).
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { Operator } from '../../../src/control/operator.ts';
import type { PodAnswer } from '../../../src/control/proxy/pods.ts';
import type { Client } from '../../../src/kube/client.ts';
import { readManifests } from '../../fixtures/documents.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { waitFor } from '../../support/process.ts';
import { startPlaneWithCrds } from '../resources/plane.ts';
import {
  adminOf,
  apply,
  configOf,
  get,
  metric,
  patchStatus,
  runOperator,
  typeOfKind,
  waitForCondition,
} from './harness.ts';

const printed = (...numbers: string[]) =>
  numbers.map((number) => readManifests().find(({ name }) => name.startsWith(`proxy/${number}-`))!.yaml);

const named = (kind: string, name: string, rest: object, group = 'kroxylicious.io/v1alpha1') => ({
  apiVersion: group,
  kind,
  metadata: { name, namespace: 'default' },
  ...rest,
});

const FILTER = named(
  'KafkaProtocolFilter',
  'encryption',
  { spec: { type: 'protocol-logger' } },
  'filter.kroxylicious.io/v1alpha1',
);

suite('the proxy road', () => {
  let plane: ControlPlane;
  let client: Client;
  let operator: Operator;
  let authority: Authority;
  /** What all pods answer; with no hash of its own, the newest that the operator wants. */
  let answer: PodAnswer | undefined;

  async function askPod(): Promise<PodAnswer | undefined> {
    if (answer) return answer;
    const { status } = (await get(client, 'KafkaProxy', 'myproxy')) ?? {};
    const hash = status?.['configVersion'];
    return typeof hash === 'string' ? { hash } : undefined;
  }

  before(async () => {
    plane = await startPlaneWithCrds();
    client = adminOf(plane);
    authority = await createAuthority('test');
    operator = await runOperator(plane, { askPod });
  });
  after(async () => {
    await operator.stop();
    await client.close();
    await plane.stop();
  });
  beforeEach(async () => {
    answer = undefined;
    const kinds = [
      'VirtualKafkaCluster',
      'KafkaProxyIngress',
      'KafkaProxy',
      'KafkaClusterRef',
      'Kafka',
      'KafkaProtocolFilter',
    ];
    for (const kind of kinds) await deleteAll(kind);
    // Whatever the test before had made goes when its proxy goes.
    for (const kind of ['Service', 'Deployment', 'Route', 'TLSRoute', 'DNSEndpoint'])
      await waitFor(`${kind}s to be gone`, async () => (await owned(kind)).length === 0);
    for (const kind of ['Secret', 'Pod']) await deleteAll(kind);
  });

  const owned = async (kind: string) =>
    (await client.list(typeOfKind(kind), { namespace: 'default', labelSelector: 'kroxylicious.io/proxy' }))
      .items;

  async function deleteAll(kind: string): Promise<void> {
    const { items } = await client.list(typeOfKind(kind), { namespace: 'default' });
    for (const { metadata } of items) await client.delete(typeOfKind(kind), metadata);
  }

  async function certificate(name: string, ...dns: string[]): Promise<object> {
    const { certPem, keyPem } = await authority.issue({ commonName: name, dns });
    const stringData = { 'tls.crt': certPem, 'tls.key': keyPem };
    return named('Secret', name, { type: 'kubernetes.io/tls', stringData }, 'v1');
  }

  /** A pod as the Deployment would have it, running and ready. */
  async function startPod(name = 'myproxy-1'): Promise<void> {
    const labels = { 'kroxylicious.io/proxy': 'myproxy', 'app.kubernetes.io/managed-by': 'isthmus' };
    const spec = { containers: [{ name: 'proxy', image: 'isthmus:test' }] };
    await client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels },
      spec,
    } as never);
    const conditions = [{ type: 'Ready', status: 'True' }];
    await patchStatus(client, 'Pod', name, {
      phase: 'Running',
      podIP: '192.0.2.1',
      podIPs: [{ ip: '192.0.2.1' }],
      conditions,
    });
  }

  const ready = (name = 'mycluster') =>
    waitForCondition(client, ['VirtualKafkaCluster', name], ['Ready', 'True']);

  test('plain example: first without its filter, then with it, and served when the pods say so', async () => {
    await apply(plane, ...printed('10', '11', '12', '13'));
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    const broken = await waitForCondition(client, cluster, [
      'ResolvedRefs',
      'False',
      'ReferencedResourcesNotFound',
    ]);
    assert.match(JSON.stringify(broken.status), /no KafkaProtocolFilter is named \\"encryption\\"/);
    await apply(plane, FILTER);
    await waitForCondition(client, cluster, ['Ready', 'False', 'PodsNotReady']);
    answer = { hash: 'something older' };
    await startPod();
    await waitForCondition(client, cluster, ['Ready', 'False', 'ConfigPending']);
    const proxy = await waitForCondition(
      client,
      ['KafkaProxy', 'myproxy'],
      ['Ready', 'False', 'ConfigPending'],
    );
    const pod = await waitFor('the pod to be nudged', async () => {
      const { metadata } = (await get(client, 'Pod', 'myproxy-1'))!;
      return metadata.annotations?.['kroxylicious.io/config-version'];
    });
    assert.equal(pod, proxy.status?.['configVersion']);

    answer = undefined;
    const { status } = await ready();
    assert.equal(status?.ingresses?.[0]?.bootstrap, 'mycluster-myclusterip.default.svc.cluster.local:9082');
    await waitForCondition(client, ['KafkaProxy', 'myproxy'], ['Ready', 'True']);
    await waitForCondition(client, ['KafkaProxyIngress', 'myclusterip'], ['Accepted', 'True']);
    await waitForCondition(client, ['KafkaProtocolFilter', 'encryption'], ['Accepted', 'True']);
    const service = await get(client, 'Service', 'mycluster-myclusterip');
    const { ports } = service!['spec'] as { ports: { port: number; targetPort: number }[] };
    assert.deepEqual(
      ports.map(({ port }) => port),
      [9082, 9083, 9084, 9085],
    );
    assert.deepEqual(
      ports.map(({ targetPort }) => targetPort),
      [10_000, 10_001, 10_002, 10_003],
    );
  });

  test('TLS example: as it is printed the names differ; corrected it is served, and a rotated certificate is live', async () => {
    await apply(plane, FILTER, ...printed('14', '15', '16', '17'));
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(client, cluster, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    await startPod();
    await apply(plane, printed('15')[0]!.replace('name: oncluster', 'name: myclusterip'));
    const host = 'mycluster-myclusterip.default.svc.cluster.local';
    const waiting = await waitFor('the address', async () => {
      const { status } = (await get(client, ...cluster))!;
      return status?.ingresses?.[0]?.bootstrap;
    });
    assert.equal(waiting, `${host}:9082`, 'known before there is a certificate that names it');
    await apply(plane, await certificate('servercert', 'elsewhere.example.com'));
    const mismatch = await waitForCondition(client, cluster, ['Ready', 'False', 'CertificateHostMismatch']);
    assert.match(JSON.stringify(mismatch.status), new RegExp(`no certificate is good for ${host}`));
    const before = JSON.stringify(await configOf(client, 'myproxy'));
    await apply(plane, await certificate('servercert', host));
    await ready();
    assert.notEqual(JSON.stringify(await configOf(client, 'myproxy')), before);
  });

  test('the variation with a certificate from OpenShift: the Service is there for it to be made', async () => {
    const ingress = printed('15')[0]!.replace('name: oncluster', 'name: myclusterip');
    await apply(plane, FILTER, ...printed('14', '18', '17'), ingress);
    await startPod();
    const service = await waitFor('the Service', () => get(client, 'Service', 'mycluster-myclusterip'));
    const annotation = 'service.beta.openshift.io/serving-cert-secret-name';
    assert.equal(service.metadata.annotations?.[annotation], 'myservingcert');
    await apply(plane, await certificate('myservingcert', 'mycluster-myclusterip.default.svc.cluster.local'));
    await ready();
  });

  test('OpenShift Route example: served when the router has admitted the Routes', async () => {
    await apply(
      plane,
      FILTER,
      ...printed('19', '20', '21', '22'),
      await certificate('servercert', '*.apps.example.com'),
    );
    await startPod();
    const ingress = ['KafkaProxyIngress', 'myopenshiftroute'] as const;
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(client, ingress, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    await plane.kubectl(['create', 'namespace', 'openshift-ingress-operator']);
    await apply(plane, {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'IngressController',
      metadata: { name: 'default', namespace: 'openshift-ingress-operator' },
      spec: {},
    });
    await waitForCondition(client, ingress, ['ResolvedRefs', 'True']);
    await waitForCondition(client, cluster, ['Ready', 'False', 'AddressPending']);
    for (const node of ['bootstrap', '0', '1', '2']) {
      const name = `mycluster-myopenshiftroute-${node}`;
      const route = await get(client, 'Route', name);
      assert.equal((route!['spec'] as { subdomain: string }).subdomain, name);
      const conditions = [{ type: 'Admitted', status: 'True' }];
      const state = { host: `${name}.apps.example.com`, routerName: 'default', conditions };
      await patchStatus(client, 'Route', name, { ingress: [state] });
    }
    const { status } = await ready();
    assert.equal(
      status?.ingresses?.[0]?.bootstrap,
      'mycluster-myopenshiftroute-bootstrap.apps.example.com:443',
    );
    assert.match(
      JSON.stringify(await configOf(client, 'myproxy')),
      /mycluster-myopenshiftroute-\$\(nodeId\)\.apps\.example\.com:443/,
    );
  });

  test('load balancer example: with an address it is ready, and DNS records are offered', async () => {
    await apply(plane, FILTER, ...printed('23', '24', '25', '26'));
    await apply(plane, await certificate('servercert', 'mycluster.kafka.com', '*.mycluster.kafka.com'));
    await startPod();
    await waitForCondition(
      client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['Ready', 'False', 'AddressPending'],
    );
    await patchStatus(client, 'Service', 'myloadbalancer-service', {
      loadBalancer: { ingress: [{ ip: '192.0.2.7' }] },
    });
    const { status } = await ready();
    assert.equal(status?.ingresses?.[0]?.bootstrap, 'mycluster.kafka.com:9082');
    const records = await waitFor('the records', () =>
      get(client, 'DNSEndpoint', 'mycluster-myloadbalancer'),
    );
    const { endpoints } = records['spec'] as { endpoints: { dnsName: string; targets: string[] }[] };
    assert.deepEqual(
      endpoints.map(({ dnsName, targets }) => `${dnsName} ${targets.join()}`),
      ['mycluster', 'broker-0.mycluster', 'broker-1.mycluster', 'broker-2.mycluster'].map(
        (host) => `${host}.kafka.com 192.0.2.7`,
      ),
    );
  });

  test('Kafka example: address and nodes come from Strimzi’s status, and are followed', async () => {
    await apply(plane, FILTER, ...printed('27', '28', '29'));
    await startPod();
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(client, cluster, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    const listeners = [{ name: 'mylistener', port: 9092, type: 'internal', tls: false }];
    await apply(
      plane,
      named('Kafka', 'my-cluster', { spec: { kafka: { replicas: 3, listeners } } }, 'kafka.strimzi.io/v1'),
    );
    await waitForCondition(client, cluster, ['ResolvedRefs', 'False', 'ReferencedResourceNotReconciled']);
    const say = (host: string) =>
      patchStatus(client, 'Kafka', 'my-cluster', {
        listeners: [{ name: 'mylistener', bootstrapServers: `${host}:9092` }],
      });
    await say('first');
    await ready();
    await say('second');
    await waitFor('the new address', async () => {
      const config = await configOf(client, 'myproxy');
      return config?.virtualClusters[0]?.targetCluster.bootstrapServers === 'second:9092';
    });
  });

  test('gateway: routes to the passthrough listener', async () => {
    await apply(
      plane,
      FILTER,
      ...printed('10', '13'),
      await certificate('servercert', '*.kafka.example.com'),
    );
    await apply(plane, printed('21')[0]!.replace('myopenshiftroute', 'mygateway'));
    const gateway = { resourceRef: { name: 'foo-gateway', sectionName: 'mytlspassthrough' } };
    await apply(
      plane,
      named('KafkaProxyIngress', 'mygateway', { spec: { proxyRef: { name: 'myproxy' }, gateway } }),
    );
    await startPod();
    const ingress = ['KafkaProxyIngress', 'mygateway'] as const;
    await waitForCondition(client, ingress, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    const listener = {
      name: 'mytlspassthrough',
      port: 443,
      protocol: 'TLS',
      hostname: '*.kafka.example.com',
    };
    const gatewayWith = (mode: string) =>
      named(
        'Gateway',
        'foo-gateway',
        { spec: { gatewayClassName: 'any', listeners: [{ ...listener, tls: { mode } }] } },
        'gateway.networking.k8s.io/v1',
      );
    await apply(plane, gatewayWith('Terminate'));
    await waitForCondition(client, ingress, ['ResolvedRefs', 'False', 'InvalidReferencedResource']);
    await apply(plane, gatewayWith('Passthrough'));
    await waitForCondition(
      client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['Ready', 'False', 'AddressPending'],
    );
    await patchStatus(client, 'Gateway', 'foo-gateway', {
      addresses: [{ type: 'IPAddress', value: '192.0.2.9' }],
    });
    await ready();
    assert.equal((await owned('TLSRoute')).length, 4);
    assert.equal((await owned('DNSEndpoint')).length, 1);
  });

  test('a Service that someone else has made is left alone, and hinders nobody else', async () => {
    const foreign = { spec: { ports: [{ port: 1 }], selector: { app: 'theirs' } } };
    await apply(plane, named('Service', 'mycluster-myclusterip', foreign, 'v1'));
    try {
      await apply(
        plane,
        FILTER,
        ...printed('10', '11', '12', '13'),
        printed('12')[0]!.replace('name: mycluster\n', 'name: other\n'),
      );
      await startPod();
      const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
      await waitForCondition(client, cluster, ['Accepted', 'False', 'NameTaken']);
      await ready('other');
      const { spec } = (await get(client, 'Service', 'mycluster-myclusterip'))!;
      assert.deepEqual((spec as { selector: object }).selector, { app: 'theirs' });
    } finally {
      await client.delete(typeOfKind('Service'), { name: 'mycluster-myclusterip', namespace: 'default' });
    }
    await ready();
  });

  test('a filter that the proxy would refuse, and a broken resource, hinder nobody else', async () => {
    await apply(plane, FILTER, ...printed('10', '11', '12', '13'), printed('08')[0]!);
    const other = printed('12')[0]!.replace('name: mycluster\n', 'name: other\n');
    await apply(plane, other.replace('name: encryption', 'name: myfilter'));
    await startPod();
    await waitForCondition(client, ['KafkaProtocolFilter', 'myfilter'], ['Accepted', 'False', 'Invalid']);
    await waitForCondition(client, ['VirtualKafkaCluster', 'other'], ['Accepted', 'False', 'Invalid']);
    await ready();
  });

  test('what others change or delete comes back', async () => {
    await apply(plane, FILTER, ...printed('10', '11', '12', '13'));
    await startPod();
    await ready();
    const service = ['service', 'mycluster-myclusterip'];
    const { code, stderr } = await plane.kubectl(['label', ...service, 'kroxylicious.io/proxy-']);
    assert.equal(code, 0, stderr);
    await waitFor('the label', async () => (await owned('Service')).length === 1);
    await plane.kubectl(['delete', 'deployment', 'myproxy']);
    await waitFor('the Deployment', () => get(client, 'Deployment', 'myproxy'));
    await plane.kubectl(['scale', 'kafkaproxy', 'myproxy', '--replicas=3']);
    await waitFor('the replicas', async () => {
      const deployment = await get(client, 'Deployment', 'myproxy');
      return (deployment!['spec'] as { replicas: number }).replicas === 3;
    });
    await ready();
  });

  test('deleting the proxy takes everything with it, and its virtual clusters say so', async () => {
    await apply(plane, FILTER, ...printed('10', '11', '12', '13'));
    await startPod();
    await ready();
    await client.delete(typeOfKind('KafkaProxy'), { name: 'myproxy', namespace: 'default' });
    await waitForCondition(
      client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound'],
    );
    await waitFor('the Services to go', async () => (await owned('Service')).length === 0);
    assert.equal((await owned('Deployment')).length, 0);
  });

  test('ports are kept when the status is lost, and nothing is written by a restart with nothing to do', async () => {
    const second = printed('12')[0]!.replace('name: mycluster\n', 'name: another\n');
    await apply(plane, FILTER, ...printed('10', '11', '12', '13'));
    await startPod();
    await ready();
    await apply(plane, second);
    await ready('another');
    const blocks = async () => (await get(client, 'KafkaProxy', 'myproxy'))?.status?.['portBlocks'];
    const before = await blocks();
    await operator.stop();
    await patchStatus(client, 'KafkaProxy', 'myproxy', { portBlocks: null });
    operator = await runOperator(plane, { askPod });
    await waitFor('the ports', async () => (await blocks()) !== undefined);
    assert.deepEqual(await blocks(), before);
    await waitForCondition(client, ['KafkaProxy', 'myproxy'], ['Ready', 'True']);

    await operator.stop();
    const versions = async () => {
      const kinds = [
        'KafkaProxy',
        'KafkaProxyIngress',
        'VirtualKafkaCluster',
        'KafkaProtocolFilter',
        'Service',
        'Deployment',
        'Secret',
        'Pod',
      ];
      const lists = await Promise.all(
        kinds.map((kind) => client.list(typeOfKind(kind), { namespace: 'default' })),
      );
      return lists.flatMap(({ items }) =>
        items.map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion]),
      );
    };
    const settled = await versions();
    operator = await runOperator(plane, { askPod });
    await waitFor(
      'the first reconcile',
      async () => (await metric(operator, 'isthmus_operator_reconciles_total')) > 0,
    );
    assert.equal(await metric(operator, 'isthmus_operator_writes_total'), 0);
    assert.deepEqual(await versions(), settled);
  });
});
