/** Two installations in one cluster, each with the rights of its own manifests, that would both delegate the same zones. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import type { ConfigMap } from '../../../src/control/discover/delegation/platform.ts';
import { probeRecords } from '../../../src/control/discover/delegation/probe.ts';
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { startDns } from '../../../src/dns/server/server.ts';
import type { DnsServer } from '../../../src/dns/server/server.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import type { Cluster } from '../../../src/kube/cluster.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { plainCorefile, startClusterDns } from './cluster-dns.ts';
import type { ClusterDnsServer } from './cluster-dns.ts';
import { startLeader } from './leader.ts';
import type { Leader } from './leader.ts';
import { apply, expectEvent } from './site.ts';

const ZONES = ['clusterset.local', 'xcc.test'];
const PATIENT = { timeoutMs: 180_000, everyMs: 100 };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');

suite('two installations in one cluster', () => {
  const ends = new AsyncDisposableStack();
  let plane: ControlPlane;
  let admin: Cluster;
  let dns: DnsServer;
  let through: ClusterDnsServer;

  before(async () => {
    plane = ends.use(await startControlPlane());
    admin = createCluster({ name: 'admin', connection: loadConnection({ file: plane.kubeconfig }), log });
    ends.defer(() => admin.stop());
    for (const namespace of ['isthmus-system', 'second']) await install(namespace);
    const zones = ZONES.map((name) => ({ name }));
    dns = await startDns(dnsConfigSchema.parse({ listen: ['127.0.0.1:0'], zones }), {
      log,
      metrics: createMetrics(),
    });
    ends.defer(() => dns.close());
    dns.upsert('probe', probeRecords(ZONES, 'west'));
    through = ends.use(
      await startClusterDns(admin.client, 'corefile', (port) => {
        const metadata = { name: 'coredns', namespace: 'kube-system' };
        const data = { Corefile: plainCorefile(port) };
        return apply(plane, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      }),
    );
  });
  after(() => ends.disposeAsync());

  /** What a command says. */
  async function isthmusDns(command: string, namespace: string): Promise<string> {
    const config = join(plane.directory, 'dns.yaml');
    const kubernetes = { clusterId: 'west', kubeconfig: plane.kubeconfig, delegation: true };
    await writeFile(config, stringify({ zones: [{ name: 'xcc.test' }], kubernetes }));
    let text = '';
    const terminal = { out: (more: string) => void (text += more), err: () => {}, exitCode: 0 as const };
    const args = ['dns', command, '--config', config, '--namespace', namespace];
    assert.equal(await runProgram(args, terminal), 0);
    return text;
  }

  async function install(namespace: string): Promise<void> {
    const text = await isthmusDns('manifests', namespace);
    const documents = [parseAllDocuments(text)].flat().map((one) => one.toJS() as object);
    await apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, ...documents);
  }

  /** The replica that leads in an installation. */
  async function lead(namespace: string, zones = ZONES): Promise<Leader> {
    const kubeconfig = await plane.userKubeconfig(`system:serviceaccount:${namespace}:isthmus-dns`);
    const delegation = { server: `127.0.0.1:${dns.port}`, clusterDns: through.address };
    return startLeader({ kubeconfig, namespace, zones, delegation, log });
  }

  const dataOf = async (namespace: string, name: string, key: string) =>
    (await admin.client.get<ConfigMap>(CONFIG_MAP, { namespace, name }))?.data?.[key] ?? '';
  const corefile = () => dataOf('kube-system', 'coredns', 'Corefile');
  const status = (namespace: string, key: string) => dataOf(namespace, 'isthmus-dns-delegation', key);
  const untilState = (namespace: string, state: string) =>
    waitFor(`${namespace}: ${state}`, async () => (await status(namespace, 'state')) === state, PATIENT);

  test('the first has the zones, the second says so and writes nothing, until they are free', async () => {
    {
      await using stack = new AsyncDisposableStack();
      stack.use(await lead('isthmus-system'));
      await untilState('isthmus-system', 'delegated');
      const written = await corefile();
      assert.match(written, /^# By isthmus-system\/isthmus-dns\.$/m);
      const second = stack.use(await lead('second'));
      await untilState('second', 'refused');
      assert.match(
        await status('second', 'reason'),
        /already delegated by another Isthmus, isthmus-system\/isthmus-dns/,
      );
      const line = 'isthmus_dns_delegation{zone="xcc.test",platform="corefile",state="refused"} 1';
      await waitFor(line, async () => (await second.metrics()).includes(line), PATIENT);
      await expectEvent(plane, 'isthmus-dns', 'DelegationRefused');
      assert.equal(await corefile(), written);
    }
    {
      // Nor does it take out what is not its own.
      const written = await corefile();
      await using stack = new AsyncDisposableStack();
      stack.use(await lead('second', []));
      await untilState('second', 'removed');
      assert.match(
        await isthmusDns('undelegate', 'second'),
        /nothing is delegated from second;.* -n isthmus-system/,
      );
      assert.equal(await corefile(), written);
    }
    {
      await using stack = new AsyncDisposableStack();
      stack.use(await lead('second'));
      await untilState('second', 'refused');
      stack.use(await lead('isthmus-system', []));
      await untilState('second', 'delegated');
      assert.match(await corefile(), /^# By second\/isthmus-dns\.$/m);
      assert.doesNotMatch(await corefile(), /By isthmus-system/);
    }
    assert.match(await isthmusDns('undelegate', 'second'), /coredns: removed/);
    assert.doesNotMatch(await corefile(), /CROSS CLUSTER/);
  });
});
