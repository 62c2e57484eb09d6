/** The proxy road with exactly the rights that `isthmus install` grants, and in exactly the namespaces it is told to watch. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { operatorManifests } from '../../../src/control/install/manifests.ts';
import { LEADER_RULES, operatorRules } from '../../../src/control/install/rbac.ts';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { readManifests } from '../../fixtures/documents.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { createAuthority } from '../../support/pki.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { accountKubeconfig, untilGranted } from './account.ts';
import { createAudit, rightsOf } from './audit.ts';
import type { Audit } from './audit.ts';
import { named } from './fixture.ts';
import {
  adminOf,
  apply,
  get,
  metric,
  metrics,
  patchStatus,
  runOperator,
  typeOfKind,
  waitForCondition,
} from './harness.ts';

const NAMESPACE = 'isthmus-system';
/** Of another operator, which may only look into some namespaces. */
const NARROW = 'isthmus-narrow';
const printed = ['10', '11', '12', '13'].map(
  (number) => readManifests().find(({ name }) => name.startsWith(`proxy/${number}-`))!.yaml,
);
const filter = (namespace: string) => ({
  apiVersion: 'filter.kroxylicious.io/v1alpha1',
  kind: 'KafkaProtocolFilter',
  metadata: { name: 'encryption', namespace },
  spec: { type: 'protocol-logger' },
});

/** One virtual cluster behind all four ways in, so that every kind of object is made. */
async function everyWay(): Promise<object[]> {
  const proxyRef = { name: 'every' };
  const ways = {
    inside: { clusterIP: { protocol: 'TLS' } },
    lb: {
      loadBalancer: {
        bootstrapAddressPattern: 'every.example.com',
        brokerAddressPattern: 'every-$(nodeId).example.com',
      },
    },
    routes: { openShiftRoute: {} },
    gw: { gateway: { resourceRef: { name: 'gw', sectionName: 'tls' } } },
  };
  const authority = await createAuthority('rights');
  const issued = await authority.issue({ commonName: 'x', dns: ['*.example.com'] });
  const stringData = { 'tls.crt': issued.certPem, 'tls.key': issued.keyPem };
  const tls = { certificateRefs: [{ name: 'cert' }] };
  const listener = {
    name: 'tls',
    port: 443,
    protocol: 'TLS',
    hostname: '*.gw.example.com',
    tls: { mode: 'Passthrough' },
  };
  return [
    named('Secret', 'cert', { type: 'kubernetes.io/tls', stringData }, 'v1'),
    named(
      'Gateway',
      'gw',
      { spec: { gatewayClassName: 'any', listeners: [listener] } },
      'gateway.networking.k8s.io/v1',
    ),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openshift-ingress-operator' } },
    {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'IngressController',
      metadata: { name: 'default', namespace: 'openshift-ingress-operator' },
      spec: {},
    },
    named('KafkaProxy', 'every', { spec: { management: { podMonitor: true } } }),
    ...Object.entries(ways).map(([name, way]) =>
      named('KafkaProxyIngress', name, { spec: { proxyRef, ...way } }),
    ),
    named('ConfigMap', 'trust', { data: { 'ca-bundle.pem': authority.certPem } }, 'v1'),
    named('KafkaClusterRef', 'mytargetcluster', {
      spec: {
        bootstrap: 'upstream:9092',
        protocol: 'TLS',
        tls: { trustAnchorRefs: [{ kind: 'ConfigMap', name: 'trust' }] },
      },
    }),
    named('VirtualKafkaCluster', 'every', {
      spec: {
        proxyRef,
        ingresses: Object.keys(ways).map((name) => ({ name, tls })),
        targetCluster: { clusterRef: { name: 'mytargetcluster' } },
      },
    }),
  ];
}

