/** What each persona may and may not do, as a real API server decides, with the ClusterRoles that `isthmus install` prints. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { personaManifests } from '../../../src/control/install/personas.ts';
import { filterProtection } from '../../../src/control/install/protected-filters.ts';
import { PROTECTED_LABEL } from '../../../src/control/proxy/names.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { named } from './fixture.ts';
import { apply } from './harness.ts';

const proxyRef = { name: 'p' };
/** By its plural: `cluster` is a word of many. */
const REDPANDA = 'clusters.redpanda.vectorized.io';
const STRIMZI = 'kafka.strimzi.io/v1';
const ANCHOR = {
  spec: {
    clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
    epoch: 1,
    holder: 'here',
    kafka: { name: 'events', uid: 'uid' },
  },
};
const REDPANDA_ANCHOR = { spec: { cluster: { name: 'events', uid: 'uid' } } };
const POD_SET = { spec: { selector: { matchLabels: { a: 'b' } }, pods: [] } };
const LABELS = { 'strimzi.io/cluster': 'events' };
const RESOURCES: Record<string, object> = {
  KafkaProxy: named('KafkaProxy', 'mine', {}),
  KafkaProxyIngress: named('KafkaProxyIngress', 'mine', {
    spec: { proxyRef, clusterIP: { protocol: 'TCP' } },
  }),
  VirtualKafkaCluster: named('VirtualKafkaCluster', 'mine', {
    spec: { proxyRef, ingresses: [{ name: 'in' }], targetCluster: { clusterRef: { name: 'kafka' } } },
  }),
  KafkaClusterRef: named('KafkaClusterRef', 'mine', { spec: { bootstrap: 'kafka:9092' } }),
  KafkaProtocolFilter: named(
    'KafkaProtocolFilter',
    'mine',
    { spec: { type: 'protocol-logger' } },
    'filter.kroxylicious.io/v1alpha1',
  ),
  Kafka: named('Kafka', 'mine', {}, STRIMZI),
  KafkaNodePool: named(
    'KafkaNodePool',
    'mine',
    { metadata: { name: 'mine', namespace: 'default', labels: LABELS }, spec: { replicas: 1 } },
    STRIMZI,
  ),
  [REDPANDA]: named(
    'Cluster',
    'mine',
    { spec: { image: 'vectorized/redpanda', version: 'v21.4.15', replicas: 1 } },
    'redpanda.vectorized.io/v1alpha1',
  ),
  KafkaTopic: named('KafkaTopic', 'mine', { spec: {} }, STRIMZI),
  KafkaUser: named('KafkaUser', 'mine', { spec: {} }, STRIMZI),
  KafkaAnchor: named('KafkaAnchor', 'mine', ANCHOR, 'isthmus.dev/v1alpha1'),
  RedpandaAnchor: named('RedpandaAnchor', 'mine', REDPANDA_ANCHOR, 'isthmus.dev/v1alpha1'),
  StrimziPodSet: named('StrimziPodSet', 'mine', POD_SET, 'core.strimzi.io/v1'),
  Secret: named('Secret', 'mine', {}, 'v1'),
};
const PROXY_DEVELOPERS = ['VirtualKafkaCluster', 'KafkaClusterRef', 'KafkaProtocolFilter'];
/** In the order of RESOURCES, as below. */
const DEVELOPERS = [...PROXY_DEVELOPERS, 'KafkaTopic', 'KafkaUser'];
const PROXY_ADMINS = ['KafkaProxy', 'KafkaProxyIngress'];
const KAFKA_ADMINS = ['Kafka', 'KafkaNodePool', REDPANDA];
const ADMINS = [...PROXY_ADMINS, ...PROXY_DEVELOPERS, ...KAFKA_ADMINS, 'KafkaTopic', 'KafkaUser'];
const ANCHORS = ['KafkaAnchor', 'RedpandaAnchor'];
/** Written by the operator alone. */
const OPERATORS = [...ANCHORS, 'StrimziPodSet'];
const READ = [...ADMINS, ...OPERATORS];

