/** The proxy road with exactly the rights that `isthmus install` grants, and in exactly the namespaces it is told to watch. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { operatorManifests } from '../../../src/control/install/manifests.ts';
import type { Client } from '../../../src/kube/client.ts';
import { readManifests } from '../../fixtures/documents.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../support/process.ts';
import { workspace } from '../../support/workspace.ts';
import { startPlaneWithCrds } from '../resources/plane.ts';
import { adminOf, apply, get, metric, runOperator, waitForCondition } from './harness.ts';

const NAMESPACE = 'isthmus-system';
const printed = ['10', '11', '12', '13'].map(
  (number) => readManifests().find(({ name }) => name.startsWith(`proxy/${number}-`))!.yaml,
);
const filter = (namespace: string) => ({
  apiVersion: 'filter.kroxylicious.io/v1alpha1',
  kind: 'KafkaProtocolFilter',
  metadata: { name: 'encryption', namespace },
  spec: { type: 'protocol-logger' },
});

suite('rights and namespaces', () => {
  let plane: ControlPlane;
  let client: Client;
  before(async () => {
    plane = await startPlaneWithCrds();
    client = adminOf(plane);
    const options = { namespace: NAMESPACE, image: 'isthmus:test', replicas: 1, roads: ['proxy'] as const };
    await apply(plane, ...operatorManifests(options));
  });
  after(async () => {
    await client.close();
    await plane.stop();
  });

  /** The kubeconfig of the operator's ServiceAccount. */
  async function operatorKubeconfig(): Promise<string> {
    const args = ['create', 'token', 'isthmus-operator', '-n', NAMESPACE];
    const { code, stdout, stderr } = await plane.kubectl(args);
    assert.equal(code, 0, stderr);
    const ca = Buffer.from(plane.caPem).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { token: stdout.trim() } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    const path = join(workspace('rights'), 'kubeconfig');
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  test('the granted rights are enough for an example, its removal, and a pod', async () => {
    const kubeconfig = await operatorKubeconfig();
    const askPod = async () => ({ hash: 'older' });
    const operator = await runOperator(plane, { kubeconfig, namespace: NAMESPACE, askPod });
    try {
      await apply(plane, filter('default'), ...printed);
      const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
      await waitForCondition(client, cluster, ['Ready', 'False', 'PodsNotReady']);
      await waitForCondition(client, ['KafkaProtocolFilter', 'encryption'], ['Accepted', 'True']);
      const labels = { 'kroxylicious.io/proxy': 'myproxy', 'app.kubernetes.io/managed-by': 'isthmus' };
      const containers = [{ name: 'proxy', image: 'isthmus:test' }];
      const metadata = { name: 'myproxy-1', namespace: 'default', labels };
      await apply(plane, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } });
      const status = {
        phase: 'Running',
        podIP: '192.0.2.1',
        podIPs: [{ ip: '192.0.2.1' }],
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      const pod = { group: '', version: 'v1', kind: 'Pod' };
      await client.mergePatch(pod, metadata, { status }, { subresource: 'status' });
      await waitFor('the pod to be nudged', async () => {
        const found = await get(client, 'Pod', 'myproxy-1');
        return found?.metadata.annotations?.['kroxylicious.io/config-version'];
      });
      const proxies = { group: 'kroxylicious.io', version: 'v1alpha1', kind: 'KafkaProxy' };
      await client.delete(proxies, { name: 'myproxy', namespace: 'default' });
      await waitFor(
        'the Deployment to go',
        async () => (await get(client, 'Deployment', 'myproxy')) === undefined,
      );
      await waitFor(
        'the Service to go',
        async () => (await get(client, 'Service', 'mycluster-myclusterip')) === undefined,
      );
      const text = await (await fetch(`http://127.0.0.1:${operator.managementPort}/metrics`)).text();
      assert.doesNotMatch(text, /reconciles_total\{[^}]*outcome="error"\} [1-9]/);
    } finally {
      await operator.stop();
    }
  });

  test('other namespaces than those watched are left alone', async () => {
    for (const name of ['watched', 'unwatched'])
      await apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const namespace of ['watched', 'unwatched']) {
      const inNamespace = printed.map((yaml) =>
        yaml.replace('metadata:', `metadata:\n  namespace: ${namespace}`),
      );
      await apply(plane, filter(namespace), ...inNamespace);
    }
    const operator = await runOperator(plane, { watchNamespaces: ['watched', 'default'] });
    try {
      const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
      await waitForCondition(client, cluster, ['Ready', 'False', 'PodsNotReady'], 'watched');
      assert.ok((await metric(operator, 'isthmus_operator_reconciles_total')) > 0);
      const other = await get(client, ...cluster, 'unwatched');
      assert.equal(other?.status, undefined);
    } finally {
      await operator.stop();
    }
  });
});
