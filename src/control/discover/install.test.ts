import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { delegationManifests } from './delegation/install.ts';
import { delegationOptions } from './delegation/settings.ts';
import type { PolicyRule } from '../kernel/rights.ts';
import { DNS_NAME, dnsManifests } from './install.ts';

function namesIn(namespace: string): string[] {
  const common = { image: 'isthmus', replicas: 2, config: '', imports: true, tsig: false };
  const manifests = [
    ...dnsManifests({ ...common, namespace, reach: 'nodes' }),
    ...delegationManifests({ name: DNS_NAME, namespace }, delegationOptions.parse({})),
  ];
  return manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
}

suite('what runs the DNS server in a cluster', () => {
  test('has nothing twice, wherever it is', () => {
    for (const namespace of ['isthmus-system', 'elsewhere', 'kube-system'])
      assert.deepEqual(namesIn(namespace), [...new Set(namesIn(namespace))]);
  });

  test('has nothing in common with what runs another in the same cluster', () => {
    const one = new Set(namesIn('isthmus-system'));
    assert.deepEqual(
      namesIn('elsewhere').filter((name) => one.has(name)),
      [],
    );
  });

  test('writes imports nowhere but in their namespace, where they have one for all', () => {
    const options = { image: 'isthmus', replicas: 1, config: '', imports: true, namespace: 'isthmus-system' };
    const rulesIn = (kind: string, importNamespace: string | undefined, reach: 'pods' | 'nodes' = 'pods') =>
      dnsManifests({ ...options, importNamespace, reach })
        .filter(
          (one) => one.kind === kind && one.metadata.namespace === (kind === 'Role' ? 'xcc' : undefined),
        )
        .flatMap((one) => one['rules'] as PolicyRule[]);
    const written = (rules: PolicyRule[]) =>
      rules.filter(({ verbs }) => verbs.includes('delete')).flatMap(({ resources }) => resources);
    const all = ['services', 'endpointslices', 'serviceimports'];
    assert.deepEqual(written(rulesIn('ClusterRole', undefined)).toSorted(), all.toSorted());
    assert.deepEqual(written(rulesIn('Role', 'xcc')).toSorted(), all.toSorted());
    assert.deepEqual(written(rulesIn('ClusterRole', 'xcc')), []);
    assert.deepEqual(written(rulesIn('ClusterRole', 'xcc', 'nodes')), ['services'], 'node ports');
  });

  test('may delete imports and nothing more where they are taken out again, and neither where they are not mentioned', () => {
    const options = { image: 'isthmus', replicas: 1, config: '', namespace: 'isthmus-system' };
    const verbs = (imports: boolean | undefined) =>
      dnsManifests({ ...options, imports, reach: 'pods' })
        .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'isthmus-dns')
        .flatMap((one) => one['rules'] as PolicyRule[])
        .filter(({ resources }) => resources.includes('serviceimports'))
        .flatMap((rule) => rule.verbs);
    assert.deepEqual(verbs(false), ['get', 'list', 'watch', 'delete']);
    assert.deepEqual(verbs(undefined), ['list', 'watch']);
  });

  test('is called by short names where it is by itself', () => {
    assert.ok(namesIn('isthmus-system').includes('ClusterRoleBinding /isthmus-dns'));
    assert.ok(namesIn('isthmus-system').includes('Role kube-system/isthmus-dns-delegation'));
  });
});
