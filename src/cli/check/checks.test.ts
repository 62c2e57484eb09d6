/** What each check says to facts: a fact is changed, and one check says so. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { secretPolicy } from '../../control/install/secret-policy.ts';
import { infrastructurePolicy } from '../../control/install/infrastructure-policy.ts';
import { filterProtection } from '../../control/install/protected-filters.ts';
import { crdsOf } from '../../control/install/installation.ts';
import type { OperatorRoad } from '../../control/roads.ts';
import { crdOf } from '../../resources/crd.ts';
import type { ForeignProject } from '../../resources/kind.ts';
import { KINDS } from '../../resources/registry.ts';
import { checkAll } from './checks.ts';
import type { Crd, Facts } from './facts.ts';
import { OPTIONAL_KINDS } from './kinds.ts';
import { reportData, reportText } from './report.ts';
import type { AnyObject } from '../../kube/object.ts';

const crds = KINDS.map((kind) => structuredClone(crdOf(kind)) as unknown as Crd);
const account = { name: 'isthmus-operator', namespace: 'isthmus-system' };
const policies = [
  ...infrastructurePolicy(),
  ...filterProtection(),
  ...secretPolicy({ name: 'isthmus-operator.isthmus-system' }, account, ['proxy']),
].map(({ metadata }) => metadata.name);

const ready = (name: string, status: object = {}) => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind: 'KafkaProxy',
  metadata: { name, namespace: name, generation: 2 },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', observedGeneration: 2 }],
    ...status,
  },
});

/** An installation without a fault. */
const GOOD: Facts = {
  road: undefined,
  namespace: 'isthmus-system',
  server: { value: { gitVersion: 'v1.34.1', major: '1', minor: '34+' } },
  crds: { value: crds },
  installRights: { value: [{ verb: 'create', group: 'apps', resource: 'deployments', allowed: true }] },
  operator: { value: { roads: ['proxy', 'kafka'], watchNamespaces: [], replicas: 2, readyReplicas: 2 } },
  operatorRights: { value: [{ verb: 'list', group: '', resource: 'pods', allowed: true }] },
  lease: { value: { holder: 'pod-a_1', isRenewed: true } },
  policies: { value: policies },
  resources: new Map([['KafkaProxy', { value: [ready('a')] }]]),
  served: new Map(OPTIONAL_KINDS.map(({ kind }) => [kind, { value: true }])),
  gatewayControllers: { value: ['example.com/gateway'] },
  dns: { value: { replicas: 1, readyReplicas: 1 } },
  delegation: {
    value: {
      state: 'delegated',
      platform: undefined,
      zones: ['a.test'],
      server: undefined,
      reason: '',
      verified: [],
    },
  },
  grantees: { value: ['a'] },
};

const findings = (facts: Partial<Facts>, isBefore = false) =>
  checkAll({ ...GOOD, ...facts }, isBefore)
    .flatMap(({ checks }) => checks)
    .filter(({ result }) => result !== 'success')
    .map(({ code, result, error }) => `${result} ${code}: ${error}`);

const only = (name: string, change: (crd: Crd) => Crd | undefined): Facts['crds'] => ({
  value: crds.flatMap((crd) => (crd.metadata.name === name ? (change(structuredClone(crd)) ?? []) : [crd])),
});

