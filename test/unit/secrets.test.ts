/** A secret put into any field that could hold one is seen nowhere: not in a status, an event, an object, a log line, a metric or an answer. */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { eventsOf } from '../../src/control/kernel/events.ts';
import type { ConditionSummary } from '../../src/control/kernel/events.ts';
import { NOTHING_LEARNED } from '../../src/control/kernel/reconcile.ts';
import { createChecker } from '../../src/control/proxy/config/checks.ts';
import { PROXY_EVENTS } from '../../src/control/proxy/faults.ts';
import { findKmsProvider, KMS_PROVIDERS } from '../../src/crypto/kms/providers.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { messageOf } from '../../src/ops/errors.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { loadDocument } from '../../src/proxy/config/load.ts';
import { FILTER_TYPES } from '../../src/proxy/filters/registry.ts';
import { createProxy } from '../../src/proxy/workers/proxy.ts';
import { proxyChecks } from '../../src/store/proxy-checks.ts';
import { CANARY, showsCanary, textPaths, withText } from '../support/canary.ts';
import { load } from '../support/control/golden-scenario.ts';
import { objectsIn } from '../support/control/memory-cluster.ts';
import { openGolden } from '../support/golden/folder.ts';
import { createAuthority } from '../support/pki.ts';

/** A configuration that each filter takes, with something in every field. */
const FILTER_CONFIGS: Record<string, object> = {
  audit: { apis: ['changes', 'data'], summaryEvery: '1m' },
  authorization: {
    authorizer: 'AclAuthorizerService',
    authorizerConfig: {
      rules:
        'from io.kroxylicious.filter.authorization import TopicResource as Topic;\nallow User with name = "alice" to * Topic with name *;\notherwise deny;',
    },
    dryRun: false,
  },
  'connection-expiry': { maxAge: '1h', jitter: '5m' },
  masking: {
    rules: [{ topics: ['customers'], fields: ['email', 'cards.*.number'], mask: '***', except: ['bob'] }],
  },
  'multi-tenant': { prefixResourceNameSeparator: '-' },
  'oauth-bearer-validation': {
    jwksEndpointUrl: 'https://login.example/keys',
    expectedIssuer: 'https://login.example/',
    expectedAudience: 'kafka',
    subClaimName: 'sub',
  },
  'protocol-logger': { apiKeyNames: ['METADATA'], logLevel: 'info', loggerName: 'log' },
  quota: {
    quotas: [{ per: 'clientId', name: 'batch', produceBytes: 1000, fetchBytes: 1000, requests: 10 }],
    maxThrottle: '10s',
  },
  'record-encryption': {
    kms: 'UnitTestingKmsService',
    kmsConfig: {
      existingKeks: [
        {
          uuid: '7f3c0a52-51d3-4e0c-9a43-8b1f0c2d9e11',
          key: Buffer.alloc(32, 1).toString('base64'),
          algorithm: 'AES',
          alias: 'KEK-a',
        },
      ],
    },
    selector: 'TemplateKekSelector',
    selectorConfig: { template: 'KEK-$(topicName)' },
    unresolvedKeyPolicy: 'REJECT',
  },
  'record-validation': {
    rules: [
      { topicNames: ['orders'], valueRule: { syntacticallyCorrectJson: {} }, requiredHeaders: ['source'] },
      { topicNames: ['people'], valueRule: { jsonSchema: { type: 'object' } } },
    ],
    defaultRule: { maxRecordBytes: 1_000_000 },
  },
  'sasl-inspection': { enabledMechanisms: ['PLAIN'], requireAuthentication: true },
  'sasl-termination': {
    mechanisms: [
      { mechanism: 'PLAIN' },
      {
        mechanism: 'OAUTHBEARER',
        jwksEndpointUrl: 'https://login.example/keys',
        expectedIssuer: 'https://login.example/',
        expectedAudience: 'kafka',
        subClaimName: 'sub',
      },
    ],
    users: 'alice=wonderland',
    broker: {
      mechanism: 'PLAIN',
      username: 'proxy',
      password: 'a secret',
      users: [{ principal: 'alice', username: 'a', password: 'a secret' }],
    },
    maxTimeBeforeReauth: '1h',
    fixedAuthDelay: '1s',
  },
  'topic-alias': {
    aliases: [
      { alias: 'orders', topic: 'prod.orders' },
      { aliasPrefix: 'team-', topicPrefix: 'prod.team.' },
    ],
    otherTopics: 'hide',
  },
};

