/** What is in a Secret, or was written where only a filter may read it, is said nowhere by an operator that really runs: not logged either. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { pino } from 'pino';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { CANARY, showsCanary } from '../../support/canary.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { entity, kafka, nodePool } from '../brokers/fixture.ts';
import { named } from '../control/fixture.ts';
import { adminOf, configOf, get, metrics, runOperator, waitForCondition } from '../control/harness.ts';

const secret = (name: string, stringData: Record<string, string>, rest: object = {}) =>
  named('Secret', name, { stringData, ...rest }, 'v1');

const filter = (name: string, type: string, config: object) =>
  named('KafkaProtocolFilter', name, { spec: { type, config } }, 'filter.kroxylicious.io/v1alpha1');

const PLACEHOLDER = '${secret:canaries:value}';
const KEY = Buffer.alloc(32, 1).toString('base64');

/** A proxy with everything that takes a secret: well, and where it does not belong. */
const PROXY = [
  secret('canaries', { value: CANARY, key: KEY }),
  secret('broken-certificate', { 'tls.crt': CANARY, 'tls.key': CANARY }, { type: 'kubernetes.io/tls' }),
  named('KafkaProxy', 'myproxy', { spec: {} }),
  named('KafkaProxyIngress', 'plain', {
    spec: { proxyRef: { name: 'myproxy' }, clusterIP: { protocol: 'TCP' } },
  }),
  named('KafkaProxyIngress', 'tls', {
    spec: { proxyRef: { name: 'myproxy' }, clusterIP: { protocol: 'TLS' } },
  }),
  named('KafkaClusterRef', 'brokers', { spec: { bootstrap: 'kafka.invalid:9092' } }),
  filter('sealing', 'record-encryption', {
    kms: 'vault',
    kmsConfig: {
      vaultTransitEngineUrl: 'https://kms.invalid/v1/transit',
      vaultToken: { password: PLACEHOLDER },
    },
    selector: 'TemplateKekSelector',
    selectorConfig: { template: 'key' },
  }),
  filter('misplaced', 'protocol-logger', { apiKeyNames: [PLACEHOLDER], loggerName: PLACEHOLDER }),
  ...(
    [
      ['well', 'plain', ['sealing']],
      ['wrong', 'plain', ['misplaced']],
      ['broken', 'tls', []],
    ] as const
  ).map(([name, ingress, filters]) =>
    named('VirtualKafkaCluster', name, {
      spec: {
        proxyRef: { name: 'myproxy' },
        ingresses: [
          {
            name: ingress,
            ...(ingress === 'tls' && { tls: { certificateRef: { name: 'broken-certificate' } } }),
          },
        ],
        targetCluster: { clusterRef: { name: 'brokers' } },
        filterRefs: filters.map((one) => ({ name: one })),
      },
    }),
  ),
];

/** Kafka clusters: one with users, one whose own authority is no certificate, one with secrets in its settings. */
const OWN_CA = { generateCertificateAuthority: false };
const logging = {
  type: 'external',
  valueFrom: { configMapKeyRef: { name: 'logging', key: 'log4j2.properties' } },
};
const authority = (name: string, data: Record<string, string>) => {
  const { metadata, ...rest } = secret(name, data);
  const labels = { 'strimzi.io/kind': 'Kafka', 'strimzi.io/cluster': 'own' };
  return { ...rest, metadata: { ...metadata, labels } };
};
const KAFKA = [
  secret('brought', { password: CANARY }),
  named('ConfigMap', 'logging', { data: { 'log4j2.properties': `${CANARY} = {` } }, 'v1'),
  kafka('events', { logging }, { entityOperator: { userOperator: {} } }),
  nodePool('events', 'dual'),
  entity('KafkaUser', 'alice', 'events', {
    authentication: {
      type: 'scram-sha-512',
      password: { valueFrom: { secretKeyRef: { name: 'brought', key: 'password' } } },
    },
  }),
  authority('own-cluster-ca', { 'ca.key': CANARY }),
  authority('own-cluster-ca-cert', { 'ca.crt': CANARY, 'ca.p12': CANARY, 'ca.password': CANARY }),
  kafka('own', {}, { clusterCa: OWN_CA }),
  nodePool('own', 'own'),
  kafka('settings', {
    config: { 'ssl.keystore.password': CANARY, 'num.partitions': CANARY, 'sasl.jaas.config': CANARY },
  }),
  nodePool('settings', 'settings'),
];

