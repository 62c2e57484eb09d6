import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { delegationManifests } from './delegation/install.ts';
import { delegationOptions } from './delegation/settings.ts';
import { DNS_NAME, dnsManifests } from './install.ts';

function namesIn(namespace: string): string[] {
  const common = { image: 'isthmus', replicas: 2, config: '', imports: true };
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

  test('is called by short names where it is by itself', () => {
    assert.ok(namesIn('isthmus-system').includes('ClusterRoleBinding /isthmus-dns'));
    assert.ok(namesIn('isthmus-system').includes('Role kube-system/isthmus-dns-delegation'));
  });
});
