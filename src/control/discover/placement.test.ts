import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../../kube/object.ts';
import { IMPORTED_NAMESPACE_LABEL, IMPORTED_SERVICE_LABEL } from './names.ts';
import { importedService, placeOf, serviceOfImport } from './placement.ts';

const XCC = 'cross-cluster-connectivity';

function object(namespace: string, name: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { namespace, name, labels },
  };
}

suite('where services are imported to', () => {
  test('by themselves, into the namespace that they have in their own cluster', () => {
    const web = { namespace: 'shop', name: 'web' };
    assert.deepEqual(placeOf(web, undefined), web);
    assert.deepEqual(serviceOfImport(object('shop', 'web'), undefined), web);
  });

  test('into one namespace: no two services get the same place, and each place says which it is of', () => {
    const word = fc.constantFrom('a', 'b', 'a-b', 'b-a');
    const service = fc.tuple(word, word).map(([namespace, name]) => ({ namespace, name }));
    fc.assert(
      fc.property(service, service, (one, other) => {
        const place = placeOf(one, XCC);
        assert.equal(place.namespace, XCC);
        const isSame = one.namespace === other.namespace && one.name === other.name;
        assert.equal(placeOf(other, XCC).name === place.name, isSame);
        const labels = { [IMPORTED_SERVICE_LABEL]: one.name, [IMPORTED_NAMESPACE_LABEL]: one.namespace };
        assert.deepEqual(serviceOfImport(object(XCC, place.name, labels), XCC), one);
      }),
    );
  });

  test('nobody gets the place of another by labels', () => {
    const forged = { [IMPORTED_SERVICE_LABEL]: 'web', [IMPORTED_NAMESPACE_LABEL]: 'shop' };
    for (const importNamespace of [undefined, XCC])
      assert.equal(importedService(object('evil', 'web', forged), importNamespace), undefined);
    assert.equal(serviceOfImport(object(XCC, 'web', forged), XCC), undefined, 'by another name');
  });
});
