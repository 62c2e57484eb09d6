/** What goes wrong, comes back or goes away, with a real API server. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { FILTER, named, printed, useRoad } from './fixture.ts';
import { apply, get, metric, patchStatus, typeOfKind, waitForCondition } from './harness.ts';

suite('when things go wrong', () => {
  const road = useRoad();

  test('a Service that someone else has made is left alone, and hinders nobody else', async () => {
    const foreign = { spec: { ports: [{ port: 1 }], selector: { app: 'theirs' } } };
    await apply(road.plane, named('Service', 'mycluster-myclusterip', foreign, 'v1'));
    try {
      await apply(
        road.plane,
        FILTER,
        ...printed('10', '11', '12', '13'),
        printed('12')[0]!.replace('name: mycluster\n', 'name: other\n'),
      );
      await road.startPod();
      const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
      await waitForCondition(road.client, cluster, ['Accepted', 'False', 'NameTaken']);
      await road.ready('other');
      const { spec } = (await get(road.client, 'Service', 'mycluster-myclusterip'))!;
      assert.deepEqual((spec as { selector: object }).selector, { app: 'theirs' });
    } finally {
      await road.client.delete(typeOfKind('Service'), {
        name: 'mycluster-myclusterip',
        namespace: 'default',
      });
    }
    await road.ready();
  });

  test('what the API server refuses is said of the virtual cluster that wants it, and the others are served', async () => {
    const name = 'no-such-service';
    const policies = 'admissionregistration.k8s.io/v1';
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      resources: ['services'],
      operations: ['CREATE', 'UPDATE'],
    };
    const validations = [
      { expression: "object.metadata.name != 'mycluster-myclusterip'", message: 'not here' },
    ];
    const spec = { failurePolicy: 'Fail', matchConstraints: { resourceRules: [rule] }, validations };
    const policy = { apiVersion: policies, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec };
    const binding = {
      apiVersion: policies,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    };
    await apply(road.plane, policy, binding);
    const probe = named('Service', 'mycluster-myclusterip', { spec: { ports: [{ port: 1 }] } }, 'v1');
    await waitFor('the policy to count', async () => {
      const args = ['create', '--dry-run=server', '-f', '-'];
      return (await road.plane.kubectl(args, { stdin: JSON.stringify(probe) })).code !== 0;
    });
    try {
      const other = printed('12')[0]!.replace('name: mycluster\n', 'name: other\n');
      await apply(road.plane, FILTER, ...printed('10', '11', '12', '13'), other);
      await road.startPod();
      const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
      const { status } = await waitForCondition(road.client, cluster, ['Ready', 'False', 'Denied']);
      assert.match(JSON.stringify(status), /refuses Service \\"mycluster-myclusterip\\".*not here/);
      await road.ready('other');
      await waitForCondition(road.client, ['KafkaProxy', 'myproxy'], ['Ready', 'True']);
    } finally {
      const kinds = 'validatingadmissionpolicy,validatingadmissionpolicybinding';
      await road.plane.kubectl(['delete', kinds, name]);
    }
    await road.ready();
  });

  test('a configuration that no Secret can hold serves the older ones, and the others when there is room', async () => {
    const host = '*.default.svc.cluster.local';
    // Of its own for each, since one that is shared takes room once; as long as ten of them can be.
    async function longCertificate(name: string): Promise<object> {
      const secret = (await road.certificate(name, host)) as { stringData: Record<string, string> };
      const chain = secret.stringData['tls.crt']!;
      secret.stringData['tls.crt'] = chain.repeat(Math.ceil(100_000 / chain.length));
      return secret;
    }
    const names = Array.from({ length: 12 }, (_, i) => `c${String(i).padStart(2, '0')}`);
    const specOf = (name: string) => ({
      proxyRef: { name: 'myproxy' },
      ingresses: [{ name: 'tls', tls: { certificateRefs: [{ name }] } }],
      targetCluster: { clusterRef: { name: 'mytargetcluster' } },
    });
    const ingress = { proxyRef: { name: 'myproxy' }, clusterIP: { protocol: 'TLS' } };
    await apply(
      road.plane,
      ...printed('10', '13'),
      ...(await Promise.all(names.map(longCertificate))),
      named('KafkaProxyIngress', 'tls', { spec: ingress }),
    );
    await road.startPod();
    for (const name of names)
      await apply(road.plane, named('VirtualKafkaCluster', name, { spec: specOf(name) }));
    const youngest = ['VirtualKafkaCluster', 'c11'] as const;
    await waitForCondition(road.client, youngest, ['Accepted', 'False', 'ConfigTooLarge']);
    for (const name of names.slice(0, 9)) await road.ready(name);
    await waitForCondition(road.client, ['KafkaProxy', 'myproxy'], ['Ready', 'True']);
    // A part stays free for certificates that are renewed, so nine have room.
    for (const name of names.slice(0, 3))
      await road.client.delete(typeOfKind('VirtualKafkaCluster'), { name, namespace: 'default' });
    await road.ready('c11');
  });

  test('of two proxies that want one host name the older virtual cluster has it, and the other when it goes', async () => {
    const at = (proxy: string, creates: string) => [
      named('KafkaProxy', proxy, { spec: {} }),
      named('KafkaProxyIngress', `${proxy}-lb`, {
        spec: {
          proxyRef: { name: proxy },
          loadBalancer: {
            bootstrapAddressPattern: 'one.example.com',
            brokerAddressPattern: 'one-$(nodeId).example.com',
          },
        },
      }),
      named('VirtualKafkaCluster', creates, {
        spec: {
          proxyRef: { name: proxy },
          ingresses: [{ name: `${proxy}-lb`, tls: { certificateRefs: [{ name: 'cert' }] } }],
          targetCluster: { clusterRef: { name: 'mytargetcluster' } },
        },
      }),
    ];
    await apply(road.plane, ...printed('13'), await road.certificate('cert', '*.example.com'));
    await apply(road.plane, ...at('first', 'a'));
    await waitForCondition(road.client, ['VirtualKafkaCluster', 'a'], ['Accepted', 'True']);
    await apply(road.plane, ...at('second', 'b'));
    const { status } = await waitForCondition(
      road.client,
      ['VirtualKafkaCluster', 'b'],
      ['Accepted', 'False', 'HostNameTaken'],
    );
    assert.match(
      JSON.stringify(status),
      /one\.example\.com belongs to VirtualKafkaCluster \\"a\\" in namespace/,
    );
    await waitForCondition(road.client, ['VirtualKafkaCluster', 'a'], ['Accepted', 'True']);
    await road.client.delete(typeOfKind('VirtualKafkaCluster'), { name: 'a', namespace: 'default' });
    await waitForCondition(road.client, ['VirtualKafkaCluster', 'b'], ['Accepted', 'True']);
  });

  test('a filter that the proxy would refuse, and a broken resource, hinder nobody else', async () => {
    await apply(road.plane, FILTER, ...printed('10', '11', '12', '13'), printed('08')[0]!);
    const other = printed('12')[0]!.replace('name: mycluster\n', 'name: other\n');
    await apply(road.plane, other.replace('name: encryption', 'name: myfilter'));
    await road.startPod();
    await waitForCondition(
      road.client,
      ['KafkaProtocolFilter', 'myfilter'],
      ['Accepted', 'False', 'Invalid'],
    );
    await waitForCondition(road.client, ['VirtualKafkaCluster', 'other'], ['Accepted', 'False', 'Invalid']);
    await road.ready();
  });

  test('what others change or delete comes back', async () => {
    await apply(road.plane, FILTER, ...printed('10', '11', '12', '13'));
    await road.startPod();
    await road.ready();
    const kubectl = async (...args: string[]) => {
      const { code, stderr } = await road.plane.kubectl(args);
      assert.equal(code, 0, stderr);
    };
    await kubectl('label', 'service', 'mycluster-myclusterip', 'kroxylicious.io/proxy-');
    await waitFor('the label', async () => (await road.owned('Service')).length === 1);
    const uidOf = async () => (await get(road.client, 'Deployment', 'myproxy'))?.metadata.uid;
    const former = await uidOf();
    await kubectl('delete', 'deployment', 'myproxy');
    await waitFor('another Deployment', async () => ![undefined, former].includes(await uidOf()));
    await kubectl('scale', 'kafkaproxy', 'myproxy', '--replicas=3');
    await waitFor('the replicas', async () => {
      const deployment = await get(road.client, 'Deployment', 'myproxy');
      return (deployment!['spec'] as { replicas: number }).replicas === 3;
    });
    await road.ready();
  });

  test('deleting the proxy takes everything with it, and its virtual clusters say so', async () => {
    await apply(road.plane, FILTER, ...printed('10', '11', '12', '13'));
    await road.startPod();
    await road.ready();
    await road.client.delete(typeOfKind('KafkaProxy'), { name: 'myproxy', namespace: 'default' });
    await waitForCondition(
      road.client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound'],
    );
    for (const kind of ['Service', 'Deployment', 'Secret'])
      await waitFor(`the ${kind} to go`, async () => (await road.owned(kind)).length === 0);
  });

  test('ports are kept when the status is lost, and nothing is written by a restart with nothing to do', async () => {
    const second = printed('12')[0]!.replace('name: mycluster\n', 'name: another\n');
    await apply(road.plane, FILTER, ...printed('10', '11', '12', '13'));
    await road.startPod();
    await road.ready();
    await apply(road.plane, second);
    await road.ready('another');
    const blocks = async () => (await get(road.client, 'KafkaProxy', 'myproxy'))?.status?.['portBlocks'];
    const before = await blocks();
    await road.restart(() => patchStatus(road.client, 'KafkaProxy', 'myproxy', { portBlocks: null }));
    await waitFor('the ports', async () => (await blocks()) !== undefined);
    assert.deepEqual(await blocks(), before);
    await waitForCondition(road.client, ['KafkaProxy', 'myproxy'], ['Ready', 'True']);

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
        kinds.map((kind) => road.client.list(typeOfKind(kind), { namespace: 'default' })),
      );
      return lists.flatMap(({ items }) =>
        items.map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion]),
      );
    };
    // One that is stopped in the middle of its work leaves some to the next; after that there is nothing to do.
    let settled: unknown;
    await waitFor('a restart without a write', async () => {
      await road.restart(async () => void (settled = await versions()));
      await waitFor(
        'the first reconcile',
        async () => (await metric(road.operator, 'isthmus_controller_reconciles_total')) > 0,
      );
      return (await metric(road.operator, 'isthmus_road_writes_total')) === 0;
    });
    assert.deepEqual(await versions(), settled);
  });
});
