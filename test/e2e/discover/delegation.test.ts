/** Names of our zone, as pods resolve them: through their own cluster's DNS, which was told by the program itself. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { COREFILE } from '../../support/clusters/addons/coredns.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { IMAGES } from '../../support/images/images.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { client } from '../testbed/pods.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const NAMESPACE = 'isthmus-system';
const where = { namespace: NAMESPACE };
const ADDRESS = '10.96.77.77';
const NAME = 'foo.xcc.test';

interface ConfigMap extends KubeObject {
  data: Record<string, string>;
}

const foo = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'foo',
    namespace: 'default',
    annotations: { 'connectivity.tanzu.vmware.com/fqdn': NAME },
  },
  spec: { clusterIP: ADDRESS, ports: [{ port: 80 }] },
};

describe('a zone delegated from the DNS of a cluster', () => {
  let clusters: Clusters;
  let cluster: Cluster;
  let directory: string;
  let config: string;
  before(async () => {
    clusters = await startClusters(1, { images: ['isthmus'] });
    [cluster] = clusters.list as [Cluster];
    directory = await mkdtemp(join(tmpdir(), 'delegation-'));
    config = join(directory, 'dns.yaml');
    const kubernetes = { clusterId: 'c1', delegation: true };
    await writeFile(
      config,
      stringify({ listen: ['[::]:53'], zones: [{ name: 'xcc.test', ttl: 5 }], kubernetes }),
    );
  });
  after(async () => {
    await clusters?.stopAll();
    await rm(directory, { recursive: true, force: true });
  });

  async function isthmus(args: string[]): Promise<string> {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
    const { code, stdout, stderr } = await run(process.execPath, [MAIN, 'dns', ...args, '--config', config], {
      env,
    });
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const manifests = () => isthmus(['manifests', '--image', IMAGES.isthmus]);
  const corefile = async () =>
    (await cluster.get<ConfigMap>('configmap/coredns', { namespace: 'kube-system' }))?.data['Corefile'];

  /** As a pod's own resolver says it, and as the cluster's DNS answers when it is asked directly. */
  async function resolves(): Promise<void> {
    const isThere = async () =>
      (await cluster.exec('client', ['nslookup', '-type=a', NAME])).stdout.includes(`Address: ${ADDRESS}`);
    await waitFor(`${NAME} in a pod`, isThere, { timeoutMs: 180_000, everyMs: 500 });
    // With search domains, as a program does it.
    const { stdout } = await cluster.exec('client', ['ping', '-c', '1', '-w', '1', NAME]);
    assert.match(stdout, new RegExp(`PING ${NAME} \\(${ADDRESS}\\)`));
  }
  const standing = async () =>
    (await cluster.get<ConfigMap>('configmap/isthmus-dns-delegation', where))?.data['state'];
  const untilStanding = (state: string) =>
    waitFor(state, async () => (await standing()) === state, { timeoutMs: 180_000, everyMs: 500 });

  it('is resolved in pods after an installation by its own manifests', async () => {
    await cluster.kubectl('create', 'namespace', NAMESPACE);
    await cluster.apply([client, foo]);
    await cluster.apply(await manifests());
    await cluster.rolledOut('deployment/isthmus-dns', where);
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=120s');
    await resolves();
    await untilStanding('delegated');
    assert.ok((await corefile())?.startsWith(COREFILE));
  });

  it('may change nothing but what is named', async () => {
    const account = `--as=system:serviceaccount:${NAMESPACE}:isthmus-dns`;
    const may = async (...what: string[]) =>
      (await cluster.tryKubectl(['auth', 'can-i', ...what, account])).stdout.trim();
    assert.equal(await may('patch', 'configmaps/coredns', '--namespace=kube-system'), 'yes');
    assert.equal(await may('patch', 'configmaps/other', '--namespace=kube-system'), 'no');
    assert.equal(await may('create', 'configmaps', '--namespace=kube-system'), 'no');
    assert.equal(await may('delete', 'configmaps/coredns', '--namespace=kube-system'), 'no');
    assert.equal(await may('patch', 'deployments/coredns', '--namespace=kube-system'), 'no');
  });

  it('is delegated again when somebody overwrites the Corefile, and what they wrote stays', async () => {
    const theirs = `# somebody was here\n${COREFILE}`;
    const patch = JSON.stringify({ data: { Corefile: theirs } });
    await cluster.kubectl(
      'patch',
      'configmap/coredns',
      '--namespace=kube-system',
      '--type=merge',
      '--patch',
      patch,
    );
    const isBack = async () => ((await corefile()) ?? '').includes('xcc.test:53');
    await waitFor('the block', isBack, { timeoutMs: 60_000, everyMs: 250 });
    assert.ok((await corefile())?.startsWith(theirs));
    await resolves();
    await untilStanding('delegated');
    await cluster.kubectl(
      'patch',
      'configmap/coredns',
      '--namespace=kube-system',
      '--type=merge',
      '--patch',
      JSON.stringify({ data: { Corefile: COREFILE } }),
    );
    await waitFor('the block', isBack, { timeoutMs: 60_000, everyMs: 250 });
    await untilStanding('delegated');
  });

  it('stays delegated while the server restarts', async () => {
    await cluster.kubectl('rollout', 'restart', 'deployment/isthmus-dns', `--namespace=${NAMESPACE}`);
    await cluster.rolledOut('deployment/isthmus-dns', where);
    assert.match((await corefile()) ?? '', /xcc\.test:53/);
    await resolves();
  });

  it('is taken out again, and the Corefile is what it was, byte for byte', async () => {
    await cluster.remove(await manifests());
    assert.match(await isthmus(['undelegate']), /coredns: taken out/);
    assert.equal(await corefile(), COREFILE);
    assert.match(await isthmus(['undelegate']), /nothing is delegated/);
    const isGone = async () => (await cluster.exec('client', ['nslookup', '-type=a', NAME])).code !== 0;
    await waitFor('the name to be gone', isGone, { timeoutMs: 180_000, everyMs: 500 });
  });
});
