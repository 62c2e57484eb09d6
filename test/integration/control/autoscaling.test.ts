/** The example of autoscaling with the real controller of HorizontalPodAutoscalers: it scales the KafkaProxy, and the operator its pods. */
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { adminOf, get, runOperator, waitForCondition } from './harness.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../../deploy/examples/autoscaling');
const PATIENT = { timeoutMs: 240_000 };

test('an autoscaler scales a KafkaProxy; paused, its pods are still scaled and nothing else is done to them', async () => {
  await using plane = await startControlPlaneWithCrds({
    controllerManager: ['horizontal-pod-autoscaler-controller'],
  });
  const client = adminOf(plane);
  const operator = await runOperator(plane);
  const kubectl = async (...args: string[]) => {
    const { code, stdout, stderr } = await plane.kubectl(args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const deployment = async () =>
    (await get(client, 'Deployment', 'edge'))?.['spec'] as
      | { replicas: number; paused?: boolean; template: object }
      | undefined;
  try {
    await kubectl('apply', '--server-side', '-f', join(EXAMPLE, 'autoscaler.yaml'));
    await waitForCondition(client, ['KafkaProxy', 'edge'], ['Ready', 'False', 'PodsNotReady']);
    // It asks for no metrics below the least number.
    await waitFor('two pods', async () => (await deployment())?.replicas === 2, PATIENT);
    // Who applies the example again does not undo that.
    await kubectl('apply', '--server-side', '-f', join(EXAMPLE, 'autoscaler.yaml'));
    const { spec } = (await get(client, 'KafkaProxy', 'edge'))!;
    assert.equal(
      (spec as { infrastructure: { proxy: { replicas: number } } }).infrastructure.proxy.replicas,
      2,
    );

    const patch = (proxy: object) =>
      kubectl(
        'patch',
        'kafkaproxy',
        'edge',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { infrastructure: { proxy } } }),
      );
    await patch({ paused: true });
    await waitFor('the pause', async () => (await deployment())?.paused === true, PATIENT);
    await kubectl('patch', 'hpa', 'edge', '--type=merge', '-p', '{"spec":{"minReplicas":3}}');
    await waitFor('three pods', async () => (await deployment())?.replicas === 3, PATIENT);
    await patch({ paused: null });
    await waitFor('the end of the pause', async () => !(await deployment())?.paused, PATIENT);
  } finally {
    await operator.stop();
    await client.close();
  }
});
