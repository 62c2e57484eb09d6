/** What people ask the command line about a cluster, against a real kube-apiserver. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { DNS_NAME } from '../../../src/control/discover/install.ts';
import { GRANTS_LABEL, grantMapName } from '../../../src/control/discover/names.ts';
import type { Operator } from '../../../src/control/operator.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { ensureStrimziCrds } from '../../support/install/strimzi.ts';
import { isthmus } from '../../support/isthmus.ts';
import { accountKubeconfig, untilGranted } from '../control/account.ts';
import { apply, runOperator } from '../control/harness.ts';

const NAMESPACE = 'isthmus-system';

/** What is only about brokers that are reached from outside. */
const EXPOSED: ReadonlySet<string> = new Set([
  'FewerNodesThanBrokers',
  'NodesWithoutPublicAddress',
  'PodSecurityForbidsHostPorts',
  'DNSEndpointKindMissing',
  'NobodyPublishesNames',
  'ExternalDNSPassesBy',
  'HostPortsIgnored',
  'HostPortsUnknown',
  'NodePortRangeCollision',
  'SourcesNotEnforced',
  'PortsKeptForDeleted',
]);

/** What stays of a Kafka that was deleted. */
const ownerless = {
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'KafkaAnchor',
  metadata: { name: 'former', namespace: 'default' },
  spec: {
    clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
    epoch: 1,
    holder: NAMESPACE,
    kafka: { name: 'former', uid: 'a' },
    ports: [{ name: 'ext', port: 30_123 }],
  },
};

const deployment = (name: string, namespace: string, container: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
  },
});

const externalDns = (args: readonly string[]) =>
  deployment('external-dns', 'default', {
    name: 'external-dns',
    image: 'registry.test/external-dns:v0.22.0',
    args,
  });

interface Report {
  success: boolean;
  categories: { categoryName: string; checks: { result: string; code?: string; error?: string }[] }[];
}

let plane: ControlPlane;
let operator: Operator | undefined;
before(async () => {
  plane = await startControlPlane();
});
after(async () => {
  await operator?.stop();
  await plane?.stop();
});

const ask = (...args: string[]) => isthmus(...args, '--kubeconfig', plane.kubeconfig);

/** What a check found, apart from kinds that this cluster never has. */
async function findings(...args: string[]): Promise<{ code: number; found: string[] }> {
  const { code, out } = await ask('check', ...args, '-o', 'json');
  const { categories } = JSON.parse(out) as Report;
  const checks = categories.flatMap((category) => category.checks);
  const found = checks.flatMap(({ code: finding }) => finding ?? []).filter((one) => one !== 'KindNotServed');
  return { code, found };
}

