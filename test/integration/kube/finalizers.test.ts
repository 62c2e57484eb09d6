/** Finalizers against a real kube-apiserver: an object stays until the last of them is taken off. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Client } from '../../../src/kube/http/client.ts';
import { isBeingDeleted } from '../../../src/kube/object.ts';
import { createWriter } from '../../../src/kube/write/apply.ts';
import { addFinalizer, removeFinalizer } from '../../../src/kube/write/finalizers.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { CONFIG_MAP, clientOf, configMap } from './harness.ts';
import type { ConfigMap } from './harness.ts';

const OURS = 'isthmus.dev/test';
const THEIRS = 'example.com/other';

let plane: ControlPlane;
let client: Client;
before(async () => {
  plane = await startControlPlane();
  client = clientOf(plane.kubeconfigText);
});
after(async () => {
  await client?.close();
  await plane?.stop();
});

const make = (name: string) =>
  client.create<ConfigMap>(configMap(name, {}, { namespace: 'default', finalizers: [THEIRS] }));
const read = (name: string) => client.get<ConfigMap>(CONFIG_MAP, { namespace: 'default', name });

suite('finalizers', () => {
  test('are added and taken off beside those of others, also from an old copy of the object', async () => {
    const old = await make('beside');
    assert.equal(await addFinalizer(client, old, OURS), true);
    assert.equal(await addFinalizer(client, old, OURS), true, 'once is enough');
    assert.deepEqual((await read('beside'))?.metadata.finalizers, [THEIRS, OURS]);
    assert.equal(await removeFinalizer(client, old, OURS), true, 'which does not have it yet');
    const live = (await read('beside'))!;
    assert.equal(await removeFinalizer(client, live, OURS), true);
    assert.deepEqual((await read('beside'))?.metadata.finalizers, [THEIRS]);
  });

  test('keep an object until they are gone, and are never put on one that is being deleted', async () => {
    const seen = await make('held');
    await addFinalizer(client, seen, OURS);
    await client.delete(CONFIG_MAP, seen.metadata);
    const going = (await read('held'))!;
    assert.ok(isBeingDeleted(going));
    assert.equal(await addFinalizer(client, going, 'isthmus.dev/late'), false);
    // Nor is anything applied to it: it would go with the object.
    const writer = createWriter(() => ({ client }), {
      fieldManager: 'test',
      hashAnnotation: 'example.com/hash',
    });
    const owner = { labels: { owner: 'x' }, kinds: [] };
    const wanted = configMap('held', { a: 'b' }, { namespace: 'default' });
    const { errors } = await writer.apply({ owner, objects: [wanted], adopt: () => true });
    assert.match(String(errors[0]?.error), /is being deleted; it is made anew when it is gone/);
    await removeFinalizer(client, going, OURS);
    assert.ok(await read('held'), 'the other one still holds it');
    await removeFinalizer(client, (await read('held'))!, THEIRS);
    assert.equal(await read('held'), undefined);
    assert.equal(await removeFinalizer(client, going, OURS), false);
    const after = await writer.apply({ owner, objects: [wanted] });
    assert.deepEqual(after.created, ['ConfigMap default/held']);
  });
});
