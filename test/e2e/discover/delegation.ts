/** Names of our zone, as pods resolve them: through their own cluster's DNS, which was told by the program itself. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { COREFILE } from '../../support/clusters/addons/coredns.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { IMAGES } from '../../support/images/images.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { may } from '../rights.ts';
import { client } from '../testbed/pods.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const NAMESPACE = 'isthmus-system';
const where = { namespace: NAMESPACE };
const ADDRESS = '10.96.0.77'; // among those that no Service gets by chance
const NAME = 'foo.xcc.test';
const PATIENCE = { timeoutMs: 300_000, everyMs: 500 };

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

/** The tests, on the first of the clusters, which has the image of the project. */
export function testDelegation(site: () => Clusters): void {
  describe('a zone delegated from the DNS of a cluster', () => {
    let cluster: Cluster;
    let config: string;
    before(async () => {
      [cluster] = site().list as [Cluster];
      config = join(workspace('delegation'), 'dns.yaml');
      const kubernetes = { clusterId: 'c1', delegation: true };
      await writeFile(
        config,
        stringify({ listen: ['[::]:53'], zones: [{ name: 'xcc.test', ttl: 5 }], kubernetes }),
      );
    });

    async function isthmus(args: string[]): Promise<string> {
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
      const { code, stdout, stderr } = await run(
        process.execPath,
        [MAIN, 'dns', ...args, '--config', config],
        {
          env,
        },
      );
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
      await waitFor(`${NAME} in a pod`, isThere, PATIENCE);
      // With search domains, as a program does it.
      const isFound = async () =>
        (await cluster.exec('client', ['ping', '-c', '1', '-w', '1', NAME])).stdout.includes(
          `PING ${NAME} (${ADDRESS})`,
        );
      await waitFor(`${NAME} by search domains`, isFound, PATIENCE);
    }
    const status = async () =>
      (await cluster.get<ConfigMap>('configmap/isthmus-dns-delegation', where))?.data['state'];
    const untilState = (state: string) => waitFor(state, async () => (await status()) === state, PATIENCE);

    it('is resolved in pods after an installation by its own manifests', async () => {
      await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
      await cluster.apply([client, foo]);
      await cluster.apply(await manifests());
      await cluster.rolledOut('deployment/isthmus-dns', where);
      await cluster.waitFor('pod/client', hasCondition('Ready'));
      await resolves();
      await untilState('delegated');
      assert.ok((await corefile())?.startsWith(COREFILE));
    });

    it('may change nothing but what is named', async () => {
      const its = (...what: string[]) =>
        may(cluster, `${NAMESPACE}:isthmus-dns`, ...what, '--namespace=kube-system');
      assert.equal(await its('patch', 'configmaps/coredns'), 'yes');
      assert.equal(await its('patch', 'configmaps/other'), 'no');
      assert.equal(await its('create', 'configmaps'), 'no');
      assert.equal(await its('delete', 'configmaps/coredns'), 'no');
      assert.equal(await its('patch', 'deployments/coredns'), 'no');
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
      await waitFor('the block', isBack, PATIENCE);
      assert.ok((await corefile())?.startsWith(theirs));
      await resolves();
      await untilState('delegated');
      await cluster.kubectl(
        'patch',
        'configmap/coredns',
        '--namespace=kube-system',
        '--type=merge',
        '--patch',
        JSON.stringify({ data: { Corefile: COREFILE } }),
      );
      await waitFor('the block', isBack, PATIENCE);
      await untilState('delegated');
    });

    it('stays delegated while the server restarts', async () => {
      await cluster.kubectl('rollout', 'restart', 'deployment/isthmus-dns', `--namespace=${NAMESPACE}`);
      await cluster.rolledOut('deployment/isthmus-dns', where);
      assert.match((await corefile()) ?? '', /xcc\.test:53/);
      await resolves();
    });

    it('is taken out again, and the Corefile is what it was, byte for byte', async () => {
      await cluster.remove(await manifests());
      assert.match(await isthmus(['undelegate']), /coredns: removed/);
      assert.equal(await corefile(), COREFILE);
      assert.match(await isthmus(['undelegate']), /nothing is delegated/);
      const isGone = async () => (await cluster.exec('client', ['nslookup', '-type=a', NAME])).code !== 0;
      await waitFor('the name to be gone', isGone, PATIENCE);
    });
  });
}