suite('check', { timeout: 600_000 }, () => {
  test('before an installation: whether this user may install', async () => {
    assert.deepEqual(await findings('--pre'), { code: 0, found: [] });
    const nobody = await plane.userKubeconfig('nobody-in-particular');
    const { code, out } = await isthmus('check', '--pre', '--kubeconfig', nobody);
    assert.equal(code, 1);
    assert.match(out, /✖ you may create .*\n {4}create customresourcedefinitions\.apiextensions\.k8s\.io\n/);
  });

  test('nothing is installed', async () => {
    const { code, found } = await findings();
    assert.equal(code, 1);
    assert.deepEqual(new Set(found), new Set(['CrdMissing', 'OperatorMissing']));
  });

  test('installed, with an operator that leads and no pods', async () => {
    const { out } = await isthmus('install', '--image', 'isthmus:test', '--roads', 'proxy');
    await apply(plane, out);
    await untilGranted(plane, NAMESPACE);
    assert.deepEqual((await findings()).found, ['OperatorNotReady', 'OperatorWithoutLeader']);
    const kubeconfig = await accountKubeconfig(plane, NAMESPACE);
    operator = await runOperator(plane, { kubeconfig, namespace: NAMESPACE, identity: 'pod-a' });
    await waitFor('the lead', async () => (await findings()).found.join() === 'OperatorNotReady');
  });

  test('a virtual cluster: its status, what hangs on it, and what to do', async () => {
    const meta = (name: string) => ({
      apiVersion: 'kroxylicious.io/v1alpha1',
      metadata: { name, namespace: 'default' },
    });
    const proxyRef = { name: 'edge' };
    await apply(
      plane,
      { ...meta('edge'), kind: 'KafkaProxy', spec: {} },
      {
        ...meta('inside'),
        kind: 'KafkaProxyIngress',
        spec: { proxyRef, clusterIP: { protocol: 'TCP' } },
      },
      { ...meta('main'), kind: 'KafkaClusterRef', spec: { bootstrap: 'kafka.example:9092' } },
      {
        ...meta('orders'),
        kind: 'VirtualKafkaCluster',
        spec: {
          proxyRef,
          ingresses: [{ name: 'inside' }],
          filterRefs: [{ name: 'absent' }],
          targetCluster: { clusterRef: { name: 'main' } },
        },
      },
    );
    const status = await waitFor('a status', async () => {
      const asked = await ask('status', 'vkc/orders', '-n', 'default');
      return asked.out.includes('ReferencedResourcesNotFound') ? asked : undefined;
    });
    assert.equal(status.code, 1);
    assert.match(status.out, /^VirtualKafkaCluster default\/orders: NotReady ReferencedResourcesNotFound\n/);

    const tree = await ask('tree', 'vkc/orders');
    assert.equal(tree.code, 0, tree.err);
    assert.match(tree.out, /KafkaProxy\/edge.*\n│ {2}└─ . Deployment\/edge/);
    assert.match(tree.out, /✖ KafkaProtocolFilter\/absent/);
    assert.match(tree.out, /KafkaClusterRef\/main/);
    const proxy = await ask('tree', 'kafkaproxy', 'edge');
    assert.match(proxy.out, /VirtualKafkaCluster\/orders/);
    assert.match(proxy.out, /Secret\/edge-config/);

    const description = await waitFor('an event', async () => {
      const { out } = await ask('describe', 'vkc', 'orders');
      return out.includes('Events:') ? out : undefined;
    });
    assert.match(
      description,
      /ResolvedRefs=False .*\n.*absent.*\n {4}What to do: Apply what the message names/,
    );
    assert.match(description, /Warning +ReferencedResourcesNotFound: /);

    assert.equal((await ask('get', 'kp', '-A', '-o', 'name')).out, 'kafkaproxy/edge\n');
    assert.match(
      (await ask('get', 'vkc', '-A')).out,
      /^NAMESPACE +NAME +STATE .*\ndefault +orders +NotReady /,
    );
    const absent = await ask('get', 'vkc/nothing');
    assert.deepEqual([absent.code, /there is no VirtualKafkaCluster nothing/.test(absent.err)], [1, true]);
    const early = await ask('status', 'vkc/orders', '--wait', '--timeout', '1s');
    assert.equal(early.code, 1);
  });

  test('two namespaces have names by the DNS server, and no NamePolicy says whose they are', async () => {
    const image = 'registry.test/isthmus:test';
    const grant = (namespace: string) => `address 2026-01-01T00:00:00Z Service ${namespace}/shop`;
    await apply(plane, deployment(DNS_NAME, NAMESPACE, { name: 'dns', image }), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: grantMapName(0), namespace: NAMESPACE, labels: { [GRANTS_LABEL]: 'true' } },
      data: { 'a.example.test': grant('team-a'), 'b.example.test': grant('team-b') },
    });
    const { out } = await ask('check', 'dns');
    assert.match(out, /team-a, team-b claim host names, .*\n.*\[NamePolicyMissing\]/);
    await apply(plane, {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'ours' },
      spec: { zone: 'example.test' },
    });
    assert.ok(!(await findings('dns')).found.includes('NamePolicyMissing'));
    const removed = await plane.kubectl(['delete', 'deployment', DNS_NAME, '-n', NAMESPACE]);
    assert.equal(removed.code, 0, removed.stderr);
  });

  test('a right, a policy and a CRD are missed', async () => {
    const remove = async (...what: string[]) => {
      const { code, stderr } = await plane.kubectl(['delete', ...what]);
      assert.equal(code, 0, stderr);
    };
    await remove('validatingadmissionpolicybinding', 'isthmus-infrastructure');
    await remove('crd', 'namepolicies.isthmus.dev');
    const rules = [{ op: 'remove', path: '/rules/0' }];
    await plane.kubectl([
      'patch',
      'clusterrole',
      'isthmus-operator',
      '--type=json',
      '-p',
      JSON.stringify(rules),
    ]);
    await waitFor('all three', async () => {
      const { found } = await findings('proxy');
      return ['PolicyMissing', 'CrdMissing', 'OperatorRightMissing'].every((one) => found.includes(one));
    });
  });

  test('Strimzi’s own CRDs: says which fields they would drop, and which annotation says the same', async () => {
    const files = Object.values(await ensureStrimziCrds()).flatMap((file) => ['-f', file]);
    const { code, stderr } = await plane.kubectl(['apply', '--server-side', ...files]);
    assert.equal(code, 0, stderr);
    await untilKindsAreServed(plane);
    const { out } = await ask('check', 'kafka');
    assert.match(
      out,
      /would drop .*spec\.cluster \(the annotation strimzi\.io\/stretch-cluster-alias says the same\)/,
    );
    assert.match(out, /\[CrdForeign\]\n {4}see docs\/reference\/codes\.md#crdforeign\n/);
  });

  test('expose: what keeps brokers from being reached from outside, each by its code, and what no longer does', async () => {
    const listeners = [
      { name: 'plain', port: 9092, type: 'internal', tls: false },
      // Strimzi's CRD, which is there by now, knows no type hostport.
      { name: 'ext', port: 9094, type: 'internal', tls: true },
    ];
    const configuration = JSON.stringify({
      subdomain: 'kafka.example.com',
      allowedSources: ['192.0.2.0/24'],
    });
    const annotations = {
      'isthmus.dev/managed': 'true',
      'isthmus.dev/hostport': 'ext',
      'isthmus.dev/hostport-configuration': configuration,
    };
    const meta = (name: string) => ({
      apiVersion: 'kafka.strimzi.io/v1beta2',
      metadata: { name, namespace: 'default', labels: { 'strimzi.io/cluster': 'out' } },
    });
    const out = { ...meta('out'), kind: 'Kafka' };
    await apply(
      plane,
      { ...out, metadata: { ...out.metadata, annotations }, spec: { kafka: { listeners } } },
      {
        ...meta('brokers'),
        kind: 'KafkaNodePool',
        spec: { replicas: 3, roles: ['broker'], storage: { type: 'ephemeral' } },
      },
      ownerless,
    );
    const enforce = (value: string) =>
      plane.kubectl(['label', 'namespace/default', `pod-security.kubernetes.io/enforce${value}`]);
    assert.equal((await enforce('=baseline')).code, 0);
    const foundNow = async () =>
      (await findings('expose')).found.filter((one) => EXPOSED.has(one)).toSorted();
    const all = [
      'DNSEndpointKindMissing',
      'FewerNodesThanBrokers',
      'HostPortsUnknown',
      'PodSecurityForbidsHostPorts',
      'PortsKeptForDeleted',
      'SourcesNotEnforced',
    ];
    assert.deepEqual(await foundNow(), all);
    assert.match((await ask('check', 'expose')).out, /KafkaAnchor default\/former keeps 30123/);
    assert.equal((await plane.kubectl(['delete', 'kafkaanchor', 'former', '-n', 'default'])).code, 0);
    assert.deepEqual(
      await foundNow(),
      all.filter((one) => one !== 'PortsKeptForDeleted'),
    );
    assert.equal((await enforce('-')).code, 0);
    const { out: crds } = await isthmus('install', '--image', 'isthmus:test', '--crds', 'external-dns');
    await apply(plane, crds);
    await waitFor('the kind is served', async () => (await foundNow()).includes('NobodyPublishesNames'));
    await apply(plane, externalDns(['--source=crd', '--domain-filter=example.org']));
    assert.match((await ask('check', 'expose')).out, /default\/external-dns has --domain-filter=example\.org, which leaves out kafka\.example\.com\n.*\n? {4}.*\[ExternalDNSPassesBy\]/); // prettier-ignore
    await apply(plane, externalDns(['--source=crd', '--domain-filter=example.com']));
    assert.deepEqual(await foundNow(), ['FewerNodesThanBrokers', 'HostPortsUnknown', 'SourcesNotEnforced']);
  });

  test('status waits for what is yet to come', async () => {
    const waited = ask('status', 'kafka/main', '--wait', '--timeout', '5m');
    const kafka = {
      apiVersion: 'kafka.strimzi.io/v1beta2',
      kind: 'Kafka',
      metadata: { name: 'main', namespace: 'default' },
    };
    const listeners = [{ name: 'plain', port: 9092, type: 'internal', tls: false }];
    await apply(plane, { ...kafka, spec: { kafka: { listeners } } });
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const patch = JSON.stringify({ status: { observedGeneration: 1, conditions } });
    const args = ['patch', 'kafka', 'main', '--subresource=status', '--type=merge', '-p', patch];
    const { code, stderr } = await plane.kubectl(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await waited, { code: 0, out: 'Kafka default/main: Ready\n', err: '' });
  });
});