/** The configurations of key services that are elsewhere, with each way to be let in. */
const password = { password: 'a secret' };
const KMS_CONFIGS: { name: string; kms: string; kmsConfig: object }[] = [
  {
    name: 'vault-token',
    kms: 'vault',
    kmsConfig: {
      vaultTransitEngineUrl: 'https://kms.example/v1/transit',
      vaultToken: password,
      namespace: 'n',
    },
  },
  {
    name: 'vault-app-role',
    kms: 'vault',
    kmsConfig: {
      vaultTransitEngineUrl: 'https://kms.example/v1/transit',
      auth: { appRole: { roleId: 'r', secretId: password, mount: 'm' } },
    },
  },
  {
    name: 'vault-jwt',
    kms: 'vault',
    kmsConfig: {
      vaultTransitEngineUrl: 'https://kms.example/v1/transit',
      auth: { jwt: { role: 'r', jwt: password, mount: 'm' } },
    },
  },
  {
    name: 'aws',
    kms: 'aws-kms',
    kmsConfig: {
      endpointUrl: 'https://kms.example/',
      region: 'eu-central-1',
      credentials: { longTerm: { accessKeyId: password, secretAccessKey: password } },
    },
  },
  {
    name: 'azure',
    kms: 'azure-key-vault',
    kmsConfig: {
      keyVaultName: 'vault',
      keyVaultHost: 'kms.example',
      oauth2ClientCredentials: { tenantId: 't', clientId: password, clientSecret: password, scope: 's' },
    },
  },
  {
    name: 'gcp',
    kms: 'gcp-kms',
    kmsConfig: {
      keyRing: 'projects/p/locations/l/keyRings/r',
      credentials: { serviceAccountKey: password },
    },
  },
];
const encryption = FILTER_CONFIGS['record-encryption'];
const FILTERS: { name: string; type: string; config: object }[] = [
  ...Object.entries(FILTER_CONFIGS).map(([type, config]) => ({ name: type, type, config })),
  ...KMS_CONFIGS.map(({ name, ...kms }) => ({
    name,
    type: 'record-encryption',
    config: { ...encryption, ...kms },
  })),
];

test('there is an example of every key service', () => {
  const shown = new Set(
    [...KMS_CONFIGS, encryption as { kms: string }].map(({ kms }) => findKmsProvider(kms)),
  );
  assert.deepEqual(shown, new Set(KMS_PROVIDERS));
});

const authority = await createAuthority('canaries');
const { certPem, keyPem } = await authority.issue({ commonName: 'proxy', dns: ['localhost'] });

test('there is an example of every filter', () => {
  assert.deepEqual(
    FILTER_TYPES.map(([name]) => name).toSorted((a, b) => (a! < b! ? -1 : 1)),
    Object.keys(FILTER_CONFIGS),
  );
});

suite('what the operator says', () => {
  const golden = openGolden(resolve(import.meta.dirname, '../golden/proxy'));
  const PLACEHOLDER = '${secret:canary:value}';
  const SECRET = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'canary' },
    stringData: { value: CANARY },
  };
  /** A virtual cluster that uses a filter of each kind, in scenarios that have none. */
  const filters = FILTERS.map(({ name, type, config }) => ({
    apiVersion: 'filter.kroxylicious.io/v1alpha1',
    kind: 'KafkaProtocolFilter',
    metadata: { name: `canary-${name}` },
    spec: { type, config },
  }));
  const filtered = {
    apiVersion: 'kroxylicious.io/v1alpha1',
    kind: 'VirtualKafkaCluster',
    metadata: { name: 'canary' },
    spec: {
      proxyRef: { name: 'myproxy' },
      ingresses: [{ name: 'myclusterip' }],
      targetCluster: { clusterRef: { name: 'mytargetcluster' } },
      filterRefs: filters.map(({ metadata }) => ({ name: metadata.name })),
    },
  };
  const inputOf = (name: string) =>
    [...golden.input(name), ...filters, filtered, SECRET] as unknown as AnyObject[];

  const hiding = ({ kind }: AnyObject, [first, second]: readonly (string | number)[]) =>
    kind === 'Secret' || kind === 'ConfigMap'
      ? first === 'stringData' || first === 'data'
      : kind === 'KafkaProtocolFilter' && first === 'spec' && second === 'config';
  const all = golden.scenarios.flatMap((scenario) =>
    inputOf(scenario).flatMap((document, index) =>
      textPaths(document).flatMap((path) => {
        const field = [document.kind, ...path.filter((step) => typeof step === 'string')].join('.');
        // What a scenario says beside its objects is nobody's to write.
        const isOurs = /^Scenario|\.test\//.test(field);
        return isOurs ? [] : [{ place: { scenario, index, path }, isHiding: hiding(document, path), field }];
      }),
    ),
  );
  type Place = (typeof all)[number]['place'];
  const hidden = all.flatMap(({ place, isHiding }) => (isHiding ? place : []));
  /** Those of each field that there is, so that rare ones are tried as often as others. */
  const others = [
    ...Map.groupBy(
      all.filter(({ isHiding }) => !isHiding),
      ({ field }) => field,
    ).values(),
  ].map((places) => places.map(({ place }) => place));
  const conditionsOf = (status: unknown) => (status as { conditions?: ConditionSummary[] }).conditions ?? [];

  async function said(documents: readonly AnyObject[]): Promise<string[]> {
    const { cluster, proxy } = await load(documents, authority);
    const checker = createChecker(proxyChecks);
    const now = Date.now();
    const first = cluster.plan(proxy, now);
    const checked = await checker.config(first.config);
    const plan = cluster.plan(proxy, now, { learned: { ...NOTHING_LEARNED, checked } });
    return [
      ...[first, plan].flatMap(({ statuses }) => statuses.map((one) => JSON.stringify(one))),
      ...plan.statuses.flatMap(({ kind, status }) =>
        eventsOf(PROXY_EVENTS, kind, [], conditionsOf(status)).map((one) => JSON.stringify(one)),
      ),
      // The configuration itself is in a Secret, and nowhere else.
      ...objectsIn(plan).flatMap((object) => (object.kind === 'Secret' ? [] : [JSON.stringify(object)])),
    ];
  }

  async function assertUnseen({ scenario, index, path }: Place, text: string): Promise<void> {
    const documents = inputOf(scenario).map((one, at) => (at === index ? withText(one, path, text) : one));
    for (const line of await said(documents)) assert.ok(!showsCanary(line), line);
  }

  test('of values in Secrets, and of filters’ configurations', async () => {
    assert.ok(hidden.length > 100);
    const texts = fc.constantFrom(CANARY, PLACEHOLDER, `${CANARY}\n`);
    await fc.assert(fc.asyncProperty(fc.constantFrom(...hidden), texts, assertUnseen), { numRuns: 30 });
  });

  test('of what a placeholder stands for, in whatever text it is', async () => {
    assert.ok(others.length > 100);
    const any = fc.constantFrom(...others).chain((places) => fc.constantFrom(...places));
    await fc.assert(
      fc.asyncProperty(any, (place) => assertUnseen(place, PLACEHOLDER)),
      { numRuns: 30 },
    );
  });
});

