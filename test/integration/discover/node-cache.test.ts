/** Delegation where NodeLocal DNSCache stands before the cluster's DNS: a real API server with the rights of the manifests, two real CoreDNS. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import type { ConfigMap } from '../../../src/control/discover/delegation/platform.ts';
import { probeRecords } from '../../../src/control/discover/delegation/probe.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import type { Cluster } from '../../../src/kube/cluster.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import { createLog } from '../../../src/ops/log.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { nodeCacheCorefile } from '../../support/discover/corefile.ts';
import { startOurs } from '../dns/server.ts';
import type { TestServer } from '../dns/server.ts';
import { plainCorefile, startClusterDns } from './cluster-dns.ts';
import type { ClusterDnsServer } from './cluster-dns.ts';
import { startLeader } from './leader.ts';
import { apply } from './site.ts';

const NAMESPACE = 'isthmus-system';
const ZONES = ['clusterset.local', 'xcc.test'];
const RECONCILED = { 'addonmanager.kubernetes.io/mode': 'Reconcile' };
const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');
const PATIENT = { timeoutMs: 180_000, everyMs: 100 };

suite('delegation with NodeLocal DNSCache', () => {
  let plane: ControlPlane;
  let dns: TestServer;
  let account: string;
  let admin: Cluster;
  let config: string;

  before(async () => {
    plane = await startControlPlane();
    admin = createCluster({ name: 'admin', connection: loadConnection({ file: plane.kubeconfig }), log });
    dns = await startOurs({ zones: ZONES.map((name) => ({ name })) });
    dns.upsert('probe', probeRecords(ZONES, 'west'));
    dns.upsert('test', [{ name: 'foo.xcc.test', type: 'A', data: '192.0.2.10' }]);
    config = join(plane.directory, 'dns.yaml');
    const delegation = { server: `127.0.0.1:${dns.port}` };
    const kubernetes = { clusterId: 'west', kubeconfig: plane.kubeconfig, delegation };
    await writeFile(config, stringify({ zones: [{ name: 'xcc.test' }], kubernetes }));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    const documents = [parseAllDocuments(await output('dns', 'manifests', '--config', config))].flat();
    await apply(plane, namespace, ...documents.map((one) => one.toJS() as object));
    account = await plane.userKubeconfig(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
  });
  after(async () => {
    await dns?.close();
    await admin?.stop();
    await plane?.stop();
  });
  afterEach(async () => {
    const names = ['coredns', 'kube-dns', 'node-local-dns'];
    await plane.kubectl(['-n', 'kube-system', 'delete', 'configmap', '--ignore-not-found', ...names]);
    const status = ['delete', 'configmap', '--ignore-not-found', 'isthmus-dns-delegation'];
    await plane.kubectl(['-n', NAMESPACE, ...status]);
  });

  async function output(...args: string[]): Promise<string> {
    let text = '';
    const terminal = { out: (more: string) => void (text += more), err: () => {}, exitCode: 0 as const };
    assert.equal(await runProgram(args, terminal), 0);
    return text;
  }
  const lead = (cluster: ClusterDnsServer, cache: ClusterDnsServer, more: object = {}) =>
    startLeader({
      kubeconfig: account,
      namespace: NAMESPACE,
      zones: ZONES,
      delegation: {
        server: `127.0.0.1:${dns.port}`,
        clusterDns: cluster.address,
        podDns: cache.address,
        ...more,
      },
      log,
    });
  const read = (name: string, namespace = 'kube-system') =>
    admin.client.get<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap' }, { namespace, name });
  const corefileOf = async (name: string) => (await read(name))?.data?.['Corefile'];
  const status = async () => (await read('isthmus-dns-delegation', NAMESPACE))?.data ?? {};
  const untilState = (state: string) =>
    waitFor(state, async () => (await status())['state'] === state, PATIENT);
  const configMap = (name: string, Corefile: string, labels = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'kube-system', labels },
    data: { Corefile },
  });
  const startCoreDns = () =>
    startClusterDns(admin.client, 'corefile', (port) =>
      apply(plane, configMap('coredns', plainCorefile(port))),
    );
  const startCache = (labels = {}) =>
    startClusterDns(admin.client, 'node-local-dns', (port) =>
      apply(plane, configMap('node-local-dns', nodeCacheCorefile(port, '127.0.0.1'), labels)),
    );
  const undelegated = async () => {
    await output('dns', 'undelegate', '--config', config);
    return [await corefileOf('coredns'), await corefileOf('node-local-dns'), await read('kube-dns')];
  };

  test('is in its Corefile, too; what pods ask answers; and is taken out again', async () => {
    await using cluster = await startCoreDns();
    await using cache = await startCache();
    const before = [await corefileOf('coredns'), await corefileOf('node-local-dns'), undefined];
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(cluster, cache));
      await untilState('delegated');
      assert.deepEqual(
        [await cluster.ask('foo.xcc.test'), await cache.ask('foo.xcc.test')],
        [['192.0.2.10'], ['192.0.2.10']],
      );
      assert.ok((await corefileOf('node-local-dns'))?.startsWith(before[1]!));
    }
    assert.deepEqual(await undelegated(), before);
  });

  test('is in the stub domains of kube-dns where an add-on manager keeps its Corefile', async () => {
    await using cluster = await startCoreDns();
    await using cache = await startCache(RECONCILED);
    const before = [await corefileOf('coredns'), await corefileOf('node-local-dns'), undefined];
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(cluster, cache));
      await untilState('delegated');
      assert.deepEqual(await cache.ask('foo.xcc.test'), ['192.0.2.10']);
      assert.equal(await corefileOf('node-local-dns'), before[1]);
      assert.match((await read('kube-dns'))?.data?.['stubDomains'] ?? '', /"xcc\.test":\["127\.0\.0\.1:/);
    }
    assert.deepEqual(await undelegated(), before);
  });

  test('is put back where pods do not get an answer through it, and the cluster’s own part stays', async () => {
    await using cluster = await startCoreDns();
    await using cache = await startCache();
    const before = (await corefileOf('node-local-dns'))!;
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(cluster, cache));
      await untilState('delegated');
    }
    await apply(plane, configMap('node-local-dns', before));
    const isForgotten = async () => (await cache.ask('foo.xcc.test')) === 'ENOTFOUND';
    await waitFor('the cache to have read it', isForgotten, PATIENT);
    await cache.setCarried(false);
    const delegated = await corefileOf('coredns');
    assert.match(delegated ?? '', /xcc\.test:/);
    await using stack = new AsyncDisposableStack();
    stack.use(lead(cluster, cache, { verifySeconds: 2 }));
    await untilState('failed');
    const { platform, reason = '' } = await status();
    assert.equal(platform, 'node-local-dns');
    assert.match(reason, /^pods ask 127\.0\.0\.1:\d+, which answers: .* NXDOMAIN; the delegation was undone/);
    assert.equal(await corefileOf('node-local-dns'), before);
    assert.equal(await corefileOf('coredns'), delegated);
    assert.deepEqual(await cluster.ask('foo.xcc.test'), ['192.0.2.10']);
  });
});
