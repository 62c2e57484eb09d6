/** The pod-sets road on a real API server. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import {
  adminOf,
  apply,
  get,
  metric,
  patchStatus,
  runOperator,
  typeOfKind,
  waitForCondition,
} from '../control/harness.ts';
import {
  anchor,
  eventsAbout,
  listed,
  newPod,
  podOf,
  podSet,
  putNode,
  removePod,
  runPod,
  statusOf,
} from './fixture.ts';

suite('pod sets', () => {
  let plane: ControlPlane;
  let client: Client;
  let operator: Operator;
  before(async () => {
    plane = await startControlPlaneWithCrds();
    client = adminOf(plane);
    operator = await runOperator(plane, { roads: ['pod-sets'] });
  });
  after(async () => {
    await operator.stop();
    await client.close();
    await plane.stop();
  });

  const inDefault = (name: string) => ({ namespace: 'default', name });
  const writes = () => metric(operator, 'isthmus_road_writes_total');
  const reconciles = () => metric(operator, 'isthmus_controller_reconciles_total');

  /** Waits until something that was done has been looked at. */
  async function seen(done: () => Promise<unknown>): Promise<void> {
    const count = await reconciles();
    await done();
    await waitFor('a look at it', async () => (await reconciles()) > count);
  }

  /**
   * Waits until all that has happened to pods was looked at. Changes of pods come in order, so whoever answers one of another set has
   * seen those before; and answers it once more, because sets are looked at side by side.
   */
  async function podsSeen(): Promise<void> {
    await apply(plane, podSet('witness', [listed('witness-p-0', 'witness')]));
    for (let times = 0; times < 2; times++) {
      const { uid } = (await newPod(client, 'witness-p-0')).metadata;
      await client.delete(typeOfKind('Pod'), inDefault('witness-p-0'));
      await newPod(client, 'witness-p-0', uid);
    }
  }

  test('pods are made, told about their node, and counted; then nothing is written', async () => {
    await putNode(plane, client, 'node-a', { zone: 'z1', address: '10.0.0.1' });
    const annotations = { 'isthmus.dev/node-labels': 'example.com/rack' };
    const options = { apiVersion: 'core.strimzi.io/v1beta2', annotations };
    await apply(plane, podSet('a', [listed('a-p-0', 'a'), listed('a-p-1', 'a')], options));
    for (const name of ['a-p-0', 'a-p-1']) await runPod(client, name, 'node-a');
    const set = await waitForCondition(client, ['StrimziPodSet', 'a-p'], ['Ready', 'True']);
    assert.partialDeepStrictEqual(set.status, {
      observedGeneration: 1,
      pods: 2,
      readyPods: 2,
      currentPods: 2,
    });
    const told = async (annotation: string) =>
      (await podOf(client, 'a-p-0'))?.metadata.annotations?.[`isthmus.dev/${annotation}`];
    await waitFor('the pod to be told', async () => (await told('node-name')) === 'node-a');
    assert.deepEqual(
      [await told('node-zone'), await told('node-address'), await told('node-label.example.com_rack')],
      ['z1', '10.0.0.1', 'rack-z1'],
    );
    const { managedFields = [] } = (await podOf(client, 'a-p-0'))!.metadata;
    const patched = managedFields.filter(({ manager }) => manager === 'isthmus-pod-sets');
    assert.ok(patched.length > 0);
    assert.deepEqual(await eventsAbout(client, 'a-p'), [
      'PodCreated: created pod "a-p-0"',
      'PodCreated: created pod "a-p-1"',
    ]);

    await putNode(plane, client, 'node-a', { zone: 'z2', address: '10.0.0.2' });
    await waitFor('the new zone', async () => (await told('node-zone')) === 'z2');
    await waitFor('the new address', async () => (await told('node-address')) === '10.0.0.2');
    const everyPod = async () =>
      (await podOf(client, 'a-p-1'))?.metadata.annotations?.['isthmus.dev/node-address'];
    await waitFor('the other pod', async () => (await everyPod()) === '10.0.0.2');

    const count = await writes();
    for (const stir of ['1', '2']) {
      const done = () => plane.kubectl(['label', 'pod', 'a-p-0', `stir=${stir}`, '--overwrite']);
      await seen(done);
    }
    assert.equal(await writes(), count, 'looking alone writes nothing');
  });

  test('what is not listed any more goes, what is old stays, and a pod that somebody deletes comes back as listed', async () => {
    const pods = ['b-p-0', 'b-p-1'].map((name) => listed(name, 'b'));
    await apply(plane, podSet('b', pods));
    const [kept, gone] = [await newPod(client, 'b-p-0'), await newPod(client, 'b-p-1')];
    await apply(plane, podSet('b', [listed('b-p-0', 'b', 'r2')]));
    await waitFor('the pod to go', async () => (await podOf(client, 'b-p-1')) === undefined);
    await waitFor('the count', async () => (await statusOf(client, 'b-p'))?.['currentPods'] === 0);
    const same = (await podOf(client, 'b-p-0'))!;
    assert.equal(same.metadata.uid, kept.metadata.uid);
    assert.equal(same.metadata.annotations?.['strimzi.io/revision'], 'r1');
    await client.delete(typeOfKind('Pod'), inDefault('b-p-0'));
    const next = await newPod(client, 'b-p-0', kept.metadata.uid);
    assert.equal(next.metadata.annotations?.['strimzi.io/revision'], 'r2');
    await waitFor('the count', async () => (await statusOf(client, 'b-p'))?.['currentPods'] === 1);
    await waitFor('the event', async () =>
      (await eventsAbout(client, 'b-p')).includes('PodDeleted: deleted pod "b-p-1", which is not listed'),
    );
    assert.notEqual(gone.metadata.uid, undefined);
  });

  test('a pod that has ended is replaced at once, and one that ends again at once only later', async () => {
    await apply(plane, podSet('c', [listed('c-p-0', 'c')]));
    const first = await newPod(client, 'c-p-0');
    await patchStatus(client, 'Pod', 'c-p-0', { phase: 'Failed', reason: 'Evicted' });
    const second = await newPod(client, 'c-p-0', first.metadata.uid);
    assert.equal(second.metadata.annotations?.['isthmus.dev/failures'], '1');
    await patchStatus(client, 'Pod', 'c-p-0', { phase: 'Failed', reason: 'OutOfcpu' });
    const failing = await waitForCondition(
      client,
      ['StrimziPodSet', 'c-p'],
      ['Ready', 'False', 'PodFailing'],
    );
    assert.match(failing.status!.conditions![0]!.message, /ended 2 times in a row .*\(Failed, OutOfcpu\)/);
    const third = await newPod(client, 'c-p-0', second.metadata.uid);
    assert.equal(third.metadata.annotations?.['isthmus.dev/failures'], '2');
    const made = (pod: typeof first) => Date.parse(pod.metadata.creationTimestamp!);
    // In whole seconds, each rounded down.
    assert.ok(made(third) - made(second) >= 9000, `${made(third) - made(second)} ms`);
    await waitForCondition(client, ['StrimziPodSet', 'c-p'], ['Ready', 'False', 'PodsNotReady']);
  });

  test('a pod that is being deleted is waited for', async () => {
    await apply(plane, podSet('d', [listed('d-p-0', 'd')]));
    await runPod(client, 'd-p-0', 'node-d');
    await waitForCondition(client, ['StrimziPodSet', 'd-p'], ['Ready', 'True']);
    const before = (await podOf(client, 'd-p-0'))!;
    await client.delete(typeOfKind('Pod'), inDefault('d-p-0'));
    await waitForCondition(client, ['StrimziPodSet', 'd-p'], ['Ready', 'False', 'PodsNotReady']);
    assert.equal((await podOf(client, 'd-p-0'))?.metadata.uid, before.metadata.uid);
    await removePod(plane, 'd-p-0');
    await newPod(client, 'd-p-0', before.metadata.uid);
  });

  test('somebody else’s pod of that name is left alone, and said; when it goes there is room', async () => {
    const spec = { containers: [{ name: 'x', image: 'x' }] };
    await apply(plane, { apiVersion: 'v1', kind: 'Pod', metadata: inDefault('e-p-0'), spec });
    const foreign = await newPod(client, 'e-p-0');
    await apply(plane, podSet('e', [listed('e-p-0', 'e'), listed('e-p-1', 'e')]));
    const set = await waitForCondition(client, ['StrimziPodSet', 'e-p'], ['Ready', 'False', 'NameTaken']);
    assert.match(set.status!.conditions![0]!.message, /pod "e-p-0" exists and belongs to somebody else/);
    await newPod(client, 'e-p-1');
    const still = (await podOf(client, 'e-p-0'))!;
    assert.equal(still.metadata.resourceVersion, foreign.metadata.resourceVersion, 'it was not touched');
    await client.delete(typeOfKind('Pod'), inDefault('e-p-0'));
    await newPod(client, 'e-p-0', foreign.metadata.uid);
    await waitForCondition(client, ['StrimziPodSet', 'e-p'], ['Ready', 'False', 'PodsNotReady']);
  });

  test('a pod that nobody controls is adopted as it is', async () => {
    const orphan = listed('f-p-0', 'f', 'r0');
    const labels = {
      ...orphan.metadata.labels,
      'app.kubernetes.io/managed-by': 'isthmus',
      'strimzi.io/controller': 'strimzipodset',
    };
    await apply(plane, { ...orphan, metadata: { ...orphan.metadata, namespace: 'default', labels } });
    const before = await newPod(client, 'f-p-0');
    await apply(plane, podSet('f', [listed('f-p-0', 'f')]));
    const set = await waitFor('the set', () => get(client, 'StrimziPodSet', 'f-p'));
    const adopted = await waitFor('the adoption', async () => {
      const pod = await podOf(client, 'f-p-0');
      return (pod?.metadata.ownerReferences ?? []).length > 0 ? pod : undefined;
    });
    assert.equal(adopted.metadata.uid, before.metadata.uid);
    assert.partialDeepStrictEqual(adopted.metadata.ownerReferences, [
      { kind: 'StrimziPodSet', name: 'f-p', uid: set.metadata.uid, controller: true },
    ]);
  });

  test('a pod that the API server refuses is a condition with its words, until it is mended', async () => {
    await apply(plane, podSet('g', [listed('g-p-0', 'g', 'r1', { containers: [] })]));
    const set = await waitForCondition(client, ['StrimziPodSet', 'g-p'], ['Ready', 'False', 'Denied']);
    assert.match(set.status!.conditions![0]!.message, /pod "g-p-0": .*spec\.containers/);
    await apply(plane, podSet('g', [listed('g-p-0', 'g')]));
    await newPod(client, 'g-p-0');
    await waitForCondition(client, ['StrimziPodSet', 'g-p'], ['Ready', 'False', 'PodsNotReady']);
  });

  test('a set of an older epoch than the anchor of its Kafka is not obeyed', async () => {
    const at = (epoch: string) => ({ annotations: { 'isthmus.dev/epoch': epoch } });
    await apply(plane, anchor('h', 2));
    await apply(plane, podSet('h', [listed('h-p-0', 'h')], at('1')));
    await waitForCondition(client, ['StrimziPodSet', 'h-p'], ['Ready', 'False', 'Fenced']);
    assert.equal(await podOf(client, 'h-p-0'), undefined);
    await apply(plane, podSet('h', [listed('h-p-0', 'h')], at('2')));
    const first = await newPod(client, 'h-p-0');
    await apply(plane, anchor('h', 3));
    await waitForCondition(client, ['StrimziPodSet', 'h-p'], ['Ready', 'False', 'Fenced']);
    await client.delete(typeOfKind('Pod'), inDefault('h-p-0'));
    await podsSeen();
    assert.equal(await podOf(client, 'h-p-0'), undefined, 'not even kept alive');
    await apply(plane, podSet('h', [listed('h-p-0', 'h', 'r3')], at('3')));
    const next = await newPod(client, 'h-p-0', first.metadata.uid);
    assert.equal(next.metadata.annotations?.['strimzi.io/revision'], 'r3');
  });

  test('sets of a Strimzi operator, and sets that are being deleted, are left alone', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'strimzi-cluster-operator' };
    await apply(plane, podSet('i', [listed('i-p-0', 'i')], { labels }));
    await apply(plane, podSet('j', [listed('j-p-0', 'j')]));
    await newPod(client, 'j-p-0');
    // Nobody collects garbage here, so the set stays, being deleted.
    const { code, stderr } = await plane.kubectl([
      'delete',
      'sps',
      'j-p',
      '--cascade=foreground',
      '--wait=false',
    ]);
    assert.equal(code, 0, stderr);
    await waitFor(
      'the deletion',
      async () => (await get(client, 'StrimziPodSet', 'j-p'))?.metadata.deletionTimestamp !== undefined,
    );
    await client.delete(typeOfKind('Pod'), inDefault('j-p-0'));
    await podsSeen();
    assert.equal(await podOf(client, 'j-p-0'), undefined);
    const strimzis = await get(client, 'StrimziPodSet', 'i-p');
    assert.deepEqual([strimzis?.status, await podOf(client, 'i-p-0')], [undefined, undefined]);
  });

  test('the next operator goes on with what is there', async () => {
    await apply(plane, podSet('k', [listed('k-p-0', 'k')]));
    const before = await newPod(client, 'k-p-0');
    await operator.stop();
    await apply(plane, podSet('k', [listed('k-p-0', 'k'), listed('k-p-1', 'k')]));
    operator = await runOperator(plane, { roads: ['proxy', 'pod-sets'] });
    await newPod(client, 'k-p-1');
    assert.equal((await podOf(client, 'k-p-0'))?.metadata.uid, before.metadata.uid);
    // The other road is at work beside it.
    await apply(plane, {
      apiVersion: 'kroxylicious.io/v1alpha1',
      kind: 'KafkaProxy',
      metadata: inDefault('beside'),
    });
    await waitForCondition(client, ['KafkaProxy', 'beside'], ['Ready', 'False']);
    await client.delete(typeOfKind('KafkaProxy'), inDefault('beside'));
  });
});
