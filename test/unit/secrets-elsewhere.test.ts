/** What is in a Secret is said nowhere: of the roads beside the proxy's, of the clusters that a DNS server joins, and of commands for people. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { stringify } from 'yaml';
import { checkAll } from '../../src/cli/check/checks.ts';
import type { Facts } from '../../src/cli/check/facts.ts';
import { RESOURCE_KINDS } from '../../src/cli/check/kinds.ts';
import { runProgram } from '../../src/cli/program.ts';
import { describeText } from '../../src/cli/view/description.ts';
import { treeText } from '../../src/cli/view/tree-text.ts';
import { treeOf } from '../../src/view/tree.ts';
import { KAFKA_EVENTS } from '../../src/control/brokers/faults.ts';
import { eventsOf } from '../../src/control/kernel/events.ts';
import type { ConditionSummary } from '../../src/control/kernel/events.ts';
import { rowsOf } from '../../src/control/kernel/watches.ts';
import { REDPANDA_WATCHES } from '../../src/control/redpanda/watches.ts';
import { loadKeys } from '../../src/dns/secondary/keys.ts';
import { dnsConfigSchema } from '../../src/dns/server/config.ts';
import { createClusters } from '../../src/kube/clusters.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { messageOf } from '../../src/ops/errors.ts';
import { findKind } from '../../src/resources/registry.ts';
import { kafkaObject, poolObject } from '../support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../support/brokers/memory-kafka.ts';
import { CANARY, showsCanary, textPaths, withText } from '../support/canary.ts';
import { openGolden } from '../support/golden/folder.ts';
import { createAuthority } from '../support/pki.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const golden = (road: string) => openGolden(resolve(import.meta.dirname, '../golden', road));
const conditionsOf = (status: unknown) => (status as { conditions?: ConditionSummary[] }).conditions ?? [];

function assertHidden(lines: readonly string[]): void {
  for (const line of lines) assert.ok(!showsCanary(line), line);
}

/** Everything that people see of an object. */
function seenOf(objects: readonly AnyObject[]): string[] {
  const known = objects.filter(({ apiVersion, kind }) => findKind(apiVersion, kind));
  return known.flatMap((object) => [
    describeText(object, { kind: findKind(object.apiVersion, object.kind)!, events: [], now: 0 }),
    treeText(treeOf(object, { objects }), false),
    JSON.stringify(checkAll(factsWith(known), false)),
  ]);
}

function factsWith(objects: readonly AnyObject[]): Facts {
  const none = { value: [] };
  return {
    road: undefined,
    namespace: 'isthmus-system',
    server: { value: { gitVersion: 'v1.35.0', major: '1', minor: '35' } },
    crds: none,
    installRights: none,
    operator: { value: undefined },
    operatorRights: none,
    lease: { value: undefined },
    policies: none,
    resources: new Map(
      RESOURCE_KINDS.map(({ kind }) => [kind, { value: objects.filter((one) => one.kind === kind) }]),
    ),
    served: new Map(),
    gatewayControllers: none,
    dns: { value: undefined },
    delegation: { value: undefined },
    grantees: none,
  };
}

const caSecret = (name: string, data: Record<string, string>): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'kafka', labels: { 'strimzi.io/cluster': 'events' } },
  data,
});