suite('what a proxy says', () => {
  const key = {
    certificate: { pem: 'certificate' },
    privateKey: { pem: 'key' },
    keyPassword: { password: 'p' },
  };
  const store = { storeFile: 'store.p12', storeType: 'PKCS12', storePassword: { password: 'p' } };
  const trust = { storeFile: 'store.p12', storeType: 'PKCS12', storePassword: { passwordFile: 'password' } };
  const bootstrapServers = '127.0.0.1:1';
  const document = {
    pem: { certificate: certPem, key: keyPem },
    filterDefinitions: FILTERS,
    virtualClusters: [
      {
        name: 'a',
        targetCluster: { bootstrapServers, tls: { key, trust: { certificates: { pem: 'certificate' } } } },
        gateways: [gateway(1, { key })],
        filters: FILTERS.map(({ name }) => name),
      },
      {
        name: 'b',
        targetCluster: { bootstrapServers, tls: { key: store, trust } },
        gateways: [gateway(6, { key: store })],
      },
      { name: 'c', targetCluster: { bootstrapServers }, gateways: [gateway(11, { key, trust })] },
    ],
  };
  const SHOWN = new Set<string | number>([
    'name',
    'type',
    'bootstrapAddress',
    'bootstrapServers',
    'bindAddress',
  ]);
  const places = textPaths(document).filter(
    (path) => !SHOWN.has(path.at(-1)!) && !(path[0] === 'virtualClusters' && path[2] === 'filters'),
  );

  function gateway(port: number, tls: object) {
    const portIdentifiesNode = { bootstrapAddress: `localhost:${port}` };
    // An address that nobody has: nothing is to be listened on here.
    return { name: 'g', bindAddress: '203.0.113.1', portIdentifiesNode, tls };
  }

  async function said(content: object): Promise<string[]> {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const proxy = createProxy({ log, metrics: createMetrics(), workers: 1 });
    try {
      const { warnings, ...loaded } = await loadDocument(content, 'proxy.yaml', (file) =>
        Buffer.from(file === 'password' ? CANARY : 'no store'),
      );
      await proxy.apply({ ...loaded, hash: 'h' });
      lines.push(...warnings, JSON.stringify(loaded.rejected));
    } catch (error) {
      lines.push(messageOf(error));
    }
    lines.push(JSON.stringify(proxy.status() ?? {}), proxy.notReady() ?? '', await proxy.metricsText());
    await proxy.close(0);
    return lines;
  }

  test('of keys, passwords and filters’ configurations', async () => {
    // As it is, all of it is taken and told about: what is refused at once would say nothing of what comes after.
    assert.match((await said(document)).join('\n'), /"name":"a"[^]*"name":"b"[^]*"name":"c"/);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.constantFrom(CANARY, `\n${CANARY}`),
        async (path, text) => {
          for (const line of await said(withText(document, path, text))) assert.ok(!showsCanary(line), line);
        },
      ),
      { numRuns: 60 },
    );
  });
});
