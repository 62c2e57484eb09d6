import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { NOTHING_ALLOCATED } from '../control/proxy/ports/ports.ts';
import { checkProxyConfig } from '../proxy/config/load.ts';
import { analyzeFolder, locateFaults } from './analyze.ts';
import { planLocally } from './local-plan.ts';
import type { LocalPlan } from './local-plan.ts';
import { readResources } from './resources.ts';

const PROXY = `
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxy
metadata: { name: p }
spec: {}
---
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxyIngress
metadata: { name: tcp }
spec:
  proxyRef: { name: p }
  clusterIP: { protocol: TCP, port: 9082 }
---
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaClusterRef
metadata: { name: kafka }
spec:
  bootstrap: 127.0.0.1:9092
  nodeIdRanges: [{ start: 0, end: 2 }]
`;

const cluster = (name: string, more = '') => `
apiVersion: kroxylicious.io/v1alpha1
kind: VirtualKafkaCluster
metadata: { name: ${name} }
spec:
  proxyRef: { name: p }
  ingresses: [{ name: tcp }]
  targetCluster: { clusterRef: { name: kafka } }
${more}`;

const LOAD_BALANCER = `
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxyIngress
metadata: { name: lb }
spec:
  proxyRef: { name: p }
  loadBalancer:
    bootstrapAddressPattern: $(virtualClusterName).kafka.test
    brokerAddressPattern: broker-$(nodeId).$(virtualClusterName).kafka.test
    port: 9443
---
apiVersion: kroxylicious.io/v1alpha1
kind: VirtualKafkaCluster
metadata: { name: outside }
spec:
  proxyRef: { name: p }
  ingresses:
    - name: lb
      tls: { certificateRefs: [{ name: cert }] }
  targetCluster: { clusterRef: { name: kafka } }
`;

const SECRET = `
apiVersion: v1
kind: Secret
metadata: { name: cert }
data: { tls.crt: ${btoa('CERT')}, tls.key: ${btoa('KEY')} }
`;