suite('what the operator says of Kafka clusters', () => {
  const scenarios = golden('kafka');

  /** A cluster as a scenario leaves it. */
  async function settled(scenario: string) {
    const memory = createMemoryKafka();
    for (const document of scenarios.input(scenario) as unknown as AnyObject[]) {
      if (document.kind === 'Scenario') continue;
      const { name } = document.metadata;
      memory.put({
        ...document,
        metadata: { namespace: 'kafka', uid: `uid-of-${name}`, generation: 1, ...document.metadata },
      });
    }
    await memory.settle();
    return memory;
  }

  test('of keys of authorities, of nodes and of the operator', async () => {
    const any = fc.constantFrom(...scenarios.scenarios);
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(any, fc.nat(), fc.boolean(), async (scenario, at, isAll) => {
        const memory = await settled(scenario);
        const entries = memory
          .list('Secret')
          .flatMap((secret) => Object.keys(secret['data'] as object).map((key) => ({ secret, key })));
        if (entries.length === 0) return;
        const { secret, key } = entries[at % entries.length]!;
        const text = (before: string) =>
          base64(isAll ? CANARY : Buffer.from(before, 'base64').toString() + CANARY);
        const data = secret['data'] as Record<string, string>;
        memory.put({ ...secret, data: { ...data, [key]: text(data[key]!) } });
        const said: string[] = [];
        for (let step = 0; step < 3; step++) {
          await memory.step().catch((error: unknown) => void said.push(messageOf(error)));
          const { statuses, targets, actions } = memory.plan();
          said.push(
            ...statuses.map((one) => JSON.stringify(one)),
            ...statuses.flatMap(({ kind, status }) =>
              eventsOf(KAFKA_EVENTS, kind, [], conditionsOf(status)).map((one) => JSON.stringify(one)),
            ),
            ...targets
              .flatMap(({ objects }) => objects)
              .flatMap((object) => (object.kind === 'Secret' ? [] : [JSON.stringify(object)])),
            ...actions.map((action) => action.do),
          );
        }
        said.push(...seenOf([...memory.list('Kafka'), ...memory.list('KafkaAnchor')]));
        for (const { kind } of memory.plan().statuses) kinds.add(kind);
        assertHidden(said);
      }),
      { numRuns: 12 },
    );
    assert.ok(kinds.has('Kafka'), 'something was said');
  });

  test('of authorities that their owners bring, and that cannot be read', async () => {
    const own = await createAuthority('own');
    const pem = (kind: string) => `-----BEGIN ${kind}-----\n${base64(CANARY)}\n-----END ${kind}-----\n`;
    const GOOD: Record<'ca.crt' | 'ca.key', string> = { 'ca.crt': own.certPem, 'ca.key': own.keyPem };
    const lines: string[] = [];
    for (const [key, texts] of [
      ['ca.crt', [CANARY, pem('CERTIFICATE'), `${own.certPem}${pem('CERTIFICATE')}`]],
      ['ca.key', [CANARY, pem('PRIVATE KEY'), `${CANARY}${own.keyPem.slice(30)}`]],
    ] as const)
      for (const text of texts) {
        const memory = createMemoryKafka();
        const kafka = kafkaObject();
        const clusterCa = { generateCertificateAuthority: false };
        memory.put({ ...kafka, spec: { ...(kafka['spec'] as object), clusterCa } });
        memory.put(poolObject());
        const given: typeof GOOD = { ...GOOD, [key]: text };
        memory.put(caSecret('events-cluster-ca', { 'ca.key': base64(given['ca.key']) }));
        memory.put(caSecret('events-cluster-ca-cert', { 'ca.crt': base64(given['ca.crt']) }));
        await memory.settle();
        const status = JSON.stringify(memory.get('Kafka', 'events')!['status'] ?? {});
        assert.match(status, /"status":"False"[^}]*cluster-ca/, `${key}: ${text} is told of`);
        lines.push(status, JSON.stringify(memory.plan().statuses));
      }
    assertHidden(lines);
  });

  test('of Redpanda there is nothing to say: no Secret of it is read', () => {
    const kinds = new Set(rowsOf(REDPANDA_WATCHES).map(([, { kind }]) => kind.kind));
    assert.ok(kinds.has('StatefulSet') && !kinds.has('Secret'));
  });
});

