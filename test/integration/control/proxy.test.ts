/** The operator's proxy road against a real API server. There are no kubelets: pods are played by kwok, and answer by a fake. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/client.ts';
import { readManifests } from '../../fixtures/documents.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { startPlaneWithCrds } from '../resources/plane.ts';
import { adminOf, apply, configOf, get, runOperator, waitForCondition } from './harness.ts';

const printed = (...numbers: string[]) =>
  numbers.map((number) => readManifests().find(({ name }) => name.startsWith(`proxy/${number}-`))!.yaml);

suite('plain', () => {
  let plane: ControlPlane;
  let client: Client;
  let operator: Operator;
  before(async () => {
    plane = await startPlaneWithCrds();
    client = adminOf(plane);
    operator = await runOperator(plane);
  });
  after(async () => {
    await operator.stop();
    await client.close();
    await plane.stop();
  });

  test('the plain example', async () => {
    await apply(plane, ...printed('10', '11', '12', '13'));
    const broken = await waitForCondition(
      client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['ResolvedRefs', 'False', 'ReferencedResourcesNotFound'],
    );
    await apply(plane, {
      apiVersion: 'filter.kroxylicious.io/v1alpha1',
      kind: 'KafkaProtocolFilter',
      metadata: { name: 'encryption', namespace: 'default' },
      spec: { type: 'protocol-logger' },
    });
    const vkc = await waitForCondition(
      client,
      ['VirtualKafkaCluster', 'mycluster'],
      ['ResolvedRefs', 'True'],
    );
    assert.ok(true);
  });
});