suite('an operator that runs', () => {
  let plane: ControlPlane;
  let client: Client;
  let operator: Operator | undefined;
  const logged: string[] = [];
  // Without the cutting out that the real one has: what is not logged at all cannot slip through it.
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });

  before(async () => {
    plane = await startControlPlaneWithCrds();
    client = adminOf(plane);
    operator = await runOperator(plane, { roads: ['proxy', 'kafka', 'pod-sets'], log });
  });
  after(async () => {
    await operator?.stop();
    await client?.close();
    await plane?.stop();
  });

  /** All objects but those that may hold secrets, or what people wrote. */
  async function everything(): Promise<AnyObject[]> {
    const { stdout: kinds } = await plane.kubectl([
      'api-resources',
      '--verbs=list',
      '--namespaced',
      '-o',
      'name',
    ]);
    const names = kinds.split('\n').filter((name) => name !== '' && name !== 'secrets');
    const { code, stdout, stderr } = await plane.kubectl([
      'get',
      names.join(','),
      '-o',
      'json',
      '-n',
      'default',
    ]);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { items: AnyObject[] }).items;
  }

  const isOurs = ({ metadata, kind }: AnyObject) =>
    metadata.labels?.['app.kubernetes.io/managed-by'] === 'isthmus' && kind !== 'ConfigMap';

  const regards = (event: AnyObject) => (event['involvedObject'] as { name: string } | undefined)?.name;

  test('shows no value of a Secret, nor of a setting that may be one', async () => {
    for (const object of [...PROXY, ...KAFKA]) await client.create(object);
    for (const name of ['wrong', 'broken'])
      await waitForCondition(client, ['VirtualKafkaCluster', name], ['Ready', 'False']);
    await waitForCondition(client, ['KafkaUser', 'alice'], ['Ready', 'False']);
    for (const name of ['events', 'own', 'settings'])
      await waitForCondition(client, ['Kafka', name], ['Ready', 'False']);
    // It did have them: the proxy's configuration holds the token, and the user's Secret the password.
    await waitFor('the configuration', async () =>
      JSON.stringify((await configOf(client, 'myproxy')) ?? '').includes(CANARY),
    );
    await waitFor('the password', async () => {
      const { data } = ((await get(client, 'Secret', 'alice')) ?? {}) as { data?: Record<string, string> };
      return Buffer.from(data?.['password'] ?? '', 'base64').toString() === CANARY;
    });

    const running = operator!;
    const measured = await metrics(running);
    // Events and lines of the log come beside the work: who has ended says nothing more.
    operator = undefined;
    await running.stop();
    const objects = await everything();
    const events = objects.filter(({ kind }) => kind === 'Event');
    const ours = objects.filter(isOurs);
    assert.ok(ours.length > 5 && logged.length > 0 && measured.includes('isthmus_'));
    // Each of those that are not well is told of.
    for (const name of ['wrong', 'broken', 'own'])
      assert.ok(
        events.some((one) => regards(one) === name),
        `an event of ${name}`,
      );
    const said = [
      ...events.map((one) => JSON.stringify(one)),
      ...ours.map((one) => JSON.stringify(one)),
      ...objects.map(({ status }) => JSON.stringify(status ?? {})),
      measured,
      ...logged,
    ];
    for (const text of said) assert.ok(!showsCanary(text), text);
  });
});
