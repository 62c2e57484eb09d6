/** What `isthmus install` prints, given to a real API server; and the operator with exactly the rights it grants. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { startOperator } from '../../../src/control/operator.ts';
import { DEFAULT_ROADS } from '../../../src/control/roads.ts';
import { createLog } from '../../../src/ops/log.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { accountKubeconfig } from '../control/account.ts';

const NAMESPACE = 'isthmus-system';

async function install(...flags: string[]): Promise<string> {
  let printed = '';
  const terminal = { out: (text: string) => void (printed += text), err: () => {}, exitCode: 0 as const };
  assert.equal(await runProgram(['install', '--image', 'isthmus:test', ...flags], terminal), 0);
  return printed;
}

suite('install', () => {
  let plane: ControlPlane;
  before(async () => (plane = await startControlPlane()));
  after(() => plane.stop());

  async function kubectl(args: string[], stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await plane.kubectl(args, { stdin });
    assert.equal(code, 0, stderr);
    return stdout;
  }

  test('an API server takes everything, without a warning, and again without a change', async () => {
    const manifests = await install('--crds', 'all');
    const { code, stderr } = await plane.kubectl(['apply', '-f', '-'], { stdin: manifests });
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /Warning/);
    const versions = () =>
      kubectl(['get', '-f', '-', '-o', 'jsonpath={.items[*].metadata.generation}'], manifests);
    const before = await versions();
    await kubectl(['apply', '-f', '-'], manifests);
    assert.equal(await versions(), before);
  });

  test('the operator gets the lead with the rights it was given, and no others', async () => {
    await kubectl(['apply', '-f', '-'], await install());
    const kubeconfig = await accountKubeconfig(plane, NAMESPACE);
    const log = createLog('silent');
    const common = {
      roads: DEFAULT_ROADS,
      kubeconfig,
      namespace: NAMESPACE,
      managementHost: '127.0.0.1',
      managementPort: 0,
      log,
    };
    const operator = await startOperator({ ...common, identity: 'pod-a' });
    try {
      const lease = async (field: string) => {
        const path = ['-o', `jsonpath={.spec.${field}}`];
        const { stdout } = await plane.kubectl([
          'get',
          'lease',
          'isthmus-operator',
          '-n',
          NAMESPACE,
          ...path,
        ]);
        return stdout || undefined;
      };
      const holder = await waitFor('the lead', () => lease('holderIdentity'));
      const taken = await lease('renewTime');
      await waitFor('a renewal', async () => (await lease('renewTime')) !== taken);
      assert.match(holder, /^pod-a_/);
      const page = (path: string) =>
        fetch(`http://127.0.0.1:${operator.managementPort}${path}`, { headers: { connection: 'close' } });
      await waitFor('it to be ready', async () => (await page('/readyz')).status === 200);
      await waitFor('it to say that it leads', async () =>
        /isthmus_operator_leader 1\n/.test(await (await page('/metrics')).text()),
      );
    } finally {
      await operator.stop();
    }
    const forbidden = ['get', 'nodes', '--kubeconfig', kubeconfig];
    const { code, stderr } = await plane.kubectl(forbidden);
    assert.notEqual(code, 0);
    assert.match(stderr, /forbidden/);
  });

  test('taken out without its CRDs, it leaves every resource as it was', async () => {
    const crds = await install('--crds', 'all');
    await kubectl(['apply', '-f', '-'], crds);
    const resources = [
      { apiVersion: 'kroxylicious.io/v1alpha1', kind: 'KafkaProxy', metadata: { name: 'kept' } },
      { apiVersion: 'kafka.strimzi.io/v1', kind: 'Kafka', metadata: { name: 'kept' }, spec: { kafka: {} } },
    ];
    const file = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: resources });
    await waitFor('the kinds', async () => {
      const { code } = await plane.kubectl(['apply', '-f', '-'], { stdin: file });
      return code === 0;
    });
    const uids = () => kubectl(['get', 'kafkaproxy,kafka,crd', '-o', 'jsonpath={.items[*].metadata.uid}']);
    const before = await uids();
    await kubectl(
      ['delete', '--wait=false', '--cascade=background', '-f', '-'],
      await install('--crds', 'none'),
    );
    const ofKinds = 'app.kubernetes.io/component in (personas, admission)';
    const cluster = 'clusterrole,validatingadmissionpolicy,validatingadmissionpolicybinding';
    await kubectl(['delete', cluster, '-l', ofKinds]);
    await waitFor('the operator to be gone', async () => {
      const kinds = `deployment,serviceaccount,role,rolebinding,pdb,${cluster},clusterrolebinding`;
      const left = await kubectl(['get', kinds, '-A', '-o', 'name']);
      return !left.includes('isthmus');
    });
    assert.equal(await uids(), before);
  });

  test('delete of the same leaves nothing behind', async () => {
    const manifests = await install('--crds', 'all');
    // Without a controller-manager a namespace is never finalised, and orphans are never collected: objects one by one.
    await kubectl(
      ['delete', '--wait=false', '--ignore-not-found', '--cascade=background', '-f', '-'],
      manifests,
    );
    // The server goes through the objects of a CRD before that goes, and has many to go through at once.
    const isGone = async () => {
      const list = await kubectl(['get', 'crd,clusterrole,clusterrolebinding', '-o', 'name']);
      return !/isthmus|kroxylicious/.test(list);
    };
    await waitFor('all of it to be gone', isGone, { timeoutMs: 600_000 });
  });
});
