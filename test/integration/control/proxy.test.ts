/** The worked examples of the design document, as they are printed, with a real API server. */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { FILTER, named, printed, useRoad } from './fixture.ts';
import { apply, configOf, get, patchStatus, waitForCondition } from './harness.ts';

suite('the examples of the document', () => {
  const road = useRoad();

  test('plain example: first without its filter, then with it, and served when the pods say so', async () => {
    await apply(road.plane, ...printed('10', '11', '12', '13'));
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    const broken = await waitForCondition(road.client, cluster, [
      'ResolvedRefs',
      'False',
      'ReferencedResourcesNotFound',
    ]);
    assert.match(JSON.stringify(broken.status), /no KafkaProtocolFilter is named \\"encryption\\"/);
    await apply(road.plane, FILTER);
    await waitForCondition(road.client, cluster, ['Ready', 'False', 'PodsNotReady']);
    const ingress = ['KafkaProxyIngress', 'myclusterip'] as const;
    await waitForCondition(road.client, ingress, ['Ready', 'False', 'PodsNotReady']);
    const { data } = (await get(road.client, 'Secret', 'myproxy-management'))!;
    const textOf = (key: string) => Buffer.from((data as Record<string, string>)[key]!, 'base64');
    const certificate = new X509Certificate(textOf('tls.crt'));
    assert.ok(certificate.checkHost('myproxy-management.default'));
    assert.ok(certificate.checkPrivateKey(createPrivateKey(textOf('tls.key'))));
    road.answer = { hash: 'something older' };
    await road.startPod();
    await waitForCondition(road.client, cluster, ['Ready', 'False', 'ConfigPending']);
    const proxy = await waitForCondition(
      road.client,
      ['KafkaProxy', 'myproxy'],
      ['Ready', 'False', 'ConfigPending'],
    );
    await waitFor('the pod to be nudged', async () => {
      const { metadata } = (await get(road.client, 'Pod', 'myproxy-1'))!;
      // After a while it is told again, and then by a number behind a dot.
      const [version] = metadata.annotations?.['kroxylicious.io/config-version']?.split('.') ?? [];
      return version !== undefined && version === proxy.status?.['configVersion'];
    });

    road.answer = undefined;
    const { status } = await road.ready();
    assert.equal(status?.ingresses?.[0]?.bootstrap, 'mycluster-myclusterip.default.svc.cluster.local:9082');
    await waitForCondition(road.client, ['KafkaProxy', 'myproxy'], ['Ready', 'True']);
    await waitForCondition(road.client, ingress, ['Ready', 'True']);
    await waitForCondition(road.client, ['KafkaProtocolFilter', 'encryption'], ['Accepted', 'True']);
    const service = await waitFor('the Service', () => get(road.client, 'Service', 'mycluster-myclusterip'));
    const { ports } = service['spec'] as { ports: { port: number; targetPort: number }[] };
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
    await apply(road.plane, FILTER, ...printed('14', '15', '16', '17'));
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(road.client, cluster, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    await road.startPod();
    await apply(road.plane, printed('15')[0]!.replace('name: oncluster', 'name: myclusterip'));
    const host = 'mycluster-myclusterip.default.svc.cluster.local';
    const waiting = await waitFor('the address', async () => {
      const { status } = (await get(road.client, ...cluster))!;
      return status?.ingresses?.[0]?.bootstrap;
    });
    assert.equal(waiting, `${host}:9082`, 'known before there is a certificate that names it');
    await apply(road.plane, await road.certificate('servercert', 'elsewhere.example.com'));
    const mismatch = await waitForCondition(road.client, cluster, [
      'Ready',
      'False',
      'CertificateHostMismatch',
    ]);
    assert.match(JSON.stringify(mismatch.status), new RegExp(`no certificate is good for ${host}`));
    const before = JSON.stringify(await configOf(road.client, 'myproxy'));
    await apply(road.plane, await road.certificate('servercert', host));
    await road.ready();
    assert.notEqual(JSON.stringify(await configOf(road.client, 'myproxy')), before);
  });

  test('the variation with a certificate from OpenShift: the Service is there for it to be made', async () => {
    const ingress = printed('15')[0]!.replace('name: oncluster', 'name: myclusterip');
    await apply(road.plane, FILTER, ...printed('14', '18', '17'), ingress);
    await road.startPod();
    const service = await waitFor('the Service', () => get(road.client, 'Service', 'mycluster-myclusterip'));
    const annotation = 'service.beta.openshift.io/serving-cert-secret-name';
    assert.equal(service.metadata.annotations?.[annotation], 'myservingcert');
    await apply(
      road.plane,
      await road.certificate('myservingcert', 'mycluster-myclusterip.default.svc.cluster.local'),
    );
    await road.ready();
  });

  test('OpenShift Route example: served when the router has admitted the Routes', async () => {
    await apply(
      road.plane,
      FILTER,
      ...printed('19', '20', '21', '22'),
      await road.certificate('servercert', '*.apps.example.com'),
    );
    await road.startPod();
    const ingress = ['KafkaProxyIngress', 'myopenshiftroute'] as const;
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(road.client, ingress, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    await road.plane.kubectl(['create', 'namespace', 'openshift-ingress-operator']);
    await apply(road.plane, {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'IngressController',
      metadata: { name: 'default', namespace: 'openshift-ingress-operator' },
      spec: {},
    });
    await waitForCondition(road.client, ingress, ['ResolvedRefs', 'True']);
    await waitForCondition(road.client, cluster, ['Ready', 'False', 'AddressPending']);
    for (const node of ['bootstrap', '0', '1', '2']) {
      const name = `mycluster-myopenshiftroute-${node}`;
      // What comes between a plan and its status is in the next plan's objects.
      const route = await waitFor('the Route', () => get(road.client, 'Route', name));
      assert.equal((route['spec'] as { subdomain: string }).subdomain, name);
      const conditions = [{ type: 'Admitted', status: 'True' }];
      const state = { host: `${name}.apps.example.com`, routerName: 'default', conditions };
      await patchStatus(road.client, 'Route', name, { ingress: [state] });
    }
    const { status } = await road.ready();
    assert.equal(
      status?.ingresses?.[0]?.bootstrap,
      'mycluster-myopenshiftroute-bootstrap.apps.example.com:443',
    );
    assert.match(
      JSON.stringify(await configOf(road.client, 'myproxy')),
      /mycluster-myopenshiftroute-\$\(nodeId\)\.apps\.example\.com:443/,
    );
  });

  test('load balancer example: with an address it is ready, and DNS records are offered', async () => {
    await apply(road.plane, FILTER, ...printed('23', '24', '25', '26'));
    await apply(
      road.plane,
      await road.certificate('servercert', 'mycluster.kafka.com', '*.mycluster.kafka.com'),
    );
    await road.startPod();
    await waitForCondition(
      road.client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['Ready', 'False', 'AddressPending'],
    );
    await patchStatus(road.client, 'Service', 'myloadbalancer-service', {
      loadBalancer: { ingress: [{ ip: '192.0.2.7' }] },
    });
    const { status } = await road.ready();
    assert.equal(status?.ingresses?.[0]?.bootstrap, 'mycluster.kafka.com:9082');
    const records = await waitFor('the records', () =>
      get(road.client, 'DNSEndpoint', 'mycluster-myloadbalancer'),
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
    await apply(road.plane, FILTER, ...printed('27', '28', '29'));
    await road.startPod();
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(road.client, cluster, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
    const listeners = [{ name: 'mylistener', port: 9092, type: 'internal', tls: false }];
    await apply(
      road.plane,
      named('Kafka', 'my-cluster', { spec: { kafka: { replicas: 3, listeners } } }, 'kafka.strimzi.io/v1'),
    );
    await waitForCondition(road.client, cluster, [
      'ResolvedRefs',
      'False',
      'ReferencedResourceNotReconciled',
    ]);
    const say = (host: string) =>
      patchStatus(road.client, 'Kafka', 'my-cluster', {
        listeners: [{ name: 'mylistener', bootstrapServers: `${host}:9092` }],
      });
    await say('first');
    await road.ready();
    await say('second');
    await waitFor('the new address', async () => {
      const config = await configOf(road.client, 'myproxy');
      return config?.virtualClusters[0]?.targetCluster.bootstrapServers === 'second:9092';
    });
  });

  test('gateway: routes to the passthrough listener', async () => {
    await apply(
      road.plane,
      FILTER,
      ...printed('10', '13'),
      await road.certificate('servercert', '*.kafka.example.com'),
    );
    await apply(road.plane, printed('21')[0]!.replace('myopenshiftroute', 'mygateway'));
    const gateway = { resourceRef: { name: 'foo-gateway', sectionName: 'mytlspassthrough' } };
    await apply(
      road.plane,
      named('KafkaProxyIngress', 'mygateway', { spec: { proxyRef: { name: 'myproxy' }, gateway } }),
    );
    await road.startPod();
    const ingress = ['KafkaProxyIngress', 'mygateway'] as const;
    await waitForCondition(road.client, ingress, ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound']);
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
    await apply(road.plane, gatewayWith('Terminate'));
    await waitForCondition(road.client, ingress, ['ResolvedRefs', 'False', 'InvalidReferencedResource']);
    await apply(road.plane, gatewayWith('Passthrough'));
    await waitForCondition(
      road.client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['Ready', 'False', 'AddressPending'],
    );
    await patchStatus(road.client, 'Gateway', 'foo-gateway', {
      addresses: [{ type: 'IPAddress', value: '192.0.2.9' }],
    });
    await road.ready();
    await waitFor('its routes', async () => (await road.owned('TLSRoute')).length === 4);
    // An address that comes between a plan and its status is in the next plan's objects.
    await waitFor('its records', async () => (await road.owned('DNSEndpoint')).length === 1);
  });
});