suite('rights and namespaces', () => {
  let plane: ControlPlane;
  let client: Client;
  let audit: Audit;
  const install = (namespace: string, watchNamespaces: string[] = []) =>
    operatorManifests({ namespace, image: 'isthmus:test', replicas: 1, roads: ['proxy'], watchNamespaces });
  before(async () => {
    audit = createAudit(`system:serviceaccount:${NAMESPACE}:isthmus-operator`);
    plane = await startControlPlaneWithCrds({ apiServerArgs: audit.args });
    client = adminOf(plane);
    await apply(plane, ...install(NAMESPACE));
  });
  after(async () => {
    await client.close();
    await plane.stop();
  });

  async function startPod(proxy: string): Promise<void> {
    const labels = { 'kroxylicious.io/proxy': proxy, 'app.kubernetes.io/managed-by': 'isthmus' };
    const containers = [{ name: 'proxy', image: 'isthmus:test' }];
    const metadata = { name: `${proxy}-1`, namespace: 'default', labels };
    await apply(plane, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } });
    await patchStatus(client, 'Pod', metadata.name, {
      phase: 'Running',
      podIP: '192.0.2.1',
      podIPs: [{ ip: '192.0.2.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    });
  }

  /** A stranger renumbers a port. Both numbers under one name are no Service, so that an apply alone cannot mend it. */
  async function disturbService(name: string): Promise<void> {
    const patch = JSON.stringify([{ op: 'replace', path: '/spec/ports/0/port', value: 999 }]);
    const done = await plane.kubectl(['patch', 'service', name, '--type=json', '-p', patch]);
    assert.equal(done.code, 0, done.stderr);
    await waitFor('the port to come back', async () => {
      const { ports } = (await get(client, 'Service', name))!['spec'] as { ports: { port: number }[] };
      return ports[0]!.port === 9082 && ports.length === 4;
    });
  }

  async function assertNoErrors(operator: Operator): Promise<void> {
    assert.doesNotMatch(await metrics(operator), /reconciles_total\{[^}]*outcome="error"\} [1-9]/);
  }

  test('the granted rights are enough for every way in, its repair and its removal; and none of them is idle', async () => {
    const kubeconfig = await accountKubeconfig(plane, NAMESPACE);
    await untilGranted(plane, NAMESPACE, ['list', 'secrets', '-A']);
    await apply(plane, named('ConfigMap', 'not-referred-to', { data: { text: 'x' } }, 'v1'));
    const askPod = async () => ({ hash: 'older' });
    const operator = await runOperator(plane, { kubeconfig, namespace: NAMESPACE, askPod });
    try {
      await apply(plane, filter('default'), ...(await everyWay()));
      const cluster = ['VirtualKafkaCluster', 'every'] as const;
      await waitForCondition(client, cluster, ['Accepted', 'True']);
      await waitForCondition(client, ['KafkaProtocolFilter', 'encryption'], ['Accepted', 'True']);
      await waitFor('the load balancer', () => get(client, 'Service', 'lb-service'));
      await patchStatus(client, 'Service', 'lb-service', {
        loadBalancer: { ingress: [{ ip: '192.0.2.7' }] },
      });
      await waitFor('the records', () => get(client, 'DNSEndpoint', 'every-lb'));
      await waitFor('the TLSRoute', () => get(client, 'TLSRoute', 'every-gw-bootstrap'));
      await waitFor('the Route', () => get(client, 'Route', 'every-routes-bootstrap'));
      await waitFor('the PodMonitor', () => get(client, 'PodMonitor', 'every'));
      await startPod('every');
      await waitFor('the pod to be nudged', async () => {
        const found = await get(client, 'Pod', 'every-1');
        return found?.metadata.annotations?.['kroxylicious.io/config-version'];
      });
      await disturbService('every-inside');
      await client.delete(typeOfKind('KafkaProxy'), { name: 'every', namespace: 'default' });
      for (const [kind, name] of [
        ['Deployment', 'every'],
        ['Service', 'every-inside'],
        ['Route', 'every-routes-bootstrap'],
        ['TLSRoute', 'every-gw-bootstrap'],
        ['DNSEndpoint', 'every-lb'],
        ['PodMonitor', 'every'],
      ] as const)
        await waitFor(`the ${kind} to go`, async () => (await get(client, kind, name)) === undefined);
      await assertNoErrors(operator);
    } finally {
      await operator.stop();
    }
    const granted = rightsOf([...operatorRules(['proxy']), ...LEADER_RULES]);
    const idle = () => {
      const used = audit.used();
      return [...granted].filter((right) => !used.has(right) && !isForRareCases(right));
    };
    // The server answers first, and writes the log then.
    await waitFor('the log', async () => idle().length === 0, { timeoutMs: 30_000 }).catch(() => {});
    assert.deepEqual(idle(), []);
    assert.deepEqual(audit.refused(), []);
    const read = audit.objects('get').filter((object) => /^(secrets|configmaps) /.test(object));
    // What it has written itself it need not read.
    assert.deepEqual([...new Set(read)].toSorted(), ['configmaps default/trust', 'secrets default/cert']);
  });

  test('an operator for all namespaces may write no Secrets but its own', async () => {
    const kubeconfig = await accountKubeconfig(plane, NAMESPACE);
    await untilGranted(plane, NAMESPACE, ['patch', 'secrets', '-A']);
    await apply(plane, named('Secret', 'of-somebody', { stringData: { password: 'x' } }, 'v1'));
    const asOperator = (...args: string[]) => plane.kubectl([...args, '--kubeconfig', kubeconfig]);
    const label = 'kroxylicious.io/proxy=p';
    const annotate = (name: string) => asOperator('annotate', 'secret', name, 'a=b');
    // The server takes a moment to heed a policy.
    await waitFor('the policy', async () => (await annotate('of-somebody')).code !== 0);
    const token = named(
      'Secret',
      'token',
      {
        metadata: {
          name: 'token',
          namespace: 'default',
          labels: { 'kroxylicious.io/proxy': 'p' },
          annotations: { 'kubernetes.io/service-account.name': 'default' },
        },
        type: 'kubernetes.io/service-account-token',
      },
      'v1',
    );
    const file = join(workspace('rights'), 'token.json');
    writeFileSync(file, JSON.stringify(token));
    for (const attempt of [
      () => annotate('of-somebody'),
      () => asOperator('label', 'secret', 'of-somebody', label),
      () => asOperator('delete', 'secret', 'of-somebody'),
      () => asOperator('create', 'secret', 'generic', 'new'),
      () => asOperator('create', '-f', file),
    ]) {
      const { code, stderr } = await attempt();
      assert.notEqual(code, 0);
      assert.match(stderr, /may write no Secrets but those it makes itself/);
    }
    await apply(
      plane,
      named(
        'Secret',
        'own',
        { metadata: { name: 'own', namespace: 'default', labels: { 'kroxylicious.io/proxy': 'p' } } },
        'v1',
      ),
    );
    assert.equal((await annotate('own')).code, 0);
    assert.equal((await asOperator('delete', 'secret', 'own')).code, 0);
  });

  test('an operator for some namespaces has rights in them and nowhere else, and gets by with these', async () => {
    for (const name of ['watched', 'watched-too', 'unwatched'])
      await apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const watchNamespaces = ['watched', 'watched-too'];
    const manifests = install(NARROW, watchNamespaces);
    const everywhere = manifests.filter(({ kind }) => kind === 'ClusterRole');
    assert.deepEqual(
      everywhere.map(({ rules }) => rules),
      [[{ apiGroups: ['isthmus.dev'], resources: ['namepolicies'], verbs: ['list', 'watch'] }]],
    );
    await apply(plane, ...manifests, {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'closed' },
      spec: { zone: 'example.com' },
    });
    for (const namespace of [...watchNamespaces, 'unwatched']) {
      const inNamespace = printed.map((yaml) =>
        yaml.replace('metadata:', `metadata:\n  namespace: ${namespace}`),
      );
      await apply(plane, filter(namespace), ...inNamespace);
    }
    const kubeconfig = await accountKubeconfig(plane, NARROW);
    await untilGranted(plane, NARROW, ...watchNamespaces.map((name) => ['list', 'secrets', '-n', name]));
    const operator = await runOperator(plane, { kubeconfig, namespace: NARROW, watchNamespaces });
    try {
      const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
      for (const namespace of watchNamespaces)
        await waitForCondition(client, cluster, ['Ready', 'False', 'PodsNotReady'], namespace);
      for (const one of (await everyWay()) as AnyObject[])
        if (one.kind !== 'Namespace' && one.kind !== 'IngressController')
          await apply(plane, { ...one, metadata: { ...one.metadata, namespace: 'watched-too' } });
      await waitForCondition(
        client,
        ['VirtualKafkaCluster', 'every'],
        ['Accepted', 'False', 'HostNameNotAllowed'],
        'watched-too',
      );
      const reconciles = () => metric(operator, 'isthmus_controller_reconciles_total');
      await waitFor('the count of it', async () => (await reconciles()) > 0);
      const other = await get(client, ...cluster, 'unwatched');
      assert.equal(other?.status, undefined);
      await client.delete(typeOfKind('KafkaProxy'), { name: 'myproxy', namespace: 'watched' });
      await waitForCondition(client, cluster, ['ResolvedRefs', 'False'], 'watched');
      await waitFor('the event', async () => {
        const { items } = await client.list(EVENT, { namespace: 'watched' });
        return items.some((event) => event['reason'] === 'ReferencedResourcesNotFound');
      });
      await assertNoErrors(operator);
    } finally {
      await operator.stop();
    }
    const secrets = ['auth', 'can-i', 'list', 'secrets', '--kubeconfig', kubeconfig];
    for (const [namespace, answer] of [
      ['watched', 'yes'],
      ['unwatched', 'no'],
      [NARROW, 'no'],
    ] as const) {
      const { stdout } = await plane.kubectl([...secrets, '-n', namespace]);
      assert.equal(stdout.trim(), answer, namespace);
    }
  });
});

const EVENT = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };

/** What one example does not come to. */
function isForRareCases(right: string): boolean {
  return (
    // Read again when somebody else was quicker to write the status.
    /^get (kafkaproxies|kafkaproxyingresses|virtualkafkaclusters|kafkaprotocolfilters)\./.test(right) ||
    // Counted up when the same event comes again.
    right === 'patch events.events.k8s.io' ||
    // Needed as for the Service: whatever it makes, a stranger may have changed beyond repair by apply.
    (right.startsWith('update ') && right !== 'update services')
  );
}
