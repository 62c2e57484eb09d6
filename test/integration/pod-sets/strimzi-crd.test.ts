/** The pod-sets road with Strimzi's own CRD in the place of ours: it drops what it does not know, and serves another version. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import { ensureStrimziCrds } from '../../support/install/strimzi.ts';
import { adminOf, apply, metric, runOperator } from '../control/harness.ts';
import { listed, podOf, podSet, runPod } from './fixture.ts';

const POD_SET = { group: 'core.strimzi.io', version: 'v1beta2', kind: 'StrimziPodSet' };

suite('pod sets with Strimzi’s CRD', () => {
  test('pods are kept and counted, and a status that is true is not written again', async () => {
    await using plane = await startControlPlane();
    const client = adminOf(plane);
    const { StrimziPodSet } = await ensureStrimziCrds();
    const { code, stderr } = await plane.kubectl(['apply', '--server-side', '-f', StrimziPodSet]);
    assert.equal(code, 0, stderr);
    const operator = await runOperator(plane, { roads: ['pod-sets'] });
    try {
      const set = podSet('s', [listed('s-p-0', 's')], { apiVersion: 'core.strimzi.io/v1beta2' });
      const applied = () => plane.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(set) });
      await waitFor('the kind', async () => (await applied()).code === 0);
      await runPod(client, 's-p-0', 'node-s');
      await waitFor('its status', async () => {
        const live = await client.get(POD_SET, { namespace: 'default', name: 's-p' });
        const { readyPods, conditions = [] } = (live?.['status'] ?? {}) as Status;
        return (
          readyPods === 1 && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
        );
      });
      const pod = await podOf(client, 's-p-0');
      assert.equal(pod?.metadata.ownerReferences?.[0]?.apiVersion, 'core.strimzi.io/v1beta2');
      const writes = await metric(operator, 'isthmus_road_writes_total');
      for (const value of ['1', '2']) {
        const looks = await metric(operator, 'isthmus_controller_reconciles_total');
        await apply(plane, { ...set, metadata: { ...set.metadata, annotations: { stir: value } } });
        await waitFor(
          'a look',
          async () => (await metric(operator, 'isthmus_controller_reconciles_total')) > looks,
        );
      }
      assert.equal(await metric(operator, 'isthmus_road_writes_total'), writes);
    } finally {
      await operator.stop();
      await client.close();
    }
  });
});

interface Status {
  readyPods?: number;
  conditions?: { type: string; status: string }[];
}
