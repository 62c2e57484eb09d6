/** The chart with the real Helm: it makes what `isthmus install` prints, and is installed, upgraded and rolled back. */
import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import type { PolicyRule } from '../../../src/control/kernel/rights.ts';
import { run } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { ensureHelm } from '../../support/install/helm.ts';
import { workspace } from '../../support/workspace.ts';
import { rightsIn } from '../../../tools/chart/template.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const CHART = join(ROOT, 'deploy/chart');
const KUSTOMIZE = join(ROOT, 'deploy/kustomize');
const NAMESPACE = 'kafka-tools';
/** Where the page installs it: CRDs that stay belong to the release that made them. */
const HOME = 'isthmus-system';

interface Item {
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  rules?: PolicyRule[];
}

async function installed(...flags: string[]): Promise<Item[]> {
  let printed = '';
  const terminal = { out: (text: string) => void (printed += text), err: () => {}, exitCode: 0 as const };
  assert.equal(await runProgram(['install', '-o', 'json', ...flags], terminal), 0);
  return (JSON.parse(printed) as { items: Item[] }).items;
}

/** Every object by its name, with rules as what they grant: the chart has them in another order. */
function comparable(items: readonly Item[]): Record<string, object> {
  const entries = items.map((item) => {
    const { annotations, ...metadata } = item.metadata;
    const others = Object.entries(annotations ?? {}).filter(([key]) => key !== 'helm.sh/resource-policy');
    const named = { ...metadata, ...(others.length > 0 && { annotations: Object.fromEntries(others) }) };
    const rules = item.rules && { rules: [...new Set(item.rules.flatMap(rightsIn))].toSorted() };
    return [
      `${item.kind} ${metadata.namespace ?? ''}/${metadata.name}`,
      { ...item, metadata: named, ...rules },
    ] as const;
  });
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What install is told, and the chart. */
const CHOICES: Record<string, [string[], object]> = {
  'nothing chosen': [[], {}],
  'all roads, all CRDs': [
    ['--roads', 'proxy,kafka,redpanda,pod-sets', '--crds', 'all', '--pod-monitor', '--console'],
    {
      console: true,
      roads: ['proxy', 'kafka', 'redpanda', 'pod-sets'],
      crds: { projects: ['strimzi', 'redpanda', 'external-dns', 'mcs'] },
      podMonitor: true,
    },
  ],
  'some namespaces': [
    [
      '--roads',
      'kafka,pod-sets',
      '--watch-namespaces',
      'a,b',
      '--crds',
      'strimzi',
      '--pod-monitor',
      '--console',
    ],
    {
      console: true,
      roads: ['kafka', 'pod-sets'],
      watchNamespaces: ['a', 'b'],
      crds: { projects: ['strimzi'] },
      podMonitor: true,
    },
  ],
  'a road without rights in no namespace': [
    ['--roads', 'pod-sets', '--watch-namespaces', 'a', '--crds', 'none'],
    { roads: ['pod-sets'], watchNamespaces: ['a'], crds: { install: false } },
  ],
  'pods and probes': [
    [
      '--image=r.example.com/isthmus:1 --proxy-image=r.example.com/proxy:1 --replicas=3 --log-level=debug',
      '--image-pull-secrets=one,two --node-selector=disk=ssd --priority-class-name=high',
      '--tolerations=dedicated=kafka:NoSchedule,spot --cluster-domain=k8s.example --cluster-id=hub --roads=redpanda',
      '--filter-modules=@acme/audit --kafka-image=4.3.1=r.example.com/kafka:4.3.1',
      '--probe-resolver=192.0.2.53 --probe-networks=127.0.0.0/8 --probe-from=east,west',
      '--external-dns-metrics=http://external-dns.dns:7979/metrics --console',
    ].flatMap((line) => line.split(' ')),
    {
      console: true,
      image: 'r.example.com/isthmus:1',
      proxyImage: 'r.example.com/proxy:1',
      replicas: 3,
      imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
      nodeSelector: { disk: 'ssd' },
      priorityClassName: 'high',
      tolerations: [
        { key: 'dedicated', operator: 'Equal', value: 'kafka', effect: 'NoSchedule' },
        { key: 'spot', operator: 'Exists' },
      ],
      logLevel: 'debug',
      clusterDomain: 'k8s.example',
      clusterId: 'hub',
      filterModules: ['@acme/audit'],
      roads: ['redpanda'],
      kafkaImages: { '4.3.1': 'r.example.com/kafka:4.3.1' },
      probeResolver: '192.0.2.53',
      probeNetworks: ['127.0.0.0/8'],
      probeFrom: ['east', 'west'],
      externalDnsMetrics: 'http://external-dns.dns:7979/metrics',
    },
  ],
};

suite('chart', () => {
  let helm: string;
  let plane: ControlPlane;
  const files = workspace('chart');
  before(async () => {
    helm = await ensureHelm();
    plane = await startControlPlane();
  });
  after(() => plane?.stop());

  const call = (...args: string[]) =>
    run(helm, args, { env: { HELM_CACHE_HOME: files, KUBECONFIG: plane.kubeconfig } });
  async function ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await call(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  async function valuesFile(values: object): Promise<string> {
    const path = join(files, 'values.yaml');
    await writeFile(path, stringify(values));
    return path;
  }
  const crd = async (field: string) =>
    (await plane.kubectl(['get', 'crd', 'kafkaproxies.kroxylicious.io', '-o', `jsonpath={${field}}`])).stdout;

  for (const [name, [flags, values]] of Object.entries(CHOICES))
    test(`makes what install prints: ${name}`, async () => {
      const text = await ok('template', 'x', CHART, '-n', NAMESPACE, '-f', await valuesFile(values));
      const made = parseAllDocuments(text).flatMap((document) => (document.toJS() as Item | null) ?? []);
      const expected = await installed('--namespace', NAMESPACE, ...flags);
      assert.deepEqual(comparable(made), comparable(expected));
    });

  test('refuses values that it does not know', async () => {
    for (const wrong of [{ roads: ['sideways'] }, { replica: 3 }, { watchNamespaces: ['a b'] }]) {
      const { code, stderr } = await call('template', 'x', CHART, '-f', await valuesFile(wrong));
      assert.notEqual(code, 0, JSON.stringify(wrong));
      assert.match(stderr, /schema/);
    }
  });

  test('is installed, upgraded with its CRDs, rolled back, and leaves CRDs when it goes', async () => {
    const former = join(files, 'former');
    await cp(CHART, former, { recursive: true });
    const kind = join(former, 'files/crds/own/kafkaproxies.kroxylicious.io.yaml');
    const older = parse(await readFile(kind, 'utf8')) as { spec: { names: { shortNames?: string[] } } };
    older.spec.names.shortNames = ['former'];
    await writeFile(kind, stringify(older, { aliasDuplicateObjects: false }));
    const image = async () =>
      (await plane.kubectl(['get', 'deployment', 'isthmus-operator', '-n', HOME, '-o', 'jsonpath={..image}']))
        .stdout;

    await ok('install', 'isthmus', former, '-n', HOME, '--create-namespace', '--set', 'image=isthmus:former');
    assert.equal(await crd('.spec.names.shortNames[*]'), 'former');
    assert.equal(await image(), 'isthmus:former');
    await ok('upgrade', 'isthmus', CHART, '-n', HOME, '--set', 'image=isthmus:now');
    assert.notEqual(await crd('.spec.names.shortNames[*]'), 'former');
    assert.equal(await image(), 'isthmus:now');
    await ok('rollback', 'isthmus', '1', '-n', HOME);
    assert.equal(await crd('.spec.names.shortNames[*]'), 'former');
    assert.equal(await image(), 'isthmus:former');
    const uid = await crd('.metadata.uid');
    await ok('uninstall', 'isthmus', '-n', HOME);
    assert.equal(await image(), '');
    assert.equal(await crd('.metadata.uid'), uid);
  });

  test('the commands on the page about it work', async () => {
    const page = await readFile(join(ROOT, 'docs/kubernetes.md'), 'utf8');
    const lines = [...page.matchAll(/^helm .*/gm)].map(([line]) => line);
    assert.ok(lines.length >= 4, 'the page has no commands');
    for (const name of ['team-a', 'team-b']) await plane.kubectl(['create', 'namespace', name]);
    for (const line of lines) {
      // By a shell, as people would: it takes the quotes away.
      const script = line.replace(/^helm/, helm);
      const { code, stderr } = await run('sh', ['-c', script], {
        cwd: ROOT,
        env: { HELM_CACHE_HOME: files, KUBECONFIG: plane.kubeconfig },
      });
      assert.equal(code, 0, `${line}\n${stderr}`);
    }
  });

  test('kustomize has what install prints', async () => {
    const { code, stdout, stderr } = await plane.kubectl(['kustomize', KUSTOMIZE]);
    assert.equal(code, 0, stderr);
    const made = parseAllDocuments(stdout).map((document) => document.toJS() as Item);
    assert.deepEqual(comparable(made), comparable(await installed()));
  });
});
