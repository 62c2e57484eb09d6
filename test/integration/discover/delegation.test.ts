/** Delegation on each platform: a real API server with the rights of the manifests, a real CoreDNS, our own DNS server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import type { ConfigMap, DnsOperator } from '../../../src/control/discover/delegation/platform.ts';
import { probeRecords } from '../../../src/control/discover/delegation/probe.ts';
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { startDns } from '../../../src/dns/server/server.ts';
import type { DnsServer } from '../../../src/dns/server/server.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import type { Clock } from '../../../src/kube/clock.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import type { Cluster } from '../../../src/kube/cluster.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import { aborted } from '../../../src/ops/abort.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { ensureOpenShiftDnsCrd } from '../../support/install/openshift-dns.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { plainCorefile, startClusterDns } from './cluster-dns.ts';
import type { ClusterDnsServer } from './cluster-dns.ts';
import { startLeader } from './leader.ts';
import type { Leader } from './leader.ts';
import { apply, expectEvent } from './site.ts';

const NAMESPACE = 'isthmus-system';
const ZONES = ['clusterset.local', 'xcc.test'];
const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');
const PATIENT = { timeoutMs: 180_000, everyMs: 100 };

suite('delegation', () => {
  let plane: ControlPlane;
  let dns: DnsServer;
  let account: string;
  let admin: Cluster;

  before(async () => {
    plane = await startControlPlane();
    admin = createCluster({ name: 'admin', connection: loadConnection({ file: plane.kubeconfig }), log });
    const config = join(plane.directory, 'dns.yaml');
    await writeFile(
      config,
      stringify({ zones: [{ name: 'xcc.test' }], kubernetes: { clusterId: 'west', delegation: true } }),
    );
    let text = '';
    const terminal = { out: (more: string) => void (text += more), err: () => {}, exitCode: 0 as const };
    assert.equal(await runProgram(['dns', 'manifests', '--config', config], terminal), 0);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await apply(plane, namespace, ...[parseAllDocuments(text)].flat().map((one) => one.toJS() as object));
    account = await plane.userKubeconfig(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
    const zones = ZONES.map((name) => ({ name }));
    dns = await startDns(dnsConfigSchema.parse({ listen: ['127.0.0.1:0'], zones }), {
      log,
      metrics: createMetrics(),
    });
    dns.upsert('probe', probeRecords(ZONES, 'west'));
    dns.upsert('test', [{ name: 'foo.xcc.test', type: 'A', data: '192.0.2.10' }]);
  });
  after(async () => {
    await dns?.close();
    await admin?.stop();
    await plane?.stop();
  });
  beforeEach(async () => {
    const names = ['coredns', 'coredns-custom', 'kube-dns'];
    await plane.kubectl(['-n', 'kube-system', 'delete', 'configmap', '--ignore-not-found', ...names]);
    await plane.kubectl([
      '-n',
      NAMESPACE,
      'delete',
      'configmap',
      '--ignore-not-found',
      'isthmus-dns-delegation',
    ]);
  });

  /** The replica that leads. */
  function lead(
    through: ClusterDnsServer,
    {
      zones = ZONES,
      as = account,
      clock = systemClock,
      ...more
    }: { zones?: string[]; as?: string; clock?: Clock; verifySeconds?: number } = {},
  ): Leader {
    const delegation = { server: `127.0.0.1:${dns.port}`, clusterDns: through.address, ...more };
    return startLeader({ kubeconfig: as, namespace: NAMESPACE, zones, delegation, log, clock });
  }

  const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
  const OPERATOR = { group: 'operator.openshift.io', version: 'v1', kind: 'DNS' };
  const read = (name: string, namespace = 'kube-system') =>
    admin.client.get<ConfigMap>(CONFIG_MAP, { namespace, name });
  const dataOf = async (name: string, key: string, namespace?: string) =>
    (await read(name, namespace))?.data?.[key];
  const status = (key = 'state') => dataOf('isthmus-dns-delegation', key, NAMESPACE);
  const untilState = (state: string) => waitFor(state, async () => (await status()) === state, PATIENT);
  const configMap = (name: string, data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'kube-system', labels: { theirs: 'too' } },
    data,
  });
  async function overwrite(what: string, patch: object): Promise<void> {
    const { code, stderr } = await plane.kubectl([
      '-n',
      'kube-system',
      'patch',
      what,
      '--type=merge',
      '-p',
      JSON.stringify(patch),
    ]);
    assert.equal(code, 0, stderr);
  }
  const resolves = (through: ClusterDnsServer) =>
    waitFor('foo.xcc.test', async () => String(await through.ask('foo.xcc.test')) === '192.0.2.10', PATIENT);

  test('by a block in the Corefile, restored when overwritten, and taken out again', async () => {
    let original = '';
    await using through = await startClusterDns(admin.client, 'corefile', async (port) => {
      original = plainCorefile(port).trimEnd(); // without an end of line: it has to come back like that
      await apply(plane, configMap('coredns', { Corefile: original, 'other-key': 'theirs' }));
    });
    {
      await using site = lead(through);
      await untilState('delegated');
      await resolves(through);
      assert.ok((await dataOf('coredns', 'Corefile'))?.startsWith(original));
      assert.equal(await dataOf('coredns', 'other-key'), 'theirs');
      await expectEvent(plane, 'coredns', 'ZonesDelegated');
      const line = 'isthmus_dns_delegation{zone="xcc.test",platform="corefile",state="delegated"} 1';
      await waitFor(line, async () => (await site.metrics()).includes(line), PATIENT);
      const theirs = `# by hand\n${original}`;
      await overwrite('configmap/coredns', { data: { Corefile: theirs } });
      const isBack = async () => ((await dataOf('coredns', 'Corefile')) ?? '').includes('xcc.test:');
      await waitFor('the block to be back', isBack, PATIENT);
      assert.ok((await dataOf('coredns', 'Corefile'))?.startsWith(theirs));
      await untilState('delegated');
      await overwrite('configmap/coredns', { data: { Corefile: original } });
      await waitFor('the block to be back', isBack, PATIENT);
    }
    assert.match((await dataOf('coredns', 'Corefile')) ?? '', /xcc\.test/, 'who stops leading leaves it');
    await using stack = new AsyncDisposableStack();
    stack.use(lead(through, { zones: [] }));
    await untilState('removed');
    assert.equal(await dataOf('coredns', 'Corefile'), original);
  });

  test('by coredns-custom, which is made where it is missing and taken away again', async () => {
    await using through = await startClusterDns(admin.client, 'coredns-custom', async (port, directory) => {
      const Corefile = plainCorefile(port, `import ${directory}/*.server\n`);
      await apply(plane, configMap('coredns', { Corefile }));
    });
    const main = await dataOf('coredns', 'Corefile');
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(through));
      await untilState('delegated');
      await resolves(through);
      assert.match((await dataOf('coredns-custom', 'isthmus.server')) ?? '', /forward \. 127\.0\.0\.1:/);
      await overwrite('configmap/coredns-custom', { data: { 'isthmus.server': '# gone' } });
      const isBack = async () =>
        ((await dataOf('coredns-custom', 'isthmus.server')) ?? '').includes('forward');
      await waitFor('our file to be back', isBack, PATIENT);
    }
    assert.equal(await dataOf('coredns', 'Corefile'), main);
    await using stack = new AsyncDisposableStack();
    stack.use(lead(through, { zones: [] }));
    await waitFor('it to be gone', async () => (await read('coredns-custom')) === undefined, PATIENT);
  });

  test('by the stub domains of kube-dns, beside those of others', async () => {
    const theirs = '{ "acme.test": ["192.0.2.1"] }';
    const prepare = () => apply(plane, configMap('kube-dns', { stubDomains: theirs }));
    await using through = await startClusterDns(admin.client, 'kube-dns', prepare);
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(through));
      await untilState('delegated');
      await resolves(through);
      await overwrite('configmap/kube-dns', { data: { stubDomains: theirs } });
      const isBack = async () => ((await dataOf('kube-dns', 'stubDomains')) ?? '').includes('xcc.test');
      await waitFor('our zones to be back', isBack, PATIENT);
      assert.match((await dataOf('kube-dns', 'stubDomains')) ?? '', /"acme\.test": \["192\.0\.2\.1"\]/);
    }
    await using stack = new AsyncDisposableStack();
    stack.use(lead(through, { zones: [] }));
    await untilState('removed');
    assert.equal(await dataOf('kube-dns', 'stubDomains'), theirs);
  });

  test('what cannot be verified is put back, said why, and tried again when something changes', async () => {
    let original = '';
    await using through = await startClusterDns(admin.client, 'corefile', async (port) => {
      original = plainCorefile(port);
      await apply(plane, configMap('coredns', { Corefile: original }));
    });
    await through.setCarried(false);
    await using stack = new AsyncDisposableStack();
    // The time at which it would try again by itself never comes.
    const wait: Clock['wait'] = (ms, signal) =>
      ms > 30_000 && signal ? aborted(signal) : systemClock.wait(ms, signal);
    stack.use(lead(through, { verifySeconds: 2, clock: { ...systemClock, wait } }));
    await untilState('failed');
    assert.equal(await dataOf('coredns', 'Corefile'), original);
    const reason = (await status('reason')) ?? '';
    assert.match(reason, /(SERVFAIL|REFUSED|timeout); the delegation was undone and is retried in (60|59) s/);
    await expectEvent(plane, 'coredns', 'DelegationFailed');
    await through.setCarried(true);
    await overwrite('configmap/coredns', { data: { Corefile: `# better now\n${original}` } });
    // Whatever becomes of it: the next failure would be given more time.
    const isTried = async () => (await status()) !== 'failed' || (await status('reason')) !== reason;
    await waitFor('another try', isTried, PATIENT);
  });

  test('what the replica before never saw work is taken out by the next one', async () => {
    let original = '';
    await using through = await startClusterDns(admin.client, 'corefile', async (port) => {
      original = plainCorefile(port);
      await apply(plane, configMap('coredns', { Corefile: original }));
    });
    await through.setCarried(false);
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(through));
      await untilState('verifying');
    }
    assert.notEqual(await dataOf('coredns', 'Corefile'), original);
    await using stack = new AsyncDisposableStack();
    stack.use(lead(through, { verifySeconds: 2 }));
    await untilState('failed');
    assert.equal(await dataOf('coredns', 'Corefile'), original);
  });

  test('what has worked stays when it fails for a while, also under another replica', async () => {
    await using through = await startClusterDns(admin.client, 'corefile', (port) =>
      apply(plane, configMap('coredns', { Corefile: plainCorefile(port) })),
    );
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(through));
      await untilState('delegated');
    }
    const written = await dataOf('coredns', 'Corefile');
    dns.upsert('probe', []);
    await dns.settled();
    await using stack = new AsyncDisposableStack();
    stack.use(lead(through, { verifySeconds: 1 }));
    await untilState('failing');
    assert.equal(await dataOf('coredns', 'Corefile'), written);
    dns.upsert('probe', probeRecords(ZONES, 'west'));
    await untilState('delegated');
  });

  test('missing rights are said', async () => {
    await using through = await startClusterDns(admin.client, 'corefile', (port) =>
      apply(plane, configMap('coredns', { Corefile: plainCorefile(port) })),
    );
    await using site = lead(through, { as: await plane.userKubeconfig('nobody') });
    const line = 'isthmus_dns_delegation{zone="xcc.test",platform="unknown",state="waiting"} 1';
    await waitFor(line, async () => (await site.metrics()).includes(line), PATIENT);
  });

  test('a Corefile that is broken, or would not be read again, is left alone', async () => {
    await using through = await startClusterDns(admin.client, 'corefile', async (port) => {
      await apply(plane, configMap('coredns', { Corefile: plainCorefile(port) }));
    });
    await through.setCarried(false); // as they are, these would have it listen where others do
    for (const [Corefile, reason] of [
      ['. {\n    errors\n', /cannot be parsed: line 1/],
      ['. {\n    errors\n}\n', /no `reload`/],
      ['. {\n    reload\n}\nxcc.test {\n}\n', /another server block/],
    ] as const) {
      await overwrite('configmap/coredns', { data: { Corefile } });
      await using stack = new AsyncDisposableStack();
      stack.use(lead(through));
      await untilState('refused');
      assert.match((await status('reason')) ?? '', reason);
      assert.equal(await dataOf('coredns', 'Corefile'), Corefile);
      await plane.kubectl(['-n', NAMESPACE, 'delete', 'configmap', 'isthmus-dns-delegation']);
    }
  });

  test("by OpenShift's operator, beside the servers of others", async () => {
    const theirs = {
      name: 'acme',
      zones: ['acme.test'],
      forwardPlugin: { upstreams: ['192.0.2.1'], policy: 'Random' },
    };
    const { code, stderr } = await plane.kubectl(['apply', '-f', await ensureOpenShiftDnsCrd()]);
    assert.equal(code, 0, stderr);
    await untilKindsAreServed(plane);
    const metadata = { name: 'default' };
    const spec = { servers: [theirs], logLevel: 'Normal' };
    await using through = await startClusterDns(admin.client, 'openshift', () =>
      apply(plane, { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', metadata, spec }),
    );
    const what = 'dns.operator.openshift.io/default';
    const specOf = async () =>
      (await admin.client.get<DnsOperator>(OPERATOR, { name: 'default' }))?.spec?.servers ?? [];
    const original = await specOf();
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(through));
      await untilState('delegated');
      await resolves(through);
      await overwrite(what, { spec: { servers: [theirs] } });
      const isBack = async () => (await specOf()).some(({ name }) => name === 'isthmus');
      await waitFor('our server to be back', isBack, PATIENT);
      assert.deepEqual((await specOf())[0], original[0]);
    }
    await using stack = new AsyncDisposableStack();
    stack.use(lead(through, { zones: [] }));
    await untilState('removed');
    assert.deepEqual(await specOf(), original);
  });
});