suite('the local plan', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'isthmus-plan-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function plan(files: Record<string, string>, known = NOTHING_ALLOCATED): LocalPlan {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { snapshot, problems } = readResources(folder);
    assert.deepEqual(problems, []);
    return planLocally(snapshot, 0, { allocation: known });
  }

  test('the filters that a proxy demands are around those of a virtual cluster, whatever it names', () => {
    const filters = ['audit', 'own', 'seal'].map(
      (name) => `
apiVersion: filter.kroxylicious.io/v1alpha1
kind: KafkaProtocolFilter
metadata: { name: ${name} }
spec: { type: protocol-logger }`,
    );
    const demanding = PROXY.replace(
      'spec: {}',
      'spec: { mandatoryFilterRefs: { first: [{ name: audit }], last: [{ name: seal }] } }',
    );
    const planned = plan({
      'p.yaml': demanding,
      'f.yaml': filters.join('\n---'),
      'a.yaml': cluster('a', '  filterRefs: [{ name: own }, { name: audit }]'),
      'b.yaml': cluster('b', '  filterRefs: []'),
    });
    assert.deepEqual(
      planned.listings.map(({ filters }) => filters),
      [
        ['audit', 'own', 'seal'],
        ['audit', 'seal'],
      ],
    );
  });

  test('a misspelt proxy is told of as that, and not as a lack of ports', () => {
    const misspelt = plan({ 'p.yaml': PROXY, 'a.yaml': cluster('a').replace('{ name: p }', '{ name: q }') });
    const { faults } = plan({
      'p.yaml': PROXY.replace('proxyRef: { name: p }', 'proxyRef: { name: q }'),
      'a.yaml': cluster('a'),
    });
    const said = (all: LocalPlan['faults']) => all.map(({ reason, message }) => `${reason}: ${message}`);
    const belongs = (to: string, not: string) =>
      `InvalidReferencedResource: KafkaProxyIngress "tcp" belongs to KafkaProxy "${to}", not to "${not}"`;
    assert.deepEqual(said(misspelt.faults), [
      'ReferencedResourcesNotFound: no KafkaProxy is named "q"',
      belongs('p', 'q'),
    ]);
    assert.deepEqual(said(faults), [belongs('q', 'p')]);
  });

  test('the limits and the target policy of a KafkaProxy hold, and another one that differs is told so', () => {
    const limited = PROXY.replace(
      'spec: {}',
      'spec: { limits: { maxConnections: 3, drainTimeout: 2s }, targetPolicy: { allow: [10.0.0.0/8] } }',
    );
    const settingsOf = ({ config }: LocalPlan) => {
      const document = JSON.parse(config.text) as { targetPolicy: object };
      const { config: read } = checkProxyConfig(document, 'test');
      return [read.limits.maxConnections, read.shutdownTimeoutMs, document.targetPolicy];
    };
    const policy = { allow: ['10.0.0.0/8'], bootstrap: 'named' };
    const alone = plan({ 'p.yaml': limited, 'a.yaml': cluster('a') });
    assert.deepEqual(alone.faults, []);
    assert.deepEqual(settingsOf(alone), [3, 2000, policy]);
    const second = '\napiVersion: kroxylicious.io/v1alpha1\nkind: KafkaProxy\nmetadata: { name: q }\nspec:\n';
    const both = plan({ 'q.yaml': `${second}  limits: { maxConnections: 5 }\n` });
    assert.deepEqual(settingsOf(both), [3, 2000, policy]);
    const located = locateFaults(both.faults, readResources(folder));
    assert.deepEqual(
      located.map(({ file, line }) => [file.split('/').at(-1), line]),
      [
        ['q.yaml', 6],
        ['q.yaml', 6],
      ],
    );
    assert.match(located[0]!.message, /^KafkaProxy "q": .* the limits of KafkaProxy "p"/);
  });

  test('two virtual clusters on one TCP ingress get blocks one after the other', () => {
    const { listings, faults } = plan({ 'p.yaml': PROXY, 'a.yaml': cluster('a'), 'b.yaml': cluster('b') });
    assert.deepEqual(faults, []);
    assert.deepEqual(
      listings.map(({ virtualCluster, bootstrap, protocol }) => [virtualCluster, bootstrap, protocol]),
      [
        ['a', '127.0.0.1:9082', 'TCP'],
        ['b', '127.0.0.1:9090', 'TCP'],
      ],
    );
  });

  test('a broken reference is a fault at its line, and the others keep serving at their ports', async () => {
    const before = plan({ 'p.yaml': PROXY, 'a.yaml': cluster('a'), 'b.yaml': cluster('b') });
    writeFileSync(join(folder, 'a.yaml'), cluster('a', '  filterRefs: [{ name: nowhere }]\n'));
    const after = planLocally(readResources(folder).snapshot, 0, before);
    assert.deepEqual(
      after.listings.map(({ virtualCluster, bootstrap }) => [virtualCluster, bootstrap]),
      [['b', '127.0.0.1:9090']],
    );
    const [problem] = (await analyzeFolder(folder)).problems;
    assert.match(problem!.message, /VirtualKafkaCluster "a": no KafkaProtocolFilter is named "nowhere"/);
    assert.equal(problem!.line, 9);
  });

  test('a load balancer becomes a TLS listener that tells brokers apart by name', () => {
    const { listings, clusters } = plan({ 'p.yaml': PROXY, 'lb.yaml': `${LOAD_BALANCER}---${SECRET}` });
    assert.equal(listings[0]!.bootstrap, 'outside.kafka.test:9443');
    assert.equal(listings[0]!.protocol, 'TLS');
    assert.deepEqual(clusters[0]!.ingresses[0]!.tls?.keys, [{ certificate: 'CERT', privateKey: 'KEY' }]);
  });

  test('a missing Secret is named', () => {
    const { faults } = plan({ 'p.yaml': PROXY, 'lb.yaml': LOAD_BALANCER });
    assert.deepEqual(
      faults.map(({ reason, message }) => [reason, message]),
      [['ReferencedResourcesNotFound', 'no Secret is named "cert"']],
    );
  });

  test('the document it leads to is one that the proxy takes', () => {
    const planned = plan({ 'p.yaml': PROXY, 'a.yaml': cluster('a'), 'b.yaml': cluster('b') });
    const { config } = checkProxyConfig(JSON.parse(planned.config.text), 'plan');
    assert.deepEqual(
      config.virtualClusters.map(({ name, gateways }) => [name, gateways[0]!.routing.bootstrap.port]),
      [
        ['a', 9082],
        ['b', 9090],
      ],
    );
  });

  test('the same resource twice is a problem that names the first place', () => {
    writeFileSync(join(folder, '1.yaml'), cluster('a'));
    writeFileSync(join(folder, '2.yaml'), cluster('a'));
    const { problems } = readResources(folder);
    assert.match(problems[0]!.message, /is there twice; the first is in .*1\.yaml:2$/);
  });

  test('one name in two namespaces is two resources; but only one of them can be served here', async () => {
    const inTeam = (text: string, team: string) =>
      text.replaceAll(/(name: \w+) }/g, `$1, namespace: ${team} }`);
    // References have no namespace.
    const all = (team: string) =>
      inTeam(PROXY + '---' + cluster('a'), team).replaceAll(/(Ref: \{ name: \w+), namespace: \w+/g, '$1');
    writeFileSync(
      join(folder, '1.yaml'),
      all('one').replace('[{ name: tcp, namespace: one }]', '[{ name: tcp }]'),
    );
    writeFileSync(
      join(folder, '2.yaml'),
      all('two').replace('[{ name: tcp, namespace: two }]', '[{ name: tcp }]'),
    );
    assert.deepEqual((await analyzeFolder(folder)).problems, []);
    const { listings, faults } = planLocally(readResources(folder).snapshot, 0, {
      allocation: NOTHING_ALLOCATED,
    });
    assert.equal(listings.length, 1);
    assert.match(faults[0]!.message, /one of this name, of namespace "one", comes first/);
    assert.equal(locateFaults(faults, readResources(folder))[0]!.file, join(folder, '2.yaml'));
  });

  test('a Secret that is none is a problem that does not show it, and stops nobody', () => {
    writeFileSync(join(folder, 'p.yaml'), PROXY);
    writeFileSync(
      join(folder, 's.yaml'),
      'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\ndata:\n  pin: 4711\n---\napiVersion: v1\nkind: Secret\ndata: x\n',
    );
    const { problems, snapshot } = readResources(folder);
    assert.deepEqual(
      problems.map(({ line, message }) => `${line}: ${message}`),
      [
        '5: data.pin must be a string; put it in quotes',
        '7: metadata is required',
        '9: data must be a mapping',
      ],
    );
    assert.equal(snapshot.proxies.length, 1);
  });

  test('kinds of other programs are passed over, unless they look like ours', async () => {
    const manifest = (apiVersion: string, kind: string) =>
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: x }\n---\n`;
    const foreign = [
      manifest('v1', 'Namespace'),
      manifest('apps/v1', 'Deployment'),
      manifest('postgresql.cnpg.io/v1', 'Cluster'),
      manifest('kafka.strimzi.io/v1beta2', 'KafkaConnect'),
    ];
    writeFileSync(join(folder, 'f.yaml'), foreign.join(''));
    assert.deepEqual(await analyzeFolder(folder), { problems: [], counts: { ours: 0, foreign: 4 } });
    const wrong = [
      manifest('v1alpha1', 'KafkaProxy'),
      manifest('kroxylicious.io/v1alpha1', 'KafkaProxi'),
      manifest('kafka.strimzi.io/v9', 'Kafka'),
    ];
    writeFileSync(join(folder, 'f.yaml'), wrong.join(''));
    assert.equal((await analyzeFolder(folder)).problems.length, 3);
  });

  test('the configuration of a filter is checked by the filter', async () => {
    const filter = (name: string, type: string, config: string) =>
      `apiVersion: filter.kroxylicious.io/v1alpha1\nkind: KafkaProtocolFilter\nmetadata: { name: ${name} }\nspec:\n  type: ${type}\n  config: ${config}\n---\n`;
    writeFileSync(
      join(folder, 'f.yaml'),
      filter('good', 'connection-expiry', '{ maxAge: 1h }') +
        filter('typo', 'connection-expiry', '{ maxAgee: 1h }') +
        filter('unknown', 'NoSuchFilter', '{}') +
        filter('own', 'module:my-filter', '{ any: thing }') +
        filter('elsewhere', 'connection-expiry', '{ maxAge: "${secret:not-here:age}" }'),
    );
    const found = (await analyzeFolder(folder)).problems.map(({ line, message }) => `${line}: ${message}`);
    assert.equal(found.length, 2, found.join('\n'));
    assert.match(found[0]!, /^13: KafkaProtocolFilter "typo": .*maxAge/);
    assert.match(found[1]!, /^19: KafkaProtocolFilter "unknown": type: "NoSuchFilter" is not one of/);
  });

  test('a misspelt field is a problem with its line and a suggestion', () => {
    writeFileSync(join(folder, '1.yaml'), cluster('a').replace('proxyRef', 'proxyReff'));
    const messages = readResources(folder).problems.map(({ line, message }) => `${line}: ${message}`);
    assert.ok(
      messages.includes('6: spec.proxyReff is not a field; did you mean proxyRef?'),
      messages.join('\n'),
    );
  });
});
