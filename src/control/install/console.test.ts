import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PolicyRule } from '../kernel/rights.ts';
import { consoleManifests } from './console.ts';
import { deployment } from './manifests.ts';

const OPTIONS = { namespace: 'isthmus-system', image: 'isthmus:test', replicas: 2, roads: [] };

suite('the console in a cluster', () => {
  const rulesIn = (watchNamespaces: string[], kind: string) =>
    consoleManifests({ ...OPTIONS, watchNamespaces })
      .filter((one) => one.kind === kind)
      .flatMap(({ rules }) => rules as PolicyRule[]);

  test('may follow what it shows and ask for reviews, and neither read a Secret nor write anything', () => {
    for (const rule of [
      ...rulesIn([], 'ClusterRole'),
      ...rulesIn(['a'], 'ClusterRole'),
      ...rulesIn(['a'], 'Role'),
    ]) {
      const isReview = /^(tokenreviews|subjectaccessreviews)$/.test(rule.resources.join());
      assert.deepEqual(rule.verbs, isReview ? ['create'] : ['list', 'watch'], rule.resources.join());
      assert.ok(!rule.resources.some((one) => ['secrets', 'configmaps', '*'].includes(one)));
    }
  });

  test('for some namespaces it has rights in these, and elsewhere to what is in none', () => {
    const everywhere = rulesIn(['a', 'b'], 'ClusterRole').flatMap(({ resources }) => resources);
    assert.deepEqual(everywhere, ['namepolicies', 'tokenreviews', 'subjectaccessreviews']);
    const roles = consoleManifests({ ...OPTIONS, watchNamespaces: ['a', 'b'] }).filter(
      ({ kind }) => kind === 'Role',
    );
    assert.deepEqual(
      roles.map(({ metadata }) => metadata.namespace),
      ['a', 'b'],
    );
  });

  test('runs beside the operator, with an account of its own', () => {
    const accountOf = (manifest: object) =>
      (manifest as { spec: { template: { spec: { serviceAccountName: string } } } }).spec.template.spec
        .serviceAccountName;
    const own = consoleManifests(OPTIONS).find(({ kind }) => kind === 'Deployment')!;
    assert.notEqual(accountOf(own), accountOf(deployment(OPTIONS)));
  });
});