suite('personas', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await startControlPlaneWithCrds();
    await apply(plane, ...personaManifests(), ...READ.map((kind) => there(kind)));
    for (const { metadata } of personaManifests()) await bind(metadata.name);
  });
  after(() => plane.stop());

  /** One that is there already, to be read, changed and deleted. */
  const there = (kind: string) => ({
    ...RESOURCES[kind],
    metadata: { name: 'there', namespace: 'default', labels: LABELS },
  });

  /** Gives a role to a user of the same name, in one namespace. */
  async function bind(role: string): Promise<void> {
    const args = ['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}`, '-n', 'default'];
    const { code, stderr } = await plane.kubectl(args);
    assert.equal(code, 0, stderr);
    // The server learns of it a moment later.
    await waitFor(`the rights of ${role}`, async () => (await as(role, ['get', 'kafkaproxies'])).code === 0);
  }

  const as = (user: string, args: string[], stdin?: string) =>
    plane.kubectl([...args, `--as=${user}`], stdin === undefined ? {} : { stdin });

  /** Which kinds a persona can do this to; all other answers are that it may not. */
  async function kindsFor(user: string, argsFor: (kind: string) => string[]) {
    const able: string[] = [];
    for (const kind of Object.keys(RESOURCES)) {
      const { code, stderr } = await as(user, argsFor(kind), JSON.stringify(RESOURCES[kind]));
      if (code === 0) able.push(kind);
      else assert.match(stderr, /forbidden/i, `${user} ${kind}`);
    }
    return able;
  }

  const create = () => ['create', '--dry-run=server', '-f', '-'];
  const read = (kind: string) => ['get', kind, ...(kind === 'Secret' ? [] : ['there'])];
  const label = (kind: string) => [
    'patch',
    kind,
    'there',
    '--type=merge',
    '-p',
    '{"metadata":{"labels":{"a":"b"}}}',
  ];

  test('a viewer reads all our kinds and writes none', async () => {
    assert.deepEqual(await kindsFor('isthmus-viewer', read), READ);
    assert.deepEqual(await kindsFor('isthmus-viewer', create), []);
  });

  test('a developer has virtual clusters, filters, targets, topics and users, and leaves proxies and Kafkas alone', async () => {
    assert.deepEqual(await kindsFor('isthmus-developer', read), READ);
    assert.deepEqual(await kindsFor('isthmus-developer', create), DEVELOPERS);
    for (const kind of [...PROXY_ADMINS, ...KAFKA_ADMINS, ...OPERATORS]) {
      assert.match((await as('isthmus-developer', label(kind))).stderr, /forbidden/);
      assert.match((await as('isthmus-developer', ['delete', kind, 'there'])).stderr, /forbidden/);
    }
    for (const scaled of ['kafkaproxy/there', 'kafkanodepool/there'])
      assert.match((await as('isthmus-developer', ['scale', '--replicas=0', scaled])).stderr, /forbidden/);
  });

  test('an admin has all of them but what the operator keeps, and scales proxies and pools', async () => {
    assert.deepEqual(await kindsFor('isthmus-admin', create), ADMINS);
    for (const scaled of ['kafkaproxy/there', 'kafkanodepool/there']) {
      const { code, stderr } = await as('isthmus-admin', ['scale', '--replicas=2', scaled]);
      assert.equal(code, 0, stderr);
    }
  });

  test('an admin deletes anchors and writes none of what the operator keeps', async () => {
    for (const kind of OPERATORS)
      assert.match((await as('isthmus-admin', label(kind))).stderr, /forbidden/, kind);
    const remove = (kind: string) => as('isthmus-admin', ['delete', '--dry-run=server', kind, 'there']);
    for (const kind of ANCHORS) {
      const { code, stderr } = await remove(kind);
      assert.equal(code, 0, stderr);
    }
    assert.match((await remove('StrimziPodSet')).stderr, /forbidden/);
  });

  test('none of them writes a status, reads a Secret, or has a right in another namespace', async () => {
    for (const { metadata } of personaManifests()) {
      const patch = ['patch', 'kafkaproxy', 'there', '--subresource=status', '--type=merge'];
      const status = await as(metadata.name, [...patch, '-p', '{"status":{"replicas":3}}']);
      assert.match(status.stderr, /forbidden/, metadata.name);
      assert.match((await as(metadata.name, ['get', 'secrets'])).stderr, /forbidden/);
      const elsewhere = await as(metadata.name, ['get', 'kafkaproxies', '-n', 'kube-system']);
      assert.match(elsewhere.stderr, /forbidden/);
    }
  });

  test('a filter that is protected is changed and deleted by who may change proxies, and by nobody else', async () => {
    const guarded = { ...there('KafkaProtocolFilter'), metadata: { name: 'audit', namespace: 'default' } };
    await apply(plane, ...filterProtection(), guarded);
    await plane.kubectl(['label', 'kafkaprotocolfilter', 'audit', `${PROTECTED_LABEL}=true`]);
    const patch = (name: string, change: object) => [
      'patch',
      'kafkaprotocolfilter',
      name,
      '--type=merge',
      '--dry-run=server',
      '-p',
      JSON.stringify(change),
    ];
    const other = { spec: { type: 'other' } };
    const denied = /only who may change KafkaProxies/;
    // The server learns of the policy a moment later.
    const isDenied = async () => denied.test((await as('isthmus-developer', patch('audit', other))).stderr);
    await waitFor('the policy', isDenied);
    const unlabelled = { metadata: { labels: { [PROTECTED_LABEL]: null } } };
    const remove = ['delete', '--dry-run=server', 'kafkaprotocolfilter'];
    assert.match((await as('isthmus-developer', patch('audit', unlabelled))).stderr, denied);
    assert.match((await as('isthmus-developer', [...remove, 'audit'])).stderr, denied);
    for (const [user, name] of [
      ['isthmus-developer', 'there'],
      ['isthmus-admin', 'audit'],
    ] as const) {
      assert.equal((await as(user, patch(name, other))).code, 0);
      assert.equal((await as(user, [...remove, name])).code, 0);
    }
    // Who clears up a namespace.
    const controller = 'system:serviceaccount:kube-system:namespace-controller';
    assert.equal((await as(controller, [...remove, 'audit'])).code, 0);
  });

  test('NamePolicies are in no namespace, so they are for those alone who have their role in all', async () => {
    const policy = {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'mine' },
      spec: { zone: 'example.test' },
    };
    const createPolicy = (user: string) => as(user, create(), JSON.stringify(policy));
    const readPolicies = (user: string) => as(user, ['get', 'namepolicies']);
    for (const role of ['isthmus-viewer', 'isthmus-developer', 'isthmus-admin']) {
      assert.match((await createPolicy(role)).stderr, /forbidden/, role);
      assert.match((await readPolicies(role)).stderr, /forbidden/, role);
      const everywhere = `${role}-everywhere`;
      const bound = [
        'create',
        'clusterrolebinding',
        everywhere,
        `--clusterrole=${role}`,
        `--user=${everywhere}`,
      ];
      assert.equal((await plane.kubectl(bound)).code, 0);
      await waitFor('the rights', async () => (await readPolicies(everywhere)).code === 0);
      const { code, stderr } = await createPolicy(everywhere);
      if (role === 'isthmus-admin') assert.equal(code, 0, stderr);
      else assert.match(stderr, /forbidden/, role);
    }
  });

  test('Kubernetes’ own roles take them in', async () => {
    const parts = { admin: 'isthmus-admin', edit: 'isthmus-developer', view: 'isthmus-viewer' };
    for (const [role, part] of Object.entries(parts)) {
      const { stdout } = await plane.kubectl(['get', 'clusterrole', role, '-o', 'json']);
      const { aggregationRule } = JSON.parse(stdout) as {
        aggregationRule: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] };
      };
      const labels = personaManifests().find(({ metadata }) => metadata.name === part)!.metadata.labels!;
      const isTaken = aggregationRule.clusterRoleSelectors.some(({ matchLabels }) =>
        Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
      );
      assert.ok(isTaken, `${role} takes in ${part}`);
    }
  });
});
