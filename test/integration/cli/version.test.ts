/** Of which versions things are that run in a cluster, by what a real kube-apiserver has of them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { ImageRow } from '../../../src/cli/version/versions.ts';
import type { Operator } from '../../../src/control/operator.ts';
import { VERSION } from '../../../src/ops/version.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { isthmus } from '../../support/isthmus.ts';
import { workspace } from '../../support/workspace.ts';
import { apply, runOperator } from '../control/harness.ts';

const proxy = (name: string, spec: object) => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind: 'KafkaProxy',
  metadata: { name, namespace: 'default' },
  spec,
});

suite('version --check-image', { timeout: 300_000 }, () => {
  let plane: ControlPlane;
  let operator: Operator | undefined;
  before(async () => {
    plane = await startControlPlane();
  });
  after(async () => {
    await operator?.stop();
    await plane?.stop();
  });

  const check = (...args: string[]) =>
    isthmus('version', '--check-image', '--kubeconfig', plane.kubeconfig, ...args);

  async function rows(): Promise<{ code: number; images: ImageRow[] }> {
    const { code, out } = await check('-o', 'json');
    const { version, images } = JSON.parse(out) as { version: string; images: ImageRow[] };
    assert.equal(version, VERSION);
    return { code, images: images.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  }
  const verdicts = (images: readonly ImageRow[]) =>
    images.map(({ kind, name, version, supported }) => `${kind}/${name} ${version} ${supported}`);

  test('nothing is there', async () => {
    const { code, out, err } = await check();
    assert.deepEqual([code, out, err], [0, `this command: ${VERSION}\n`, 'nothing of Isthmus runs there\n']);
  });

  test('what is installed and what the operator runs say their version; of a kept image nobody does', async () => {
    const { out } = await isthmus('install', '--image', 'registry.test/isthmus:latest', '--roads', 'proxy');
    await apply(plane, out);
    operator = await runOperator(plane, { proxyImage: undefined });
    const template = { container: { image: 'registry.test/isthmus:kept' } };
    await apply(plane, proxy('edge', {}), proxy('kept', { infrastructure: { proxy: { template } } }));
    const expected = [
      `Deployment/edge ${VERSION} yes`,
      `Deployment/isthmus-operator ${VERSION} yes`,
      'Deployment/kept unknown unknown',
    ];
    await waitFor('all three', async () => verdicts((await rows()).images).join() === expected.join());
    const { code, out: table, err } = await check();
    assert.equal(code, 0);
    assert.match(table, /^this command: \S+\n\nNAMESPACE +NAME +IMAGE +VERSION +SUPPORTED\n/);
    assert.match(
      table,
      /\nisthmus-system +Deployment\/isthmus-operator +registry\.test\/isthmus:latest +\S+ +yes\n/,
    );
    assert.equal(err, 'Deployment default/kept: nobody has said of which version its image is\n');
    assert.deepEqual((await check('-n', 'isthmus-system')).err, '');
    const inTeam = await check('-n', 'default');
    assert.deepEqual([inTeam.code, /Deployment\/edge .* yes\n/.test(inTeam.out)], [0, true], inTeam.out);
    assert.doesNotMatch(inTeam.out, /isthmus-operator/);
  });

  test('a pod that is still to be replaced is no mistake', async () => {
    const labels = {
      'app.kubernetes.io/name': 'isthmus',
      'app.kubernetes.io/component': 'proxy',
      'app.kubernetes.io/instance': 'edge',
      'app.kubernetes.io/version': '0.0.9',
    };
    const containers = [
      { name: 'sidecar', image: 'registry.test/other:1' },
      { name: 'proxy', image: 'registry.test/isthmus:old' },
    ];
    const metadata = { name: 'edge-old', namespace: 'default', labels };
    await apply(plane, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } });
    const { code, images } = await rows();
    assert.equal(code, 0);
    const old = images.find(({ kind }) => kind === 'Pod');
    assert.deepEqual(
      [old?.name, old?.image, old?.version, old?.supported],
      ['edge-old', 'registry.test/isthmus:old', '0.0.9', 'rolling'],
    );
  });

  test('an operator of another version: neither it nor its proxies are as they should be', async () => {
    const labels = { 'app.kubernetes.io/version': '0.0.9' };
    const patch = JSON.stringify({ spec: { template: { metadata: { labels } } } });
    const where = ['deployment/isthmus-operator', '-n', 'isthmus-system'];
    const { code: patched, stderr } = await plane.kubectl(['patch', ...where, '-p', patch]);
    assert.equal(patched, 0, stderr);
    const { code, images } = await rows();
    assert.equal(code, 1);
    assert.deepEqual(verdicts(images.filter(({ supported }) => supported === 'no')), [
      `Deployment/edge ${VERSION} no`,
      'Deployment/isthmus-operator 0.0.9 no',
    ]);
  });

  test('who may not look, and who looks where nobody answers, is told so', async () => {
    const nobody = await plane.userKubeconfig('nobody-in-particular');
    const refused = await isthmus('version', '--check-image', '--kubeconfig', nobody);
    assert.deepEqual([refused.code, /deployments.* forbidden/.test(refused.err)], [1, true], refused.err);
    const away = join(workspace('away'), 'kubeconfig');
    writeFileSync(away, plane.kubeconfigText.replace(plane.url, 'https://127.0.0.1:1'));
    assert.equal((await isthmus('version', '--check-image', '--kubeconfig', away)).code, 3);
  });
});