suite('check', () => {
  test('nothing is wrong with a whole installation, nor before one', () => {
    assert.deepEqual(findings({}), []);
    assert.deepEqual(findings({}, true), []);
    assert.deepEqual(findings({ crds: { value: [] } }, true), []);
  });

  test('a server that does not answer is the only finding', () => {
    assert.deepEqual(findings({ server: { problem: 'refused' } }), ['error ApiUnreachable: refused']);
    const old = { value: { gitVersion: 'v1.29.0', major: '1', minor: '29' } };
    assert.match(findings({ server: old })[0]!, /^error ApiTooOld/);
  });

  test('a CRD may be missing, outdated, or another project’s', () => {
    const name = 'kafkanodepools.kafka.strimzi.io';
    assert.deepEqual(findings({ crds: only(name, () => undefined) }), [
      `error CrdMissing: there is no CRD ${name}`,
    ]);
    const withoutCluster = (labels: Record<string, string>) =>
      only(name, (crd) => {
        crd.metadata.labels = labels;
        for (const { schema } of crd.spec.versions) {
          const spec = schema?.openAPIV3Schema?.properties?.['spec'];
          delete spec?.properties?.['cluster'];
          delete spec?.['x-kubernetes-preserve-unknown-fields'];
        }
        return crd;
      });
    const dropped = `would drop spec.cluster (the annotation strimzi.io/stretch-cluster-alias says the same)`;
    assert.deepEqual(findings({ crds: withoutCluster({ app: 'strimzi' }) }), [
      `warning CrdForeign: the schema of ${name} ${dropped}`,
    ]);
    assert.deepEqual(findings({ crds: withoutCluster({ 'app.kubernetes.io/part-of': 'isthmus' }) }), [
      `error CrdOutdated: the schema of ${name} ${dropped}`,
    ]);
    const older = only(name, (crd) => {
      for (const version of crd.spec.versions) version.name = 'v0';
      return crd;
    });
    assert.match(
      findings({ crds: older })[0]!,
      /^error CrdOutdated: .* serves v0, v0, and not v1beta2 or v1$/,
    );
  });

  test('CRDs of Strimzi that others have installed are named before they can be overwritten', () => {
    const name = 'kafkatopics.kafka.strimzi.io';
    const theirs = only(name, (crd) => ({
      ...crd,
      metadata: { ...crd.metadata, labels: { app: 'strimzi' } },
    }));
    assert.deepEqual(findings({ crds: theirs }, true), [
      `warning CrdsOfOthers: ${name} are there already; leave strimzi out of --crds of isthmus install, which would overwrite them`,
    ]);
    assert.deepEqual(findings({ crds: theirs }), []);
  });

  test('of another project’s Kafka, what a listener from outside needs is named with its annotation, and so is a value that is refused', () => {
    const theirs = only('kafkas.kafka.strimzi.io', (crd) => {
      crd.metadata.labels = {};
      for (const { schema } of crd.spec.versions) {
        const spec = schema?.openAPIV3Schema?.properties?.['spec'];
        const broker = spec?.properties?.['kafka'];
        const listener = broker?.properties?.['listeners']?.items;
        const { configuration, type } = listener?.properties ?? {};
        const metrics = broker?.properties?.['metricsConfig'];
        for (const strict of [spec, broker, listener, configuration, metrics])
          delete strict?.['x-kubernetes-preserve-unknown-fields'];
        delete configuration?.properties?.['subdomain'];
        type!.enum = type!.enum!.filter((one) => one !== 'hostport');
        metrics!.properties = { type: { enum: ['jmxPrometheusExporter'] } };
        broker!.properties!['rack'] = { properties: { topologyKey: {} } };
      }
      return crd;
    });
    const at = 'spec.kafka.listeners[]';
    const says = (annotation: string) => `(the annotation isthmus.dev/${annotation} says the same)`;
    const drops = [
      `drop ${at}.configuration.subdomain ${says('hostport-configuration or isthmus.dev/loadbalancer-configuration')}`,
      ...['type', 'envVarName'].map((field) => `spec.kafka.rack.${field} ${says('rack-variable')}`),
      'spec.kafka.resources (the KafkaNodePools say the same, each for its nodes)',
      `spec.kafka.metricsConfig.values ${says('metrics-config')}`,
    ].join(', ');
    const refuses = `refuse ${at}.type: hostport ${says('hostport')}, spec.kafka.metricsConfig.type: strimziMetricsReporter ${says('metrics-config')}`;
    assert.deepEqual(findings({ crds: theirs }), [
      `warning CrdForeign: the schema of kafkas.kafka.strimzi.io would ${drops}, and ${refuses}`,
    ]);
  });

  test('the road of Redpanda clusters is looked at like the others', () => {
    const broken = { ...ready('r'), kind: 'Cluster', status: { conditions: [{ type: 'Ready', status: 'False', reason: 'PodsNotReady', message: 'm' }] } }; // prettier-ignore
    const resources: Facts['resources'] = new Map([...GOOD.resources, ['Cluster', { value: [broken] }]]);
    assert.match(
      findings({ resources, road: 'redpanda' })[0]!,
      /^error ResourceNotReady: r\/r: PodsNotReady: m/,
    );
    const crds = only('clusters.redpanda.vectorized.io', () => undefined);
    assert.match(findings({ crds, road: 'redpanda' })[0]!, /^error CrdMissing/);
  });

  test('an installation of Redpanda clusters needs nothing of Strimzi', () => {
    const served = (...roads: OperatorRoad[]): Facts['operator'] => ({
      value: { roads, watchNamespaces: [], replicas: 2, readyReplicas: 2 },
    });
    const nothing = { value: [] };
    const expose = {
      nodes: nothing,
      pools: nothing,
      namespaces: { value: new Map() },
      publishers: nothing,
      network: { value: { daemonSets: [], cilium: undefined } },
      nodePorts: nothing,
    };
    const missing = (projects: ForeignProject[], facts: Partial<Facts>) =>
      findings({ crds: { value: crdsOf(projects) as Crd[] }, expose, ...facts }).filter((one) =>
        one.startsWith('error CrdMissing'),
      );
    const redpanda = { operator: served('proxy', 'redpanda', 'pod-sets') };
    assert.deepEqual(missing(['redpanda'], redpanda), []);
    for (const road of ['expose', 'pod-sets', 'redpanda'] as const)
      assert.deepEqual(missing(['redpanda'], { ...redpanda, road }), [], road);
    assert.deepEqual(missing([], { ...redpanda, road: 'expose' }), [
      'error CrdMissing: there is no CRD clusters.redpanda.vectorized.io',
    ]);
    const strimzis = (...names: string[]) =>
      names.map((name) => `error CrdMissing: there is no CRD ${name}.strimzi.io`);
    const kafka = { operator: served('kafka', 'redpanda', 'pod-sets') };
    assert.deepEqual(
      missing(['redpanda'], { ...kafka, road: 'expose' }),
      strimzis('kafkas.kafka', 'kafkanodepools.kafka'),
    );
    // Without Kafkas of our own, pod sets are those of another operator.
    for (const operator of [kafka.operator, served('pod-sets')])
      assert.deepEqual(
        missing(['redpanda'], { operator, road: 'pod-sets' }),
        strimzis('strimzipodsets.core'),
      );
    assert.deepEqual(missing(['strimzi'], { operator: served('kafka', 'pod-sets') }), []);
  });

  test('what the operator lacks is listed, with the verbs of a resource together', () => {
    const right = (verb: string) => ({
      verb,
      group: '',
      resource: 'secrets',
      namespace: 'a',
      allowed: false,
    });
    assert.deepEqual(findings({ operatorRights: { value: [right('get'), right('list')] } }), [
      'error OperatorRightMissing: get, list secrets in a',
    ]);
    assert.match(findings({ policies: { value: [] } })[0]!, /^warning PolicyMissing: no binding of isthmus-/);
    assert.match(findings({ lease: { value: undefined } })[0]!, /^error OperatorWithoutLeader/);
    const down = { roads: ['proxy' as const], watchNamespaces: [], replicas: 2, readyReplicas: 1 };
    assert.deepEqual(findings({ operator: { value: down } }), [
      'warning OperatorNotReady: 1 of 2 pods are ready',
    ]);
    assert.match(findings({ operator: { value: undefined } })[0]!, /^error OperatorMissing/);
  });

  test('what may not be read is a warning, and hides nothing else', () => {
    const problem = { problem: 'forbidden' };
    assert.deepEqual(findings({ operatorRights: problem, lease: { value: undefined } }), [
      'error OperatorWithoutLeader: there is no Lease isthmus-operator in its namespace',
      'warning CannotLook: forbidden',
    ]);
  });

  test('resources that are not ready, or that nobody has looked at', () => {
    const conditions = [{ type: 'Ready', status: 'False', reason: 'PodsNotReady', message: '0 of 2' }];
    const bad = { ...ready('a'), status: { conditions } };
    assert.deepEqual(findings({ resources: new Map([['KafkaProxy', { value: [bad] }]]) }), [
      'error ResourceNotReady: a/a: PodsNotReady: 0 of 2',
    ]);
    const newer = { ...ready('a'), metadata: { ...ready('a').metadata, generation: 3 } };
    assert.deepEqual(findings({ resources: new Map([['KafkaProxy', { value: [newer] }]]) }), [
      'error StatusOutdated: a/a',
    ]);
  });

  test('several tenants with host names, and no NamePolicy', () => {
    const tenants = ['a', 'b'].map((name) => ready(name, { hostNames: [{}] }));
    const resources = (policies: object[]): Facts['resources'] =>
      new Map([
        ['KafkaProxy', { value: tenants }],
        ['NamePolicy', { value: policies as never }],
      ]);
    assert.match(findings({ resources: resources([]) })[0]!, /^warning NamePolicyMissing: a, b claim/);
    assert.deepEqual(findings({ resources: resources([{}]) }), []);
  });

  test('the same of exposed Kafkas and Redpanda clusters, and of what has names by the DNS server', () => {
    const exposed = (namespace: string, uid = namespace): AnyObject[] => [
      { apiVersion: 'kafka.strimzi.io/v1', kind: 'Kafka', metadata: { name: 'events', namespace, uid } },
      {
        apiVersion: 'isthmus.dev/v1alpha1',
        kind: 'KafkaAnchor',
        metadata: { name: 'events', namespace },
        spec: { kafka: { name: 'events', uid: namespace }, names: [{ name: 'ext' }] },
      },
    ];
    const panda: AnyObject = {
      apiVersion: 'redpanda.vectorized.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'open', namespace: 'panda', annotations: { 'isthmus.dev/managed': 'true' } },
      spec: { configuration: { kafkaApi: [{ port: 9092 }, { external: { enabled: true, subdomain: 'panda.example.com' } }] } }, // prettier-ignore
    };
    const advice = (objects: AnyObject[], grantees: string[], road: Facts['road'] = 'dns') => {
      const kinds = ['Kafka', 'KafkaAnchor', 'Cluster', 'NamePolicy'] as const;
      const resources: Facts['resources'] = new Map(
        kinds.map((kind) => [kind, { value: objects.filter((one) => one.kind === kind) }]),
      );
      const found = findings({ resources, grantees: { value: grantees }, road });
      return found.filter((line) => line.includes('NamePolicyMissing'));
    };
    const missing = (who: string) => [
      `warning NamePolicyMissing: ${who} claim host names, and whoever comes first has them`,
    ];
    assert.deepEqual(advice([], ['a', 'b']), missing('a, b'));
    assert.deepEqual(advice([...exposed('a'), ...exposed('b')], []), missing('a, b'));
    assert.deepEqual(advice([...exposed('a'), panda], []), missing('a, panda'));
    assert.deepEqual(advice(exposed('a'), ['b'], 'expose'), missing('a, b'));
    assert.deepEqual(advice(exposed('a'), ['a']), []);
    assert.deepEqual(advice([...exposed('a'), ...exposed('gone', 'made anew')], []), []);
    const policy = { apiVersion: 'isthmus.dev/v1alpha1', kind: 'NamePolicy', metadata: { name: 'p' } };
    assert.deepEqual(advice([...exposed('a'), policy], ['b']), []);
    assert.deepEqual(advice(exposed('a'), ['b'], 'pod-sets'), []);
  });

  test('whose names are is said as far as it may be read', () => {
    const grantees = { problem: 'configmaps is forbidden' };
    assert.deepEqual(findings({ grantees }), ['warning CannotLook: configmaps is forbidden']);
    const resources: Facts['resources'] = new Map([
      ['KafkaProxy', { value: ['a', 'b'].map((name) => ready(name, { hostNames: [{}] })) }],
      ['NamePolicy', { value: [] }],
    ]);
    assert.match(findings({ resources, grantees })[0]!, /^warning NamePolicyMissing: a, b claim/);
  });

  test('optional kinds are warnings; one road asks for no more than its own', () => {
    const served = new Map([...GOOD.served, ['Route', { value: false }]]);
    assert.match(findings({ served })[0]!, /^warning KindNotServed/);
    assert.deepEqual(findings({ served, road: 'kafka' }), []);
    assert.match(findings({ delegation: { value: undefined } })[0]!, /^warning NotDelegated/);
  });

  test('is reported with what to do, and as data', () => {
    const bad = checkAll({ ...GOOD, lease: { value: undefined } }, false);
    const text = reportText(bad, false);
    assert.match(
      text,
      /^✖ one of them leads\n {4}there is no Lease .*\n {4}See .* \[OperatorWithoutLeader\]\n {4}see docs\//m,
    );
    assert.match(text, /Status check results are ✖\n$/);
    assert.ok(reportText(bad, true).includes('\u001b[31m✖'));
    const data = reportData(bad) as { success: boolean; categories: { categoryName: string }[] };
    assert.equal(data.success, false);
    assert.equal(data.categories[0]!.categoryName, 'kubernetes');
  });
});
