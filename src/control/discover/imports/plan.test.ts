import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { service, serviceExport, slice } from '../../../../test/support/discover/objects.ts';
import { referenceOf } from '../../../kube/write/apply-decision.ts';
import type { ServiceImport } from '../objects.ts';
import { planService } from './plan.ts';
import type { ObservedImport } from './plan.ts';

const NOTHING_DENIED = new Map<string, string>();
const spec = { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }], selector: { app: 'web' } };

function exportedBy(...clusters: string[]): ObservedImport {
  const exported = clusters.map((cluster) => ({
    cluster,
    export: serviceExport('2020'),
    service: service(spec),
    slices: [slice([{ addresses: ['10.1.0.1'] }])],
  }));
  return {
    service: { namespace: 'default', name: 'web' },
    observed: { exported, imported: undefined, importedSlices: [] },
    derived: service({ clusterIPs: ['10.96.0.9'] }),
    hasNodePortService: false,
    importVersion: 'v1beta1',
    localId: 'west',
    hasNamespace: true,
    lackNamespace: [],
    installation: undefined,
    preferLocal: false,
    reach: 'pods',
    isComplete: true,
    hasUnknownSource: false,
  };
}

suite('the plan of an exported service', () => {
  test('has the import and its status, and the status of the local export', () => {
    const { targets, statuses } = planService(exportedBy('west', 'east'), NOTHING_DENIED);
    assert.deepEqual(
      targets.map(({ objects, prune }) => [prune, ...objects.map(({ kind }) => kind)]),
      [[true, 'Service', 'ServiceImport', 'EndpointSlice', 'EndpointSlice']],
    );
    assert.deepEqual(
      statuses.map(({ kind, ownConditions }) => [kind, ...(ownConditions ?? [])]),
      [
        ['ServiceImport', 'Ready'],
        ['ServiceExport', 'Valid', 'Ready', 'Conflict', 'NamespaceExists'],
      ],
    );
  });

  test('leaves the import alone while a cluster that contributes to it has not been read, or the kind or the namespace is not there', () => {
    for (const lacking of [
      { hasUnknownSource: true },
      { importVersion: undefined },
      { hasNamespace: false },
    ]) {
      const { targets, statuses } = planService({ ...exportedBy('west'), ...lacking }, NOTHING_DENIED);
      assert.deepEqual(targets, []);
      assert.deepEqual(
        statuses.map(({ kind }) => kind),
        ['ServiceExport'],
      );
    }
  });

  test('deletes an import that nobody exports when its clusters are known, or all have been read', () => {
    const nobody = exportedBy();
    const deletes = (seen: ObservedImport) =>
      planService(seen, NOTHING_DENIED).targets.some(({ prune, objects }) => prune && objects.length === 0);
    assert.ok(deletes(nobody));
    assert.ok(!deletes({ ...nobody, isComplete: false }));
    const imported = { status: { clusters: [{ cluster: 'east' }] } } as ServiceImport;
    const known = { ...nobody.observed, imported };
    assert.ok(deletes({ ...nobody, isComplete: false, observed: known }));
  });

  test('says in the status of the import what the API server has refused', () => {
    const seen = exportedBy('east');
    const [target] = planService(seen, NOTHING_DENIED).targets;
    const refused = referenceOf(target!.objects[0]!);
    const statusAfter = (message: string) =>
      planService(seen, new Map([[refused, message]])).statuses.map(({ status }) => JSON.stringify(status));
    assert.match(statusAfter('exceeded quota').join(), /"Pending".*exceeded quota/);
    assert.match(statusAfter('ipFamilies: IPv6').join(), /"IPFamilyNotSupported"/);
  });

  test('tells services of one name apart that are imported into one namespace', () => {
    const labelsOf = (namespace: string) => {
      const seen = { ...exportedBy('east'), service: { namespace, name: 'web' }, importNamespace: 'xcc' };
      const [target] = planService(seen, NOTHING_DENIED).targets;
      assert.deepEqual(target?.namespaces, ['xcc']);
      return target?.labels;
    };
    assert.notDeepEqual(labelsOf('shop'), labelsOf('default'));
  });

  test('has objects that all say which installation made them', () => {
    const seen = { ...exportedBy('west'), reach: 'nodes' as const, installation: 'isthmus-system' };
    const objects = planService(seen, NOTHING_DENIED).targets.flatMap((target) => target.objects);
    assert.equal(objects.length, 4);
    for (const { metadata } of objects)
      assert.equal(metadata.labels?.['connectivity.tanzu.vmware.com/installation'], 'isthmus-system');
  });

  test('says on the export which clusters lack its namespace', () => {
    const seen = { ...exportedBy('west'), lackNamespace: ['north', 'east'] };
    const [, status] = planService(seen, NOTHING_DENIED).statuses;
    assert.match(
      JSON.stringify(status),
      /"NamespaceMissing","message":"namespace \\"default\\" .* in east, north:/,
    );
  });

  test('has the NodePort Service where the cluster is reached by nodes, and removes it where it is not', () => {
    const byNodes = planService({ ...exportedBy('west'), reach: 'nodes' }, NOTHING_DENIED).targets;
    assert.deepEqual(
      byNodes[1]?.objects.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/^web-.*-/, '')}`),
      ['Service np'],
    );
    const before = planService({ ...exportedBy('west'), hasNodePortService: true }, NOTHING_DENIED).targets;
    assert.deepEqual([before[1]?.objects, before[1]?.prune], [[], true]);
  });
});