suite('what a DNS server says', () => {
  const kubeconfig = (user: string) => `apiVersion: v1
kind: Config
current-context: one
contexts: [{ name: one, context: { cluster: one, user: one } }]
clusters: [{ name: one, cluster: { server: "https://127.0.0.1:1" } }]
users:
  - name: one
    user:
      ${user}
`;

  /** What is logged, what Node warns of, and what can be asked. */
  async function said(text: string): Promise<string[]> {
    const lines: string[] = [];
    const warned = (warning: Error) => void lines.push(String(warning));
    process.on('warning', warned);
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const clusters = createClusters({ log });
    clusters.set('east', text);
    lines.push(clusters.problemOf('east') ?? '');
    try {
      clusters.get('east');
    } catch (error) {
      lines.push(messageOf(error));
    }
    await clusters.stop();
    await setImmediate();
    process.off('warning', warned);
    return lines;
  }

  test('of the kubeconfigs of clusters that it joins', async () => {
    assert.match((await said(kubeconfig('token: abc'))).join('\n'), /cluster joined/);
    const fields = [
      'token',
      'password',
      'client-key-data',
      'client-certificate-data',
      'tokenFile',
      'exec',
      'x',
    ];
    const texts = ['', '"', '*', '!', '&', '{', '[', '- ', '|', '? ', '%', '@', '`', "'", '\t', '}'].flatMap(
      (mark) => [
        `${mark}${CANARY}`,
        `${mark}${CANARY} x: y`,
        `${mark}${CANARY}: [${CANARY}`,
        `${CANARY}${mark}`,
      ],
    );
    for (const field of fields)
      for (const text of texts) assertHidden(await said(kubeconfig(`${field}: ${text}`)));
    for (const text of texts) assertHidden(await said(text));
  });

  test('of keys for transfers', () => {
    const directory = mkdtempSync(join(tmpdir(), 'isthmus-keys-'));
    after(() => rmSync(directory, { recursive: true }));
    const secretFile = join(directory, 'key');
    for (const text of [CANARY, `${CANARY}==`, base64(CANARY).repeat(2), CANARY.repeat(200)]) {
      writeFileSync(secretFile, text);
      const load = () =>
        loadKeys(
          dnsConfigSchema.parse({
            zones: [{ name: 'example.test' }],
            tsigKeys: [{ name: 'k.test', secretFile }],
            transferKeys: ['other.test'],
          }),
        );
      assert.throws(load, (error) => !showsCanary(messageOf(error)));
    }
  });
});

suite('what commands print', () => {
  const scenarios = golden('proxy');
  const directory = mkdtempSync(join(tmpdir(), 'isthmus-render-'));
  after(() => rmSync(directory, { recursive: true }));
  const inputOf = (scenario: string) =>
    (scenarios.input(scenario) as unknown as AnyObject[]).filter(({ kind }) => kind !== 'Scenario');
  const places = scenarios.scenarios.flatMap((scenario) =>
    inputOf(scenario).flatMap((document, index) =>
      textPaths(document)
        .filter(([first]) => document.kind === 'Secret' && (first === 'data' || first === 'stringData'))
        .map((path) => ({ scenario, index, path })),
    ),
  );

  async function isthmus(...args: string[]): Promise<string> {
    let text = '';
    const write = (more: string) => void (text += more);
    await runProgram(args, { out: write, err: write, exitCode: 0 });
    return text;
  }

  test('of a rendered configuration, and of the resources that it is for', async () => {
    const { certPem, keyPem } = await (await createAuthority('render')).issue({ commonName: 'x' });
    assert.ok(places.length > 20);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.constantFrom(CANARY, `${certPem}${CANARY}`, `${keyPem}${CANARY}`, `\n${CANARY}`),
        async ({ scenario, index, path }, text) => {
          const documents = inputOf(scenario).map((one, at) =>
            at === index ? withText(one, path, path[0] === 'data' ? base64(text) : text) : one,
          );
          writeFileSync(join(directory, 'all.yaml'), documents.map((one) => stringify(one)).join('---\n'));
          assertHidden([await isthmus('config', 'render', '-f', directory)]);
          assertHidden([await isthmus('analyze', '-f', directory)]);
          assertHidden(seenOf(documents));
        },
      ),
      { numRuns: 20 },
    );
  });
});
